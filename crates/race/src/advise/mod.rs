//! "Why is this server not faster, and what would prove it?"
//!
//! [`server`] is what the server says of itself, [`machine`] what the machine says of the server, [`gc`] what
//! its garbage collector wrote down; [`seen`] holds all three. Each rule of [`rule`] looks at them and
//! answers with a finding, with "fine", or with what it could not read. [`report`] prints the findings, the
//! one that promises most first, and [`command`] is what the user types.
//!
//! **Invariant**: a rule never guesses. A number that is not there ends the rule with an
//! [`Unread`](finding::Unread) that names it. **Invariant**: nothing is changed on the server or the machine:
//! everything read here is read with GET or from `/proc` and `/sys`.

mod command;
mod experiment;
mod finding;
#[cfg(test)]
mod fixture;
mod gather;
pub(crate) mod gc;
mod machine;
mod page;
mod quantity;
mod report;
mod rule;
mod seen;
mod server;

pub use command::AdviseCommand;
pub(crate) use machine::own_usable_bytes;
