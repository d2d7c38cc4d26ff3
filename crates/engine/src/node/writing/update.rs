//! Updates: a partial document merged into the existing one, or a script run on it.
//!
//! Source: `UpdateHelper`, `XContentHelper#update`.

use std::sync::atomic::Ordering;

use limber_mapping::{ErrorClass, ObjectParser, RequestError, duplicate_key, parse_unique, tree_bytes};
use limber_script::{Script, ScriptContext, Scripts, run_on_context};
use limber_store::Charge;
use limber_text::likeness;
use limber_work as work;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::bulk_step::outcome_of;
use crate::api::*;
use crate::node::Node;
use crate::shard::{Condition, Reading, Shard, Unsynced, Write, store_error};
use crate::translog::{Operation, OperationType};

/// How deeply an update's documents may be nested.
const DEPTH_MAX: usize = 1000;

/// The parsed body of an update.
#[derive(Debug)]
struct UpdateBody {
    doc: Option<Map<String, Value>>,
    upsert: Option<Map<String, Value>>,
    doc_as_upsert: bool,
    detect_noop: bool,
    wants_source: bool,
    script: Option<Script>,
    /// Whether the script also makes a new document, from `upsert`.
    scripted_upsert: bool,
    if_seq_no: Option<u64>,
    if_primary_term: Option<u64>,
}

impl UpdateBody {
    fn parse(body: &[u8]) -> Result<UpdateBody> {
        const PARSER: ObjectParser<'_> = ObjectParser::new("UpdateRequest");
        let unreadable = |error: serde_json::Error| {
            duplicate_key(body, &error).unwrap_or_else(|| PARSER.refused(&error.to_string()))
        };
        let members = match parse_unique(body).map_err(unreadable)? {
            Value::Object(members) => members,
            other => return Err(PARSER.expected_object(&other)),
        };
        let mut parsed = UpdateBody {
            doc: None,
            upsert: None,
            doc_as_upsert: false,
            detect_noop: true,
            wants_source: false,
            script: None,
            scripted_upsert: false,
            if_seq_no: None,
            if_primary_term: None,
        };
        for (key, value) in members {
            let number =
                |value: &Value| value.as_u64().ok_or_else(|| PARSER.refused(&format!("[{key}] is a number")));
            let document = |value: Value| match value {
                Value::Object(document) => Ok(document),
                other => Err(PARSER.unsupported(&key, &other)),
            };
            match key.as_str() {
                "doc" => parsed.doc = Some(document(value)?),
                "upsert" => parsed.upsert = Some(document(value)?),
                "doc_as_upsert" => parsed.doc_as_upsert = PARSER.flag(&key, &value)?,
                "detect_noop" => parsed.detect_noop = PARSER.flag(&key, &value)?,
                "if_seq_no" => parsed.if_seq_no = Some(number(&value)?),
                "if_primary_term" => parsed.if_primary_term = Some(number(&value)?),
                // Only whether `_source` is wanted matters here; the renderer filters it.
                "_source" => parsed.wants_source = value != Value::Bool(false),
                "script" => parsed.script = Some(Script::parse(&value)?),
                "scripted_upsert" => parsed.scripted_upsert = PARSER.flag(&key, &value)?,
                other => return Err(unknown_field(PARSER, other)),
            }
        }
        if parsed.doc.is_none() && parsed.script.is_some() && !parsed.doc_as_upsert {
            return Ok(parsed);
        }
        if parsed.doc.is_none() || parsed.script.is_some() {
            let mut faults = Vec::new();
            match parsed.doc.is_some() {
                true => faults.push("can't provide both script and doc"),
                false if parsed.script.is_none() => faults.push("script or doc is missing"),
                false => {}
            }
            if parsed.doc.is_none() && parsed.doc_as_upsert {
                faults.push("doc must be specified if doc_as_upsert is enabled");
            }
            return Err(RequestError::validation(faults));
        }
        Ok(parsed)
    }

    /// Checks that an update of a document in a certain state does not create it.
    fn check_condition(&self, operation: &BulkOperation<'_>) -> Result<()> {
        let (if_seq_no, if_primary_term) = self.condition(operation);
        let mut faults = BulkOperation { if_seq_no, if_primary_term, ..operation.clone() }.faults();
        if if_seq_no.is_some() && (self.upsert.is_some() || self.doc_as_upsert) {
            faults.push("compare and write operations can not be used with upsert".to_owned());
        }
        if faults.is_empty() { Ok(()) } else { Err(RequestError::validation(faults)) }
    }

