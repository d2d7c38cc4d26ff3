//! The templates that Elasticsearch installs by default, and that agents build on: `logs-*-*`, `metrics-*-*`
//! and `synthetics-*-*` are data streams with mappings of the Elastic Common Schema.
//!
//! They are only installed into an empty node, so changes and deletions by users persist.
//! `stack.templates.enabled: false` leaves them out. Names, patterns and priorities are Elasticsearch's
//! (`StackTemplateRegistry`, 8.14).

use limber_engine::{Node, Result, Stack};
use serde_json::{Value, json};

/// As in Elasticsearch, below the templates of users and above catch-all templates.
const PRIORITY: u32 = 100;
const VERSION: u32 = 1;

/// Installs the templates into an empty node.
pub fn install(node: &Node) {
    if !node.is_empty() {
        return;
    }
    if let Err(error) = put(node) {
        tracing::warn!(%error, "the built-in templates are not there");
    }
}

fn put(node: &Node) -> Result<()> {
    node.put_stack(&Stack {
        pipelines: vec![
            ("logs@default-pipeline", default_pipeline()),
            ("logs@json-message", json_pipeline()),
        ],
        policies: ["logs", "metrics", "synthetics"].map(|kind| (kind, policy())).to_vec(),
        components: components(),
        composable: templates(),
    })
}

fn managed(what: &str) -> Value {
    json!({"description": what, "managed": true})
}

fn component(name: &'static str, what: &str, template: Value) -> (&'static str, Value) {
    (name, json!({"template": template, "version": VERSION, "_meta": managed(what)}))
}

fn components() -> Vec<(&'static str, Value)> {
    vec![
        component("data-streams@mappings", "fields of every data stream", data_stream_mappings()),
        component("ecs@mappings", "fields of the Elastic Common Schema by their names", ecs_mappings()),
        component("logs@mappings", "fields of logs", typed("logs")),
        component("logs@settings", "settings of logs", settings("logs", Some("logs@default-pipeline"))),
        component("metrics@mappings", "fields of metrics", typed("metrics")),
        component("metrics@settings", "settings of metrics", settings("metrics", None)),
        component("metrics@tsdb-settings", "settings of metrics", settings("metrics", None)),
        component("synthetics@mappings", "fields of synthetic monitors", typed("synthetics")),
        component("synthetics@settings", "settings of synthetic monitors", settings("synthetics", None)),
    ]
}

fn templates() -> Vec<(&'static str, Value)> {
    let template = |kind: &'static str, parts: &[&str]| {
        let own = [format!("{kind}@custom")];
        let mut composed: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        // The users' mappings come before the dynamic templates that match field names.
        let at = composed.iter().position(|part| part == "ecs@mappings").unwrap_or(composed.len());
        composed.insert(at, own[0].clone());
        let body = json!({
            "index_patterns": [format!("{kind}-*-*")],
            "priority": PRIORITY,
            "version": VERSION,
            "data_stream": {},
            "composed_of": composed,
            "ignore_missing_component_templates": own,
            "allow_auto_create": true,
            "_meta": managed(&format!("data streams of {kind}")),
        });
        (kind, body)
    };
    vec![
        template("logs", &["logs@mappings", "logs@settings", "ecs@mappings"]),
        template("metrics", &["metrics@mappings", "data-streams@mappings", "metrics@settings"]),
        template("synthetics", &["synthetics@mappings", "data-streams@mappings", "synthetics@settings"]),
    ]
}

fn settings(policy: &str, pipeline: Option<&str>) -> Value {
    let mut settings = json!({
        "index.lifecycle.name": policy,
        "index.codec": "best_compression",
        "index.mapping.ignore_malformed": policy == "logs",
    });
    if let Some(pipeline) = pipeline {
        settings["index.default_pipeline"] = pipeline.into();
    }
    json!({ "settings": settings })
}

/// Returns a mapping with the timestamp and the three parts of a data stream's name.
fn typed(kind: &str) -> Value {
    json!({"mappings": {
        "date_detection": false,
        "properties": {
            "@timestamp": {"type": "date", "ignore_malformed": false},
            "data_stream": {"properties": {
                "type": {"type": "constant_keyword", "value": kind},
                "dataset": {"type": "constant_keyword"},
                "namespace": {"type": "constant_keyword"},
            }},
        },
    }})
}

fn data_stream_mappings() -> Value {
    json!({"mappings": {
        "date_detection": false,
        "dynamic_templates": [
            {"match_ip": {"match": "ip", "match_mapping_type": "string", "mapping": {"type": "ip"}}},
            {"match_message": {"match": "message", "match_mapping_type": "string", "mapping": {"type": "match_only_text"}}},
            {"strings_as_keyword": {"match_mapping_type": "string", "mapping": {"type": "keyword", "ignore_above": 1024}}},
        ],
        "properties": {
            "@timestamp": {"type": "date"},
            "ecs": {"properties": {"version": {"type": "keyword", "ignore_above": 1024}}},
            "host": {"type": "object"},
        },
    }})
}

