//! `limber advise`: finds out why a server is not faster, and what would prove it.
//!
//! [`server`] is what the server says about itself, [`machine`] what the machine says about the server, and
//! [`gc`] what its garbage collector logged; [`seen`] holds all three. Each rule of [`rule`] looks at them
//! and returns a finding, "fine", or what it could not read. [`report`] prints the findings, the one that
//! promises most first, and [`command`] is the command line.
//!
//! **Invariant**: a rule never guesses. A missing number ends the rule with an [`Unread`](finding::Unread)
//! that names it. **Invariant**: nothing is changed on the server or the machine: everything is read with GET
//! or from `/proc` and `/sys`.

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
