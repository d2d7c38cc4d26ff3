//! Reads a translog back after the node has stopped in any way.

use std::sync::Arc;

use limber_store::{Directory, Error};

use super::checkpoint::{self, Checkpoint, DurableGeneration};
#[cfg(test)]
use super::format::RecordBatch;
use super::format::{
    self, BLOCK_BYTES, HEADER_BYTES, Header, MARKER, PREFIX_BYTES, Payload, Record, VERSION_PADDED,
};

/// The generations that were found.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Highest generation number of any translog file.
    pub max_generation: u64,
    /// Highest primary term of any operation.
    pub max_primary_term: u64,
    /// Operations that were replayed.
    pub operations: u64,
    /// Bytes of their records.
    pub bytes: u64,
    /// Length of an ignored torn tail, in bytes.
    pub torn_bytes: u64,
    /// How much of each generation was known to be durable, in ascending order. What was found beyond that
    /// may be only in the page cache: after a failed fsync the next one succeeds without having written it.
    /// Only a commit can make it durable.
    pub(super) generations: Vec<DurableGeneration>,
    /// The checkpoint on disk; `None` for folders older than checkpoints.
    pub(super) checkpoint: Option<Checkpoint>,
}

impl Recovered {
    /// Whether any operation was not known to be durable.
    pub fn has_unpromised(&self) -> bool {
        self.operations > self.generations.iter().map(|one| one.operations).sum::<u64>()
    }

    /// Returns the number of files that no commit has made superfluous yet.
    pub fn generation_count(&self) -> usize {
        self.generations.len()
    }
}