/// Returns a dynamic template for the field names to which the schema gives the same type.
fn named(name: &str, how: &str, names: &[&str], values: Option<&str>, mapping: Value) -> Value {
    let mut body = json!({ how: names, "mapping": mapping });
    match values {
        Some(kind) => body["match_mapping_type"] = kind.into(),
        None => body["unmatch_mapping_type"] = "object".into(),
    }
    json!({ name: body })
}

/// Returns the mappings of the Elastic Common Schema. Source: its field reference.
fn ecs_mappings() -> Value {
    let with_text = |kind: &str| json!({"type": kind, "fields": {"text": {"type": "match_only_text"}}});
    let unsearched = json!({"type": "keyword", "index": false, "doc_values": false});
    let dates = [
        "*.timestamp",
        "*_timestamp",
        "*.not_after",
        "*.not_before",
        "*.accessed",
        "created",
        "*.created",
        "*.installed",
        "*.creation_date",
        "*.ctime",
        "*.mtime",
        "ingested",
        "*.ingested",
        "*.start",
        "*.end",
        "*.indicator.first_seen",
        "*.indicator.last_seen",
        "*.indicator.modified_at",
        "*threat.enrichments.matched.occurred",
    ];
    let texts = [
        "*.title",
        "*.executable",
        "*.name",
        "*.working_directory",
        "*.full_name",
        "*file.path",
        "*file.target_path",
        "*os.full",
        "*email.subject",
        "*vulnerability.description",
        "*user_agent.original",
    ];
    json!({"mappings": {"dynamic_templates": [
        {"ecs_timestamp": {"match": "@timestamp", "mapping": {"type": "date", "ignore_malformed": false}}},
        named("ecs_message_match_only_text", "path_match", &["message", "*.message"], None, json!({"type": "match_only_text"})),
        named("ecs_non_indexed_keyword", "path_match", &["*event.original"], None, unsearched),
        named("ecs_non_indexed_long", "path_match", &["*.x509.public_key_exponent"], None,
            json!({"type": "long", "index": false, "doc_values": false})),
        named("ecs_ip", "path_match", &["ip", "*.ip", "*_ip"], Some("string"), json!({"type": "ip"})),
        named("ecs_wildcard", "path_match", &["*.io.text", "*.message_id", "*registry.data.strings", "*url.path"], None,
            json!({"type": "wildcard"})),
        named("ecs_path_match_wildcard_and_match_only_text", "path_match", &["*.body.content", "*url.full", "*url.original"], None,
            with_text("wildcard")),
        named("ecs_match_wildcard_and_match_only_text", "match", &["*command_line", "*stack_trace"], None, with_text("wildcard")),
        named("ecs_path_match_keyword_and_match_only_text", "path_match", &texts, None, with_text("keyword")),
        named("ecs_date", "path_match", &dates, None, json!({"type": "date"})),
        named("ecs_path_match_float", "path_match", &["*.score.*", "*_score*"], None, json!({"type": "float"})),
        named("ecs_usage_double_scaled_float", "path_match", &["*.usage"], Some("double"),
            json!({"type": "scaled_float", "scaling_factor": 1000})),
        named("ecs_usage_long_scaled_float", "path_match", &["*.usage"], Some("long"),
            json!({"type": "scaled_float", "scaling_factor": 1000})),
        {"ecs_geo_point": {"path_match": ["location", "*.location"], "mapping": {"type": "geo_point"}}},
        named("ecs_flattened", "path_match", &["*structured_data", "*exports", "*imports"], Some("object"), json!({"type": "flattened"})),
        named("all_strings_to_keywords", "path_match", &["*"], Some("string"), json!({"type": "keyword", "ignore_above": 1024})),
    ]}})
}

/// Returns a pipeline that sets the timestamp of a document without one to its time of arrival.
fn default_pipeline() -> Value {
    json!({
        "description": "gives logs that bring no time that of their arrival",
        "version": VERSION,
        "_meta": managed("default pipeline of logs"),
        "processors": [
            {"set": {"field": "@timestamp", "copy_from": "_ingest.timestamp", "override": false}},
            {"pipeline": {"name": "logs@custom", "ignore_missing_pipeline": true}},
        ],
    })
}

fn json_pipeline() -> Value {
    json!({
        "description": "takes apart a message that is a JSON object",
        "version": VERSION,
        "_meta": managed("logs whose message is JSON"),
        "processors": [{"json": {
            "if": "ctx.message instanceof String && ctx.message.startsWith('{') && ctx.message.endsWith('}')",
            "field": "message", "add_to_root": true, "add_to_root_conflict_strategy": "merge", "allow_duplicate_keys": true,
            "on_failure": [{"rename": {"field": "_tmp_json_message", "target_field": "message", "ignore_missing": true}}],
        }}],
    })
}

/// Returns a policy that rolls over every 30 days or at 50 GB, and deletes nothing.
fn policy() -> Value {
    json!({"policy": {
        "phases": {"hot": {"actions": {"rollover": {"max_age": "30d", "max_primary_shard_size": "50gb"}}}},
        "_meta": managed("default policy of a kind of data streams"),
    }})
}
