//! Composes the command line that would prove a finding.
//!
//! Only this module knows how `limber tune` and `limber race` are called.

use super::server::{Kind, Product};
use crate::conduct::race::new_race_id;
use crate::notation::units::MB;

/// What an experiment optimizes. The built-in tracks stand in for the user's own tracks, which are not known
/// here.
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

/// Values of the `jvm` knob: the server's own options (the empty value), which select G1, then other
/// collectors.
pub(super) const COLLECTORS: (&str, &str) =
    ("jvm", ",-XX:-UseG1GC -XX:+UseParallelGC,-XX:-UseG1GC -XX:+UseZGC");

pub(super) struct Experiment<'a> {
    pub host: &'a str,
    pub product: &'a Product,
    /// Folder in which Elasticsearch or OpenSearch is unpacked, on the server's machine.
    pub folder: Option<&'a str>,
    /// Names of the indices that are already on the server.
    pub indices: Vec<&'a str>,
}

/// Index that races of the built-in track use on the user's own server. Such a race deletes it first.
const RACED_INDEX: &str = "limber_advise";

impl Experiment<'_> {
    /// Returns a `limber tune` command that searches the values of `knobs` for the best `goal`. The first
    /// value of each knob is the one the server has now.
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

    /// Returns commands that race the server before and after a change that is not a knob, and compare the
    /// two races. `change` is a command, or, after `# `, what to do by hand.
    ///
    /// The race writes to an index whose name is not used on the server, and its race ids are new each time,
    /// so nothing that is already stored is lost.
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

    /// Returns an index name that is not used on the server.
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

/// Quotes `text` as a shell argument, if it needs quotes.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=:,./%+@".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Returns a size as `512m`, which a JVM's heap option and Limber's limit both understand.
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
