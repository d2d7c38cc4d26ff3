//! Which command line would prove a finding?
//!
//! The one place that knows how `limber tune` and `limber race` are called.

use super::server::{Kind, Product};
use crate::conduct::race::new_race_id;
use crate::notation::units::MB;

/// What an experiment looks for. The built-in tracks stand for the user's own, which nobody knows here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    Writes,
    Searches,
    StoreSize,
}

impl Goal {
    fn arguments(self) -> &'static str {
        match self {
            Goal::Writes => "--goal docs/s",
            Goal::Searches => "--track segment_memory --goal 'p99 of query'",
            Goal::StoreSize => "--goal race.store_size",
        }
    }
}

/// Collectors to compare with the one of the server's own options, which names G1.
pub(super) const COLLECTORS: (&str, &str) =
    ("jvm", ",-XX:-UseG1GC -XX:+UseParallelGC,-XX:-UseG1GC -XX:+UseZGC");

pub(super) struct Experiment<'a> {
    pub host: &'a str,
    pub product: &'a Product,
    /// Where Elasticsearch or OpenSearch is unpacked, on its own machine.
    pub folder: Option<&'a str>,
    /// What is on the server already.
    pub indices: Vec<&'a str>,
}

/// The index of races of the built-in track on the user's own server; such a race deletes it first.
const RACED_INDEX: &str = "limber_advise";

impl Experiment<'_> {
    /// Searches the values of `knobs` for the best `goal`; the first value of each is what the server has.
    pub(super) fn tune(&self, goal: Goal, knobs: &[(&str, &str)]) -> String {
        let mut line = format!("limber tune {}", goal.arguments());
        for (name, values) in knobs {
            line.push_str(&format!(" --knob {}", quoted(&format!("{name}={values}"))));
        }
        let engine = match self.product.kind {
            Kind::Limber => "limber",
            Kind::Elasticsearch | Kind::OpenSearch => self.folder.unwrap_or("FOLDER"),
        };
        line.push_str(&format!(" --engine {}", quoted(engine)));
        line
    }

    /// Races the server before and after a change that is no knob, and compares. `change`: a command, or,
    /// after `# `, what to do by hand.
    ///
    /// The race writes an index of a name that the server does not have, and its ids are new each time:
    /// nothing that is there is lost.
    pub(super) fn before_and_after(&self, change: &str) -> String {
        let id: String = new_race_id().chars().take(8).collect();
        let race = format!(
            "limber race --target-hosts {} --track-params index_name:{} --race-id {id}",
            self.host,
            self.free_index()
        );
        let compare = format!("limber compare --baseline {id}-before --contender {id}-after");
        [&format!("{race}-before"), change, &format!("{race}-after"), &compare].join("\n")
    }

    /// A name that no index of the server has.
    fn free_index(&self) -> String {
        let mut name = RACED_INDEX.to_owned();
        let mut number = 1;
        while self.indices.contains(&name.as_str()) {
            number += 1;
            name = format!("{RACED_INDEX}_{number}");
        }
        name
    }
}

/// As an argument of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=:,./%+@".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// `512m`, which a JVM's heap and Limber's limit both understand.
pub(super) fn megabytes(bytes: f64) -> String {
    format!("{:.0}m", (bytes / MB).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_can_be_pasted() {
        let product = Product { kind: Kind::Elasticsearch, version: "9.4.3".into() };
        let experiment = Experiment {
            host: "es:9200",
            product: &product,
            folder: Some("/opt/my search"),
            indices: vec!["log_ingest", "limber_advise"],
        };
        assert_eq!(
            experiment.tune(Goal::Searches, &[("heap", "512m,1024m"), COLLECTORS]),
            "limber tune --track segment_memory --goal 'p99 of query' --knob heap=512m,1024m \
             --knob 'jvm=,-XX:-UseG1GC -XX:+UseParallelGC,-XX:-UseG1GC -XX:+UseZGC' --engine '/opt/my search'"
        );
        let lines = experiment.before_and_after("# wait");
        let (_, id) = lines.lines().next().unwrap().rsplit_once(' ').unwrap();
        let id = id.strip_suffix("-before").unwrap();
        let race = "limber race --target-hosts es:9200 --track-params index_name:limber_advise_2 --race-id";
        assert_eq!(
            lines,
            format!(
                "{race} {id}-before\n# wait\n{race} {id}-after\nlimber compare --baseline {id}-before --contender {id}-after"
            )
        );
        assert!(!experiment.before_and_after("# wait").contains(id), "its races overwrite no other");
    }
}
