//! Which documents a client sends, and how they become bulk bodies.
//!
//! The partitioning is Rally's (`track/params.py`, `bounds`, `create_readers`): every document set is cut
//! into equal ranges, one per client. The clients of one worker share a reader over their joint range, and
//! take bulks from it in the order in which they ask. A set with action lines is sent as slices of the file,
//! without a copy; otherwise the action line is written before each document in a reused buffer. Counting
//! lines touches every byte, so the pages of a file are in memory before the clock starts.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::conflicts::{ConflictRule, ConflictingIds};
use crate::error::Error;
use crate::model::{DocumentSet, DocumentSource};
use crate::track::load::offsets::closest;

/// A document set opened for reading.
#[derive(Debug, Clone)]
pub(super) struct OpenSet {
    pub text: Bytes,
    pub documents: u64,
    /// The action line for each document; `None` if the file has its own action lines.
    pub action: Option<Arc<Action>>,
    /// The index or data stream that the set declares.
    target: Option<Arc<str>>,
    /// The file, if there is one. The table of line offsets is beside it.
    file: Option<Arc<Path>>,
}

impl OpenSet {
    /// Maps the file of the set, or shares its bytes.
    ///
    /// Errors: the file cannot be mapped; the set declares no index and has no action lines.
    pub(super) fn open(set: &DocumentSet) -> Result<OpenSet, Error> {
        let (text, file) = match &set.source {
            DocumentSource::Memory(text) => (text.clone(), None),
            DocumentSource::File(path) => {
                let text = map(path)
                    .map_err(|error| Error::Track(format!("cannot read [{}]: {error}", path.display())))?;
                (text, Some(path.as_path().into()))
            }
        };
        let action = match set.includes_action_and_meta_data {
            true => None,
            false => Some(Action::for_set(set)?.into()),
        };
        let target = set.target_index.as_deref().or(set.target_data_stream.as_deref()).map(Arc::from);
        Ok(OpenSet { text, documents: set.number_of_documents, action, target, file })
    }

    /// Returns the byte at which line `line` (from 0) begins, or the text's length if there are fewer lines.
    fn line_start(&self, line: u64) -> usize {
        let (at, lines_left) = self.file.as_ref().map_or((0, line), |file| closest(file, line));
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.text.len());
        at + lines_end(&self.text[at..], lines_left).0
    }
}

fn map(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: the map is only read. If another process shortens the file meanwhile the race dies with SIGBUS,
    // as any reader of a map would; corpora are not edited while they are raced.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Bytes::from_owner(map))
}

/// The action of the documents of a set.
#[derive(Debug)]
pub(super) struct Action {
    /// `index`, or `create` for data streams.
    pub verb: &'static str,
    /// The target as members of the action's object, such as `"_index": "logs"`.
    members: String,
    line: String,
}

impl Action {
    fn for_set(set: &DocumentSet) -> Result<Action, Error> {
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let of_type = |kind: &String| format!(", \"_type\": {}", quoted(kind));
        let (verb, members) = match (&set.target_index, &set.target_data_stream) {
            (Some(index), _) => {
                let kind = set.target_type.as_ref().filter(|kind| !kind.is_empty());
                ("index", format!("\"_index\": {}{}", quoted(index), kind.map(of_type).unwrap_or_default()))
            }
            (None, Some(stream)) => ("create", format!("\"_index\": {}", quoted(stream))),
            (None, None) => {
                return Err(Error::Track(
                    "a document set names neither a target index nor a target data stream, and has no \
                            action lines"
                        .into(),
                ));
            }
        };
        Ok(Action { verb, line: format!("{{\"{verb}\": {{{members}}}}}\n"), members })
    }

    /// Writes the action and `document` (with or without its line feed) to `out`.
    fn write(&self, document: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(self.line.as_bytes());
        write_line(document, out);
    }

