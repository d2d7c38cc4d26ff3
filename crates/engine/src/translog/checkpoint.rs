//! The checkpoint: stores outside of the translog how much of it is durable.
//!
//! `translog.ckp` has two slots, at bytes 0 and 4,096. They are written alternately and in place before
//! anything is acknowledged. The slot with the higher counter is valid. A slot is one sector, which the
//! kernel copies and disks write completely or not at all, so each slot is always intact, with either its old
//! or its new content. All numbers are little-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | magic `LMBRTCKP` |
//! | 8 | 4 | format version, 1 |
//! | 12 | 8 | counter |
//! | 20 | 16 | identity of the shard's history |
//! | 36 | 4 | number of generations, at most 18 |
//! | 40 | 24 each | generation, its durable length in bytes, operations up to there |
//! | 508 | 4 | CRC-32 of the 508 bytes before |
//!
//! A write survives the end of the process at once. The file is fsynced about once a second and with every
//! commit. After a power failure the checkpoint may therefore be a second old; it then claims less than is
//! durable, but never more.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use limber_codec::Reader;
use limber_codec::checksum::crc32;
use limber_store::directory::write_atomically;
use limber_store::{Directory, Error, InPlaceFile, Result};

pub(super) const NAME: &str = "translog.ckp";
const MAGIC: &[u8; 8] = b"LMBRTCKP";
const VERSION: u32 = 1;
/// The unit that disks write atomically.
const SLOT_BYTES: usize = 512;
/// Distance between the slots, so that no block of a file system contains both.
const SLOT_STRIDE: usize = 4096;
/// How many generations fit into a slot. A shard with more generations commits before it opens another one.
pub(crate) const GENERATIONS_MAX: usize = 18;

/// How much of a generation's file is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurableGeneration {
    /// Number of the generation.
    pub number: u64,
    /// Bytes from the start of the file; 0 for a file that may not exist yet.
    pub durable_len: u64,
    /// Number of operations in these bytes.
    pub operations: u64,
}

/// The content of a valid slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub counter: u64,
    pub history: [u8; 16],
    pub generations: Vec<DurableGeneration>,
}

impl Checkpoint {
    /// Reads the checkpoint; `None` when there is no file, as in folders older than checkpoints.
    ///
    /// Errors: [`Error::Corrupt`] when neither slot is intact.
    pub(super) fn read(directory: &dyn Directory) -> Result<Option<Checkpoint>> {
        let bytes = match directory.len(NAME) {
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
            Ok(len) => directory.read(NAME, 0, (len as usize).min(SLOT_STRIDE + SLOT_BYTES))?,
        };
        let slot = |start: usize| bytes.get(start..start + SLOT_BYTES).unwrap_or_default();
        let newer =
            [slot(0), slot(SLOT_STRIDE)].into_iter().filter_map(version_of).find(|found| *found > VERSION);
        if let Some(found) = newer {
            let (found, supported) = (u64::from(found), u64::from(VERSION));
            return Err(Error::Newer { file: NAME.to_owned(), found, supported });
        }
        let slots = [Checkpoint::parse(slot(0)), Checkpoint::parse(slot(SLOT_STRIDE))];
        match slots {
            [Ok(first), Ok(second)] if first.counter > second.counter => Ok(Some(first)),
            [_, Ok(second)] => Ok(Some(second)),
            [Ok(first), Err(_)] => Ok(Some(first)),
            [Err(wrong), Err(_)] => Err(Error::Corrupt {
                file: NAME.to_owned(),
                offset: wrong.offset as u64,
                expected: wrong.expected.to_owned(),
                found: "other bytes".to_owned(),
            }),
        }
    }

