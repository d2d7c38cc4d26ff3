//! The translog in files. Appends go to memory, and to disk with the fsync that makes them durable. Requests
//! share an fsync: a leader writes and syncs for all that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use limber_store::sync::{Condvar, Mutex, MutexGuard};
use limber_store::{Directory, Error, Result};

use super::checkpoint::{CheckpointFile, DurableGeneration};
use super::format::{self, BLOCK_BYTES, Header, MARK_BYTES, PREFIX_BYTES, RecordBatch, VERSION};
use super::generation::{Generation, Pending, Unwritten};
use super::{Appended, Location, LogId, LogPosition, Recovered, Translog, TranslogStats};

/// Bytes that may wait for the next fsync. Beyond that, an append writes them, or waits for the thread that
/// is writing. One more append may wait.
const PENDING_BYTES_MAX: usize = 4 << 20;

/// What a leader makes durable, and how much is durable afterwards.
struct Round {
    unwritten: Vec<Unwritten>,
    generations: Vec<DurableGeneration>,
    /// End of the log when the round was taken.
    target: u64,
}

impl Round {
    /// Writes, syncs and updates the checkpoint. Everything that is acknowledged afterwards is recorded
    /// outside of the translog.
    fn settle(&mut self, checkpoint: &CheckpointFile) -> Result<()> {
        self.unwritten.iter_mut().try_for_each(Unwritten::settle)?;
        checkpoint.write(std::mem::take(&mut self.generations))
    }
}

/// Fails the translog if a leader panics, because its file is in an unknown state then. Waiting threads are
/// woken.
struct Leader<'l>(&'l FileTranslog);

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.state.lock();
            state.syncing = false;
            state.failure.get_or_insert_with(|| "an fsync panicked".to_owned());
            self.0.synced.notify_all();
        }
    }
}

struct State {
    /// Generations found at recovery that no commit has made superfluous yet.
    recovered: Vec<DurableGeneration>,
    current: Generation,
    /// Generations before the current one that are not trimmed yet, in ascending order.
    older: Vec<Generation>,
    prepared: Option<Generation>,
    durable: u64,
    /// Whether a leader is in the middle of an fsync.
    syncing: bool,
    failure: Option<String>,
}

impl State {
    /// Takes everything that is not durable yet. Later appends begin in a new block, so that no block with
    /// acknowledged records is written again.
    fn take_round(&mut self) -> Option<Round> {
        self.current.pad();
        let target = self.current.end();
        let durable = self.durable;
        let mut generations = self.recovered.clone();
        generations.extend(self.generations().map(|one| DurableGeneration {
            number: one.number,
            durable_len: one.len_bytes,
            operations: one.operations,
        }));
        let begun = self.generations().filter(|one| one.end() > durable);
        let unwritten = begun.map(Unwritten::of).collect::<Option<Vec<_>>>()?;
        Some(Round { unwritten, generations, target })
    }

    fn generations(&mut self) -> impl Iterator<Item = &mut Generation> {
        self.older.iter_mut().chain([&mut self.current])
    }
}

/// The translog of one shard as files in its directory. For the format see `format.rs`.
pub struct FileTranslog {
    id: LogId,
    directory: Arc<dyn Directory>,
    checkpoint: CheckpointFile,
    primary_term: u64,
    history: [u8; 16],
    state: Mutex<State>,
    synced: Condvar,
    /// Bytes pending in all generations, including what a leader is writing.
    pending_bytes: Arc<AtomicU64>,
}

