//! JSON that users send: "what does this value say, and is there room for a copy of it?"
//!
//! [`object_parser`] takes the members of a body one by one, [`java`] reads and shows a value as
//! Elasticsearch does, and [`plain`] as the text of a setting. [`copied`] charges copies, [`parsed`] charges
//! trees that are about to be made, and [`unique_keys`] reads a tree. Documents are not read here: `document`
//! walks them without making JSON values.

pub(crate) mod copied;
pub(crate) mod java;
pub(crate) mod object_parser;
pub(crate) mod parsed;
pub(crate) mod plain;
pub(crate) mod unique_keys;
