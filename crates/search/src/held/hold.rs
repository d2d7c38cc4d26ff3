//! Puts documents of a request into a shard of their own, in memory.

use std::sync::Arc;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Mapping, RequestError};
use limber_segment::{Buffer, DocumentMeta, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity};
use limber_store::term_index::TermIndexCache;
use limber_store::{Charge, Directory, MemoryDirectory};

use super::index::index_scripts;
use crate::context::{ShardSettings, ShardSnapshot};
use crate::error::Result;

/// How often a document may extend the mapping: each time it adds all fields that are missing.
const UPDATES_MAX: usize = 8;

/// Label of the memory charge, which the circuit breaker's error shows.
pub(crate) const LABEL: &str = "<documents of a percolate query>";

/// Builds a shard with the settings of `shard` whose only segment has `documents`, in their order. Fields
/// that they add under a dynamic mapping exist for these documents only. `charge`, if given, grows by the
/// memory that they take.
///
/// # Errors
/// Those of indexing the documents; not enough memory.
pub(crate) fn hold(
    shard: &ShardSnapshot,
    documents: &[Vec<u8>],
    charge: &mut Option<Charge>,
) -> Result<ShardSnapshot> {
    hold_with(shard, documents, charge, |mapping, source, buffer| {
        if mapping.scripted().is_empty() {
            return Ok(());
        }
        index_scripts(&ShardSnapshot { mapping: mapping.clone(), ..shard.clone() }, source, buffer)
    })
}

/// Like [`hold`], plus what `add_values` adds to each document, given its JSON and the mapping that it was
/// parsed with.
pub(crate) fn hold_with(
    shard: &ShardSnapshot,
    documents: &[Vec<u8>],
    charge: &mut Option<Charge>,
    mut add_values: impl FnMut(&Arc<Mapping>, &[u8], &mut Buffer) -> std::result::Result<(), RequestError>,
) -> Result<ShardSnapshot> {
    let mut mapping = shard.mapping.clone();
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let mut scratch = Scratch::default();
    let before_bytes = charge.as_ref().map_or(0, Charge::bytes);
    let mut buffer_bytes = 0;
    for (number, source) in documents.iter().enumerate() {
        let id = number.to_string();
        add(&mut buffer, &mut scratch, &mut mapping, (id.as_bytes(), source), &mut add_values)?;
        let bytes = buffer.memory_bytes() as u64;
        take(charge, bytes.saturating_sub(buffer_bytes))?;
        buffer_bytes = buffer_bytes.max(bytes);
    }
    let directory: Arc<dyn Directory> = Arc::new(MemoryDirectory::new());
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping)?;
    take(charge, meta.bytes)?;
    if let Some(charge) = charge {
        // The buffer has been freed.
        charge.shrink_to(before_bytes + meta.bytes);
    }
    let segment = Segment::open(&directory, &meta, &TermIndexCache::native())?;
    let settings = ShardSettings { scores_as_lucene: true, ..ShardSettings::clone(&shard.settings) };
    Ok(ShardSnapshot {
        mapping,
        settings: Arc::new(settings),
        segments: vec![SegmentView::new(Arc::new(segment))],
        documents: None,
        caches: None,
        nested: None,
        hides_documents: false,
        ..shard.clone()
    })
}

/// Grows `charge`, if given, by the memory of a document.
///
/// # Errors
/// Not enough memory.
pub(crate) fn take(charge: &mut Option<Charge>, bytes: u64) -> Result<()> {
    match charge {
        Some(charge) => Ok(charge.grow(bytes, LABEL)?),
        None => Ok(()),
    }
}

fn add(
    buffer: &mut Buffer,
    scratch: &mut Scratch,
    mapping: &mut Arc<Mapping>,
    (id, source): (&[u8], &[u8]),
    add_values: &mut impl FnMut(&Arc<Mapping>, &[u8], &mut Buffer) -> std::result::Result<(), RequestError>,
) -> Result<()> {
    let meta = DocumentMeta {
        id,
        routing: None,
        identity: WriteIdentity { seq_no: 0, primary_term: 1, version: 1 },
    };
    for _ in 0..UPDATES_MAX {
        buffer.begin(&meta, source);
        let parsed = document::parse(mapping, source, scratch, buffer);
        let parsed = match parsed {
            Ok(Parsed::Done) => add_values(mapping, source, buffer).map(|()| Parsed::Done),
            other => other,
        };
        match parsed {
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
    Err(RequestError::internal("mapper_exception", "the document's mapping update did not take effect")
        .into())
}
