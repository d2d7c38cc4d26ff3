//! Reads the answer to a bulk request (`runner.py`, `BulkStats`, `simple_stats`, `detailed_stats`).
//!
//! Usually only `errors` and `took` at the start of the answer are read. The items are read when there were
//! errors, or when `detailed-results` asks for them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::drive::operation::Failure;
use crate::drive::probe::{Found, probe};
use crate::http::Response;

/// Uncompressed bytes within which a server says whether there were errors, before the items.
const START_BYTES: usize = 256;
/// Largest number of different errors that a description names.
const ERRORS_SHOWN_MAX: usize = 5;

/// Whether the start of a bulk response says that there were no errors.
pub(crate) fn says_no_errors(response: &Response<'_>) -> bool {
    let start = response.text_start(START_BYTES);
    let [errors] = probe(&start, ["errors"]);
    errors.and_then(Found::as_bool) == Some(false)
}

#[derive(Debug, Default)]
pub(crate) struct BulkResult {
    pub request_status: u16,
    pub took_ms: Option<u64>,
    pub errors: u64,
    /// Number of items without errors; known only if there were errors or details were asked for.
    successes: Option<u64>,
    /// Indices of the items that were answered with 429.
    pub rejected_items: Vec<usize>,
    max_doc_status: u16,
    /// Statuses and reasons of the errors.
    kinds: BTreeSet<(u16, String)>,
    items: Option<ItemDetails>,
}

/// What `detailed-results` adds.
#[derive(Debug, Default)]
struct ItemDetails {
    /// For each action, the number of items in total and by `result`.
    ops: BTreeMap<String, BTreeMap<String, u64>>,
    /// Number of items by their `_shards` object, in order of appearance.
    shards: Vec<(Value, u64)>,
    ingest_took: Option<u64>,
}

#[derive(Deserialize)]
struct BulkResponse {
    #[serde(default)]
    ingest_took: Option<u64>,
    items: Vec<Map<String, Value>>,
}

impl BulkResult {
    /// Errors: [`Failure::Transport`] if the answer is not one to a bulk request.
    pub(crate) fn read(response: &Response<'_>, is_detailed: bool) -> Result<BulkResult, Failure> {
        let mut result = BulkResult { request_status: response.status, ..BulkResult::default() };
        if !is_detailed {
            let start = response.text_start(START_BYTES);
            let [errors, took] = probe(&start, ["errors", "took"]);
            result.took_ms = took.and_then(Found::as_u64);
            if errors.and_then(Found::as_bool) == Some(false) {
                return Ok(result);
            }
        }
        let text = response.text()?;
        let [errors, took] = probe(&text, ["errors", "took"]);
        result.took_ms = took.and_then(Found::as_u64);
        match errors.and_then(Found::as_bool) {
            Some(false) if !is_detailed => return Ok(result),
            None if !is_detailed => {
                return Err(Failure::Transport { description: "bulk response without [errors]".into() });
            }
            _ => {}
        }
        let parsed: BulkResponse = serde_json::from_slice(&text).map_err(|error| Failure::Transport {
            description: format!("bulk response cannot be read: {error}"),
        })?;
        let mut successes = 0;
        let mut details = ItemDetails { ingest_took: parsed.ingest_took, ..ItemDetails::default() };
        for (index, item) in parsed.items.iter().enumerate() {
            let Some((action, item)) = item.iter().next() else { continue };
            let status = item["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let status = status.ok_or_else(|| Failure::Transport {
                description: format!("an item of the bulk response has no [status]: {item}"),
            })?;
            if is_detailed {
                details.add(action, item);
            }
            let failed_shards = item["_shards"]["failed"].as_u64().unwrap_or(0);
            let is_failed = status > 299 || failed_shards > 0;
            // Rally looks at failed items only when it looks at all details.
            if is_failed || !is_detailed {
                result.max_doc_status = result.max_doc_status.max(status);
            }
            if !is_failed {
                successes += 1;
                continue;
            }
            result.errors += 1;
            if status == 429 {
                result.rejected_items.push(index);
            }
            let error = &item["error"];
            let reason = match error {
                Value::Null => String::new(),
                error => error["reason"].as_str().map_or_else(|| error.to_string(), str::to_owned),
            };
            result.kinds.insert((status, reason));
        }
        result.successes = Some(successes);
        result.items = is_detailed.then_some(details);
        Ok(result)
    }

    /// Describes the first few different errors in Rally's words.
    pub(crate) fn description(&self) -> String {
        let shown =
            self.kinds.iter().take(ERRORS_SHOWN_MAX).map(|(status, reason)| match reason.is_empty() {
                true => format!("HTTP status: {status}"),
                false => format!("HTTP status: {status}, message: {reason}"),
            });
        let mut description = shown.collect::<Vec<_>>().join(" | ");
        if self.kinds.len() > ERRORS_SHOWN_MAX {
            let mut by_status: BTreeMap<u16, u64> = BTreeMap::new();
            self.kinds.iter().for_each(|(status, _)| *by_status.entry(*status).or_default() += 1);
            let counts: Vec<String> =
                by_status.iter().map(|(status, count)| format!("{count}x{status}")).collect();
            description.push_str(&format!(" | TRUNCATED {}", counts.join(", ")));
        }
        description
    }

    /// Returns Rally's meta data. `body` was sent and has `documents` documents; `retries` says how often
    /// rejected items were sent again.
    pub(crate) fn meta(&self, index: Option<&str>, body: &[u8], documents: u64, retries: u64) -> Value {
        let max_doc_status = if self.max_doc_status > 0 { self.max_doc_status } else { self.request_status };
        let mut meta = json!({
            "index": index,
            "took": self.took_ms,
            "success-count": self.successes.unwrap_or(documents),
            "error-count": self.errors,
            "request-status": self.request_status,
            "max-doc-status": max_doc_status,
        });
        if retries > 0 {
            meta["retry-count"] = json!(retries);
            meta["retried"] = json!(true);
        }
        if let Some(items) = &self.items {
            let lines = |from: usize| body.split(|byte| *byte == b'\n').skip(from);
            let shards: Vec<Value> = items
                .shards
                .iter()
                .map(|(shards, count)| json!({ "item-count": count, "shards": shards }))
                .collect();
            meta["ops"] = json!(items.ops);
            meta["shards_histogram"] = json!(shards);
            meta["bulk-request-size-bytes"] = json!(lines(0).map(<[u8]>::len).sum::<usize>());
            meta["total-document-size-bytes"] = json!(lines(1).step_by(2).map(<[u8]>::len).sum::<usize>());
            if let Some(took) = items.ingest_took {
                meta["ingest_took"] = json!(took);
            }
        }
        meta
    }
}