    /// Writes an action for a document with this id. In an update, the document is the partial document.
    fn write_with_id(&self, id: u64, is_update: bool, document: &[u8], out: &mut Vec<u8>) {
        let verb = if is_update { "update" } else { self.verb };
        let line = format!("{{\"{verb}\": {{{}, \"_id\": \"{id:010}\"}}}}\n", self.members);
        out.extend_from_slice(line.as_bytes());
        if is_update {
            out.extend_from_slice(b"{\"doc\":");
            out.extend_from_slice(document.trim_ascii());
            out.extend_from_slice(b"}\n");
        } else {
            write_line(document, out);
        }
    }
}

fn write_line(line: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(line);
    if line.last() != Some(&b'\n') {
        out.push(b'\n');
    }
}

/// Returns the end of the first `lines` lines of `text` (after the last one's line feed) and the number of
/// lines. The last line of the text need not end in a line feed.
fn lines_end(text: &[u8], lines: u64) -> (usize, u64) {
    if lines == 0 {
        return (0, 0);
    }
    let mut count = 0;
    for at in memchr::memchr_iter(b'\n', text) {
        count += 1;
        if count == lines {
            return (at + 1, count);
        }
    }
    let has_open_line = text.last().is_some_and(|byte| *byte != b'\n');
    (text.len(), count + u64::from(has_open_line))
}

/// Returns where the share of a set for a range of clients begins and how long it is: (first document,
/// documents).
///
/// Rounds half to even, as Python does.
pub(super) fn share(documents: u64, clients_first: u32, clients_last: u32, clients_total: u32) -> (u64, u64) {
    let per_client = documents as f64 / f64::from(clients_total.max(1));
    let from = (per_client * f64::from(clients_first)).round_ties_even() as u64;
    let to = (per_client * (f64::from(clients_last) + 1.0)).round_ties_even() as u64;
    (from, to.saturating_sub(from))
}

/// A bulk body ready to be sent.
#[derive(Debug, Default)]
pub(super) struct BulkBody {
    slice: Bytes,
    assembled: Vec<u8>,
    is_assembled: bool,
    pub documents: u64,
    /// The target of the documents, if their actions do not name one.
    pub target: Option<Arc<str>>,
}

impl BulkBody {
    pub(super) fn bytes(&self) -> &[u8] {
        if self.is_assembled { &self.assembled } else { &self.slice }
    }
}

/// Reads one share of a document set.
#[derive(Debug)]
struct ShareReader {
    set: OpenSet,
    at: usize,
    documents_left: u64,
    ids: Option<ConflictingIds>,
}

impl ShareReader {
    /// Takes up to `documents_max` documents. Returns false when the share is used up.
    fn next(&mut self, documents_max: u64, body: &mut BulkBody) -> bool {
        let wanted = documents_max.min(self.documents_left);
        let rest = &self.set.text[self.at..];
        if wanted == 0 || rest.is_empty() {
            return false;
        }
        body.is_assembled = true;
        body.assembled.clear();
        let out = &mut body.assembled;
        let (bytes, documents) = match (&self.set.action, &mut self.ids) {
            (Some(action), None) => for_each_line(rest, wanted, |line| {
                action.write(line, out);
                true
            }),
            (Some(action), Some(ids)) => for_each_line(rest, wanted, |line| {
                let next = ids.next();
                next.map(|(id, is_update)| action.write_with_id(id, is_update, line, out)).is_some()
            }),
            (None, _) => {
                let (bytes, lines) = lines_end(rest, wanted * 2);
                body.is_assembled = rest[bytes - 1] != b'\n';
                if body.is_assembled {
                    write_line(&rest[..bytes], out);
                } else {
                    body.slice = self.set.text.slice(self.at..self.at + bytes);
                }
                (bytes, lines / 2)
            }
        };
        body.documents = documents;
        body.target.clone_from(&self.set.target);
        self.at += bytes;
        self.documents_left -= documents.min(self.documents_left);
        documents > 0
    }
}

