//! `_bulk`: parses NDJSON lines into operations that borrow from the body.
//!
//! Documents are not parsed here. Action lines ([`super::bulk_action`]) are parsed once: a line that equals
//! the previous one (the usual case without ids) is not parsed again. [`super::bulk_items`] renders the
//! response. Source: `BulkRequestParser`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use limber_engine::{
    ActiveCopies, BulkItem, BulkOperation, BulkRequest, BulkResponse, ItemId, OperationKind, Result,
    VersionType,
};
use limber_mapping::RequestError;
use limber_search::SourceFilter;
use limber_store::Charge;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::bulk_action::{Action, Metadata};
use super::bulk_items::{Filters, render};
use super::document::{active_copies, await_copies};
use super::source_filter;
use crate::http::media::{self, Format};
use crate::http::pools::PoolName;
use crate::http::refusal::circuit_breaking;
use crate::http::request::{Method, Request, without_mark};
use crate::http::response::Response;
use crate::rest::options::refresh_policy;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = &[
    "refresh",
    "pipeline",
    "routing",
    "timeout",
    "wait_for_active_shards",
    "require_alias",
    "require_data_stream",
    "list_executed_pipelines",
    "include_source_on_error",
    "_source",
    "_source_includes",
    "_source_excludes",
    "_source_exclude_vectors",
];

/// The endpoints of this file (`_bulk`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route {
        methods: &[Method::Post, Method::Put],
        path: "/_bulk",
        parameters: PARAMETERS,
        pool: PoolName::Write,
        handler: bulk,
    },
    Route {
        methods: &[Method::Post, Method::Put],
        path: "/{index}/_bulk",
        parameters: PARAMETERS,
        pool: PoolName::Write,
        handler: bulk,
    },
];

fn bulk(app: &App, request: &Request) -> Result<Response> {
    if request.body.is_empty() {
        return Err(RequestError::bad_request("parse_exception", "request body is required"));
    }
    let filter = source_filter::from_request(request);
    // There are no vectors that could be left out.
    request.flag("_source_exclude_vectors")?;
    let defaults = Defaults {
        index: request.param("index"),
        routing: request.param("routing"),
        require_alias: request.flag_or("require_alias", false)?,
        require_data_stream: request.flag_or("require_data_stream", false)?,
        wants_source: filter.as_ref().is_some_and(|filter| filter.fetch),
        lists_pipelines: request.flag_or("list_executed_pipelines", false)?,
    };
    super::document::check_source_on_error(request)?;
    let mut charge = app.node.ledger().request.charge(0, LABEL).map_err(|error| circuit_breaking(&error))?;
    let (operations, filters) = parse_operations(&request.body, &defaults, &mut charge)?;
    if let Err(unavailable) = await_targets(app, request, &operations) {
        let response = unanswered(&operations, &unavailable);
        return Ok(Response::raw(200, render(&response, filter.as_ref(), &filters)?));
    }
    let response = app.node.bulk(BulkRequest {
        operations: &operations,
        pipeline: request.param("pipeline"),
        refresh: refresh_policy(request)?,
    })?;
    Ok(Response::raw(200, render(&response, filter.as_ref(), &filters)?))
}

