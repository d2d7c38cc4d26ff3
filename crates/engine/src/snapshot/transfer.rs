//! Copies files to blobs and back: in parts of bounded size, whose memory is charged, with a speed limit, and
//! with a checksum for every part.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use limber_codec::checksum::{Crc32, crc32};
use limber_mapping::RequestError;
use limber_store::repository::Blobs;
use limber_store::sync::Mutex;
use limber_store::{Charge, Directory, Ledger};

use super::errors::{repository_error, storage_error};
use super::format::{File, data_name};
use crate::api::Result;
use crate::environment::Clock;
use crate::shard::CommitFile;

/// Largest part of a file. A part is one request to an object store and is held in memory during that
/// request.
pub(crate) const PART_BYTES_MAX: u64 = 16 << 20;
const PART_BYTES_MIN: u64 = 1 << 20;
/// A part takes at most this fraction of the memory limit, so that it does not fill a circuit breaker of a
/// small node.
const PARTS_IN_LIMIT: u64 = 64;
/// How often to try again when there is no memory, and how long to pause in between.
const MEMORY_TRIES: u32 = 100;
const MEMORY_PAUSE: Duration = Duration::from_millis(100);

/// A speed limit, shared by all operations that use a repository in one direction.
pub(crate) struct Throttle {
    /// `None` for no limit.
    bytes_per_sec: Option<u64>,
    /// When everything so far has used up its time, in nanoseconds of the monotonic clock.
    due_nanos: Mutex<u64>,
}

impl Throttle {
    pub(crate) fn new(bytes_per_sec: Option<u64>) -> Throttle {
        Throttle { bytes_per_sec: bytes_per_sec.filter(|rate| *rate > 0), due_nanos: Mutex::new(0) }
    }

    /// Returns how long to wait after transferring `bytes`: at most the time that these bytes and those of
    /// other threads take at this speed.
    fn pause(&self, clock: &dyn Clock, bytes: u64) -> Duration {
        let Some(rate) = self.bytes_per_sec else { return Duration::ZERO };
        let now = clock.monotonic_nanos();
        let cost = (u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64;
        let mut due = self.due_nanos.lock();
        *due = (*due).max(now).saturating_add(cost);
        Duration::from_nanos(*due - now)
    }
}

/// What copying needs besides the bytes.
pub(crate) struct Transfer<'a> {
    pub repository: &'a str,
    pub blobs: &'a dyn Blobs,
    pub ledger: &'a Ledger,
    pub clock: &'a dyn Clock,
    pub throttle: &'a Throttle,
    pub cancelled: &'a AtomicBool,
}

/// The location of a shard's files in a repository.
#[derive(Clone, Copy)]
pub(crate) struct ShardPlace<'a> {
    pub index_id: &'a str,
    pub shard: usize,
}

/// Returns the size of the parts that this node writes. `chunk_bytes` is the limit of the repository.
pub(crate) fn part_bytes(ledger: &Ledger, chunk_bytes: Option<u64>) -> u64 {
    let by_memory = (ledger.limit_bytes / PARTS_IN_LIMIT).clamp(PART_BYTES_MIN, PART_BYTES_MAX);
    chunk_bytes.map_or(by_memory, |bytes| bytes.min(by_memory))
}

