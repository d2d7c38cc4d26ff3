//! `terms`: a bucket for every value, by default those with the most documents first.

mod computed_terms;
mod definition;
mod include;
mod keyword;
mod multi;
mod number;
mod pool;
mod profile;
mod rare;
mod reduce;
mod request;
mod select;
mod sorted_numbers;
mod term_numbers;
mod visible;

pub use include::{Include, TermFilter};
pub use keyword::TermsFindings;
pub use multi::{MultiFindings, MultiTerms};
pub use pool::TermPool;
pub use rare::RareTerms;
pub use reduce::compare_by;
pub use request::{Terms, count, positive};
pub use select::compare_values;
