//! Draws one race, or several side by side, as one self-contained HTML file.
//!
//! Everything is drawn here as SVG; the script in the page only moves a cursor, zooms and selects
//! (`script.js`). The order serves a reader who has to choose a setting: first whether the figures can be
//! trusted, then what changed (or, for one race, each task's figures), then the differences between the
//! races' settings, then each task over time, and then the server over the same time.
//!
//! Reading order: [`race_data`] is what is known about a race; [`chart`] is one plot with its scales
//! ([`scale`]) and [`table`]; [`heat`] is the heat map. [`page`] combines the sections: [`summary`],
//! [`change`], [`verdicts`] and [`agreement`] (on a [`percent_axis`]), [`tasks`], [`overview`], [`machine`]
//! and [`environment`]. **Invariant**: strings from tracks and servers reach the page only through
//! [`escape::Text`], and the page's [`policy`] lets no other script run.

pub(crate) mod agreement;
pub(crate) mod change;
pub(crate) mod chart;
pub(crate) mod environment;
pub(crate) mod escape;
pub(crate) mod heat;
pub(crate) mod machine;
pub(crate) mod overview;
pub mod page;
pub(crate) mod percent_axis;
pub(crate) mod plain;
pub(crate) mod policy;
pub(crate) mod race_data;
pub(crate) mod scale;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod tasks;
pub(crate) mod telemetry;
#[cfg(test)]
mod tests;
pub(crate) mod verdicts;

pub(crate) use page::{comparison_page, page};
pub use race_data::RaceData;
