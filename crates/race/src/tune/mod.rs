//! "Which setting serves this goal best, and how sure is that?": `limber tune`.
//!
//! [`experiment`] is what the user asks: a track, a [`goal`] with its bounds, and a [`space`] of knobs.
//! [`halving`] chooses which candidate is raced next (sequential halving, then a final with statistical
//! evidence); [`trial`] races it, and [`ledger`] keeps every outcome so that an interrupted search goes on
//! where it stopped. [`report`] prints the best setting with its evidence, the [`sensitivity`] of each knob
//! and the [`tradeoff`] of memory against the goal.
//!
//! **Invariant**: `halving` sees candidates by number and outcomes as numbers; it starts nothing, so that
//! tests search a simulated server.

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
