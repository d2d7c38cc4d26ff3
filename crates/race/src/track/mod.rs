//! Tracks from where they lie to where they can be raced: "which tracks are there, and what does this one
//! say?"
//!
//! [`builtin`] has the tracks that need no download, [`track_files`] reads a track's folder, [`plugin`] runs
//! its `track.py`, [`load`] makes of all of it the track that [`crate::model`] describes.

pub(crate) mod builtin;
pub(crate) mod load;
pub(crate) mod plugin;
pub(crate) mod track_files;
