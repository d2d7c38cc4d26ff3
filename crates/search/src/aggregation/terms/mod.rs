//! `terms`: a bucket for every value, the largest first.

mod include;
mod keyword;
mod number;
mod pool;
mod reduce;
mod request;
mod select;

pub use include::TermFilter;
pub use keyword::KeywordTerms;
pub use number::NumberTerms;
pub use reduce::{compare_by, reduce_terms};
pub use request::Terms;
