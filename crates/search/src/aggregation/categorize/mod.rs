//! `categorize_text`: which messages are the same but for their variable parts?
//!
//! A text is cut into tokens ([`tokens`]); texts whose tokens are alike are of one category, which keeps the
//! tokens that all of them have in this order ([`categories`]). Shards hand in their categories, which
//! [`request`] puts into categories in the same way.

mod categories;
mod collector;
mod request;
mod tokens;

pub use request::CategorizeText;
