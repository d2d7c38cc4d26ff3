//! `limber doctor`: "would a server start here, would it run well, and if one runs: what does it say?"
//!
//! [`offline`] looks at the configuration, the data folder and the machine without any server; [`online`]
//! asks the one that runs; [`command`] is what the user types.

mod command;
mod offline;
mod online;

pub use command::DoctorCommand;
