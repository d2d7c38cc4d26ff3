//! Conducts races: "what happens in which order, and what is observed meanwhile?"
//!
//! [`race`] conducts one race as its [`config`] says, [`series`] several in turn, [`dry_run`] none. [`live`]
//! shows how a race goes, [`watch`] observes everything besides the load.

pub(crate) mod config;
pub(crate) mod dry_run;
pub(crate) mod live;
pub(crate) mod race;
pub(crate) mod series;
pub(crate) mod watch;