/// Waits for as many active copies as the request wants of the shards of all operations.
fn await_targets(app: &App, request: &Request, operations: &[BulkOperation<'_>]) -> Result<()> {
    if matches!(active_copies(request)?, ActiveCopies::Number(0 | 1)) {
        return Ok(());
    }
    operations
        .chunk_by(|one, next| one.index == next.index)
        .try_for_each(|of_index| await_copies(app, request, of_index))
}

/// Returns the response to operations that all failed for the same reason.
fn unanswered<'r>(operations: &'r [BulkOperation<'r>], error: &RequestError) -> BulkResponse<'r> {
    let items = operations.iter().enumerate().map(|(number, operation)| BulkItem {
        kind: operation.kind,
        index: number,
        id: ItemId::Given(Cow::Borrowed(operation.id.as_deref().unwrap_or(""))),
        outcome: Err(error.clone()),
    });
    BulkResponse {
        took_ms: 0,
        ingest_took_ms: None,
        errors: true,
        indices: operations.iter().map(|operation| Arc::from(&*operation.index)).collect(),
        items: items.collect(),
    }
}

const LABEL: &str = "<bulk_operations>";
/// Estimated bytes that an operation needs while it is carried out: the parsed operation, its step, its
/// outcome and its item in the response. For a short operation this is many times its own length.
const OPERATION_BYTES: u64 = 1024;
/// Number of operations that are charged together.
const CHARGED_OPERATIONS: usize = 64;
/// Maximum capacity, in operations, that is allocated before the operations are charged.
const ROOM_OPERATIONS_MAX: usize = 1 << 14;

/// Request-level defaults for operations that do not set the value.
#[derive(Default)]
struct Defaults<'a> {
    index: Option<&'a str>,
    routing: Option<&'a str>,
    require_alias: bool,
    require_data_stream: bool,
    wants_source: bool,
    lists_pipelines: bool,
}

/// Splits `body` into operations, and charges them as they are found. Line numbers in errors start at 1, as
/// in Elasticsearch.
fn parse_operations<'a>(
    body: &'a [u8],
    defaults: &Defaults<'a>,
    charge: &mut Charge,
) -> Result<(Vec<BulkOperation<'a>>, Filters)> {
    let mut filters = Filters::new();
    let body = without_mark(body);
    if body.last() != Some(&b'\n') {
        return Err(RequestError::illegal_argument("The bulk request must be terminated by a newline [\\n]"));
    }
    // Avoids reallocation if an action line and its source together have at least 128 bytes on average.
    let mut operations: Vec<BulkOperation<'a>> =
        Vec::with_capacity((body.len() / 128 + 1).min(ROOM_OPERATIONS_MAX));
    let mut lines = memchr::memchr_iter(b'\n', body).scan(0, |start, end| {
        let line = &body[*start..end];
        *start = end + 1;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    });
    let mut line_number = 0;
    let mut previous_line: &[u8] = &[];
    while let Some(line) = lines.next() {
        line_number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if operations.len().is_multiple_of(CHARGED_OPERATIONS) {
            charge
                .grow(CHARGED_OPERATIONS as u64 * OPERATION_BYTES, LABEL)
                .map_err(|error| circuit_breaking(&error))?;
        }
        let mut operation = match operations.last() {
            Some(previous) if line == previous_line && previous.kind != OperationKind::Update => {
                BulkOperation { source: &[], ..previous.clone() }
            }
            _ => {
                let (operation, filter) = parse_action(line, line_number, defaults, charge)?;
                filters.extend(filter.map(|filter| (operations.len(), filter)));
                operation
            }
        };
        previous_line = line;
        if operation.kind != OperationKind::Delete {
            line_number += 1;
            // A last action without a source is no operation.
            let Some(source) = lines.next() else { break };
            operation.source = source;
        }
        if operation.kind == OperationKind::Update
            && !defaults.wants_source
            && filters.last().is_none_or(|(number, _)| *number != operations.len())
            && let Some(filter) = source_member(operation.source, charge)?
        {
            operation.wants_source = filter.fetch;
            filters.push((operations.len(), filter));
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(RequestError::validation(["no requests added"]));
    }
    check_faults(&operations)?;
    Ok((operations, filters))
}

/// Number of faults that an error lists at most.
const FAULTS_MAX: usize = 100;

/// Refuses the whole request for a fault of an operation that does not depend on an index.
fn check_faults(operations: &[BulkOperation<'_>]) -> Result<()> {
    let mut faults = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        if number.is_multiple_of(CHARGED_OPERATIONS) {
            limber_work::check()?;
        }
        faults.extend(operation.faults());
        if operation.kind == OperationKind::Update {
            let members = super::update_body::check(operation.source)?;
            faults.extend(members.faults(operation.if_seq_no.is_some()).map(str::to_owned));
        }
        if faults.len() >= FAULTS_MAX {
            break;
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(RequestError::validation(faults)) }
}

/// Reads a value that is a part of the body. The result that is built from the tree takes no more memory than
/// the tree, so both are charged in advance.
fn read_tree(value: &RawValue, charge: &mut Charge) -> Result<serde_json::Value> {
    let json = value.get();
    let bytes = json.len() as u64 + media::tree_bytes(Format::Json, json.as_bytes(), false);
    charge.grow(2 * bytes, LABEL).map_err(|error| circuit_breaking(&error))?;
    serde_json::from_str(json).map_err(|error| RequestError::parsing(error.to_string()))
}

/// Reads `_source` in the body of an update.
pub fn source_member(body: &[u8], charge: &mut Charge) -> Result<Option<SourceFilter>> {
    #[derive(Deserialize)]
    struct Member<'a> {
        #[serde(rename = "_source", borrow)]
        source: Option<&'a RawValue>,
    }
    if memchr::memmem::find(body, b"\"_source\"").is_none() {
        return Ok(None);
    }
    // A body that is no object is refused when the update is carried out.
    let member = serde_json::from_slice::<Member<'_>>(body).ok().and_then(|member| member.source);
    member.map(|value| SourceFilter::parse(&read_tree(value, charge)?)).transpose()
}

fn parse_action<'a>(
    line: &'a [u8],
    line_number: usize,
    defaults: &Defaults<'a>,
    charge: &mut Charge,
) -> Result<(BulkOperation<'a>, Option<SourceFilter>)> {
    let action = Action::parse(line, line_number)?;
    let Metadata { index, id, routing, version, version_type, if_seq_no, if_primary_term, .. } =
        action.metadata;
    let index = match (index, defaults.index) {
        (Some(index), _) => index,
        (None, Some(index)) => Cow::Borrowed(index),
        (None, None) => {
            return Err(RequestError::validation(["index is missing"]));
        }
    };
    let kind = match (action.kind, action.metadata.op_type.as_deref()) {
        (OperationKind::Index, Some("create")) => OperationKind::Create,
        // As in Elasticsearch, any other value means nothing.
        (kind, _) => kind,
    };
    if kind == OperationKind::Update && (version.is_some() || version_type.is_some()) {
        return Err(RequestError::illegal_argument(
            "Update requests do not support versioning. Please use `if_seq_no` and `if_primary_term` instead",
        ));
    }
    let has_no_id = id.as_deref().is_none_or(str::is_empty);
    if has_no_id && matches!(kind, OperationKind::Update | OperationKind::Delete) {
        return Err(RequestError::validation(["id is missing"]));
    }
    let mut operation = BulkOperation::new(kind, index, &[]);
    operation.id = id;
    operation.routing = routing.or(defaults.routing.map(Cow::Borrowed)).filter(|routing| !routing.is_empty());
    operation.version = version;
    operation.version_type = VersionType::parse_or_default(version_type.as_deref())?;
    operation.if_seq_no = if_seq_no;
    operation.if_primary_term = if_primary_term;
    operation.pipeline = action.metadata.pipeline;
    // Deletes require neither, whatever they or the request say.
    if kind != OperationKind::Delete {
        operation.require_alias = action.metadata.require_alias.unwrap_or(defaults.require_alias);
        operation.require_data_stream =
            action.metadata.require_data_stream.unwrap_or(defaults.require_data_stream);
    }
    if kind == OperationKind::Update && operation.require_data_stream {
        return Err(RequestError::illegal_argument(
            "Update requests do not support the `require_data_stream` flag, as data streams do not support update operations",
        ));
    }
    operation.retry_on_conflict = action.metadata.retry_on_conflict;
    operation.lists_pipelines = action.metadata.lists_pipelines.unwrap_or(defaults.lists_pipelines);
    if let Some(named) = action.metadata.dynamic_templates {
        operation.dynamic_templates = dynamic_templates(&read_tree(named, charge)?, kind, line_number)?;
    }
    let source = action.metadata.source.map(|value| read_tree(value, charge)).transpose()?;
    if source.as_ref().is_some_and(serde_json::Value::is_array) {
        return Err(RequestError::illegal_argument(format!(
            "Malformed action/metadata line [{line_number}], expected a simple value for field [_source] but found [START_ARRAY]"
        )));
    }
    let filter = source.map(|value| SourceFilter::parse(&value)).transpose()?;
    operation.wants_source = filter.as_ref().map_or(defaults.wants_source, |filter| filter.fetch);
    Ok((operation, filter))
}

