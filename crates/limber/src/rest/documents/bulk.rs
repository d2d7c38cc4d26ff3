//! `_bulk`: parses NDJSON lines into operations that borrow from the body, and renders the items of the
//! response.
//!
//! Documents are not parsed here. Action lines are parsed once: a line that equals the previous one (the
//! usual case without ids) is not parsed again. Source: `BulkRequestParser`, `BulkItemResponse`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

use limber_engine::{
    BulkItem, BulkOperation, BulkRequest, BulkResponse, ItemId, OperationKind, Result, VersionType,
    WriteIdentity, WriteOutcome,
};
use limber_mapping::RequestError;
use limber_store::Charge;
use limber_work as work;
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::source_filter;
use crate::http::media::{self, Format};
use crate::http::pools::PoolName;
use crate::http::refusal::circuit_breaking;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::http::status;
use crate::rest::options::refresh_policy;
use crate::rest::{App, Route};
use limber_search::SourceFilter;

const PARAMETERS: &[&str] = &[
    "refresh",
    "pipeline",
    "routing",
    "timeout",
    "wait_for_active_shards",
    "require_alias",
    "require_data_stream",
    "_source",
    "_source_includes",
    "_source_excludes",
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
    if !request.has_body() {
        return Err(RequestError::bad_request("parse_exception", "request body is required"));
    }
    let filter = source_filter::from_request(request);
    let defaults = Defaults {
        index: request.param("index"),
        routing: request.param("routing"),
        require_alias: request.flag_or("require_alias", false)?,
        require_data_stream: request.flag_or("require_data_stream", false)?,
        wants_source: filter.as_ref().is_some_and(|filter| filter.fetch),
    };
    super::document::check_wait_for_active_shards(request)?;
    let mut charge = app.node.ledger().request.charge(0, LABEL).map_err(|error| circuit_breaking(&error))?;
    let (operations, filters) = parse_operations(&request.body, &defaults, &mut charge)?;
    let response = app.node.bulk(BulkRequest {
        operations: &operations,
        pipeline: request.param("pipeline"),
        refresh: refresh_policy(request)?,
    })?;
    Ok(Response::raw(200, render(&response, filter.as_ref(), &filters)?))
}

/// Estimated bytes of an item in the response, besides its source.
const ITEM_BYTES: usize = 1 << 10;
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
}

/// The source filters of single updates, by position of the operation, ascending.
type Filters = Vec<(usize, SourceFilter)>;

/// Splits `body` into operations, and charges them as they are found. Line numbers in errors start at 1, as
/// in Elasticsearch.
fn parse_operations<'a>(
    body: &'a [u8],
    defaults: &Defaults<'a>,
    charge: &mut Charge,
) -> Result<(Vec<BulkOperation<'a>>, Filters)> {
    let mut filters = Filters::new();
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
            operation.source = lines.next().ok_or_else(|| {
                RequestError::illegal_argument("The bulk request must be terminated by a newline [\\n]")
            })?;
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
    Ok((operations, filters))
}