impl FileTranslog {
    /// Begins a translog with a new generation (durable when this returns) after the `recovered` ones. The
    /// caller is responsible for older files: it has made them durable, replays them, and trims them with the
    /// next commit.
    pub fn create(
        directory: Arc<dyn Directory>,
        generation: u64,
        primary_term: u64,
        history: [u8; 16],
        now_millis: u64,
        recovered: &Recovered,
    ) -> Result<FileTranslog> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let header = Header { version: VERSION, generation, primary_term, history, begun_millis: now_millis };
        let pending_bytes = Arc::<AtomicU64>::default();
        // This comes first, because a translog of this version without a checkpoint is treated as damage.
        let mut generations = recovered.generations.clone();
        generations.push(DurableGeneration { number: generation, durable_len: 0, operations: 0 });
        let before = recovered.checkpoint.as_ref();
        let checkpoint = CheckpointFile::begin(&*directory, history, before, generations)?;
        let current = create_file(&*directory, header, pending_bytes.clone())?;
        let durable = current.end();
        let state = State {
            recovered: recovered.generations.clone(),
            current,
            older: Vec::new(),
            prepared: None,
            durable,
            syncing: false,
            failure: None,
        };
        Ok(FileTranslog {
            id: LogId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
            directory,
            checkpoint,
            primary_term,
            history,
            state: Mutex::new(state),
            synced: Condvar::new(),
            pending_bytes,
        })
    }

    fn fail(&self, state: &mut State, error: Error) -> Error {
        state.failure.get_or_insert_with(|| error.to_string());
        self.synced.notify_all();
        error
    }

    fn refused(&self, why: &str) -> Error {
        Error::io(
            "write",
            self.directory.path(),
            std::io::Error::other(format!("translog failed before: {why}")),
        )
    }

    fn wait_for_leader(&self, state: &mut MutexGuard<'_, State>) {
        while state.syncing {
            self.synced.wait(state);
        }
    }

    /// Returns the record if it is still in memory. Waits for a leader that is writing it.
    fn pending_record(&self, location: Location) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
        loop {
            let generation = state.generations().find(|one| one.number == location.generation)?;
            let end = location.offset + u64::from(location.len);
            if end <= generation.written_len {
                return None;
            }
            let pending_from = generation.len_bytes - generation.pending.len as u64;
            if let Some(start) = location.offset.checked_sub(pending_from) {
                return generation.pending.get(start as usize, location.len as usize).map(<[u8]>::to_vec);
            }
            if !state.syncing {
                return None;
            }
            self.synced.wait(&mut state);
        }
    }
}

/// Creates a generation's file with its header. It is durable when this returns.
fn create_file(
    directory: &dyn Directory,
    header: Header,
    pending_bytes: Arc<AtomicU64>,
) -> Result<Generation> {
    // An existing file with this name was left by an attempt and never used.
    let mut head = header.to_bytes();
    head.resize(BLOCK_BYTES as usize, 0);
    let writer = directory.create_log(&format::file_name(header.generation), &head)?;
    Ok(Generation {
        number: header.generation,
        begun_millis: header.begun_millis,
        len_bytes: BLOCK_BYTES,
        operations: 0,
        base: 0,
        written_len: BLOCK_BYTES,
        pending: Pending::new(pending_bytes),
        writer: Some(writer),
    })
}

impl Translog for FileTranslog {
    fn append(&self, batch: RecordBatch) -> Result<Appended> {
        let mut state = self.state.lock();
        loop {
            if let Some(why) = &state.failure {
                return Err(self.refused(why));
            }
            if state.current.pending.len <= PENDING_BYTES_MAX {
                break;
            }
            // A leader has the file and is in a slow fsync. Waiting keeps appends from piling up in memory.
            if state.syncing && state.current.writer.is_none() {
                self.synced.wait(&mut state);
                continue;
            }
            if let Err(error) = state.current.write_pending() {
                return Err(self.fail(&mut state, error));
            }
            break;
        }
        let durable_len = state.durable.saturating_sub(state.current.base).min(state.current.len_bytes);
        let current = &mut state.current;
        let before = current.operations;
        current.operations += batch.count();
        let bytes = batch.into_bytes(durable_len, before);
        let offset = current.len_bytes + MARK_BYTES as u64;
        current.len_bytes += bytes.len() as u64;
        current.pending.push(bytes);
        let end = LogPosition { log: self.id, bytes: current.end() };
        Ok(Appended { generation: current.number, offset, end })
    }

