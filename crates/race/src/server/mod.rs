//! The servers that are raced: "which ones does the user mean, and how are they started?"
//!
//! [`hosts`] reads addresses and options of clients, [`engine`] starts a server of our own and ends it.

pub(crate) mod engine;
pub(crate) mod hosts;