/// Reads a value that is a part of the body. What is made of it takes no more than the tree, so both are
/// charged before.
fn read_tree(value: &RawValue, charge: &mut Charge) -> Result<serde_json::Value> {
    let json = value.get();
    let bytes = json.len() as u64 + media::tree_bytes(Format::Json, json.as_bytes());
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
    let action: Action<'a> = serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        // Custom errors of the visitor start with a marker; serde_json appends its position to them.
        match text.strip_prefix(MARK) {
            Some(rest) => {
                let rest = rest.rsplit_once(" at line ").map_or(rest, |(message, _)| message);
                RequestError::illegal_argument(rest.replace("{line}", &line_number.to_string()))
            }
            None => RequestError::illegal_argument(format!(
                "Malformed action/metadata line [{line_number}], expected a JSON object: {text}"
            )),
        }
    })?;
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
        (kind, None | Some("index")) => kind,
        (kind, Some(other)) => {
            return Err(RequestError::illegal_argument(format!(
                "opType must be 'create' or 'index', found: [{other}]"
            ))
            .with("action", kind.as_str()));
        }
    };
    if id.is_none() && matches!(kind, OperationKind::Update | OperationKind::Delete) {
        return Err(RequestError::validation(["id is missing"]));
    }
    let mut operation = BulkOperation::new(kind, index, &[]);
    operation.id = id;
    operation.routing = routing.or(defaults.routing.map(Cow::Borrowed));
    operation.version = version;
    operation.version_type = version_type.as_deref().map_or(Ok(VersionType::Internal), VersionType::parse)?;
    operation.if_seq_no = if_seq_no;
    operation.if_primary_term = if_primary_term;
    operation.pipeline = action.metadata.pipeline;
    // The request's default only applies to operations that write documents, not to deletes.
    let by_default = defaults.require_alias && kind != OperationKind::Delete;
    operation.require_alias = action.metadata.require_alias.unwrap_or(by_default);
    operation.require_data_stream =
        action.metadata.require_data_stream.unwrap_or(defaults.require_data_stream);
    operation.retry_on_conflict = action.metadata.retry_on_conflict;
    if let Some(named) = action.metadata.dynamic_templates {
        operation.dynamic_templates = dynamic_templates(&read_tree(named, charge)?, kind, line_number)?;
    }
    let source = action.metadata.source.map(|value| read_tree(value, charge)).transpose()?;
    let filter = source.map(|value| SourceFilter::parse(&value)).transpose()?;
    operation.wants_source = filter.as_ref().map_or(defaults.wants_source, |filter| filter.fetch);
    Ok((operation, filter))
}

/// The dynamic templates that an operation names; those that map no field take none.
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

struct Action<'a> {
    kind: OperationKind,
    metadata: Metadata<'a>,
}

#[derive(Default)]
struct Metadata<'a> {
    index: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    routing: Option<Cow<'a, str>>,
    version: Option<u64>,
    version_type: Option<Cow<'a, str>>,
    if_seq_no: Option<u64>,
    if_primary_term: Option<u64>,
    pipeline: Option<Cow<'a, str>>,
    op_type: Option<Cow<'a, str>>,
    require_alias: Option<bool>,
    require_data_stream: Option<bool>,
    retry_on_conflict: u32,
    dynamic_templates: Option<&'a RawValue>,
    source: Option<&'a RawValue>,
}

/// Marks messages that already have Elasticsearch's wording.
const MARK: &str = "\u{1}";

impl<'de: 'a, 'a> Deserialize<'de> for Action<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ActionVisitor;
        impl<'de> Visitor<'de> for ActionVisitor {
            type Value = Action<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an action object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Action<'de>, M::Error> {
                let error = |text: String| <M::Error as serde::de::Error>::custom(format!("{MARK}{text}"));
                let name: Option<Cow<'de, str>> = map.next_key::<BorrowedStr<'de>>()?.map(|s| s.0);
                let Some(name) = name else {
                    return Err(error(
                        "Malformed action/metadata line [{line}], expected FIELD_NAME but found [END_OBJECT]"
                            .into(),
                    ));
                };
                let kind = match &*name {
                    "index" => OperationKind::Index,
                    "create" => OperationKind::Create,
                    "update" => OperationKind::Update,
                    "delete" => OperationKind::Delete,
                    other => {
                        return Err(error(format!(
                            "Malformed action/metadata line [{{line}}], expected one of [create, delete, index, update] but found [{other}]"
                        )));
                    }
                };
                let metadata = map.next_value()?;
                if map.next_key::<IgnoredAny>()?.is_some() {
                    return Err(error(
                        "Malformed action/metadata line [{line}], expected END_OBJECT but found [FIELD_NAME]"
                            .into(),
                    ));
                }
                Ok(Action { kind, metadata })
            }
        }
        deserializer.deserialize_map(ActionVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Metadata<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MetadataVisitor;
        impl<'de> Visitor<'de> for MetadataVisitor {
            type Value = Metadata<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with the action's metadata")
            }

            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<Metadata<'de>, M::Error> {
                let mut metadata = Metadata::default();
                while let Some(BorrowedStr(name)) = map.next_key()? {
                    match &*name {
                        "_index" => metadata.index = text(&mut map)?,
                        "_id" => metadata.id = text(&mut map)?,
                        "routing" | "_routing" => metadata.routing = text(&mut map)?,
                        "version" | "_version" => metadata.version = Some(number(&mut map)?),
                        "version_type" | "_version_type" => metadata.version_type = text(&mut map)?,
                        "if_seq_no" => metadata.if_seq_no = Some(number(&mut map)?),
                        "if_primary_term" => metadata.if_primary_term = Some(number(&mut map)?),
                        "pipeline" => metadata.pipeline = text(&mut map)?,
                        "op_type" => metadata.op_type = text(&mut map)?,
                        "require_alias" => metadata.require_alias = map.next_value()?,
                        "require_data_stream" => metadata.require_data_stream = map.next_value()?,
                        "retry_on_conflict" | "_retry_on_conflict" => {
                            metadata.retry_on_conflict = number(&mut map)?.min(u64::from(u32::MAX)) as u32;
                        }
                        "dynamic_templates" => metadata.dynamic_templates = Some(map.next_value()?),
                        "_source" => metadata.source = Some(map.next_value()?),
                        other => {
                            return Err(serde::de::Error::custom(format!(
                                "{MARK}Action/metadata line [{{line}}] contains an unknown parameter [{other}]"
                            )));
                        }
                    }
                }
                Ok(metadata)
            }
        }
        deserializer.deserialize_map(MetadataVisitor)
    }
}

