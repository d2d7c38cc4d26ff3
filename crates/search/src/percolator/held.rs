//! Documents of a request as a shard of their own, in memory.

use std::ops::Bound;
use std::sync::Arc;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Field, Mapping, Representation, RequestError};
use limber_segment::{Buffer, DocumentMeta, Segment, SegmentId, SegmentView, StoredCodec};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, MemoryDirectory};

use super::{CANDIDATE, MATCHES, UNKNOWN, key};
use crate::context::{ShardSettings, ShardSnapshot};
use crate::error::Result;

/// Times that a document may add fields to the mapping: each adds all that are missing.
const UPDATES_MAX: usize = 8;

/// `documents` as the only segment of a shard with the settings of `shard`: document `n` is the `n`th. Fields that they add where the mapping is
/// dynamic are there for these documents alone.
///
/// # Errors
/// As of writing the documents.
pub(crate) fn hold(shard: &ShardSnapshot, documents: &[Vec<u8>]) -> Result<ShardSnapshot> {
    let mut mapping = shard.mapping.clone();
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let mut scratch = Scratch::default();
    for (number, source) in documents.iter().enumerate() {
        let id = number.to_string();
        add(&mut buffer, &mut scratch, &mut mapping, id.as_bytes(), source)?;
    }
    let directory: Arc<dyn Directory> = Arc::new(MemoryDirectory::new());
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping)?;
    let segment = Segment::open(&directory, &meta, &TermIndexCache::native())?;
    let settings = ShardSettings { scores_as_lucene: true, ..ShardSettings::clone(&shard.settings) };
    Ok(ShardSnapshot {
        mapping,
        settings: Arc::new(settings),
        segments: vec![SegmentView::new(Arc::new(segment))],
        caches: None,
        nested: None,
        ..shard.clone()
    })
}

fn add(
    buffer: &mut Buffer,
    scratch: &mut Scratch,
    mapping: &mut Arc<Mapping>,
    id: &[u8],
    source: &[u8],
) -> Result<()> {
    let meta = DocumentMeta { id, routing: None, seq_no: 0, primary_term: 1, version: 1 };
    for _ in 0..UPDATES_MAX {
        buffer.begin(&meta, source);
        match document::parse(mapping, source, scratch, buffer) {
            Ok(Parsed::Done) => return Ok(buffer.commit()?),
            Ok(Parsed::NeedsMapping) => {
                buffer.rollback();
                *mapping = Arc::new(mapping.merge(&document::infer(mapping, source)?)?);
            }
            Err(error) => {
                buffer.rollback();
                return Err(error.into());
            }
        }
    }
    Err(RequestError::new(500, "mapper_exception", "the document's mapping update did not take effect")
        .into())
}

/// The keys of the queries that may match what is held, sorted.
pub(crate) fn keys_of(held: &ShardSnapshot) -> Result<Vec<Box<[u8]>>> {
    let mut keys: Vec<Box<[u8]>> = vec![Box::new([UNKNOWN])];
    for view in &held.segments {
        for field in held.mapping.matching("*") {
            add_keys(&view.segment, &field, true, &mut keys)?;
            for space in view.segment.nested_spaces() {
                add_keys(&space.segment, &field, false, &mut keys)?;
            }
        }
    }
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

/// A term of a nested document is none that a query on the documents around could match by.
fn add_keys(segment: &Segment, field: &Field, is_root: bool, keys: &mut Vec<Box<[u8]>>) -> Result<()> {
    if !matches!(field.representation(), Representation::Text | Representation::Terms) {
        return Ok(());
    }
    let Some(terms) = segment.terms(&field.path)? else { return Ok(()) };
    let mut cursor = terms.range(Bound::Unbounded, Bound::Unbounded)?;
    while cursor.advance()? {
        keys.push(key(CANDIDATE, &field.path, cursor.term()).into());
        if is_root {
            keys.push(key(MATCHES, &field.path, cursor.term()).into());
        }
    }
    Ok(())
}
