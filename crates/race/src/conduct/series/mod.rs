//! Races several times with the sides in turn, as a statistical comparison needs.
//!
//! Every side races once per round, so that slow changes (heat, a filling disk, other people's work) affect
//! all sides alike. [`side`] has the sides, and [`order`] the order in which they race. [`run`] races them
//! and stores each race with its position. [`spread`] prints the spread of several races of one side.

mod order;
mod run;
mod side;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use order::Order;
pub(crate) use run::{Series, SeriesOutcome, Warnings, race_on, race_series};
pub(crate) use side::{EngineChange, Side};