    /// Returns the sequence number and the primary term that the document must have, from the request or the
    /// body.
    fn condition(&self, operation: &BulkOperation<'_>) -> (Option<u64>, Option<u64>) {
        (operation.if_seq_no.or(self.if_seq_no), operation.if_primary_term.or(self.if_primary_term))
    }
}

/// Words the error like Elasticsearch, with its guess at what was meant.
fn unknown_field(parser: ObjectParser<'_>, name: &str) -> RequestError {
    let nearest = likeness::similar(name, UPDATE_MEMBERS.into_iter());
    parser.unknown_but(name, nearest.first().map_or(&[], std::slice::from_ref))
}

/// Returns the body of an update, and the name of the member that would become a new document. `None` when
/// there is no such member; a malformed body is refused by the update itself.
pub(in crate::node) fn upserted_member(body: &[u8]) -> Option<(Value, &'static str)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let as_upsert = body.get("doc_as_upsert").and_then(Value::as_bool).unwrap_or(false);
    let member = if as_upsert { "doc" } else { "upsert" };
    body.get(member)?.is_object().then_some((body, member))
}

/// Returns the pipeline that a request names for the document of an operation. As in Elasticsearch, it is not
/// meant for a `doc` that becomes a new document.
pub(in crate::node) fn asked_pipeline<'r>(
    operation: &'r BulkOperation<'r>,
    default: Option<&'r str>,
) -> Option<&'r str> {
    let asked = operation.pipeline.as_deref().or(default)?;
    let is_for_it = operation.kind != OperationKind::Update || !is_doc_as_upsert(operation.source);
    is_for_it.then_some(asked)
}

/// Whether an update writes its `doc` as a new document if there is none.
fn is_doc_as_upsert(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Member {
        doc_as_upsert: Option<bool>,
    }
    memchr::memmem::find(body, b"doc_as_upsert").is_some()
        && serde_json::from_slice::<Member>(body).is_ok_and(|member| member.doc_as_upsert == Some(true))
}

/// What an update is going to do.
enum Plan {
    Index { source: Vec<u8>, condition: Condition },
    Create { source: Vec<u8> },
    Delete { condition: Condition },
    Noop,
}

/// Names the holder of the memory in errors of the circuit breaker.
const LABEL: &str = "<update>";
/// Copies of a new document that exist at the same time: as written, and as framed for the translog.
const COPIES_WRITTEN: u64 = 2;

/// Number of additional trees of a document while a script runs on it: one that the script sees, and one that
/// it leaves.
const TREES_OF_SCRIPT: u64 = 2;

impl Node {
    fn charge_update(&self, bytes: u64) -> Result<Charge> {
        self.ledger().request.charge(bytes, LABEL).map_err(|error| store_error(&error))
    }

    pub(in crate::node) fn update(
        &self,
        shard: &Shard,
        operation: &BulkOperation<'_>,
        body: &[u8],
        id: &str,
        routing: Option<&str>,
    ) -> Result<(WriteOutcome, Option<Unsynced>)> {
        let _body_charge = self.charge_update(tree_bytes(body))?;
        let body_bytes = body.len();
        let body = UpdateBody::parse(body)?;
        body.check_condition(operation)?;
        let mut retries_left = operation.retry_on_conflict;
        loop {
            let applied = shard.applied()?;
            let found = shard.get(id, Reading::ForWrite)?;
            let stored = found.as_ref().map_or(&[][..], |found| &found.source);
            // The new document is seldom longer than both together. If it is, the rest is charged once its
            // length is known.
            let foreseen_bytes = (stored.len() + body_bytes) as u64;
            let trees = if body.script.is_some() { 1 + TREES_OF_SCRIPT } else { 1 };
            let held_bytes = stored.len() as u64 + trees * tree_bytes(stored);
            let mut charge = self.charge_update(held_bytes + COPIES_WRITTEN * foreseen_bytes)?;
            let plan = plan(&self.scripts, shard, operation, id, &body, found.as_ref())?;
            let (kind, source, condition, must_create) = match plan {
                Plan::Noop => {
                    shard.counters.noop_updates.fetch_add(1, Ordering::Relaxed);
                    let relies_on = relied_on(shard, applied, found.is_some())?;
                    return Ok((noop(found, body.wants_source || operation.wants_source), relies_on));
                }
                Plan::Index { source, condition } => (OperationType::Index, source, condition, false),
                Plan::Create { source } => (OperationType::Index, source, Condition::None, true),
                Plan::Delete { condition } => (OperationType::Delete, Vec::new(), condition, false),
            };
            let more_bytes = COPIES_WRITTEN * (source.len() as u64).saturating_sub(foreseen_bytes);
            charge.grow(more_bytes, LABEL).map_err(|error| store_error(&error))?;
            let routing = routing.or(found.as_ref().and_then(|found| found.routing.as_deref()));
            let write = Write {
                operation: Operation { kind, id, routing, source: &source },
                condition,
                must_create,
                is_generated: false,
                templates: None,
            };
            let mut results = Vec::with_capacity(1);
            // Buffers and the translog are charged where they grow.
            let unsynced = work::aside(|| shard.write(&[write], &mut results))?;
            match results.pop() {
                Some(Ok(written)) => {
                    let mut outcome = outcome_of(written);
                    if body.wants_source || operation.wants_source {
                        outcome.source = Some(source.into());
                    }
                    return Ok((outcome, unsynced));
                }
                Some(Err(error)) if error.class == ErrorClass::Conflict && retries_left > 0 => {
                    retries_left -= 1
                }
                Some(Err(error)) => return Err(error),
                None => {
                    return Err(RequestError::internal(
                        "illegal_state_exception",
                        "a write of one operation answers once",
                    ));
                }
            }
        }
    }
}

