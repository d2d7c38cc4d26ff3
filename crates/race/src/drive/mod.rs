//! "Here is a schedule and a server's address; how does the server answer under exactly that load?"
//!
//! Rally's race semantics (`esrally/driver/`) on asynchronous I/O with requests made before the clock starts. [`driver`]
//! conducts: [`allocation`] lays the schedule out over clients, [`client`] is one client's loop under [`schedule`] and
//! [`throttle`], [`operation`] knows what each task sends, [`http`] sends it, [`statistics`] takes the samples in, and
//! [`telemetry`] asks the server about itself before and after.

pub mod allocation;
pub mod api_keys;
pub mod client;
mod conflicts;
pub mod distribution;
mod documents;
pub mod driver;
pub mod error;
mod exchange;
pub mod generator;
pub mod machine;
pub mod measured_time;
pub mod measurements;
pub mod operation;
mod plugin;
mod probe;
pub mod proc_files;
pub mod results;
pub mod schedule;
mod send_delay;
pub mod server_process;
pub mod statistics;
pub mod telemetry;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod throttle;
pub mod throughput;
mod timer;