    fn sync(&self, position: LogPosition) -> Result<()> {
        if position.log != self.id {
            return Err(self.refused("the operations were written to a log that was given up"));
        }
        let mut state = self.state.lock();
        loop {
            if state.durable >= position.bytes {
                return Ok(());
            }
            if let Some(why) = &state.failure {
                return Err(self.refused(why));
            }
            if position.bytes > state.current.end() {
                let error = self.refused("a position beyond the end of the log");
                return Err(self.fail(&mut state, error));
            }
            if state.syncing {
                self.synced.wait(&mut state);
                continue;
            }
            let Some(mut round) = state.take_round() else {
                let error = self.refused("a file of the log is closed");
                return Err(self.fail(&mut state, error));
            };
            state.syncing = true;
            drop(state);
            let leader = Leader(self);
            let outcome = round.settle(&self.checkpoint);
            drop(leader);
            state = self.state.lock();
            state.syncing = false;
            match outcome {
                Ok(()) => {
                    for one in round.unwritten {
                        if let Some(generation) = state.generations().find(|other| other.number == one.number)
                        {
                            generation.writer = Some(one.writer);
                            generation.written_len = one.end;
                        }
                    }
                    state.durable = state.durable.max(round.target);
                    self.synced.notify_all();
                }
                // A failed fsync is never repeated: what the kernel dropped is lost.
                Err(error) => return Err(self.fail(&mut state, error)),
            }
        }
    }

    fn end(&self) -> LogPosition {
        LogPosition { log: self.id, bytes: self.state.lock().current.end() }
    }

    fn read(&self, location: Location) -> Result<Option<Vec<u8>>> {
        let name = format::file_name(location.generation);
        let found = match self.pending_record(location) {
            Some(record) => Ok(record),
            None => self.directory.read(&name, location.offset, location.len as usize),
        };
        let record = match found {
            Ok(record) => record,
            Err(error) => {
                let is_there = self.state.lock().generations().any(|one| one.number == location.generation);
                return if is_there { Err(error) } else { Ok(None) };
            }
        };
        match format::record_at(&record, 0) {
            Ok((payload, _)) => Ok(Some(payload.to_vec())),
            Err(expected) => Err(Error::Corrupt {
                file: name,
                offset: location.offset + PREFIX_BYTES as u64,
                expected: expected.to_owned(),
                found: "other bytes".to_owned(),
            }),
        }
    }

    fn prepare_roll(&self, now_millis: u64) -> Result<()> {
        let generation = {
            let state = self.state.lock();
            if let Some(why) = &state.failure {
                return Err(self.refused(why));
            }
            if state.prepared.is_some() {
                return Ok(());
            }
            state.current.number + 1
        };
        let header = Header {
            version: VERSION,
            generation,
            primary_term: self.primary_term,
            history: self.history,
            begun_millis: now_millis,
        };
        let prepared = create_file(&*self.directory, header, self.pending_bytes.clone())?;
        self.state.lock().prepared = Some(prepared);
        Ok(())
    }

    fn roll(&self) -> u64 {
        let mut state = self.state.lock();
        if let Some(mut generation) = state.prepared.take() {
            generation.base = state.current.end();
            let old = std::mem::replace(&mut state.current, generation);
            state.older.push(old);
        }
        state.current.number
    }

    fn trim(&self, generation: u64) -> Result<()> {
        let mut state = self.state.lock();
        self.wait_for_leader(&mut state);
        // A commit contains everything in these generations, so it is durable.
        let trimmed = state.older.iter().filter(|old| old.number < generation).map(Generation::end).max();
        state.older.retain(|old| old.number >= generation);
        state.recovered.retain(|old| old.number >= generation);
        if let Some(end) = trimmed
            && state.older.first().is_none_or(|old| old.base >= end)
        {
            state.durable = state.durable.max(end);
            self.synced.notify_all();
        }
        drop(state);
        for name in self.directory.list()? {
            if format::generation_of(&name).is_some_and(|number| number < generation) {
                self.directory.delete(&name)?;
            }
        }
        Ok(())
    }

    fn sync_checkpoint(&self) -> Result<()> {
        self.checkpoint.sync()
    }

    fn pending_bytes(&self) -> u64 {
        self.pending_bytes.load(Ordering::Relaxed)
    }

    fn stats(&self) -> TranslogStats {
        let state = self.state.lock();
        let all = || state.older.iter().chain([&state.current]);
        let operations = all().map(|one| one.operations).sum();
        let size_bytes = all().map(|one| one.len_bytes).sum();
        TranslogStats {
            operations,
            size_bytes,
            uncommitted_operations: operations,
            uncommitted_size_bytes: size_bytes,
            earliest_millis: all().map(|one| one.begun_millis).next().unwrap_or(0),
        }
    }

