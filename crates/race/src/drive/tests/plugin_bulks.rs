//! Tests of bulk requests whose bodies come from a plugin's parameter source.

use serde_json::json;

use super::plugins::{asked, asked_of, bodies};
use super::stub::Asked;

#[test]
fn bulks_are_sent_as_the_source_wrote_them() {
    let plugin = r#"
import itertools


class Bulks:
    infinite = False

    def __init__(self, track, params, **kwargs):
        pass

    def partition(self, index, total):
        self.bodies = iter([
            "{\"create\":{}}\n{\"a\":1}\n",
            [{"create": {"_index": "x"}}, {"a": 2}],
            b"{\"create\":{}}\n{\"a\":3}\n",
        ])
        return self

    def params(self):
        return {"body": next(self.bodies), "bulk-size": 1, "unit": "docs", "action-metadata-present": True, "index": "logs"}


def register(registry):
    registry.register_param_source("bulks", Bulks)
"#;
    let Some(asked) =
        asked(plugin, json!([{"operation": {"operation-type": "bulk", "param-source": "bulks"}}]))
    else {
        return;
    };
    let asked = asked.unwrap();
    assert!(asked.iter().all(|asked| asked.line() == "PUT /_bulk"), "{asked:?}");
    let expected = [
        "{\"create\":{}}\n{\"a\":1}\n",
        "{\"create\":{\"_index\":\"x\"}}\n{\"a\":2}\n",
        "{\"create\":{}}\n{\"a\":3}\n",
    ];
    assert_eq!(bodies(&asked), expected);
}

#[test]
fn what_was_rejected_of_a_sources_bulk_is_sent_again() {
    let plugin = r#"
class Bulks:
    infinite = False

    def __init__(self, track, params, **kwargs):
        self.left, self.params_of_track = 2, params

    def partition(self, index, total):
        return self

    def params(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        with_actions = "{\"create\":{}}\n{\"a\":1}\n{\"create\":{}}\n{\"a\":2}\n"
        return {"body": with_actions if self.left else "{\"a\":1}\n{\"a\":2}\n", "bulk-size": 2, "unit": "docs", "index": "logs",
                "action-metadata-present": self.left == 1, "retries_on_429": 3}


def register(registry):
    registry.register_param_source("bulks", Bulks)
"#;
    let responder = |asked: &Asked| {
        let is_first = asked.body.contains("\"a\":1}");
        let rejected = r#"{"errors":true,"items":[{"index":{"status":201}},{"index":{"status":429}}]}"#;
        Some((200, if is_first { rejected.to_owned() } else { r#"{"errors":false}"#.to_owned() }))
    };
    let schedule = json!([{"operation": {"operation-type": "bulk", "param-source": "bulks"}}]);
    let Some(asked) = asked_of(plugin, schedule, responder) else { return };
    let asked = asked.unwrap();
    let expected = [
        "{\"create\":{}}\n{\"a\":1}\n{\"create\":{}}\n{\"a\":2}\n",
        "{\"create\":{}}\n{\"a\":2}\n",
        "{\"a\":1}\n{\"a\":2}\n",
        "{\"a\":2}\n",
    ];
    assert_eq!(bodies(&asked), expected);
    assert_eq!(asked[3].line(), "PUT /logs/_bulk");
}
