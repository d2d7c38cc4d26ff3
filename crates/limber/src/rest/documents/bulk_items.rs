//! The items of the response of `_bulk`. Source: `BulkItemResponse`.

use std::io::Write as _;
use std::ops::Range;

use limber_engine::{
    BulkItem, BulkResponse, ItemId, OperationKind, Result, WriteIdentity, WriteOutcome, WriteResult,
};
use limber_search::SourceFilter;
use limber_work as work;

use super::source_filter;
use crate::http::status;

/// The source filters of single updates, by position of the operation, ascending.
pub(super) type Filters = Vec<(usize, SourceFilter)>;

/// Estimated bytes of an item in the response, besides its source.
const ITEM_BYTES: usize = 1 << 10;

/// Renders the response. `took` and `errors` come before `items`, because clients stop reading after them.
///
/// # Errors
/// There is not enough memory for the sources that updates return. Everything has been written by then.
pub(super) fn render(
    response: &BulkResponse<'_>,
    filter: Option<&SourceFilter>,
    filters: &Filters,
) -> Result<Vec<u8>> {
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
            Ok(outcome) => {
                let pipelines =
                    outcome.pipelines.iter().flatten().map(|name| 8 + 6 * name.len()).sum::<usize>();
                pipelines + outcome.source.as_ref().map_or(0, |source| source.len())
            }
            // An error may quote a script, of which the request only has the name.
            Err(error) => 2 * error.text_bytes(),
        };
        work::check_growth(out.len(), out.capacity(), shown_bytes + ITEM_BYTES)?;
        model = render_item(&mut out, item, &response.indices[item.index], own.or(filter))?;
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
            && outcome.pipelines.is_none()
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
) -> Result<Option<Model<'r>>> {
    let start = out.len();
    let mut model = None;
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(item.kind.as_str().as_bytes());
    out.extend_from_slice(b"\":{\"_index\":");
    push_json_string(out, index);
    out.extend_from_slice(b",\"_id\":");
    let id = out.len() + 1;
    match item.id.is_empty() {
        // The operation failed before it got an id.
        true => out.extend_from_slice(b"null"),
        false => push_json_string(out, &item.id),
    }
    match &item.outcome {
        Ok(outcome) => {
            let seq_no = push_outcome(out, outcome);
            if let Some(pipelines) = &outcome.pipelines {
                out.extend_from_slice(b",\"executed_pipelines\":");
                serde_json::to_writer(&mut *out, pipelines).expect("strings always serialise into memory");
            }
            if let (Some(source), true) = (&outcome.source, item.kind == OperationKind::Update) {
                out.extend_from_slice(b",\"get\":");
                push_update_get(out, outcome, source, filter)?;
            }
            push_field(out, ",\"status\":", u64::from(status::of_write(outcome.result)));
            let is_plain = is_of_document(outcome) && is_plain(&item.id);
            if outcome.source.is_none() && outcome.pipelines.is_none() && is_plain {
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
    Ok(model.map(|model| Model { place: start..out.len(), ..model }))
}

/// Appends `,"_version":..,"result":..,"_shards":{..},"_seq_no":..,"_primary_term":..`, which every write's
/// response contains. Returns the byte range of the sequence number's digits.
pub fn push_outcome(out: &mut Vec<u8>, outcome: &WriteOutcome) -> Range<usize> {
    let is_written = is_of_document(outcome);
    match (is_written, &outcome.source) {
        (true, _) => push_field(out, ",\"_version\":", outcome.identity.version),
        // `Versions.NOT_FOUND`, and `Versions.MATCH_ANY` for a document that a pipeline dropped.
        (false, Some(_)) => out.extend_from_slice(b",\"_version\":-1"),
        (false, None) => out.extend_from_slice(b",\"_version\":-3"),
    }
    out.extend_from_slice(b",\"result\":\"");
    out.extend_from_slice(outcome.result.as_str().as_bytes());
    out.push(b'"');
    if outcome.forced_refresh {
        out.extend_from_slice(b",\"forced_refresh\":true");
    }
    push_field(out, ",\"_shards\":{\"total\":", u64::from(outcome.shards_total));
    push_field(out, ",\"successful\":", u64::from(outcome.shards_successful));
    out.extend_from_slice(b",\"failed\":0}");
    match is_written {
        true => push_field(out, ",\"_seq_no\":", outcome.identity.seq_no),
        false => out.extend_from_slice(b",\"_seq_no\":-2"),
    }
    let seq_no = out.len() - digit_count(outcome.identity.seq_no)..out.len();
    push_field(out, ",\"_primary_term\":", outcome.identity.primary_term);
    seq_no
}

/// Whether an outcome tells of a document. Nothing is known of one that was not written and did not exist.
fn is_of_document(outcome: &WriteOutcome) -> bool {
    outcome.result != WriteResult::Noop || outcome.identity.version > 0
}

/// Appends the `get` section of an update's response. The source of a document that does not exist is empty.
///
/// # Errors
/// There is not enough memory for the source; `out` ends anywhere then.
pub fn push_update_get(
    out: &mut Vec<u8>,
    outcome: &WriteOutcome,
    source: &[u8],
    filter: Option<&SourceFilter>,
) -> Result<()> {
    if source.is_empty() {
        out.extend_from_slice(b"{\"found\":false}");
        return Ok(());
    }
    push_field(out, "{\"_seq_no\":", outcome.identity.seq_no);
    push_field(out, ",\"_primary_term\":", outcome.identity.primary_term);
    out.extend_from_slice(b",\"found\":true,\"_source\":");
    source_filter::push_updated(out, filter, source)?;
    out.push(b'}');
    Ok(())
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
    use std::borrow::Cow;

    use limber_mapping::RequestError;

    use super::*;

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
        let nothing = WriteOutcome::new(WriteResult::Noop, WriteIdentity::default());
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
            item(given("8"), Ok(nothing.clone())),
            item(given("9"), Ok(nothing.clone())),
            BulkItem {
                kind: OperationKind::Update,
                ..item(given("a"), Ok(WriteOutcome { source: Some(Default::default()), ..nothing }))
            },
        ];
        let indices = vec!["a".into(), "b".into()];
        let response = BulkResponse { took_ms: 3, ingest_took_ms: None, errors: true, indices, items };
        let whole = render(&response, None, &Filters::new()).expect("room");
        let mut each = b"{\"errors\":true,\"took\":3,\"items\":[".to_vec();
        for (number, item) in response.items.iter().enumerate() {
            each.extend_from_slice(if number > 0 { b"," } else { b"" });
            render_item(&mut each, item, &response.indices[item.index], None).expect("no request");
        }
        each.extend_from_slice(b"]}");
        assert_eq!(String::from_utf8(whole.clone()), String::from_utf8(each));
        let parsed: serde_json::Value = serde_json::from_slice(&whole).expect("JSON");
        let ids: Vec<_> = response.items.iter().map(|item| item.id.to_string()).collect();
        for (number, (id, item)) in ids.iter().zip(&response.items).enumerate() {
            let rendered = &parsed["items"][number][item.kind.as_str()];
            assert_eq!(rendered["_id"].as_str().unwrap_or(""), id);
            let known = item.outcome.as_ref().ok().filter(|outcome| is_of_document(outcome));
            assert_eq!(rendered["_seq_no"].as_u64(), known.map(|outcome| outcome.identity.seq_no));
        }
        let dropped = &parsed["items"][15]["index"];
        assert_eq!((&dropped["_version"], &dropped["_seq_no"]), (&(-3).into(), &(-2).into()));
        let absent = &parsed["items"][16]["update"];
        assert_eq!(
            (&absent["_version"], &absent["get"]),
            (&(-1).into(), &serde_json::json!({"found": false}))
        );
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
}