/// Returns what an answer that changes nothing relies on: what was found, which may not be durable yet.
fn relied_on(shard: &Shard, applied: Unsynced, was_found: bool) -> Result<Option<Unsynced>> {
    if !was_found {
        return Ok(None);
    }
    let relies_on = applied.until_now();
    work::aside(|| shard.keep_recovered())?;
    Ok(Some(relies_on))
}

/// Returns what an update does to the document. `found` is the stored document.
fn plan(
    scripts: &Scripts,
    shard: &Shard,
    operation: &BulkOperation<'_>,
    id: &str,
    body: &UpdateBody,
    found: Option<&FoundDocument>,
) -> Result<Plan> {
    let (seq_no, primary_term) = body.condition(operation);
    let expected = seq_no.zip(primary_term);
    match found {
        None => plan_of_missing(scripts, shard, id, body, expected),
        Some(found) => {
            check_is_expected(shard, id, expected, found)?;
            plan_of_existing(scripts, shard, id, body, found)
        }
    }
}

/// Plans an update of a document that does not exist.
fn plan_of_missing(
    scripts: &Scripts,
    shard: &Shard,
    id: &str,
    body: &UpdateBody,
    expected: Option<(u64, u64)>,
) -> Result<Plan> {
    let upsert = match (&body.upsert, body.doc_as_upsert) {
        (_, true) => body.doc.as_ref(),
        (upsert, false) => upsert.as_ref(),
    };
    if let (Some((seq_no, primary_term)), Some(_)) = (expected, upsert) {
        let why =
            format!("required seqNo [{seq_no}], primary term [{primary_term}]. but no document was found");
        return Err(shard.conflict(id, why));
    }
    if let (Some(script), Some(upsert), true) = (&body.script, &body.upsert, body.scripted_upsert) {
        let document = Metadata { shard, id, found: None };
        let (op, source) = scripted(scripts, script, &document, upsert.clone(), "create")?;
        return Ok(match op.as_str() {
            "create" => Plan::Create { source: to_bytes(&source)? },
            _ => Plan::Noop,
        });
    }
    match upsert {
        Some(upsert) => Ok(Plan::Create { source: to_bytes(upsert)? }),
        None => Err(shard.located(RequestError::not_found(
            "document_missing_exception",
            format!("[{id}]: document missing"),
        ))),
    }
}

/// Fails if the document has another sequence number or primary term than the request expects.
fn check_is_expected(
    shard: &Shard,
    id: &str,
    expected: Option<(u64, u64)>,
    found: &FoundDocument,
) -> Result<()> {
    if let Some((seq_no, primary_term)) =
        expected.filter(|expected| *expected != (found.identity.seq_no, found.identity.primary_term))
    {
        let why = format!(
            "required seqNo [{seq_no}], primary term [{primary_term}]. current document has seqNo [{}] and primary term [{}]",
            found.identity.seq_no, found.identity.primary_term
        );
        return Err(shard.conflict(id, why));
    }
    Ok(())
}

