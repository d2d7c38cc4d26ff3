//! Runs the Python code of a track's `track.py`.
//!
//! Rally's tracks may have parameter sources, runners, schedulers and track processors in Python. They run
//! unmodified in Python processes ([`process`]) that execute the scripts of the folder `python`, which are
//! part of the binary ([`scripts`]). There is one process for each thread that generates load, as Rally has
//! one worker per core. [`Plugin`] is a loaded `track.py`; `drive/plugin` has the requests of clients to it
//! during the race.
//!
//! Requests to a process, each with a JSON header and a payload, are: `load` (import and register), `track`
//! (the track's objects), `process_track`, `used_corpora`, `files`, `prepare_track` (before the race), and
//! for one client's part in a task `open`, `next` (many sets of parameters), `due` (due times of a
//! scheduler), `run` (a runner, which may ask for HTTP requests, and `answer` returns their answers),
//! `close`.

mod error;
mod interpreter;
pub(crate) mod known_sources;
mod loaded;
mod need;
pub(crate) mod process;
mod scripts;
mod track_json;
mod units;

pub use error::PluginError;
pub(crate) use interpreter::{Interpreter, PythonSettings};
pub(crate) use loaded::{Lease, Plugin};
pub(crate) use need::{needs_python, wants};
pub(crate) use units::unit;

/// The file in a track's folder that Rally imports.
pub(crate) const PLUGIN_FILE: &str = "track.py";
