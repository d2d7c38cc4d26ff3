//! Values as searches handle them: "what does the request's JSON say, what does a document hold at this path,
//! which of its values represents it, and how do values compare?"

pub(crate) mod gather;
pub(crate) mod json;
pub(crate) mod mode;
pub(crate) mod sort_key;