/// Plans an update of a document that exists.
fn plan_of_existing(
    scripts: &Scripts,
    shard: &Shard,
    id: &str,
    body: &UpdateBody,
    found: &FoundDocument,
) -> Result<Plan> {
    if found.source.is_empty() {
        let reason = format!("[{id}]: document source missing");
        return Err(shard.located(RequestError::bad_request("document_source_missing_exception", reason)));
    }
    let mut source = match limber_mapping::parse_source(&found.source) {
        Ok(Value::Object(source)) => source,
        Err(error) if error.to_string().starts_with("recursion limit") => {
            return Err(RequestError::unsupported("an update of a document of more than 128 levels"));
        }
        _ => {
            return Err(RequestError::internal(
                "illegal_state_exception",
                "the stored document is not an object",
            ));
        }
    };
    if let Some(script) = &body.script {
        let document = Metadata { shard, id, found: Some(found) };
        let (op, source) = scripted(scripts, script, &document, source, "index")?;
        let condition = Condition::unchanged_since(found.identity);
        return Ok(match op.as_str() {
            "index" => Plan::Index { source: to_bytes(&source)?, condition },
            "delete" => Plan::Delete { condition },
            _ => Plan::Noop,
        });
    }
    let changed = match &body.doc {
        Some(doc) => merge(&mut source, doc, body.detect_noop, 0)?,
        None => false,
    };
    if !changed && body.detect_noop {
        return Ok(Plan::Noop);
    }
    let condition = Condition::unchanged_since(found.identity);
    Ok(Plan::Index { source: to_bytes(&source)?, condition })
}

/// What a script can see of a document besides its source.
struct Metadata<'a> {
    shard: &'a Shard,
    id: &'a str,
    /// `None` when the document is about to be created.
    found: Option<&'a FoundDocument>,
}

/// Runs a script on `ctx`. Returns the operation (`ctx.op`) and the source that it left.
fn scripted(
    scripts: &Scripts,
    script: &Script,
    document: &Metadata<'_>,
    source: Map<String, Value>,
    op: &str,
) -> Result<(String, Map<String, Value>)> {
    let mut ctx = json!({
        "op": op,
        "_now": document.shard.now_millis(),
        "_index": document.shard.index.reference.name.as_str(),
        "_id": document.id,
        "_source": source,
    });
    if let Some(found) = document.found {
        ctx["_type"] = "_doc".into();
        ctx["_version"] = found.identity.version.into();
        ctx["_routing"] = found.routing.as_deref().into();
    }
    let failed = |cause: RequestError| match cause.kind {
        "script_exception" | "resource_not_found_exception" => {
            RequestError::illegal_argument("failed to execute script").caused_by(cause)
        }
        _ => cause,
    };
    let mut changed = run_on_context(scripts, script, ScriptContext::Update, &ctx).map_err(failed)?;
    check_context(&ctx, &changed).map_err(failed)?;
    let op = changed["op"].as_str().unwrap_or("none").to_owned();
    match changed["_source"].take() {
        Value::Object(source) => Ok((op, source)),
        // The check above has refused it.
        _ => Err(RequestError::illegal_argument("[_source] is no object after the script")),
    }
}

/// Refuses changes that a script may not make to `ctx`. Elasticsearch's `CtxMap` refuses them while the
/// script runs; here they are refused after it.
fn check_context(before: &Value, after: &Value) -> Result<()> {
    let refused = |reason: String| {
        let cause = RequestError::illegal_argument(reason);
        Err(RequestError::bad_request("script_exception", "runtime error").caused_by(cause))
    };
    let (Some(before), Some(after)) = (before.as_object(), after.as_object()) else {
        return refused("[ctx] is no map after the script".to_owned());
    };
    for (name, value) in after {
        match (name.as_str(), before.get(name), value) {
            ("_source", _, Value::Object(_)) | ("op", _, Value::String(_) | Value::Null) => {}
            ("_source", ..) => return refused(format!("Expected [_source] to be a Map, not [{value}]")),
            ("op", ..) => {
                let wanted = "expected assignable to [java.lang.String]";
                return refused(format!("op [{value}] is wrong type, {wanted}"));
            }
            (_, Some(same), value) if same == value => {}
            (_, Some(_), _) => return refused(format!("{name} cannot be updated")),
            (_, None, _) => return refused(format!("Cannot put key [{name}] with value [{value}] into ctx")),
        }
    }
    match before.keys().find(|name| *name != "op" && !after.contains_key(*name)) {
        Some(removed) => refused(format!("{removed} cannot be removed")),
        None => Ok(()),
    }
}

