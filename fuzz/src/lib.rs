//! The fuzz targets. For any input, they must not panic, hang or take disproportionate memory.

mod folder;
mod segment_reader;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use limber_codec::checksum::crc32;
use limber_engine::WriteIdentity;
use limber_engine::translog::{
    self, FileTranslog, Operation, OperationType, Record, RecordBatch, Recovered, Translog,
};
use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Mapping, MappingSettings};
use limber_search::{SearchRequest, UrlParameters};
use limber_store::{Directory, Error, FsDirectory};
use serde_json::json;
use serde_json::value::RawValue;

pub use folder::{checkpoint, commit, folder, index_metadata, live_docs, node_state};
pub use segment_reader::segment_reader;

static MAPPING: LazyLock<Mapping> = LazyLock::new(|| {
    let body = json!({"properties": {
        "t": {"type": "text", "fields": {"k": {"type": "keyword", "ignore_above": 5}}}, "l": {"type": "long"},
        "d": {"type": "date"}, "f": {"type": "double"}, "s": {"type": "scaled_float", "scaling_factor": 100},
        "b": {"type": "boolean"}, "i": {"type": "ip", "ignore_malformed": true},
        "o": {"properties": {"x": {"type": "integer", "null_value": 7}, "y": {"type": "keyword", "copy_to": "t"}}}}});
    Mapping::parse(&body, &MappingSettings::default()).expect("the mapping is valid")
});

/// Walks any bytes as a document: the walker accepts only what serde_json accepts as an object, except for
/// halves of surrogate pairs, which Jackson accepts as well.
pub fn json_walker(source: &[u8]) {
    let mut sink = RecordingSink::default();
    if let Ok(Parsed::Done) = document::parse(&MAPPING, source, &mut Scratch::new(), &mut sink) {
        // A `RawValue` parses escapes without interpreting them.
        let value: Box<RawValue> =
            serde_json::from_slice(source).expect("the walker accepts valid JSON only");
        assert!(value.get().starts_with('{'));
    }
    let _ = document::infer(&MAPPING, source);
}

/// Parses any JSON as a search body, which may be refused.
pub fn query_parser(body: &[u8]) {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(body) else { return };
    if let Err(error) = SearchRequest::parse(&value, &UrlParameters::default()) {
        assert!(error.class.is_refusal(), "{error}");
    }
}

const TRANSLOG: &str = "translog-1.log";
const CHECKPOINT: &str = "translog.ckp";
/// Bytes of the header, and (`PREFIX_BYTES`) of the length and checksum before every record.
const HEADER_BYTES: usize = 56;
const PREFIX_BYTES: usize = 8;

fn directory(folder: &Path) -> Arc<dyn Directory> {
    Arc::new(FsDirectory::open(folder).expect("the folder opens"))
}

/// A translog of three batches, and its checkpoint.
static LOG: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = FileTranslog::create(directory(folder.path()), 1, 1, [0; 16], 0, &Recovered::default());
    let log = log.expect("the log is created");
    for batch_number in 0..3u64 {
        let mut batch = RecordBatch::default();
        for (number, kind) in
            [OperationType::Index, OperationType::Delete, OperationType::NoOp].into_iter().enumerate()
        {
            let operation = Operation {
                kind,
                id: "document",
                routing: (number == 0).then_some("r"),
                source: if number == 0 { br#"{"a": 1}"# } else { b"" },
            };
            let seq_no = batch_number * 3 + number as u64;
            batch
                .push(&Record { operation, identity: WriteIdentity { seq_no, primary_term: 1, version: 1 } });
        }
        let appended = log.append(batch).expect("the batch is appended");
        log.sync(appended.end).expect("the batch is durable");
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("the log is read");
    (read(TRANSLOG), read(CHECKPOINT))
});

/// Recovers a translog, which is replayed up to a torn tail or refused as corrupt. The newest file consists
/// of any bytes (first byte even) or is a sound log with changed bytes, whose checksums are corrected if
/// the first byte is a multiple of four plus one. If bit 3 is set, the checkpoint is missing.
pub fn translog(bytes: &[u8]) {
    let Some((&form, bytes)) = bytes.split_first() else { return };
    let file = if form % 2 == 0 { bytes.to_vec() } else { changed_log(bytes, form % 4 == 1) };
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(TRANSLOG), file).expect("the file is written");
    if form & 8 == 0 {
        std::fs::write(folder.path().join(CHECKPOINT), &LOG.1).expect("the file is written");
    }
    let mut replayed = 0u64;
    let outcome = translog::recover::<Error>(&directory(folder.path()), 1, &[0; 16], |_| {
        replayed += 1;
        Ok(())
    });
    if let Ok(recovered) = outcome {
        assert_eq!(recovered.operations, replayed);
    }
    let _ = Record::parse(bytes);
}

fn changed_log(changes: &[u8], with_right_checksums: bool) -> Vec<u8> {
    let mut file = LOG.0.clone();
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % file.len();
        file[at] ^= change[2];
    }
    if with_right_checksums {
        let crc = crc32(&file[..HEADER_BYTES - 4]);
        file[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
        let mut at = HEADER_BYTES;
        while let Some(prefix) = file.get(at..at + PREFIX_BYTES) {
            let payload = at + PREFIX_BYTES;
            let next = payload + u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]) as usize;
            let Some(crc) = file.get(payload..next).map(crc32) else { break };
            file[at + 4..payload].copy_from_slice(&crc.to_le_bytes());
            at = next;
        }
    }
    file
}
