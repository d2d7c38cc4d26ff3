//! The keys of stored queries that may match the percolated documents.

use std::ops::Bound;

use limber_mapping::{Field, Representation};
use limber_segment::Segment;
use limber_store::Charge;

use super::keys::{CANDIDATE, MATCHES, UNKNOWN, key};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::held::take;

/// Returns the keys of the queries that may match, sorted. `charge` grows by their memory.
///
/// # Errors
/// Fails if there is no memory for them.
pub(crate) fn keys_of(held: &ShardSnapshot, charge: &mut Option<Charge>) -> Result<Vec<Box<[u8]>>> {
    let mut keys: Vec<Box<[u8]>> = vec![Box::new([UNKNOWN])];
    for view in &held.segments {
        for field in held.mapping.matching("*") {
            let known = keys.len();
            add_keys(&view.segment, &field, true, &mut keys)?;
            for space in view.segment.nested_spaces() {
                add_keys(&space.segment, &field, false, &mut keys)?;
            }
            take(charge, keys[known..].iter().map(|key| KEY_BYTES + key.len() as u64).sum())?;
        }
    }
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

/// Bytes of a key beyond its content: its slot in the list, and what the allocator rounds up.
const KEY_BYTES: u64 = 32;

/// Adds the keys of a field's terms. A term of a nested document is not sufficient for a query to match.
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