/// A string that is borrowed from the line unless it contains escapes.
struct BorrowedStr<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedStr<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = BorrowedStr<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string or number")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(number.to_string())))
            }

            fn visit_f64<E>(self, number: f64) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(number.to_string())))
            }

            fn visit_bool<E>(self, value: bool) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(value.to_string())))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

fn text<'de, M: MapAccess<'de>>(map: &mut M) -> std::result::Result<Option<Cow<'de, str>>, M::Error> {
    Ok(map.next_value::<Option<BorrowedStr<'de>>>()?.map(|value| value.0))
}

/// Reads an integer, which may also be written as a string.
fn number<'de, M: MapAccess<'de>>(map: &mut M) -> std::result::Result<u64, M::Error> {
    let BorrowedStr(text) = map.next_value()?;
    text.parse().map_err(|_| serde::de::Error::custom(format!("{MARK}For input string: \"{text}\"")))
}

/// Renders the response. `took` and `errors` come before `items`, because clients stop reading after them.
///
/// # Errors
/// There is not enough memory for the sources that updates return. Everything has been written by then.
fn render(response: &BulkResponse<'_>, filter: Option<&SourceFilter>, filters: &Filters) -> Result<Vec<u8>> {
    let mut own = filters.iter().peekable();
    let mut model: Option<Model<'_>> = None;
    let mut out = Vec::with_capacity(64 + response.items.len() * 220);
    let _ = write!(out, "{{\"errors\":{},\"took\":{}", response.errors, response.took_ms);
    if let Some(ingest_took) = response.ingest_took_ms {
        let _ = write!(out, ",\"ingest_took\":{ingest_took}");
    }
    out.extend_from_slice(b",\"items\":[");
    for (number, item) in response.items.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        let own = own.next_if(|(of, _)| *of == number).map(|(_, filter)| filter);
        if let Some(model) = &model
            && model.copy_as(&mut out, item)
        {
            continue;
        }
        let shown_bytes = match &item.outcome {
            Ok(outcome) => outcome.source.as_ref().map_or(0, |source| source.len()),
            Err(_) => 0,
        };
        work::check_growth(out.len(), out.capacity(), shown_bytes + ITEM_BYTES)?;
        model = render_item(&mut out, item, &response.indices[item.index], own.or(filter));
    }
    out.extend_from_slice(b"]}");
    Ok(out)
}