    fn close(&self) {
        let mut state = self.state.lock();
        let has_failed = state.failure.is_some();
        state.failure.get_or_insert_with(|| "closed".to_owned());
        // The fsync of a leader may still acknowledge what was appended before.
        self.wait_for_leader(&mut state);
        if !has_failed {
            // With `async` durability, more may be acknowledged than is written.
            let written = state.generations().try_for_each(Generation::write_pending);
            if let Err(error) = written {
                tracing::warn!(%error, "what waited for the next fsync of a translog could not be written");
            }
        }
        self.synced.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::generation::COPIED_BYTES_MAX;
    use super::*;
    use crate::translog::format::HEADER_BYTES;
    use crate::translog::{Operation, OperationType, Record, recover};
    use limber_segment::WriteIdentity;
    use limber_store::FsDirectory;

    const HISTORY: [u8; 16] = [7; 16];

    fn record(seq_no: u64) -> Record<'static> {
        Record {
            operation: Operation {
                kind: OperationType::Index,
                id: "id",
                routing: None,
                source: b"{\"a\":1}",
            },
            identity: WriteIdentity { seq_no, primary_term: 1, version: 1 },
        }
    }

    fn folder() -> (tempfile::TempDir, Arc<dyn Directory>) {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(temporary.path()).expect("opens"));
        (temporary, directory)
    }

    fn replayed(directory: &Arc<dyn Directory>, from: u64) -> std::result::Result<Vec<u64>, Error> {
        let mut found = Vec::new();
        recover(directory, from, &HISTORY, |record| {
            found.push(record.identity.seq_no);
            Ok::<(), Error>(())
        })
        .map(|_| found)
    }

    #[test]
    fn what_is_appended_is_read_and_replayed_across_generations() {
        let (_guard, directory) = folder();
        let log = FileTranslog::create(directory.clone(), 1, 1, HISTORY, 5, &Recovered::default())
            .expect("creates");
        let mut batch = RecordBatch::default();
        batch.push(&record(0));
        let (offset, len) = batch.push(&record(1));
        let appended = log.append(batch).expect("appends");
        log.sync(appended.end).expect("syncs");
        let location =
            Location { generation: appended.generation, offset: appended.offset + offset as u64, len };
        let payload = log.read(location).expect("reads").expect("there");
        assert_eq!(Record::parse(&payload).expect("sound").identity.seq_no, 1);

        log.prepare_roll(6).expect("prepares");
        assert_eq!(log.roll(), 2);
        let appended = log.append(RecordBatch::from_records([record(2)])).expect("appends");
        log.sync(appended.end).expect("syncs");
        assert_eq!(log.stats().operations, 3);
        assert_eq!(replayed(&directory, 1).expect("sound"), [0, 1, 2]);
        log.trim(2).expect("trims");
        assert_eq!(log.read(location).expect("trimmed"), None);
        assert_eq!(replayed(&directory, 2).expect("sound"), [2]);
        assert!(replayed(&directory, 1).is_err(), "a missing generation is noticed");
    }

    /// Reads records of short appends, and of appends that form their own piece, both before and after they
    /// are written.
    #[test]
    fn what_is_pending_is_read_from_the_pieces_it_came_in() {
        let (_guard, directory) = folder();
        let log = FileTranslog::create(directory.clone(), 1, 1, HISTORY, 5, &Recovered::default())
            .expect("creates");
        let sources: Vec<Vec<u8>> =
            [3, 40_000, 30_000, 20_000, COPIED_BYTES_MAX, 1, 2, 3 * COPIED_BYTES_MAX, 9]
                .map(|len| vec![b'x'; len])
                .into();
        let mut places = Vec::new();
        for (seq_no, source) in (0..).zip(&sources) {
            let mut batch = RecordBatch::with_capacity(0);
            let written =
                Record { operation: Operation { source, ..record(seq_no).operation }, ..record(seq_no) };
            let records = [(); 2].map(|()| batch.push(&written));
            let appended = log.append(batch).expect("appends");
            places.extend(records.map(|(offset, len)| {
                let offset = appended.offset + u64::from(offset);
                (seq_no, Location { generation: appended.generation, offset, len })
            }));
        }
        let check = || {
            for (seq_no, location) in &places {
                let payload = log.read(*location).expect("reads").expect("there");
                let found = Record::parse(&payload).expect("sound");
                assert_eq!(
                    (found.identity.seq_no, found.operation.source),
                    (*seq_no, &sources[*seq_no as usize][..])
                );
            }
        };
        check();
        assert!(log.pending_bytes() > sources.iter().map(|source| 2 * source.len() as u64).sum());
        log.sync(log.end()).expect("syncs");
        assert_eq!(log.pending_bytes(), 0);
        check();
        log.append(RecordBatch::from_records([record(9)])).expect("appends");
        log.prepare_roll(6).expect("prepares");
        log.roll();
        assert!(log.pending_bytes() > 0);
        log.trim(2).expect("trims");
        assert_eq!(log.pending_bytes(), 0, "a commit has what was never written");
    }

    /// Truncating a mapped file has the effect of pages that the disk cannot read.
    #[test]
    fn a_part_that_cannot_be_read_is_neither_a_torn_tail_nor_damage() {
        for is_synced in [true, false] {
            let (guard, directory) = folder();
            let log = FileTranslog::create(directory.clone(), 1, 1, HISTORY, 5, &Recovered::default())
                .expect("creates");
            for seq_no in 0..3 {
                let appended = log.append(RecordBatch::from_records([record(seq_no)])).expect("appends");
                if is_synced || seq_no == 0 {
                    log.sync(appended.end).expect("syncs");
                }
            }
            log.close();
            let path = guard.path().join(format::file_name(1));
            let file = std::fs::OpenOptions::new().write(true).open(path).expect("opens");
            let outcome = recover(&directory, 1, &HISTORY, |record| {
                if record.identity.seq_no == 0 {
                    file.set_len(2 * BLOCK_BYTES).expect("truncates");
                }
                Ok::<(), Error>(())
            });
            assert!(matches!(outcome, Err(Error::Io { .. })), "{is_synced}: {outcome:?}");
        }
    }

    /// Makes three synced appends of one record each, and checks every damaged byte and every prefix of the
    /// file.
    #[test]
    fn damage_of_what_was_durable_is_named() {
        let (guard, directory) = folder();
        let log = FileTranslog::create(directory.clone(), 1, 1, HISTORY, 5, &Recovered::default())
            .expect("creates");
        for seq_no in 0..3 {
            let appended = log.append(RecordBatch::from_records([record(seq_no)])).expect("appends");
            log.sync(appended.end).expect("syncs");
        }
        // This record is not durable, so the file may be torn anywhere in it.
        log.append(RecordBatch::from_records([record(3)])).expect("appends");
        log.close();
        let path = guard.path().join(format::file_name(1));
        let mut whole = std::fs::read(&path).expect("reads");
        let durable = 4 * BLOCK_BYTES as usize;
        let rest = whole.split_off(durable + BLOCK_BYTES as usize);
        assert!(rest.iter().all(|byte| *byte == 0), "room that was taken ahead");
        assert_eq!(replayed(&directory, 1).expect("sound"), [0, 1, 2, 3]);
        for cut in (0..whole.len()).step_by(7) {
            std::fs::write(&path, &whole[..cut]).expect("writes");
            match replayed(&directory, 1) {
                Ok(found) => assert!(cut >= durable && found.starts_with(&[0, 1, 2]), "cut at {cut}"),
                Err(error) => {
                    assert!(matches!(error, Error::Corrupt { .. }) && cut < durable, "{cut}: {error}")
                }
            }
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            std::fs::write(&path, &damaged).expect("writes");
            match replayed(&directory, 1) {
                Ok(found) => assert!(at >= durable && found.starts_with(&[0, 1, 2]), "at {at}: {found:?}"),
                Err(Error::Corrupt { offset, .. }) => {
                    assert!(
                        at < durable && offset <= (at as u64 + 8).max(HEADER_BYTES as u64),
                        "at {at}: said {offset}"
                    );
                }
                Err(other) => panic!("{other}"),
            }
        }
        for block in 0..4 {
            let mut damaged = whole.clone();
            damaged[block * BLOCK_BYTES as usize..][..BLOCK_BYTES as usize].fill(0);
            std::fs::write(&path, &damaged).expect("writes");
            assert!(replayed(&directory, 1).is_err(), "block {block} reads as zeros");
        }
        std::fs::remove_file(&path).expect("removes");
        assert!(replayed(&directory, 1).is_err(), "the newest file is missing");
        std::fs::write(&path, &whole).expect("writes");
        let foreign: [u8; 16] = [8; 16];
        assert!(recover(&directory, 1, &foreign, |_| Ok::<(), Error>(())).is_err());
        std::fs::remove_file(guard.path().join("translog.ckp")).expect("removes");
        assert!(replayed(&directory, 1).is_err(), "the checkpoint is missing");
    }

    /// Positions restart when a translog is opened, so a position of the previous one means nothing.
    #[test]
    fn a_position_of_another_log_is_refused() {
        let (_guard, directory) = folder();
        let before = FileTranslog::create(directory.clone(), 1, 1, HISTORY, 5, &Recovered::default())
            .expect("creates");
        let appended = before.append(RecordBatch::from_records([record(0)])).expect("appends");
        before.close();
        let found = recover(&directory, 1, &HISTORY, |_| Ok::<(), Error>(())).expect("sound");
        let after = FileTranslog::create(directory.clone(), 2, 2, HISTORY, 5, &found).expect("creates");
        let later = after.append(RecordBatch::from_records([record(1)])).expect("appends");
        assert!(after.sync(appended.end).is_err());
        assert!(before.sync(appended.end).is_err());
        after.sync(later.end).expect("its own");
        let beyond = LogPosition { bytes: later.end.bytes + BLOCK_BYTES + 1, ..later.end };
        assert!(after.sync(beyond).is_err(), "nobody waits for what was never appended");
        assert!(after.append(RecordBatch::from_records([record(2)])).is_err(), "the log has failed");
    }

    /// What was durable before a restart stays in the checkpoint until a commit contains it.
    #[test]
    fn generations_of_an_earlier_life_stay_in_the_checkpoint() {
        let (guard, directory) = folder();
        let mut recovered = Recovered::default();
        for generation in 1..=3 {
            let log = FileTranslog::create(directory.clone(), generation, generation, HISTORY, 5, &recovered)
                .expect("creates");
            let appended = log.append(RecordBatch::from_records([record(generation)])).expect("appends");
            log.sync(appended.end).expect("syncs");
            log.sync_checkpoint().expect("syncs");
            drop(log);
            recovered = recover(&directory, 1, &HISTORY, |_| Ok::<(), Error>(())).expect("sound");
            assert_eq!(
                (recovered.operations, recovered.generation_count()),
                (generation, generation as usize)
            );
        }
        for name in [format::file_name(1), format::file_name(2), format::file_name(3)] {
            let path = guard.path().join(&name);
            let whole = std::fs::read(&path).expect("reads");
            std::fs::write(&path, &whole[..BLOCK_BYTES as usize]).expect("writes");
            assert!(replayed(&directory, 1).is_err(), "{name} is cut");
            std::fs::write(&path, &whole).expect("writes");
        }
    }

    #[test]
    fn concurrent_requests_share_fsyncs_and_lose_nothing() {
        let (_guard, directory) = folder();
        let log = FileTranslog::create(directory.clone(), 1, 1, HISTORY, 5, &Recovered::default())
            .expect("creates");
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let log = &log;
                scope.spawn(move || {
                    for n in 0..20 {
                        let batch = RecordBatch::from_records([record(thread * 100 + n)]);
                        let appended = log.append(batch).expect("appends");
                        log.sync(appended.end).expect("syncs");
                    }
                });
            }
            log.prepare_roll(9).expect("prepares");
            log.roll();
        });
        let mut found = replayed(&directory, 1).expect("sound");
        found.sort_unstable();
        assert_eq!(found.len(), 80);
    }
}
