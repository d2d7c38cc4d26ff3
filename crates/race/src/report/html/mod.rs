//! "Show me the race, or these races beside one another": one HTML file that needs nothing else.
//!
//! Everything is drawn here, as SVG; the script inside only moves a cursor, zooms and chooses (`script.js`).
//! What someone who settles a setting needs comes first: whether the figures can be trusted, then what
//! changed (or, for one race, each task's figures), then what differs between the races' settings, then each
//! task over time, then the server over the same time.
//!
//! Reading order: [`material`] is what is known of a race, [`chart`] one plot with its scales ([`scale`]) and
//! [`table`], [`heat`] the heat map; [`page`] puts the sections together: [`summary`], [`change`],
//! [`verdicts`] and [`agreement`] (over a [`percent_axis`]), [`tasks`], [`overview`], [`machine`] and
//! [`environment`]. **Invariant**: texts from tracks and servers reach the page through [`escape::Text`]
//! alone, and the page's policy lets no other script run.

pub(crate) mod agreement;
pub(crate) mod change;
pub(crate) mod chart;
pub(crate) mod environment;
pub(crate) mod escape;
pub(crate) mod heat;
pub(crate) mod machine;
pub(crate) mod material;
pub(crate) mod overview;
pub mod page;
pub(crate) mod percent_axis;
pub(crate) mod plain;
pub(crate) mod scale;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod tasks;
pub(crate) mod telemetry;
#[cfg(test)]
mod tests;
pub(crate) mod verdicts;

pub use material::Material;
pub(crate) use page::{comparison_page, page};