/// A rendered item. The next item often differs only in its id and sequence number; it is then copied from
/// this one and patched.
struct Model<'r> {
    item: &'r BulkItem<'r>,
    outcome: &'r WriteOutcome,
    /// The item's byte range in the response.
    place: Range<usize>,
    /// Position of the first byte of the id, which contains no escapes.
    id: usize,
    /// Byte range of the digits of the sequence number.
    seq_no: Range<usize>,
}

impl Model<'_> {
    /// Appends `item` to the response by patching the model. Returns `false` and appends nothing if the items
    /// differ in more than that.
    fn copy_as(&self, out: &mut Vec<u8>, item: &BulkItem<'_>) -> bool {
        let Ok(outcome) = &item.outcome else { return false };
        let same_for_all = |outcome: &WriteOutcome| {
            let WriteOutcome { result, identity, forced_refresh, .. } = *outcome;
            let identity = WriteIdentity { seq_no: 0, ..identity };
            (result, identity, forced_refresh, outcome.shards_total, outcome.shards_successful)
        };
        let id = item.id.as_bytes();
        let is_alike = (item.kind, item.index) == (self.item.kind, self.item.index)
            && outcome.source.is_none()
            && same_for_all(outcome) == same_for_all(self.outcome)
            && id.len() == self.item.id.as_bytes().len()
            && is_plain(&item.id)
            && digit_count(outcome.identity.seq_no) == self.seq_no.len();
        if is_alike {
            let shift = out.len() - self.place.start;
            out.extend_from_within(self.place.clone());
            out[self.id + shift..][..id.len()].copy_from_slice(id);
            write_digits(
                &mut out[self.seq_no.start + shift..self.seq_no.end + shift],
                outcome.identity.seq_no,
            );
        }
        is_alike
    }
}

/// Whether an id needs no escapes.
fn is_plain(id: &ItemId<'_>) -> bool {
    match id {
        ItemId::Generated(_) => true,
        ItemId::Given(id) => !id.is_empty() && !needs_escapes(id),
    }
}

/// Appends one item. Returns it as the model for the next one if it is suitable.
fn render_item<'r>(
    out: &mut Vec<u8>,
    item: &'r BulkItem<'r>,
    index: &str,
    filter: Option<&SourceFilter>,
) -> Option<Model<'r>> {
    let start = out.len();
    let mut model = None;
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(item.kind.as_str().as_bytes());
    out.extend_from_slice(b"\":{\"_index\":");
    push_json_string(out, index);
    out.extend_from_slice(b",\"_id\":");
    let id = out.len() + 1;
    if item.id.is_empty() {
        out.extend_from_slice(b"null");
    } else {
        push_json_string(out, &item.id);
    }
    match &item.outcome {
        Ok(outcome) => {
            let seq_no = push_outcome(out, outcome);
            if let (Some(source), true) = (&outcome.source, item.kind == OperationKind::Update) {
                out.extend_from_slice(b",\"get\":");
                push_update_get(out, outcome, source, filter);
            }
            push_field(out, ",\"status\":", u64::from(status::of_write(outcome.result)));
            if outcome.source.is_none() && is_plain(&item.id) {
                model = Some(Model { item, outcome, place: start..start, id, seq_no });
            }
        }
        Err(error) => {
            push_field(out, ",\"status\":", u64::from(status::of_error(error.class)));
            out.extend_from_slice(b",\"error\":");
            out.extend_from_slice(&crate::http::json::to_bytes(&error.to_json(), false));
        }
    }
    out.extend_from_slice(b"}}");
    model.map(|model| Model { place: start..out.len(), ..model })
}

/// Appends `,"_version":..,"result":..,"_shards":{..},"_seq_no":..,"_primary_term":..`, which every write's
/// response contains. Returns the byte range of the sequence number's digits.
pub fn push_outcome(out: &mut Vec<u8>, outcome: &WriteOutcome) -> Range<usize> {
    push_field(out, ",\"_version\":", outcome.identity.version);
    out.extend_from_slice(b",\"result\":\"");
    out.extend_from_slice(outcome.result.as_str().as_bytes());
    out.push(b'"');
    if outcome.forced_refresh {
        out.extend_from_slice(b",\"forced_refresh\":true");
    }
    push_field(out, ",\"_shards\":{\"total\":", u64::from(outcome.shards_total));
    push_field(out, ",\"successful\":", u64::from(outcome.shards_successful));
    out.extend_from_slice(b",\"failed\":0}");
    push_field(out, ",\"_seq_no\":", outcome.identity.seq_no);
    let seq_no = out.len() - digit_count(outcome.identity.seq_no)..out.len();
    push_field(out, ",\"_primary_term\":", outcome.identity.primary_term);
    seq_no
}

