//! Loads a Rally track (a folder or a built-in name), ready to race.
//!
//! `repository` finds the track's folder in a clone. `loader` is in charge: `template` renders the JSON,
//! `schema` checks its shape, `reader` and `challenges` turn it into the model, `selection` narrows it to
//! what this race runs, `documents` provides the data files (`download`, `archives`, `offsets`).

pub(crate) mod adjustments;
pub(crate) mod archives;
pub(crate) mod challenges;
pub(crate) mod dates;
pub(crate) mod dictionary;
pub(crate) mod documents;
pub(crate) mod download;
pub(crate) mod loader;
pub(crate) mod offsets;
pub(crate) mod params;
pub(crate) mod reader;
pub(crate) mod repository;
pub(crate) mod schema;
pub(crate) mod selection;
pub(crate) mod template;
#[cfg(test)]
mod tests;

pub(crate) use crate::track::track_files::LoadError;
pub(crate) use loader::{Loaded, TrackSource, TrackSpec, check, load, read, render};
pub(crate) use selection::challenge;