    fn parse(slot: &[u8]) -> std::result::Result<Checkpoint, limber_codec::Corrupt> {
        let mut read = Reader::new(slot);
        let covered = slot.get(..SLOT_BYTES - 4).ok_or_else(|| read.corrupt("a checkpoint of 512 bytes"))?;
        let sum = u32::from_le_bytes([slot[508], slot[509], slot[510], slot[511]]);
        let magic = read.bytes(8)?;
        read.expect(magic == MAGIC, "checkpoint magic")?;
        let version = read.u32()?;
        read.expect(version == VERSION, "translog checkpoint format version 1")?;
        read.expect(sum == crc32(covered), "checkpoint checksum")?;
        let counter = read.u64()?;
        let mut history = [0u8; 16];
        history.copy_from_slice(read.bytes(16)?);
        let count = read.u32()? as usize;
        read.expect(count <= GENERATIONS_MAX, "at most 18 generations")?;
        let mut generations = Vec::with_capacity(count);
        for _ in 0..count {
            let (number, durable_len, operations) = (read.u64()?, read.u64()?, read.u64()?);
            generations.push(DurableGeneration { number, durable_len, operations });
        }
        Ok(Checkpoint { counter, history, generations })
    }

    fn to_slot(&self) -> [u8; SLOT_BYTES] {
        let mut bytes = Vec::with_capacity(SLOT_BYTES);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.counter.to_le_bytes());
        bytes.extend_from_slice(&self.history);
        bytes.extend_from_slice(&(self.generations.len() as u32).to_le_bytes());
        for generation in &self.generations {
            for number in [generation.number, generation.durable_len, generation.operations] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        let mut slot = [0u8; SLOT_BYTES];
        slot[..bytes.len()].copy_from_slice(&bytes);
        let sum = crc32(&slot[..SLOT_BYTES - 4]);
        slot[SLOT_BYTES - 4..].copy_from_slice(&sum.to_le_bytes());
        slot
    }
}

/// Returns the version of an intact slot. Magic, version, size and the position of the checksum are the same
/// in every version.
fn version_of(slot: &[u8]) -> Option<u32> {
    let (covered, sum) = slot.get(..SLOT_BYTES)?.split_last_chunk::<4>()?;
    // A damaged version number must count as damage and not as a newer version.
    let is_whole = covered[..8] == *MAGIC && u32::from_le_bytes(*sum) == crc32(covered);
    is_whole.then(|| u32::from_le_bytes([covered[8], covered[9], covered[10], covered[11]]))
}

/// The checkpoint file of an open translog. One thread writes at a time; any thread may sync.
pub(super) struct CheckpointFile {
    file: Box<dyn InPlaceFile>,
    history: [u8; 16],
    counter: AtomicU64,
    is_dirty: AtomicBool,
}

impl CheckpointFile {
    /// Continues or creates the shard's checkpoint with `generations`. It is durable when this returns.
    ///
    /// `before` is the result of [`Checkpoint::read`].
    pub(super) fn begin(
        directory: &dyn Directory,
        history: [u8; 16],
        before: Option<&Checkpoint>,
        generations: Vec<DurableGeneration>,
    ) -> Result<CheckpointFile> {
        let counter = before.map_or(0, |before| before.counter) + 1;
        let first = Checkpoint { counter, history, generations: newest(generations) };
        let mut bytes = vec![0u8; SLOT_STRIDE + SLOT_BYTES];
        bytes[..SLOT_BYTES].copy_from_slice(&first.to_slot());
        write_atomically(directory, NAME, &bytes)?;
        Ok(CheckpointFile {
            file: directory.open_in_place(NAME)?,
            history,
            // An even counter belongs to the first slot. The next counter is odd, so that the first slot
            // stays unchanged until the second is intact.
            counter: AtomicU64::new(counter + counter % 2),
            is_dirty: AtomicBool::new(false),
        })
    }

