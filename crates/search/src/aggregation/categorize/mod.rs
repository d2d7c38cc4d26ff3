//! `categorize_text`: groups messages that are equal except for their variable parts.
//!
//! A string is split into tokens ([`tokens`]). Strings with similar tokens form a category, which keeps the
//! tokens that all of them have, in their order ([`categories`]). The reduce in [`request`] sorts the
//! categories of all shards into categories in the same way.

mod categories;
mod collector;
mod request;
mod tokens;

pub use request::CategorizeText;