/// Returns the bytes of a document that a script or an update has changed.
pub(in crate::node) fn to_bytes(document: &Map<String, Value>) -> Result<Vec<u8>> {
    serde_json::to_vec(document).map_err(|error| RequestError::internal("exception", error.to_string()))
}

/// Merges `changes` into `source`: objects merge, everything else is replaced. Returns whether anything
/// changed.
pub(in crate::node) fn merge(
    source: &mut Map<String, Value>,
    changes: &Map<String, Value>,
    compares: bool,
    depth: usize,
) -> Result<bool> {
    if depth > DEPTH_MAX {
        return Err(RequestError::illegal_argument(format!(
            "the document is nested deeper than [{DEPTH_MAX}] levels"
        )));
    }
    let mut changed = false;
    for (key, value) in changes {
        match (source.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => {
                changed |= merge(below, above, compares, depth + 1)?
            }
            (Some(existing), value) => {
                changed |= !compares || *existing != *value;
                *existing = value.clone();
            }
            (None, value) => {
                source.insert(key.clone(), value.clone());
                changed = true;
            }
        }
    }
    Ok(changed)
}

/// Returns the outcome of an update that wrote nothing. The source of a document that does not exist is
/// empty.
fn noop(found: Option<FoundDocument>, wants_source: bool) -> WriteOutcome {
    let identity = found.as_ref().map(|found| found.identity).unwrap_or_default();
    let source = match found {
        Some(found) => wants_source.then(|| found.source.into()),
        None => Some(Default::default()),
    };
    WriteOutcome { source, ..WriteOutcome::new(WriteResult::Noop, identity) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_laid_over_the_document() {
        let check = |source: Value, changes: Value, expected: Value, changed: bool| {
            let (Value::Object(mut source), Value::Object(changes)) = (source, changes) else {
                panic!("objects")
            };
            assert_eq!(merge(&mut source, &changes, true, 0).expect("shallow"), changed);
            assert_eq!(Value::Object(source), expected);
        };
        check(json!({"a": 1}), json!({"b": 2}), json!({"a": 1, "b": 2}), true);
        check(json!({"a": {"b": 1}}), json!({"a": {"c": 2}}), json!({"a": {"b": 1, "c": 2}}), true);
        check(json!({"a": {"b": 1}}), json!({"a": {"b": 1}}), json!({"a": {"b": 1}}), false);
        check(json!({"a": [1, 2]}), json!({"a": [3]}), json!({"a": [3]}), true);
        check(json!({"a": 1}), json!({"a": null}), json!({"a": null}), true);
    }

    #[test]
    fn scripts_change_the_source_and_the_operation_only() {
        let before = json!({"op": "index", "_id": "1", "_version": 2, "_source": {}});
        let check = |change: Value, expected: Option<&str>| {
            let mut after = before.clone();
            for (name, value) in change.as_object().expect("an object") {
                after[name] = value.clone();
            }
            let reason = check_context(&before, &after).err().map(|error| {
                assert_eq!(error.kind, "script_exception");
                error.caused_by.expect("a cause").reason.clone()
            });
            assert_eq!(reason.as_deref(), expected);
        };
        check(json!({"op": "none", "_source": {"a": 1}}), None);
        check(json!({"op": null}), None);
        check(json!({"_id": "x"}), Some("_id cannot be updated"));
        check(json!({"_version": 9}), Some("_version cannot be updated"));
        check(json!({"foo": 3}), Some("Cannot put key [foo] with value [3] into ctx"));
        check(json!({"_source": null}), Some("Expected [_source] to be a Map, not [null]"));
        let error = check_context(&before, &json!({"_source": {}})).expect_err("members are missing");
        assert_eq!(error.caused_by.expect("a cause").reason, "_id cannot be removed");
    }

    #[test]
    fn a_document_that_becomes_a_new_one_is_recognized() {
        assert!(is_doc_as_upsert(br#"{"doc": {"a": 1}, "doc_as_upsert": true}"#));
        assert!(!is_doc_as_upsert(br#"{"doc": {"doc_as_upsert": true}}"#));
        assert!(!is_doc_as_upsert(br#"{"doc_as_upsert": true"#));
    }
}
