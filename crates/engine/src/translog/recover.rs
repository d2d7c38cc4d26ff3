//! Reading a translog back after a stop of any kind.

use std::sync::Arc;

use limber_store::{Directory, Error};

#[cfg(test)]
use super::format::RecordBatch;
use super::format::{self, HEADER_BYTES, Header, MARKER, Operation, PREFIX_BYTES, Payload};

/// What a scan found in one generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub file: String,
    pub offset: u64,
    pub expected: String,
}

/// The generations that were found.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Highest generation number of any translog file.
    pub max_generation: u64,
    pub max_primary_term: u64,
    pub operations: u64,
    pub bytes: u64,
    /// A torn tail that was ignored; its length in bytes.
    pub torn_bytes: u64,
}

/// Calls `replay` for every operation of the generations from `first_generation` on, in the order of the log.
///
/// `history` is the shard's; a generation of another shard is refused. Errors: [`Error::Corrupt`] with file and offset, and
/// whatever `replay` fails with.
pub fn recover<E: From<Error>>(
    directory: &Arc<dyn Directory>,
    first_generation: u64,
    history: &[u8; 16],
    mut replay: impl FnMut(&Operation<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<Recovered, E> {
    let mut generations: Vec<u64> =
        directory.list()?.iter().filter_map(|name| format::generation_of(name)).collect();
    generations.sort_unstable();
    let mut recovered =
        Recovered { max_generation: generations.last().copied().unwrap_or(0), ..Recovered::default() };
    let last = recovered.max_generation;
    generations.retain(|generation| *generation >= first_generation);
    for (expected, generation) in (first_generation..).zip(generations) {
        let name = format::file_name(generation);
        if generation != expected {
            return Err(corrupt(&format::file_name(expected), 0, "the file", "nothing").into());
        }
        let bytes = directory.open(&name)?;
        // The newest file may have been created and never written before the stop: nothing in it was promised.
        let header = match Header::parse(&bytes) {
            Ok(header) => header,
            Err(_) if generation == last && bytes.len() <= HEADER_BYTES => {
                recovered.torn_bytes += bytes.len() as u64;
                // The next generation takes its place.
                recovered.max_generation = generation - 1;
                continue;
            }
            Err(wrong) => {
                return Err(corrupt(&name, wrong.offset as u64, wrong.expected, "other bytes").into());
            }
        };
        if header.generation != generation || header.history != *history {
            return Err(corrupt(&name, 0, "a translog of this shard", "another's").into());
        }
        recovered.max_primary_term = recovered.max_primary_term.max(header.primary_term);
        let mut offset = HEADER_BYTES;
        while offset < bytes.len() {
            match format::record_at(&bytes, offset) {
                Ok((payload, next)) => {
                    match format::parse_payload(payload) {
                        Ok(Payload::Operation(operation)) => {
                            recovered.operations += 1;
                            recovered.bytes += (next - offset) as u64;
                            recovered.max_primary_term =
                                recovered.max_primary_term.max(operation.primary_term);
                            replay(&operation)?;
                        }
                        Ok(Payload::Mark { .. }) => {}
                        Err(wrong) => {
                            return Err(
                                corrupt(&name, offset as u64, wrong.expected, "another payload").into()
                            );
                        }
                    }
                    offset = next;
                }
                Err(wrong) if durable_beyond(&bytes, offset) => {
                    return Err(
                        corrupt(&name, offset as u64, wrong, "other bytes before durable ones").into()
                    );
                }
                Err(_) => {
                    let rest = &bytes[offset..];
                    // Zeros fill the last block of a log.
                    if rest.iter().any(|byte| *byte != 0) {
                        recovered.torn_bytes += rest.len() as u64;
                    }
                    break;
                }
            }
        }
    }
    Ok(recovered)
}

fn corrupt(file: &str, offset: u64, expected: &str, found: &str) -> Error {
    Error::Corrupt { file: file.to_owned(), offset, expected: expected.to_owned(), found: found.to_owned() }
}

/// Whether a mark after `offset` proves that the bytes at `offset` were durable once.
fn durable_beyond(bytes: &[u8], offset: usize) -> bool {
    // The marker lies 9 bytes into its record: prefix, then type.
    memchr::memmem::find_iter(&bytes[offset..], MARKER).any(|found| {
        let at = offset + found;
        let start = at.checked_sub(PREFIX_BYTES + 1).filter(|start| *start >= offset);
        let record = start.and_then(|start| format::record_at(bytes, start).ok());
        match record.map(|(payload, _)| format::parse_payload(payload)) {
            Some(Ok(Payload::Mark { durable_len })) => durable_len > offset as u64,
            _ => false,
        }
    })
}

#[cfg(test)]
impl RecordBatch {
    /// A batch whose bytes are a fuzzer's or a test's.
    pub(crate) fn from_operations<'a>(operations: impl IntoIterator<Item = Operation<'a>>) -> RecordBatch {
        let mut batch = RecordBatch::default();
        for operation in operations {
            batch.push(&operation);
        }
        batch
    }
}
