//! "Here is a schedule and a server's address; how does the server answer under exactly that load?"
//!
//! Rally's race semantics (`esrally/driver/`) on asynchronous I/O with requests made before the clock starts.
//! [`driver`] conducts: [`allocation`] lays the schedule out over clients, [`client`] is one client's loop
//! under [`schedule`] and [`throttle`], [`operation`] knows what each task sends, [`http`] sends it,
//! [`statistics`] takes the samples in, and [`telemetry`] asks the server about itself before and after.

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