/// Returns the dynamic templates that an operation names. Only operations that index a document accept them.
fn dynamic_templates(
    named: &serde_json::Value,
    kind: OperationKind,
    line_number: usize,
) -> Result<Option<Arc<HashMap<String, String>>>> {
    let Some(members) = named.as_object() else {
        return Err(RequestError::illegal_argument(format!(
            "Action/metadata line [{line_number}] contains an unknown parameter [dynamic_templates]"
        )));
    };
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => Ok(text.clone()),
        value if value.is_number() || value.is_boolean() => Ok(value.to_string()),
        value => {
            let reason = format!("Expected text but found {}", limber_mapping::token(value));
            Err(RequestError::illegal_argument(reason))
        }
    };
    let named: HashMap<String, String> =
        members.iter().map(|(path, value)| Ok((path.clone(), text(value)?))).collect::<Result<_>>()?;
    let what = match kind {
        _ if named.is_empty() => return Ok(None),
        OperationKind::Index | OperationKind::Create => return Ok(Some(Arc::new(named))),
        OperationKind::Update => "Update",
        OperationKind::Delete => "Delete",
    };
    let reason = format!("{what} request in line [{line_number}] does not accept dynamic_templates");
    Err(RequestError::illegal_argument(reason))
}

#[cfg(test)]
mod tests {
    use limber_store::Pool;