impl ItemDetails {
    fn add(&mut self, action: &str, item: &Value) {
        let of_action = self.ops.entry(action.to_owned()).or_default();
        *of_action.entry("item-count".to_owned()).or_default() += 1;
        if let Some(result) = item["result"].as_str() {
            *of_action.entry(result.to_owned()).or_default() += 1;
        }
        let Some(shards) = item.get("_shards") else { return };
        match self.shards.iter_mut().find(|(known, _)| known == shards) {
            Some((_, count)) => *count += 1,
            None => self.shards.push((shards.clone(), 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Encoding;

    fn response(body: &str) -> Response<'_> {
        Response { status: 200, encoding: Encoding::Identity, body: body.as_bytes() }
    }

    #[track_caller]
    fn check(body: &str, errors: u64, rejected: &[usize], description: &str) {
        for is_detailed in [false, true] {
            let result = BulkResult::read(&response(body), is_detailed).unwrap();
            assert_eq!((result.errors, &result.rejected_items[..]), (errors, rejected), "{body}");
            assert_eq!(result.description(), description);
            assert_eq!(result.took_ms, Some(3));
        }
    }

    #[test]
    fn responses() {
        check(r#"{"errors":false,"took":3,"items":[{"index":{"status":201}}]}"#, 0, &[], "");
        check(
            r#"{"took":3,"errors":true,"items":[{"index":{"status":201}},
                {"index":{"status":429,"error":{"type":"x","reason":"full"}}},
                {"create":{"status":400,"error":{"reason":"bad"}}},
                {"create":{"status":201,"_shards":{"total":2,"failed":1}}}]}"#,
            3,
            &[1],
            "HTTP status: 201 | HTTP status: 400, message: bad | HTTP status: 429, message: full",
        );
        assert!(BulkResult::read(&response("[]"), false).is_err());
    }

    #[test]
    fn many_errors_are_summed_up_by_status() {
        let items: Vec<Value> = (0..7)
            .map(|i| json!({ "index": { "status": 400 + i % 2, "error": { "reason": format!("r{i}") } } }))
            .collect();
        let body = json!({ "took": 3, "errors": true, "items": items }).to_string();
        let description = BulkResult::read(&response(&body), false).unwrap().description();
        assert!(description.ends_with("message: r1 | TRUNCATED 4x400, 3x401"), "{description}");
    }

    /// The expected values come from esrally 2.13's `BulkIndex` on the same answer.
    #[test]
    fn meta_data() {
        let body = r#"{"took":30,"ingest_took":4,"errors":true,"items":[
            {"index":{"status":201,"result":"created","_shards":{"total":2,"successful":1,"failed":0}}},
            {"index":{"status":200,"result":"updated","_shards":{"total":2,"successful":1,"failed":0}}},
            {"create":{"status":409,"error":{"reason":"there"}}}]}"#;
        let sent = b"{\"index\":{}}\n{\"a\":1}\n{\"index\":{}}\n{\"a\":22}\n{\"create\":{}}\n{}\n";
        let meta = |is_detailed| {
            BulkResult::read(&response(body), is_detailed).unwrap().meta(Some("logs"), sent, 3, 0)
        };
        let mut expected = json!({
            "index": "logs", "took": 30, "success-count": 2, "error-count": 1, "request-status": 200,
            "max-doc-status": 409,
        });
        assert_eq!(meta(false), expected);
        expected["ops"] =
            json!({"index": {"item-count": 2, "created": 1, "updated": 1}, "create": {"item-count": 1}});
        expected["shards_histogram"] =
            json!([{"item-count": 2, "shards": {"total": 2, "successful": 1, "failed": 0}}]);
        expected["bulk-request-size-bytes"] = json!(54);
        expected["total-document-size-bytes"] = json!(17);
        expected["ingest_took"] = json!(4);
        assert_eq!(meta(true), expected);
    }
}
