//! Settings of an `elasticsearch.yml` that a single node in a single process fulfils anyway: "does this
//! setting ask for something that is not the case already?"
//!
//! Each setting is checked. A setting that describes what this server does anyway, or that turns off a
//! feature it does not have, is accepted and noted in the log. A setting that it cannot fulfil is refused
//! with advice. Settings that have an effect here are not in this table.

use limber_mapping::plain_text;
use serde_json::{Map, Value};

/// When a setting is accepted.
enum Takes {
    /// With any value. The string says why the setting changes nothing.
    Anything(&'static str),
    /// With one of these values. The string says why no other value is possible.
    Only(&'static [&'static str], &'static str),
    /// With a list of at most one name.
    AtMostOne(&'static str),
}
use Takes::{Anything, AtMostOne, Only};

const ONE_NODE: &str = "there is one node, which is its own cluster";
const NO_TRANSPORT: &str = "nodes do not talk to each other, so that there is no transport layer";
const ALL_ROLES: &str = "the one node has every role";
const NOT_THERE: &str = "what it turns on is not there";

/// The settings. A name that ends with `*` covers all names with that prefix. The first matching row counts.
const SETTINGS: &[(&str, Takes)] = &[
    ("discovery.type", Only(&["single-node"], ONE_NODE)),
    ("discovery.seed_hosts", AtMostOne(ONE_NODE)),
    ("discovery.seed_providers", Only(&["", "[]"], ONE_NODE)),
    ("cluster.initial_master_nodes", AtMostOne(ONE_NODE)),
    ("discovery.zen.minimum_master_nodes", Only(&["1"], ONE_NODE)),
    ("gateway.*", Anything(ONE_NODE)),
    ("cluster.remote.*", Only(&[], "searches across clusters are not there")),
    ("node.roles", Anything(ALL_ROLES)),
    ("node.master", Only(&["true"], ALL_ROLES)),
    ("node.data", Only(&["true"], ALL_ROLES)),
    ("node.ingest", Only(&["true"], ALL_ROLES)),
    ("node.ml", Only(&["false"], NOT_THERE)),
    ("node.max_local_storage_nodes", Only(&["1"], "a data folder has one server")),
    ("node.store.allow_mmap", Only(&["true"], "segments are read through maps")),
    ("transport.*", Anything(NO_TRANSPORT)),
    ("xpack.security.transport.*", Anything(NO_TRANSPORT)),
    (
        "xpack.security.enrollment.enabled",
        Anything("clients are given the certificate and a password, not an enrollment token"),
    ),
    (
        "xpack.security.autoconfiguration.enabled",
        Anything("limber serve --secure is what makes certificates"),
    ),
    ("path.logs", Anything("the log goes to standard error: whoever starts the server says where that goes")),
    (
        "bootstrap.memory_lock",
        Only(&["false"], "memory is not locked: turn swap off (swapoff -a, MemorySwapMax=0)"),
    ),
    ("bootstrap.system_call_filter", Anything("the server starts no other programs")),
    ("xpack.ml.enabled", Only(&["false"], NOT_THERE)),
    ("xpack.watcher.enabled", Only(&["false"], NOT_THERE)),
    ("xpack.graph.enabled", Only(&["false"], NOT_THERE)),
    ("xpack.monitoring.*", Only(&["false"], "figures are at /_prometheus/metrics and _nodes/stats")),
    ("xpack.license.self_generated.type", Only(&["basic"], "there is no other license")),
    ("ingest.geoip.downloader.enabled", Only(&["false"], "data bases are not downloaded")),
];

/// A setting that was accepted, and the reason why it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub key: String,
    pub why: &'static str,
}

/// Removes the settings that this table knows. Returns notes on those that are fulfilled anyway, and messages
/// for those that cannot be fulfilled.
pub fn settle(settings: &mut Map<String, Value>) -> (Vec<Note>, Vec<String>) {
    let (mut notes, mut refused) = (Vec::new(), Vec::new());
    let keys: Vec<String> = settings.keys().cloned().collect();
    for key in keys {
        let fits = |name: &str| match name.strip_suffix('*') {
            Some(prefix) => key.starts_with(prefix),
            None => key == name,
        };
        let Some((_, takes)) = SETTINGS.iter().find(|(name, _)| fits(name)) else { continue };
        let Some(value) = settings.shift_remove(&key) else { continue };
        let shown = plain_text(&value);
        let (is_so, why) = match takes {
            Anything(why) => (true, *why),
            Only(values, why) => (values.contains(&shown.as_str()), *why),
            AtMostOne(why) => (count(&value) <= 1, *why),
        };
        match is_so {
            true => notes.push(Note { key, why }),
            false => refused.push(format!("[{key}] cannot be [{shown}]: {why}")),
        }
    }
    (notes, refused)
}

/// Returns the number of members of a list, which may be a string with commas.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.len(),
        value => plain_text(value)
            .trim_matches(['[', ']'])
            .split(',')
            .filter(|name| !name.trim().is_empty())
            .count(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settled(settings: Value) -> (Vec<String>, Vec<String>, Value) {
        let Value::Object(mut settings) = settings else { panic!("an object") };
        let (notes, refused) = settle(&mut settings);
        (notes.into_iter().map(|note| note.key).collect(), refused, Value::Object(settings))
    }

    #[test]
    fn what_one_node_fulfils_is_taken_and_the_rest_left() {
        let (taken, refused, left) = settled(json!({
            "cluster.name": "c", "discovery.type": "single-node", "cluster.initial_master_nodes": ["a"], "discovery.seed_hosts": "[]",
            "node.roles": ["master", "data"], "transport.port": 9300, "xpack.security.transport.ssl.enabled": true, "bootstrap.memory_lock": false,
            "path.logs": "/var/log", "xpack.security.enabled": true, "no.such": 1}));
        assert!(refused.is_empty(), "{refused:?}");
        assert_eq!(left, json!({"cluster.name": "c", "xpack.security.enabled": true, "no.such": 1}));
        assert_eq!(taken.len(), 8);
    }

    #[test]
    fn what_it_cannot_be_is_refused_at_once() {
        let (_, refused, _) = settled(json!({
            "discovery.seed_hosts": ["a", "b"], "node.data": false, "bootstrap.memory_lock": true, "cluster.remote.other.seeds": "x:9300"}));
        let text = refused.join("; ");
        for key in
            ["discovery.seed_hosts", "node.data", "bootstrap.memory_lock", "cluster.remote.other.seeds"]
        {
            assert!(text.contains(&format!("[{key}] cannot be")), "{text}");
        }
    }
}