/// Passes the first `lines_max` lines of `text` (with their line feeds) to `take` until it refuses one.
/// Returns the number of bytes and lines taken.
fn for_each_line(text: &[u8], lines_max: u64, mut take: impl FnMut(&[u8]) -> bool) -> (usize, u64) {
    let (mut from, mut lines) = (0, 0);
    let ends = memchr::memchr_iter(b'\n', text).map(|end| end + 1).chain([text.len()]);
    for end in ends {
        if lines == lines_max || from == end || !take(&text[from..end]) {
            break;
        }
        (from, lines) = (end, lines + 1);
    }
    (from, lines)
}

/// How a bulk task reads its corpora.
#[derive(Debug, Clone)]
pub(super) struct ReadingRule {
    pub bulk_documents: u64,
    pub ingest_percentage: f64,
    /// Number of documents of all clients together, instead of a percentage.
    pub ingest_documents: Option<u64>,
    pub is_looped: bool,
    pub conflicts: Option<ConflictRule>,
}

/// The bulks of one worker's clients in one task.
#[derive(Debug)]
pub(super) struct BulkReader {
    corpora: Arc<[Vec<OpenSet>]>,
    clients: (u32, u32, u32),
    rule: ReadingRule,
    readers: Vec<ShareReader>,
    reader: usize,
    bulk: u64,
    bulks_total: u64,
}

impl BulkReader {
    /// `clients` is the first and the last client's index within the task, and the task's number of clients.
    ///
    /// Errors: `ingest-doc-count` does not divide into bulks.
    pub(super) fn new(
        corpora: Arc<[Vec<OpenSet>]>,
        clients: (u32, u32, u32),
        rule: ReadingRule,
    ) -> Result<BulkReader, Error> {
        let (first, last, total) = clients;
        let bulks = |set: &OpenSet| share(set.documents, first, last, total).1.div_ceil(rule.bulk_documents);
        let bulks_all: u64 = corpora.iter().flatten().map(bulks).sum();
        let bulks_total = match rule.ingest_documents {
            None => (bulks_all as f64 * rule.ingest_percentage / 100.0).ceil() as u64,
            Some(documents) => {
                let documents = documents / u64::from(total.max(1)) * u64::from(last - first + 1);
                if documents % rule.bulk_documents != 0 {
                    return Err(Error::Track(format!(
                        "'ingest-doc-count' divided by the number of clients ({total}) must be a multiple of \
                         'bulk-size' ({})",
                        rule.bulk_documents
                    )));
                }
                documents / rule.bulk_documents
            }
        };
        let mut reader =
            BulkReader { corpora, clients, rule, readers: Vec::new(), reader: 0, bulk: 0, bulks_total };
        reader.rewind();
        Ok(reader)
    }

    /// Puts the shares in order: the corpora start with the first client's, and each in turn adds a set.
    fn rewind(&mut self) {
        let (first, last, total) = self.clients;
        let corpora_count = self.corpora.len();
        let mut queues: Vec<_> = (0..corpora_count)
            .map(|index| self.corpora[(first as usize + index) % corpora_count].iter())
            .collect();
        let mut readers = Vec::new();
        while !queues.is_empty() {
            queues.retain_mut(|queue| {
                // Empty shares do not get a turn.
                let next = queue.find_map(|set| {
                    let (document, documents) = share(set.documents, first, last, total);
                    let lines_each = if set.action.is_some() { 1 } else { 2 };
                    (documents > 0).then(|| ShareReader {
                        at: set.line_start(document * lines_each),
                        documents_left: documents,
                        ids: self.rule.conflicts.map(|rule| ConflictingIds::new(rule, document, documents)),
                        set: set.clone(),
                    })
                });
                let has_more = next.is_some();
                readers.extend(next);
                has_more
            });
        }
        (self.readers, self.reader, self.bulk) = (readers, 0, 0);
    }

