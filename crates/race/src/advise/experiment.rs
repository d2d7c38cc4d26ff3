//! Which command line would prove a finding?
//!
//! The one place that knows how `limber tune` and `limber race` are called.

use super::server::{Kind, Product};

pub struct Experiment<'a> {
    pub host: &'a str,
    pub product: &'a Product,
    /// Where Elasticsearch or OpenSearch is unpacked, on its own machine.
    pub folder: Option<&'a str>,
}

impl Experiment<'_> {
    /// Searches the values of `knobs` for the best `goal`.
    pub fn tune(&self, goal: &str, knobs: &[(&str, &str)]) -> String {
        let mut line = format!("limber tune --goal '{goal}'");
        for (name, values) in knobs {
            line.push_str(&format!(" --knob {name}={values}"));
        }
        let engine = match self.product.kind {
            Kind::Limber => "limber",
            Kind::Elasticsearch | Kind::OpenSearch => self.folder.unwrap_or("FOLDER"),
        };
        line.push_str(&format!(" --engine {engine}"));
        line
    }

    /// Races the server before and after a change that is no knob, and compares. `change`: a command, or, after `# `, what to do by hand.
    pub fn before_and_after(&self, change: &str) -> String {
        let race = format!("limber race --target-hosts {}", self.host);
        let (before, after) = (format!("{race} --race-id before"), format!("{race} --race-id after"));
        [&before, change, &after, "limber compare --baseline before --contender after"].join("\n")
    }
}
