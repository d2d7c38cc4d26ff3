//! Truncates a damaged translog: "what is intact before the damage, and what after it?" Only for
//! `limber check --repair`.

use limber_store::directory::write_atomically;
use limber_store::{Directory, Error, Result};

use super::checkpoint::{self, Checkpoint, CheckpointFile, DurableGeneration};
use super::format::{self, HEADER_BYTES, Header, MARKER, PREFIX_BYTES, Payload, Record, VERSION_PADDED};
use super::recover::Scan;

/// The position at which a translog is truncated. Generations before `generation` are kept, and so are the
/// bytes of that generation before `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    first_generation: u64,
    generation: u64,
    offset: u64,
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} offset {}", format::file_name(self.generation), self.offset)
    }
}

/// Whether repair may change a file with this name.
pub fn is_file_of_log(name: &str) -> bool {
    format::generation_of(name).is_some() || name == checkpoint::NAME
}

fn generations(directory: &dyn Directory, first: u64) -> Result<Vec<u64>> {
    let mut numbers: Vec<u64> =
        directory.list()?.iter().filter_map(|name| format::generation_of(name)).collect();
    numbers.retain(|number| *number >= first);
    numbers.sort_unstable();
    Ok(numbers)
}

impl Cut {
    /// Makes a cut at the corruption that [`super::recover`] reported. If only the checkpoint is damaged,
    /// nothing is truncated and the checkpoint is written again.
    pub fn at(directory: &dyn Directory, first_generation: u64, file: &str, offset: u64) -> Result<Cut> {
        let (generation, offset) = match format::generation_of(file) {
            Some(generation) => (generation, offset),
            None => (
                generations(directory, first_generation)?.last().map_or(first_generation, |last| last + 1),
                0,
            ),
        };
        Ok(Cut { first_generation, generation, offset })
    }

    /// Calls `found` with every intact operation after the damage, in the order of the translog.
    pub fn beyond(
        &self,
        directory: &dyn Directory,
        found: &mut dyn FnMut(&Record<'_>) -> Result<()>,
    ) -> Result<()> {
        for number in generations(directory, self.generation)? {
            let bytes = directory.open(&format::file_name(number))?;
            let damaged_at = if number == self.generation { self.offset as usize } else { 0 };
            let mut at = damaged_at.max(HEADER_BYTES);
            while at < bytes.len() {
                match whole_record(&bytes, at) {
                    Some((Payload::Record(record), next)) => {
                        found(&record)?;
                        at = next;
                    }
                    Some((Payload::Mark { .. }, next)) => at = next,
                    // An append begins with a mark, so the next one can be found by its mark.
                    None => match next_mark(&bytes, at + 1) {
                        Some(next) => at = next,
                        None => break,
                    },
                }
            }
        }
        Ok(())
    }

    /// Truncates the translog. The caller has kept copies of the originals.
    pub fn apply(&self, directory: &dyn Directory, history: &[u8; 16]) -> Result<()> {
        let (mut kept, mut needs_checkpoint) = (Vec::new(), false);
        for number in generations(directory, 0)? {
            let name = format::file_name(number);
            if number > self.generation || (number == self.generation && self.offset < HEADER_BYTES as u64) {
                directory.delete(&name)?;
                continue;
            }
            let bytes = directory.open(&name)?;
            let len =
                if number == self.generation { (self.offset as usize).min(bytes.len()) } else { bytes.len() };
            if number == self.generation {
                write_atomically(directory, &name, &bytes[..len])?;
            }
            if number < self.first_generation {
                continue;
            }
            let version = Header::parse(&bytes).map_or(0, |header| header.version);
            needs_checkpoint |= version >= VERSION_PADDED;
            let mut scan = Scan::new(&name, &bytes[..len], version, 0);
            while scan.next_record()?.is_some() {}
            let durable_len = scan.offset as u64;
            kept.push(DurableGeneration { number, durable_len, operations: scan.operations });
        }
        let before = match Checkpoint::read(directory) {
            Err(error @ (Error::Newer { .. } | Error::Io { .. })) => return Err(error),
            Err(_) => None,
            Ok(before) => before,
        };
        if needs_checkpoint {
            CheckpointFile::begin(directory, *history, before.as_ref(), kept)?;
        } else {
            directory.delete_if_present(checkpoint::NAME)?;
        }
        directory.sync_names()
    }
}

fn whole_record(bytes: &[u8], at: usize) -> Option<(Payload<'_>, usize)> {
    let (payload, next) = format::record_at(bytes, at).ok()?;
    Some((format::parse_payload(payload).ok()?, next))
}

/// Finds the first intact mark from `from` on.
fn next_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let starts = memchr::memmem::find_iter(bytes.get(from..)?, MARKER)
        .filter_map(|found| (from + found).checked_sub(PREFIX_BYTES + 1));
    let is_mark = |start: &usize| matches!(whole_record(bytes, *start), Some((Payload::Mark { .. }, _)));
    starts.filter(|start| *start >= from).find(is_mark)
}

/// What a translog itself says, without a commit.
pub struct Described {
    /// The lowest existing generation; 1 when there is none.
    pub first_generation: u64,
    /// Lowest sequence number of an operation; `None` without operations.
    pub min_seq_no: Option<u64>,
    /// Highest primary term of a header or operation.
    pub max_primary_term: u64,
    /// Identity of the shard's history.
    pub history: [u8; 16],
}

/// Reads headers and operations as far as they are intact. Errors: those of the disk, and newer versions.
pub fn describe(directory: &dyn Directory) -> Result<Described> {
    let numbers = generations(directory, 0)?;
    let mut log = Described {
        first_generation: numbers.first().copied().unwrap_or(1),
        min_seq_no: None,
        max_primary_term: 0,
        history: [0; 16],
    };
    match Checkpoint::read(directory) {
        Ok(Some(checkpoint)) => log.history = checkpoint.history,
        Err(error @ (Error::Newer { .. } | Error::Io { .. })) => return Err(error),
        _ => {}
    }
    for number in numbers {
        let bytes = directory.open(&format::file_name(number))?;
        if let Ok(header) = Header::parse(&bytes) {
            log.history = header.history;
            log.max_primary_term = log.max_primary_term.max(header.primary_term);
        }
    }
    let whole = Cut { first_generation: log.first_generation, generation: log.first_generation, offset: 0 };
    whole.beyond(directory, &mut |Record { identity, .. }| {
        log.max_primary_term = log.max_primary_term.max(identity.primary_term);
        log.min_seq_no = Some(log.min_seq_no.map_or(identity.seq_no, |least| least.min(identity.seq_no)));
        Ok(())
    })?;
    Ok(log)
}