    /// Fills `body` with the next bulk. Returns false when there are no more.
    pub(super) fn next(&mut self, body: &mut BulkBody) -> bool {
        if self.bulk >= self.bulks_total {
            if !self.rule.is_looped || self.bulks_total == 0 {
                return false;
            }
            self.rewind();
        }
        while let Some(reader) = self.readers.get_mut(self.reader) {
            if reader.next(self.rule.bulk_documents, body) {
                self.bulk += 1;
                return true;
            }
            self.reader += 1;
        }
        // The files have fewer lines than declared.
        self.bulks_total = self.bulk;
        false
    }

    /// Returns the share of bulks handed out; `None` when the reader starts over forever.
    pub(super) fn progress(&self) -> Option<f64> {
        (!self.rule.is_looped).then(|| self.bulk as f64 / self.bulks_total.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::tests::document_set;
    use proptest::prelude::*;

    fn memory_set(lines: &[String], has_actions: bool) -> DocumentSet {
        let documents = lines.len() / if has_actions { 2 } else { 1 };
        let set = document_set(lines.join("\n") + "\n", documents);
        DocumentSet { includes_action_and_meta_data: has_actions, ..set }
    }

    fn read_all(
        corpora: &[Vec<DocumentSet>],
        clients: (u32, u32, u32),
        rule: &ReadingRule,
    ) -> Vec<(u64, String)> {
        let open = |corpus: &Vec<DocumentSet>| corpus.iter().map(|set| OpenSet::open(set).unwrap()).collect();
        let corpora: Arc<[Vec<OpenSet>]> = corpora.iter().map(open).collect();
        let mut reader = BulkReader::new(corpora, clients, rule.clone()).unwrap();
        let mut body = BulkBody::default();
        let mut bulks = Vec::new();
        while reader.next(&mut body) {
            bulks.push((body.documents, String::from_utf8(body.bytes().to_vec()).unwrap()));
            assert!(bulks.len() < 1000);
        }
        bulks
    }

    fn rule(bulk_documents: u64) -> ReadingRule {
        ReadingRule {
            bulk_documents,
            ingest_percentage: 100.0,
            ingest_documents: None,
            is_looped: false,
            conflicts: None,
        }
    }

    #[test]
    fn bodies() {
        let set = memory_set(&["{\"a\":1}".into(), "{\"a\":2}".into(), "{\"a\":3}".into()], false);
        let action = "{\"index\": {\"_index\": \"logs\"}}\n";
        let bulks = read_all(&[vec![set.clone()]], (0, 0, 1), &rule(2));
        assert_eq!(bulks[0], (2, format!("{action}{{\"a\":1}}\n{action}{{\"a\":2}}\n")));
        assert_eq!(bulks[1], (1, format!("{action}{{\"a\":3}}\n")));

        let mut stream = set.clone();
        (stream.target_index, stream.target_data_stream) = (None, Some("ds".into()));
        let bulks = read_all(&[vec![stream]], (0, 0, 1), &rule(9));
        assert!(bulks[0].1.starts_with("{\"create\": {\"_index\": \"ds\"}}\n{\"a\":1}\n"), "{bulks:?}");

        let mut nowhere = set;
        nowhere.target_index = None;
        assert!(OpenSet::open(&nowhere).is_err());

        let with_actions: Vec<String> = (0..6).map(|i| format!("line{i}")).collect();
        let bulks = read_all(&[vec![memory_set(&with_actions, true)]], (1, 1, 3), &rule(5));
        assert_eq!(bulks, [(1, "line2\nline3\n".to_owned())]);
    }

    #[test]
    fn percentage_counts_bulks_and_corpora_take_turns() {
        let set = |name: &str| memory_set(&(0..4).map(|i| format!("{name}{i}")).collect::<Vec<_>>(), false);
        let corpora = [vec![set("a"), set("b")], vec![set("c")]];
        let order = |clients| {
            let documents = |(_, body): (u64, String)| body.lines().nth(1).unwrap().to_owned();
            read_all(&corpora, clients, &rule(4)).into_iter().map(documents).collect::<Vec<_>>()
        };
        assert_eq!(order((0, 0, 1)), ["a0", "c0", "b0"]);
        assert_eq!(order((1, 1, 2)), ["c2", "a2", "b2"]);
        let half = ReadingRule { ingest_percentage: 50.0, ..rule(4) };
        assert_eq!(read_all(&corpora, (0, 0, 1), &half).len(), 2);
        let counted = ReadingRule { ingest_documents: Some(8), ..rule(4) };
        assert_eq!(read_all(&corpora, (0, 0, 2), &counted).len(), 1);
    }

    #[test]
    fn conflicting_ids_stand_in_the_actions() {
        let set = memory_set(&(0..200).map(|i| format!("{{\"n\":{i}}}")).collect::<Vec<_>>(), false);
        let conflicts = ConflictRule { is_shuffled: false, probability: 0.5, is_update: true, recency: 0.0 };
        let bulks =
            read_all(&[vec![set]], (1, 1, 2), &ReadingRule { conflicts: Some(conflicts), ..rule(100) });
        let lines: Vec<&str> = bulks[0].1.lines().collect();
        assert_eq!(lines[..2], [r#"{"index": {"_index": "logs", "_id": "0000000100"}}"#, r#"{"n":100}"#]);
        let update = lines
            .iter()
            .position(|line| line.starts_with(r#"{"update": {"_index": "logs", "_id": "00000001"#));
        let document = lines[update.unwrap() + 1];
        assert!(document.starts_with(r#"{"doc":{"n":1"#) && document.ends_with("}}"), "{document}");
        assert_eq!((bulks.len(), lines.len()), (1, 200));
    }

    #[test]
    fn shares_round_half_to_even() {
        // round(2.5) is 2 and round(7.5) is 8 in Python.
        assert_eq!((share(5, 0, 0, 2), share(5, 1, 1, 2)), ((0, 2), (2, 3)));
        assert_eq!((share(15, 0, 0, 2), share(15, 1, 1, 2)), ((0, 8), (8, 7)));
    }

    #[test]
    fn files_are_read_through_their_offset_table() {
        let folder = std::env::temp_dir().join(format!("limber-documents-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("documents.json");
        let lines: Vec<String> = (0..100).map(|i| format!("{{\"n\":{i}}}")).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        let offset_of_40 = lines[..40].iter().map(|line| line.len() + 1).sum::<usize>();
        std::fs::write(folder.join("documents.json.offset"), format!("40;{offset_of_40}\n")).unwrap();
        let mut set = memory_set(&lines, false);
        set.source = DocumentSource::File(path);
        let open = OpenSet::open(&set).unwrap();
        assert_eq!(open.line_start(40), offset_of_40);
        let bulks = read_all(&[vec![set]], (1, 1, 2), &rule(30));
        assert!(bulks[0].1.lines().nth(1) == Some("{\"n\":50}") && bulks[1].1.ends_with("{\"n\":99}\n"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Checks that the clients together send every document once, however they are distributed over
        /// workers.
        #[test]
        fn every_document_once(
            documents in 1usize..60,
            clients in 1u32..7,
            bulk_documents in 1u64..20,
            has_actions: bool,
            workers in 1usize..4,
        ) {
            let line = |i: usize| format!("{{\"line\":{i}}}");
            let lines: Vec<String> = (0..documents * if has_actions { 2 } else { 1 }).map(line).collect();
            let set = memory_set(&lines, has_actions);
            let mut seen = Vec::new();
            for range in crate::drive::allocation::worker_ranges(clients as usize, workers) {
                let share = (range.start as u32, range.end as u32 - 1, clients);
                for (count, body) in read_all(&[vec![set.clone()]], share, &rule(bulk_documents)) {
                    prop_assert!(count <= bulk_documents && body.lines().count() as u64 == count * 2);
                    seen.extend(body.lines().filter(|line| line.contains("line")).map(str::to_owned));
                }
            }
            prop_assert_eq!(seen, lines);
        }
    }
}