    /// Overwrites the older slot. The caller makes sure that no other thread writes.
    pub(super) fn write(&self, generations: Vec<DurableGeneration>) -> Result<()> {
        let counter = self.counter.fetch_add(1, Ordering::AcqRel) + 1;
        let checkpoint = Checkpoint { counter, history: self.history, generations: newest(generations) };
        let slot = if counter.is_multiple_of(2) { 0 } else { SLOT_STRIDE };
        self.is_dirty.store(true, Ordering::Release);
        self.file.write_at(slot as u64, &checkpoint.to_slot())
    }

    /// Makes the last write durable, if there was any since the last sync.
    pub(super) fn sync(&self) -> Result<()> {
        match self.is_dirty.swap(false, Ordering::AcqRel) {
            true => self.file.sync().inspect_err(|_| self.is_dirty.store(true, Ordering::Release)),
            false => Ok(()),
        }
    }
}

/// Returns the newest generations that fit into a slot. Older ones are protected only by the marks in their
/// files. Those without operations go first: each failed attempt to open a shard leaves one.
fn newest(mut generations: Vec<DurableGeneration>) -> Vec<DurableGeneration> {
    let mut superfluous = generations.len().saturating_sub(GENERATIONS_MAX);
    generations.retain(|generation| {
        let goes = superfluous > 0 && generation.operations == 0;
        superfluous -= usize::from(goes);
        !goes
    });
    generations.drain(..superfluous);
    generations
}

#[cfg(test)]
mod tests {
    use super::*;
    use limber_store::FsDirectory;

    fn generation(number: u64) -> DurableGeneration {
        DurableGeneration { number, durable_len: 4096 * number, operations: 10 * number }
    }

    #[test]
    fn the_newest_whole_slot_counts() {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory = FsDirectory::open(temporary.path()).expect("opens");
        assert_eq!(Checkpoint::read(&directory).expect("reads"), None);
        let file = CheckpointFile::begin(&directory, [7; 16], None, vec![generation(1)]).expect("begins");
        for number in 2..=7 {
            let all: Vec<DurableGeneration> = (1..=number).map(generation).collect();
            file.write(all.clone()).expect("writes");
            let read = Checkpoint::read(&directory).expect("reads").expect("is there");
            assert_eq!(read.generations, all);
        }
        file.sync().expect("syncs");
        let newest = Checkpoint::read(&directory).expect("reads").expect("is there");
        let path = temporary.path().join(NAME);
        let whole = std::fs::read(&path).expect("reads");
        for at in (0..SLOT_BYTES).chain(SLOT_STRIDE..SLOT_STRIDE + SLOT_BYTES) {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            std::fs::write(&path, &damaged).expect("writes");
            let read = Checkpoint::read(&directory).expect("the other slot").expect("is there");
            assert!(read == newest || read.counter + 1 == newest.counter, "byte {at}");
        }
        std::fs::write(&path, vec![0u8; whole.len()]).expect("writes");
        assert!(matches!(Checkpoint::read(&directory), Err(Error::Corrupt { .. })));
        std::fs::write(&path, b"").expect("writes");
        assert!(matches!(Checkpoint::read(&directory), Err(Error::Corrupt { .. })));
        let many: Vec<DurableGeneration> = (1..=GENERATIONS_MAX as u64).map(generation).collect();
        std::fs::write(&path, &whole).expect("writes");
        let again =
            CheckpointFile::begin(&directory, [7; 16], Some(&newest), vec![generation(9)]).expect("begins");
        again.write(many.clone()).expect("writes");
        assert_eq!(Checkpoint::read(&directory).expect("reads").expect("is there").generations, many);
    }

    #[test]
    fn bytes_of_a_tiny_example() {
        let checkpoint = Checkpoint { counter: 3, history: [1; 16], generations: vec![generation(2)] };
        let slot = checkpoint.to_slot();
        assert_eq!(&slot[..20], b"LMBRTCKP\x01\0\0\0\x03\0\0\0\0\0\0\0");
        assert_eq!(
            &slot[36..64],
            [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(Checkpoint::parse(&slot).expect("sound"), checkpoint);
    }
}