impl Transfer<'_> {
    /// Copies a file of a shard to the repository. What was read is compared with the file's checksum, so
    /// that damage is not copied.
    pub(crate) fn upload(
        &self,
        directory: &dyn Directory,
        file: &CommitFile,
        place: ShardPlace<'_>,
        blob: String,
        part_bytes: u64,
    ) -> Result<File> {
        let bytes = file.bytes;
        let mut parts = Vec::new();
        let mut whole = Crc32::new();
        let mut offset = 0;
        while offset < bytes {
            let len = part_bytes.min(bytes - offset);
            let _charge = self.charge(len)?;
            let part = directory
                .read(&file.name, offset, len as usize)
                .map_err(|error| crate::shard::store_error(&error))?;
            whole.update(&part);
            parts.push(crc32(&part));
            offset += len;
            if offset == bytes && file.crc != whole.clone().finish() {
                return Err(RequestError::internal(
                    "corrupt_index_exception",
                    format!(
                        "[{}] is damaged: its checksum is [{:08x}] instead of [{:08x}]",
                        directory.path().join(&file.name).display(),
                        whole.clone().finish(),
                        file.crc
                    ),
                ));
            }
            let name = data_name(place.index_id, place.shard, &blob, parts.len() - 1);
            self.put_new(&name, part)?;
            self.pay(len)?;
        }
        let (name, crc, own_crc) = (file.name.clone(), whole.finish(), file.own_crc);
        Ok(File { name, bytes, crc, blob, part_bytes, parts, own_crc })
    }

    /// Copies a file of a snapshot to a folder, verified and synced.
    pub(crate) fn download(
        &self,
        directory: &dyn Directory,
        file: &File,
        place: ShardPlace<'_>,
    ) -> Result<()> {
        let damaged = |name: &str, why: &str| {
            repository_error(self.repository, format!("[{name}], which holds [{}], {why}", file.name))
        };
        if !file.is_consistent() || file.part_bytes > PART_BYTES_MAX {
            return Err(damaged(&file.blob, "is listed with lengths that do not agree"));
        }
        let failed = |error: limber_store::Error| crate::shard::store_error(&error);
        let mut writer = directory.create(&file.name).map_err(failed)?;
        let mut whole = Crc32::new();
        for (number, crc) in file.parts.iter().enumerate() {
            let name = data_name(place.index_id, place.shard, &file.blob, number);
            let len = file.bytes_of(number);
            let _charge = self.charge(len)?;
            let part = self.blobs.get(&name, len).map_err(|error| match error.is_not_found() {
                true => damaged(&name, "is missing"),
                false => storage_error(self.repository, &error),
            })?;
            if part.len() as u64 != len {
                return Err(damaged(&name, &format!("has [{}] bytes instead of [{len}]", part.len())));
            }
            if crc32(&part) != *crc {
                return Err(damaged(&name, "is damaged: its checksum is wrong"));
            }
            whole.update(&part);
            writer.write_all(&part).map_err(failed)?;
            self.pay(len)?;
        }
        if whole.clone().finish() != file.crc {
            return Err(damaged(&file.blob, "is damaged: the checksum of the file is wrong"));
        }
        writer.sync().and_then(|()| writer.finish()).map_err(failed)
    }

    /// Writes a blob under a name that no other writer uses.
    fn put_new(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        // That it already exists after a repeated request means that the first request had arrived. Readers
        // notice a damaged blob.
        let put = self.blobs.put_if_absent(name, bytes);
        put.map(drop).map_err(|error| storage_error(self.repository, &error))
    }

    /// Charges memory for a part. Waits a while for others to release some.
    fn charge(&self, bytes: u64) -> Result<Charge> {
        let mut tries = 0;
        loop {
            self.check_cancelled()?;
            match self.ledger.request.charge(bytes, "snapshot") {
                Ok(charge) => return Ok(charge),
                Err(error) if tries == MEMORY_TRIES => return Err(storage_error(self.repository, &error)),
                Err(_) => limber_store::sync::sleep(MEMORY_PAUSE),
            }
            tries += 1;
        }
    }

    fn pay(&self, bytes: u64) -> Result<()> {
        let mut left = self.throttle.pause(self.clock, bytes);
        while !left.is_zero() {
            self.check_cancelled()?;
            let step = left.min(MEMORY_PAUSE);
            limber_store::sync::sleep(step);
            left -= step;
        }
        Ok(())
    }

    pub(crate) fn check_cancelled(&self) -> Result<()> {
        match self.cancelled.load(Ordering::Relaxed) {
            true => Err(RequestError::bad_request("task_cancelled_exception", "task cancelled")),
            false => Ok(()),
        }
    }
}
