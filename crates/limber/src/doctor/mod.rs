//! `limber doctor`: "would a server start here, would it run well, and what does a running one report?"
//!
//! [`offline`] checks the configuration, the data folder and the machine without a server. [`online`] asks a
//! running server. [`command`] is the command itself.

mod command;
mod offline;
mod online;

pub use command::DoctorCommand;
