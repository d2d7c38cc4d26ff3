//! The conditions under which the figures were measured: the machine, the generator, the server's process,
//! the measured time.

pub(crate) mod generator;
pub(crate) mod machine;
pub(crate) mod measured_time;
pub(crate) mod proc_files;
pub(super) mod send_delay;
pub(crate) mod server_process;