/// Calls `replay` for every operation of the generations from `first_generation` on, in the order of the
/// translog.
///
/// `history` is that of the shard; a generation with another history is refused. Errors: [`Error::Corrupt`]
/// with file and offset, [`Error::Io`] if the disk cannot read a part, and the errors of `replay`.
pub fn recover<E: From<Error>>(
    directory: &Arc<dyn Directory>,
    first_generation: u64,
    history: &[u8; 16],
    replay: impl FnMut(&Record<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<Recovered, E> {
    let refused = |name: &str, _: usize| Error::unreadable(directory.path().join(name));
    recover_or(directory, first_generation, history, refused, replay)
}

/// Works like [`recover`]. `refused(file, offset)` makes the error for a file of which the disk cannot read a
/// part; everything before `offset` is intact.
pub fn recover_or<E: From<Error>>(
    directory: &Arc<dyn Directory>,
    first_generation: u64,
    history: &[u8; 16],
    refused: impl Fn(&str, usize) -> Error,
    mut replay: impl FnMut(&Record<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<Recovered, E> {
    let mut numbers: Vec<u64> =
        directory.list()?.iter().filter_map(|name| format::generation_of(name)).collect();
    numbers.sort_unstable();
    let mut recovered = Recovered {
        max_generation: numbers.last().copied().unwrap_or(0),
        checkpoint: Checkpoint::read(&**directory)?,
        ..Recovered::default()
    };
    if recovered.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.history != *history) {
        return Err(corrupt(checkpoint::NAME, 0, "a checkpoint of this shard", "another's").into());
    }
    let last = recovered.max_generation;
    numbers.retain(|generation| *generation >= first_generation);
    check_presence(&numbers, first_generation, recovered.checkpoint.as_ref())?;
    for number in numbers {
        let name = format::file_name(number);
        let bytes = directory.open(&name)?;
        let mut intact = 0;
        let outcome = recovered.add_file(number, number == last, &bytes, history, &mut intact, &mut replay);
        // Parts that the disk cannot read look like zeros, and so like the end of the log.
        if bytes.damage().is_some() {
            return Err(refused(&name, intact).into());
        }
        outcome?;
    }
    Ok(recovered)
}

impl Recovered {
    /// Replays the operations of one file. `intact` becomes the end of its intact part.
    fn add_file<E: From<Error>>(
        &mut self,
        number: u64,
        is_last: bool,
        bytes: &[u8],
        history: &[u8; 16],
        intact: &mut usize,
        replay: &mut impl FnMut(&Record<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let name = format::file_name(number);
        if let Some(found) = format::version_of(bytes).filter(|found| *found > format::VERSION) {
            let (found, supported) = (u64::from(found), u64::from(format::VERSION));
            return Err(Error::Newer { file: name, found, supported }.into());
        }
        let promised = promised(self.checkpoint.as_ref(), number);
        let header = match Header::parse(bytes) {
            Ok(header) => header,
            // Version 1 created the newest file before it wrote to it.
            Err(_) if is_last && promised == 0 && is_unwritten(bytes) => {
                self.torn_bytes += bytes.len() as u64;
                // The next generation will replace it.
                self.max_generation = number - 1;
                return Ok(());
            }
            Err(wrong) => {
                return Err(corrupt(&name, wrong.offset as u64, wrong.expected, "other bytes").into());
            }
        };
        if header.generation != number || header.history != *history {
            return Err(corrupt(&name, 0, "a translog of this shard", "another's").into());
        }
        if header.version >= VERSION_PADDED && self.checkpoint.is_none() {
            return Err(corrupt(checkpoint::NAME, 0, "the file", "nothing").into());
        }
        self.max_primary_term = self.max_primary_term.max(header.primary_term);
        let mut scan = Scan::new(&name, bytes, header.version, promised);
        loop {
            *intact = scan.offset;
            let Some(record) = scan.next_record()? else { break };
            self.max_primary_term = self.max_primary_term.max(record.identity.primary_term);
            replay(&record)?;
        }
        scan.check_count(self.checkpoint.as_ref(), number)?;
        self.operations += scan.operations;
        self.bytes += scan.record_bytes;
        self.torn_bytes += scan.torn_bytes;
        let operations = scan.promised_operations;
        self.generations.push(DurableGeneration { number, durable_len: promised, operations });
        Ok(())
    }
}

/// Checks that generations are consecutive, and that all those exist of which a part was durable.
fn check_presence(
    numbers: &[u64],
    first_generation: u64,
    checkpoint: Option<&Checkpoint>,
) -> Result<(), Error> {
    let missing = |number: u64| corrupt(&format::file_name(number), 0, "the file", "nothing");
    if let Some((expected, _)) =
        (first_generation..).zip(numbers).find(|(expected, found)| expected != *found)
    {
        return Err(missing(expected));
    }
    let promised = checkpoint.into_iter().flat_map(|checkpoint| &checkpoint.generations);
    let is_missing = |one: &&DurableGeneration| {
        one.number >= first_generation && one.durable_len > 0 && !numbers.contains(&one.number)
    };
    promised.filter(is_missing).map(|one| Err(missing(one.number))).next().unwrap_or(Ok(()))
}

/// Returns how many bytes of a generation were durable according to the checkpoint.
fn promised(checkpoint: Option<&Checkpoint>, number: u64) -> u64 {
    let generations = checkpoint.into_iter().flat_map(|checkpoint| &checkpoint.generations);
    generations.filter(|one| one.number == number).map(|one| one.durable_len).max().unwrap_or(0)
}

/// Whether a file was created, and possibly filled with zeros, but its header was not written.
fn is_unwritten(bytes: &[u8]) -> bool {
    bytes.len() <= HEADER_BYTES || are_zeros(bytes)
}

/// Whether there are only zeros, as in the part of a file that is not written yet.
fn are_zeros(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 512] = [0; 512];
    bytes.chunks(ZEROS.len()).all(|chunk| *chunk == ZEROS[..chunk.len()])
}

/// Iterates over the records of one generation.
pub(super) struct Scan<'b> {
    name: &'b str,
    bytes: &'b [u8],
    is_padded: bool,
    /// Bytes that were durable according to the checkpoint.
    promised: u64,
    /// The offset of the next record; at the end, the end of the intact part.
    pub(super) offset: usize,
    /// The offset at which the zeros before the last record began; a mark must follow them.
    padding_from: Option<usize>,
    pub(super) operations: u64,
    /// Operations before the checkpoint's durable length.
    promised_operations: u64,
    record_bytes: u64,
    torn_bytes: u64,
}

impl<'b> Scan<'b> {
    pub(super) fn new(name: &'b str, bytes: &'b [u8], version: u32, promised: u64) -> Scan<'b> {
        Scan {
            name,
            bytes,
            is_padded: version >= VERSION_PADDED,
            promised,
            offset: HEADER_BYTES,
            padding_from: None,
            operations: 0,
            promised_operations: 0,
            record_bytes: 0,
            torn_bytes: 0,
        }
    }

    /// Returns the next operation; `None` at the end of the intact part.
    ///
    /// Errors: [`Error::Corrupt`] when a part that is not intact was durable.
    pub(super) fn next_record(&mut self) -> Result<Option<Record<'b>>, Error> {
        while self.offset < self.bytes.len() {
            if let Some(next) = self.after_padding() {
                self.padding_from = Some(self.offset);
                self.offset = next;
                continue;
            }
            let (payload, next) = match format::record_at(self.bytes, self.offset) {
                Ok(found) => found,
                Err(expected) => return self.end(self.offset, expected),
            };
            let found = match format::parse_payload(payload) {
                Ok(found) => found,
                Err(wrong) => return self.end(self.offset, wrong.expected),
            };
            match found {
                Payload::Mark { operations, .. } => {
                    if operations.is_some_and(|operations| operations != self.operations) {
                        let from = self.padding_from.unwrap_or(self.offset);
                        return self.end(from, "as many operations as the next mark counts");
                    }
                    self.padding_from = None;
                    self.offset = next;
                }
                Payload::Record(_) if self.padding_from.is_some() => {
                    let from = self.padding_from.unwrap_or(self.offset);
                    return self.end(from, "a mark after zeros");
                }
                Payload::Record(record) => {
                    self.operations += 1;
                    self.record_bytes += (next - self.offset) as u64;
                    self.offset = next;
                    if next as u64 <= self.promised {
                        self.promised_operations += 1;
                    }
                    return Ok(Some(record));
                }
            }
        }
        self.end(self.bytes.len(), "the durable part of the file")
    }

    /// Returns where the next block begins, if the rest of this one is only zeros.
    fn after_padding(&self) -> Option<usize> {
        let next = (self.offset as u64).next_multiple_of(BLOCK_BYTES) as usize;
        let rest = &self.bytes[self.offset..next.min(self.bytes.len())];
        let is_padding = self.is_padded && next > self.offset && are_zeros(rest);
        is_padding.then_some(next.min(self.bytes.len()))
    }

    /// Ends the scan at `offset`, after which nothing is intact: this is either the torn tail of
    /// unacknowledged writes, or corruption.
    fn end(&mut self, offset: usize, expected: &str) -> Result<Option<Record<'b>>, Error> {
        // This applies to zeros too: there must be none before the durable end.
        let is_promised = self.promised > offset as u64;
        if is_promised || durable_beyond(self.bytes, offset) {
            return Err(corrupt(self.name, offset as u64, expected, "other bytes before durable ones"));
        }
        let rest = &self.bytes[offset..];
        // Zeros only fill the last block and do not count as torn.
        if !are_zeros(rest) {
            self.torn_bytes += rest.len() as u64;
        }
        self.offset = offset;
        Ok(None)
    }

    /// Compares the number of operations before the durable length with the checkpoint.
    fn check_count(&self, checkpoint: Option<&Checkpoint>, number: u64) -> Result<(), Error> {
        let generations = checkpoint.into_iter().flat_map(|checkpoint| &checkpoint.generations);
        let newest = generations.filter(|one| one.number == number).max_by_key(|one| one.durable_len);
        match newest.filter(|one| one.operations != self.promised_operations) {
            None => Ok(()),
            Some(one) => {
                let expected = format!("{} operations before this offset", one.operations);
                Err(corrupt(self.name, one.durable_len, &expected, &self.promised_operations.to_string()))
            }
        }
    }
}

fn corrupt(file: &str, offset: u64, expected: &str, found: &str) -> Error {
    Error::Corrupt { file: file.to_owned(), offset, expected: expected.to_owned(), found: found.to_owned() }
}

/// Whether a mark after `offset` proves that the bytes at `offset` were durable.
fn durable_beyond(bytes: &[u8], offset: usize) -> bool {
    // The marker is 9 bytes into its record, after prefix and type.
    memchr::memmem::find_iter(&bytes[offset..], MARKER).any(|found| {
        let at = offset + found;
        let start = at.checked_sub(PREFIX_BYTES + 1).filter(|start| *start >= offset);
        let record = start.and_then(|start| format::record_at(bytes, start).ok());
        match record.map(|(payload, _)| format::parse_payload(payload)) {
            Some(Ok(Payload::Mark { durable_len, .. })) => durable_len > offset as u64,
            _ => false,
        }
    })
}

#[cfg(test)]
impl RecordBatch {
    /// Makes a batch for a fuzzer or a test.
    pub(crate) fn from_records<'a>(records: impl IntoIterator<Item = Record<'a>>) -> RecordBatch {
        let mut batch = RecordBatch::default();
        for record in records {
            batch.push(&record);
        }
        batch
    }
}
