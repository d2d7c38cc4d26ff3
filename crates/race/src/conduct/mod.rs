//! Conducts races: "what happens in which order, and what is observed meanwhile?"
//!
//! [`race`] conducts one race as its [`config`] says, [`series`] several in turn, [`dry_run`] none.
//! [`loading`] loads its track, [`live`] shows how it goes, [`watch`] observes everything besides the load.

pub(crate) mod config;
pub(crate) mod dry_run;
pub(crate) mod live;
mod loading;
pub(crate) mod race;
pub(crate) mod series;
pub(crate) mod watch;
