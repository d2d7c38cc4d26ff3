//! Scripts over the documents of a shard: what `limber_script` needs of them.

mod bound;
mod ceiling;
mod fields;

pub(crate) use bound::BoundScript;