    use super::*;

    fn parse(body: &str) -> Result<Vec<BulkOperation<'_>>> {
        let defaults = Defaults { index: Some("d"), ..Defaults::default() };
        let mut charge = Pool::new("request", u64::MAX).charge(0, LABEL).expect("room");
        parse_operations(body.as_bytes(), &defaults, &mut charge).map(|(operations, _)| operations)
    }

    #[test]
    fn operations_borrow_from_the_body() {
        let body = "{\"index\":{\"_index\":\"a\",\"_id\":\"1\",\"routing\":\"r\"}}\n{\"x\":1}\n{\"delete\":{\"_id\":7}}\n\n{\"create\":{}}\r\n{}\r\n{\"create\":{}}\n{}\n{\"update\":{\"_id\":\"u\\u0041\",\"retry_on_conflict\":3}}\n{\"doc\":{}}\n";
        let operations = parse(body).expect("valid");
        let shape: Vec<_> = operations
            .iter()
            .map(|o| {
                (o.kind.as_str(), &*o.index, o.id.as_deref(), std::str::from_utf8(o.source).expect("utf-8"))
            })
            .collect();
        assert_eq!(
            shape,
            [
                ("index", "a", Some("1"), "{\"x\":1}"),
                ("delete", "d", Some("7"), ""),
                ("create", "d", None, "{}"),
                ("create", "d", None, "{}"),
                ("update", "d", Some("uA"), "{\"doc\":{}}"),
            ]
        );
        assert!(matches!(operations[0].id, Some(Cow::Borrowed(_))));
        assert_eq!(operations[4].retry_on_conflict, 3);
    }

    /// Returns members of an object, each of which takes many times its length in memory once it is parsed.
    fn members() -> String {
        let members: Vec<String> = (0..1000).map(|number| format!("\"{number}\":\"t\"")).collect();
        format!("{{{}}}", members.join(","))
    }

    #[test]
    fn what_a_line_holds_is_charged_before_it_is_read() {
        let (members, list) = (members(), serde_json::json!(vec!["f"; 1000]));
        let bodies = [
            format!("{{\"index\":{{\"dynamic_templates\":{members}}}}}\n{{}}\n"),
            // They are refused only after they have been read.
            format!("{{\"delete\":{{\"_id\":\"1\",\"dynamic_templates\":{members}}}}}\n"),
            format!("{{\"update\":{{\"_id\":\"1\",\"_source\":{list}}}}}\n{{\"doc\":{{}}}}\n"),
            format!("{{\"update\":{{\"_id\":\"1\"}}}}\n{{\"doc\":{{}},\"_source\":{list}}}\n"),
        ];
        for body in &bodies {
            let defaults = Defaults { index: Some("d"), ..Defaults::default() };
            let parse = |limit: u64| {
                let pool = Pool::new("request", limit);
                let mut charge = pool.charge(0, LABEL).expect("room");
                parse_operations(body.as_bytes(), &defaults, &mut charge).map(|_| ())
            };
            let error = parse(CHARGED_OPERATIONS as u64 * OPERATION_BYTES + 200_000).expect_err("no room");
            assert_eq!(error.kind, "circuit_breaking_exception", "{body}");
            let outcome = parse(1 << 20);
            let is_refused = body.contains("delete") || body.contains("\"1\",\"_source\"");
            assert_eq!(outcome.is_err(), is_refused, "{body}");
        }
    }

    #[test]
    fn malformed_lines_are_named() {
        let check = |body: &str, part: &str| {
            let error = parse(body).expect_err("refused");
            assert!(error.reason.contains(part), "{} lacks {part}", error.reason);
        };
        check("{\"index\":{}}\n{}", "must be terminated by a newline");
        check("{\"index\":{}}\n", "no requests added");
        check(
            "{\"foo\":{}}\n{}\n",
            "line [1], expected field [create], [delete], [index] or [update] but found [foo]",
        );
        check(
            "{\"index\":{\"_foo\":1}}\n{}\n",
            "Action/metadata line [1] contains an unknown parameter [_foo]",
        );
        check("{}\n{}\n", "line [1], expected FIELD_NAME but found [END_OBJECT]");
        check(
            "[]\n{}\n",
            "Malformed action/metadata line [1], expected START_OBJECT but found [START_ARRAY]",
        );
        check(
            "{\"index\":\"a\"}\n{}\n",
            "line [1], expected START_OBJECT or END_OBJECT but found [VALUE_STRING]",
        );
        for (line, field) in
            [("{\"_id\":[1]}", "_id"), ("{\"version\":[[1],2]}", "version"), ("{\"foo\":[]}", "foo")]
        {
            let found =
                format!("line [1], expected a simple value for field [{field}] but found [START_ARRAY]");
            check(&format!("{{\"index\":{line}}}\n{{}}\n"), &found);
        }
        for name in ["_version", "_version_type", "_routing", "_retry_on_conflict"] {
            let body = format!("{{\"index\":{{\"{name}\":\"1\"}}}}\n{{}}\n");
            check(&body, &format!("Action/metadata line [1] contains an unknown parameter [{name}]"));
        }
        check("{\"update\":{}}\n{}\n", "id is missing");
        check("{\"delete\":{\"_id\":\"\"}}\n", "id is missing");
        check("{\"index\":{}}\n{}\n{\"update\":{\"_id\":\"1\"}}\n{}\n", "1: script or doc is missing;");
        assert!(parse("\u{feff}{\"index\":{\"op_type\":\"bogus\"}}\n{}\n").is_ok());
        check("\n", "no requests added");
    }
}
