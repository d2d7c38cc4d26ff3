//! "Here is a Rally track (a folder or a built-in name) and the user's wishes; give me the track, ready to race."
//!
//! `repository` finds the track's folder in a clone. `loader` conducts: `template` gives the rendered JSON, `schema` checks its shape, `reader` and `challenges` turn it into the
//! model, `selection` narrows it to what this race runs, `documents` brings the data files (`download`, `archives`, `offsets`).

pub mod adjustments;
pub mod archives;
pub mod challenges;
pub mod dates;
pub mod dictionary;
pub mod documents;
pub mod download;
pub mod loader;
pub mod offsets;
pub mod params;
pub mod reader;
pub mod repository;
pub mod schema;
pub mod selection;
pub mod template;
#[cfg(test)]
mod tests;

pub use crate::track_files::LoadError;
pub use adjustments::Adjustments;
pub use loader::{Loaded, TrackSource, TrackSpec, check, load, read, render};
pub use selection::challenge;
