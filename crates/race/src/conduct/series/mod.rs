//! "Race this several times, the sides in turn": the races that a statistical comparison needs.
//!
//! Every side races once a round, so that what changes slowly (heat, a filling disk, other people's work)
//! meets all sides alike. [`side`] says what the sides are, [`order`] in which order they race; [`run`] races
//! them and stores each race with its place; [`spread`] prints what several races of one side look like.

mod order;
mod run;
mod side;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use order::Order;
pub(crate) use run::{Series, SeriesOutcome, Warnings, race_on, race_series};
pub(crate) use side::{EngineChange, Side};