/// Appends the `get` section of an update's response.
pub fn push_update_get(
    out: &mut Vec<u8>,
    outcome: &WriteOutcome,
    source: &[u8],
    filter: Option<&SourceFilter>,
) {
    push_field(out, "{\"_seq_no\":", outcome.identity.seq_no);
    push_field(out, ",\"_primary_term\":", outcome.identity.primary_term);
    out.extend_from_slice(b",\"found\":true,\"_source\":");
    match source_filter::apply(filter, source) {
        Some(filtered) => out.extend_from_slice(&filtered),
        None => out.extend_from_slice(source),
    }
    out.push(b'}');
}

fn push_field(out: &mut Vec<u8>, name: &str, number: u64) {
    out.extend_from_slice(name.as_bytes());
    let start = out.len();
    out.resize(start + digit_count(number), 0);
    write_digits(&mut out[start..], number);
}

/// Returns the number of decimal digits.
fn digit_count(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Writes `number` as decimal digits that fill `digits`.
fn write_digits(digits: &mut [u8], mut number: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Appends `text` in quotes, and escapes it only if necessary.
pub fn push_json_string(out: &mut Vec<u8>, text: &str) {
    if !needs_escapes(text) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        serde_json::to_writer(&mut *out, text).expect("a string always serialises into memory");
    }
}

fn needs_escapes(text: &str) -> bool {
    text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
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

    fn created(seq_no: u64) -> WriteOutcome {
        written(WriteIdentity { seq_no, primary_term: 1, version: 1 })
    }

    fn written(identity: WriteIdentity) -> WriteOutcome {
        let outcome = WriteOutcome::new(limber_engine::WriteResult::Created, identity);
        WriteOutcome { shards_total: 2, shards_successful: 1, ..outcome }
    }

    fn given(id: &str) -> ItemId<'_> {
        ItemId::Given(Cow::Borrowed(id))
    }

    #[test]
    fn items_are_rendered_alike_copied_or_written() {
        let generated = |byte| ItemId::Generated([byte; 20]);
        let item = |id, outcome| BulkItem { kind: OperationKind::Index, index: 0, id, outcome };
        let items = vec![
            item(generated(b'a'), Ok(created(8))),
            item(generated(b'b'), Ok(created(9))),
            item(generated(b'c'), Ok(created(10))),
            item(given("twenty characters it"), Ok(created(11))),
            item(given("twenty characters \n\""), Ok(created(12))),
            item(given("1"), Ok(created(0))),
            item(given("2"), Ok(written(WriteIdentity { seq_no: 7, primary_term: 1, version: 2 }))),
            item(given("\""), Ok(created(7))),
            item(given("3"), Ok(WriteOutcome { forced_refresh: true, ..created(7) })),
            item(given(""), Err(RequestError::illegal_argument("no"))),
            BulkItem { index: 1, ..item(given("4"), Ok(created(u64::MAX))) },
            BulkItem { kind: OperationKind::Create, index: 1, ..item(given("5"), Ok(created(u64::MAX - 1))) },
            BulkItem {
                kind: OperationKind::Update,
                ..item(given("6"), Ok(WriteOutcome { source: Some(b"{}"[..].into()), ..created(1) }))
            },
            BulkItem { kind: OperationKind::Update, ..item(given("7"), Ok(created(1))) },
        ];
        let indices = vec!["a".into(), "b".into()];
        let response = BulkResponse { took_ms: 3, ingest_took_ms: None, errors: true, indices, items };
        let whole = render(&response, None, &Filters::new()).expect("room");
        let mut each = b"{\"errors\":true,\"took\":3,\"items\":[".to_vec();
        for (number, item) in response.items.iter().enumerate() {
            each.extend_from_slice(if number > 0 { b"," } else { b"" });
            render_item(&mut each, item, &response.indices[item.index], None);
        }
        each.extend_from_slice(b"]}");
        assert_eq!(String::from_utf8(whole.clone()), String::from_utf8(each));
        let parsed: serde_json::Value = serde_json::from_slice(&whole).expect("JSON");
        let ids: Vec<_> = response.items.iter().map(|item| item.id.to_string()).collect();
        for (number, (id, item)) in ids.iter().zip(&response.items).enumerate() {
            let rendered = &parsed["items"][number][item.kind.as_str()];
            assert_eq!(rendered["_id"].as_str().unwrap_or(""), id);
            let seq_no = item.outcome.as_ref().ok().map(|outcome| outcome.identity.seq_no);
            assert_eq!(rendered["_seq_no"].as_u64(), seq_no);
        }
    }

    #[test]
    fn every_update_has_its_own_filter() {
        let item = |id, source: Option<&[u8]>| BulkItem {
            kind: OperationKind::Update,
            index: 0,
            id: given(id),
            outcome: Ok(WriteOutcome { source: source.map(Into::into), ..created(1) }),
        };
        let items = vec![item("1", None), item("2", None), item("3", Some(b"{\"a\":1,\"b\":2}"))];
        let response = BulkResponse {
            took_ms: 3,
            ingest_took_ms: None,
            errors: false,
            indices: vec!["i".into()],
            items,
        };
        let filter = |name: &str| SourceFilter::parse(&serde_json::json!([name])).expect("valid");
        let filters = vec![(1, filter("a")), (2, filter("b"))];
        let parsed: serde_json::Value =
            serde_json::from_slice(&render(&response, None, &filters).expect("room")).expect("JSON");
        assert_eq!(parsed["items"][2]["update"]["get"]["_source"], serde_json::json!({"b": 2}));
    }

    /// Members of an object, of which each takes many times its length once it is read.
    fn members() -> String {
        let members: Vec<String> = (0..1000).map(|number| format!("\"{number}\":\"t\"")).collect();
        format!("{{{}}}", members.join(","))
    }

    #[test]
    fn what_a_line_holds_is_charged_before_it_is_read() {
        let (members, list) = (members(), serde_json::json!(vec!["f"; 1000]));
        let bodies = [
            format!("{{\"index\":{{\"dynamic_templates\":{members}}}}}\n{{}}\n"),
            // They are refused once they have been read.
            format!("{{\"delete\":{{\"_id\":\"1\",\"dynamic_templates\":{members}}}}}\n"),
            format!("{{\"update\":{{\"_id\":\"1\",\"_source\":{list}}}}}\n{{}}\n"),
            format!("{{\"update\":{{\"_id\":\"1\"}}}}\n{{\"_source\":{list}}}\n"),
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
            assert_eq!(outcome.is_err(), body.contains("delete"), "{body}");
        }
    }

    #[test]
    fn malformed_lines_are_named() {
        let check = |body: &str, part: &str| {
            let error = parse(body).expect_err("refused");
            assert!(error.reason.contains(part), "{} lacks {part}", error.reason);
        };
        check("{\"index\":{}}\n{}", "must be terminated by a newline");
        check("{\"index\":{}}\n", "must be terminated by a newline");
        check(
            "{\"foo\":{}}\n{}\n",
            "line [1], expected one of [create, delete, index, update] but found [foo]",
        );
        check(
            "{\"index\":{\"_foo\":1}}\n{}\n",
            "Action/metadata line [1] contains an unknown parameter [_foo]",
        );
        check("{}\n{}\n", "line [1], expected FIELD_NAME but found [END_OBJECT]");
        check("[]\n{}\n", "Malformed action/metadata line [1]");
        check("{\"update\":{}}\n{}\n", "id is missing");
        check("\n", "no requests added");
    }
}
