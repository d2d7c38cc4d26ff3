//! Runs a schedule against a server, and measures how the server answers under exactly that load.
//!
//! The semantics are those of Rally (`esrally/driver/`), on asynchronous I/O, and requests are built before
//! the clock starts. [`driver`] is in charge: [`allocation`] assigns the schedule to clients, [`client`] is
//! one client's loop under [`schedule`] and [`throttle`], [`operation`] knows what each task sends, [`http`]
//! sends it, [`statistics`] receives the samples, and [`telemetry`] asks the server about itself before and
//! after.

pub(crate) mod allocation;
pub(crate) mod api_keys;
pub(crate) mod client;
pub(crate) mod conditions;
mod conflicts;
pub(crate) mod distribution;
mod documents;
pub(crate) mod driver;
mod exchange;
pub(crate) mod measurements;
pub(crate) mod operation;
mod plugin;
mod probe;
pub(crate) mod results;
pub(crate) mod schedule;
pub(crate) mod statistics;
pub(crate) mod telemetry;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod throttle;
pub(crate) mod throughput;
mod timer;
