//! `limber tune`: finds the setting that serves a goal best, with evidence.
//!
//! [`experiment`] is what the user asks for: a track, a [`goal`] with its bounds, and a [`space`] of knobs.
//! [`halving`] chooses the candidate that is raced next (sequential halving, then a final with statistical
//! evidence); [`trial`] races it, and [`ledger`] records every outcome so that an interrupted search can be
//! resumed. [`report`] prints the best setting with its evidence, the [`sensitivity`] of each knob and the
//! [`tradeoff`] of memory against the goal.
//!
//! **Invariant**: `halving` knows candidates by their index and outcomes as numbers. It starts nothing, so
//! that tests can search a simulated server.

mod command;
mod experiment;
mod goal;
mod halving;
mod ledger;
mod page;
mod report;
mod sensitivity;
mod space;
#[cfg(test)]
mod tests;
mod tradeoff;
mod trial;

pub use command::TuneCommand;
