//! "Show me the race, or these races beside one another": one HTML file that needs nothing else.
//!
//! Everything is drawn here, as SVG; the script inside only moves a cursor, zooms and chooses (`script.js`). What someone who settles
//! a setting needs comes first: whether the figures can be trusted, then what changed (or, for one race, each task's figures), then
//! what differs between the races' settings, then each task over time, then the server over the same time.
//!
//! Reading order: [`material`] is what is known of a race, [`chart`] one plot with its scales ([`scale`]) and [`table`], [`heat`] the
//! heat map; [`page`] puts the sections together: [`summary`], [`change`], [`verdicts`] and [`agreement`] (over a [`percent_axis`]), [`tasks`], [`overview`], [`machine`] and [`environment`].
//! **Invariant**: texts from tracks and servers reach the page through [`escape::Text`] alone, and the page's policy lets no other script run.

pub mod agreement;
pub mod change;
pub mod chart;
pub mod environment;
pub mod escape;
pub mod heat;
pub mod machine;
pub mod material;
pub mod overview;
pub mod page;
pub mod percent_axis;
pub mod plain;
pub mod scale;
pub mod summary;
pub mod table;
pub mod tasks;
pub mod telemetry;
#[cfg(test)]
mod tests;
pub mod verdicts;

pub use material::Material;
pub use page::{comparison_page, page};
