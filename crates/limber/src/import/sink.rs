//! Sends bulk requests to the server: a few threads repeat each request until every document in it is
//! accepted or refused.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::pack::{Batch, Origin};
use crate::told::in_one_line;

/// Maximum number of refused documents printed to standard error, if they are not written to a file.
const PRINTED_MAX: u64 = 10;
/// How often a document is sent again while the server is too busy for it.
const RETRIES_MAX: u32 = 12;
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The outcome of the documents so far.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub taken: u64,
    /// Documents that already existed, from an earlier run.
    pub known: u64,
    pub failed: u64,
    pub bytes: u64,
}

#[derive(Default)]
struct Ledger {
    next: u64,
    /// Requests in flight by number.
    under_way: BTreeMap<u64, UnderWay>,
    /// All records up to this position are done.
    done: Origin,
    counts: Counts,
    /// The reason why the import as a whole has failed.
    failure: Option<String>,
}

/// A request that was submitted.
#[derive(Default)]
struct UnderWay {
    /// The position of its last record.
    end: Origin,
    is_done: bool,
    /// See [`Batch::keys`].
    keys: HashSet<u64>,
}

/// Names of files or indices, for messages.
pub type Names = Arc<Mutex<Vec<String>>>;

struct Shared {
    cluster: Cluster,
    ledger: Mutex<Ledger>,
    changed: Condvar,
    errors: Mutex<Option<std::fs::File>>,
    /// Number of refused documents printed to standard error.
    printed: AtomicU64,
    names: Names,
}

/// Sends bulk requests, several at a time.
pub struct Sink {
    queue: Mutex<Option<SyncSender<(u64, Batch)>>>,
    shared: Arc<Shared>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

impl Sink {
    /// `errors` is the file for refused documents, one JSON object per line.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(
        cluster: &Cluster,
        workers: usize,
        errors: Option<std::fs::File>,
        names: Names,
    ) -> Result<Sink> {
        let shared = Arc::new(Shared {
            cluster: cluster.clone(),
            ledger: Mutex::default(),
            changed: Condvar::new(),
            errors: Mutex::new(errors),
            printed: AtomicU64::new(0),
            names,
        });
        let (queue, receiver) = sync_channel(workers);
        let receiver = Arc::new(Mutex::new(receiver));
        let mut threads = Vec::new();
        for _ in 0..workers {
            let (shared, receiver) = (shared.clone(), receiver.clone());
            let name = "import-sender".to_owned();
            threads.push(std::thread::Builder::new().name(name).spawn(move || shared.work(&receiver))?);
        }
        Ok(Sink { queue: Mutex::new(Some(queue)), shared, workers: Mutex::new(threads) })
    }

    /// Submits a request. Waits while too many are in flight, and for those that write to the same documents:
    /// the last record of a document must be the last to arrive.
    ///
    /// # Errors
    /// The import has failed as a whole.
    pub fn submit(&self, mut batch: Batch) -> Result<()> {
        let number = {
            let mut ledger = self.shared.lock();
            check(&ledger)?;
            while ledger.is_writing_to(&batch.keys) {
                ledger = self.shared.changed.wait(ledger).unwrap_or_else(PoisonError::into_inner);
                check(&ledger)?;
            }
            let number = ledger.next;
            ledger.next += 1;
            let end = batch.operations.last().map(|(_, origin)| *origin).unwrap_or_default();
            let keys = std::mem::take(&mut batch.keys);
            ledger.under_way.insert(number, UnderWay { end, is_done: false, keys });
            number
        };
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or_else(|| anyhow!("the import has ended"))?;
        queue.send((number, batch)).map_err(|_| anyhow!("the import has ended"))
    }

    /// Waits until all submitted requests are done.
    ///
    /// # Errors
    /// The import has failed as a whole.
    pub fn drain(&self) -> Result<()> {
        let mut ledger = self.shared.lock();
        while !ledger.under_way.is_empty() {
            check(&ledger)?;
            ledger = self.shared.changed.wait(ledger).unwrap_or_else(PoisonError::into_inner);
        }
        check(&ledger)
    }

    /// Returns the counts so far, and the position up to which all records are done.
    pub fn progress(&self) -> (Counts, Origin) {
        let ledger = self.shared.lock();
        (ledger.counts.clone(), ledger.done)
    }

    /// Reports a record that could not be converted to an operation.
    pub fn refuse(&self, origin: Origin, reason: &str) {
        self.shared.tell(origin, None, &json!({"type": "unreadable", "reason": reason}), 0);
        self.shared.lock().counts.failed += 1;
    }

    /// Ends the threads.
    pub fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let workers = std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner));
        for worker in workers {
            let _ = worker.join();
        }
    }
}

fn check(ledger: &Ledger) -> Result<()> {
    match &ledger.failure {
        Some(failure) => bail!("{failure}"),
        None => Ok(()),
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, receiver: &Mutex<Receiver<(u64, Batch)>>) {
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((number, batch)) = next else { return };
            let has_failed = self.lock().failure.is_some();
            let outcome = if has_failed { Ok(()) } else { self.send(batch) };
            let mut ledger = self.lock();
            match outcome {
                Ok(()) if !has_failed => ledger.end(number),
                Ok(()) => {}
                Err(error) => ledger.failure = Some(format!("{error:#}")),
            }
            self.changed.notify_all();
        }
    }

    /// Sends until each document is accepted or finally refused.
    fn send(&self, mut batch: Batch) -> Result<()> {
        let mut pause = PAUSE_FIRST;
        for retry in 0.. {
            let path = "/_bulk?filter_path=items.*.status,items.*.error,items.*._id";
            let answer = self.cluster.send("POST", path, &batch.body, "application/x-ndjson")?;
            if answer.status == 413 && batch.operations.len() > 1 {
                return self.send_halves(&batch);
            }
            if !(200..300).contains(&answer.status) {
                bail!("a bulk request was refused: {}", answer.reason());
            }
            let said = answer.json()?;
            let items = said["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            if items.len() != batch.operations.len() {
                bail!("the server answers {} operations of {}", items.len(), batch.operations.len());
            }
            let mut again = Batch::default();
            let mut counts = Counts { bytes: batch.body.len() as u64, ..Counts::default() };
            for (number, item) in items.iter().enumerate() {
                let origin = batch.operations[number].1;
                let Some((operation, result)) = item.as_object().and_then(|item| item.iter().next()) else {
                    bail!("the server's answer to a bulk request has an unexpected form");
                };
                match result["status"].as_u64().unwrap_or(0) {
                    200..=299 => counts.taken += 1,
                    // The document to delete did not exist.
                    404 if operation == "delete" => counts.taken += 1,
                    409 if operation == "create" => counts.known += 1,
                    429 if retry < RETRIES_MAX => {
                        counts.bytes -= batch.lines_of(number).len() as u64;
                        again.push(batch.lines_of(number), origin);
                    }
                    status => {
                        counts.failed += 1;
                        self.tell(origin, result["_id"].as_str(), &result["error"], status);
                    }
                }
            }
            self.lock().add(&counts);
            if again.operations.is_empty() {
                return Ok(());
            }
            batch = again;
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
        Ok(())
    }

    /// Splits a body that is too large for the server, and sends both halves.
    fn send_halves(&self, batch: &Batch) -> Result<()> {
        let middle = batch.operations.len() / 2;
        for range in [0..middle, middle..batch.operations.len()] {
            let mut half = Batch::default();
            range.for_each(|number| half.push(batch.lines_of(number), batch.operations[number].1));
            self.send(half)?;
        }
        Ok(())
    }

    fn tell(&self, origin: Origin, id: Option<&str>, error: &Value, status: u64) {
        let name = {
            let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            names.get(origin.unit as usize).cloned().unwrap_or_default()
        };
        let mut reason = error["reason"].as_str().unwrap_or("no reason").to_owned();
        if let Some(cause) = error["caused_by"]["reason"].as_str() {
            reason = format!("{reason}: {cause}");
        }
        let mut file = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = file.as_mut() {
            let line = json!({
                "source": name, "record": origin.record, "_id": id, "status": status,
                "type": error["type"], "reason": reason,
            });
            // A line that cannot be written to the file is printed instead.
            if writeln!(file, "{line}").is_ok() {
                return;
            }
        }
        let printed = self.printed.fetch_add(1, Ordering::Relaxed);
        if printed < PRINTED_MAX {
            eprintln!("{name}, record {}: {}", origin.record, in_one_line(&reason));
        } else if printed == PRINTED_MAX {
            eprintln!("more documents are refused; --errors FILE keeps them all");
        }
    }
}

impl Ledger {
    fn add(&mut self, counts: &Counts) {
        self.counts.taken += counts.taken;
        self.counts.known += counts.known;
        self.counts.failed += counts.failed;
        self.counts.bytes += counts.bytes;
    }

    /// Marks a request as done, and advances `done` up to the first request that is not.
    fn end(&mut self, number: u64) {
        if let Some(request) = self.under_way.get_mut(&number) {
            request.is_done = true;
        }
        while let Some(first) = self.under_way.first_entry() {
            if !first.get().is_done {
                break;
            }
            self.done = self.done.max(first.get().end);
            first.remove();
        }
    }

    fn is_writing_to(&self, keys: &HashSet<u64>) -> bool {
        let mut requests = self.under_way.values().filter(|request| !request.is_done);
        requests.any(|request| !request.keys.is_disjoint(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_is_what_has_no_gap_before_it() {
        let mut ledger = Ledger::default();
        let at = |record| Origin { unit: 0, record };
        for number in 0..4 {
            let request = UnderWay { end: at(10 * (number + 1)), ..UnderWay::default() };
            ledger.under_way.insert(number, request);
        }
        for (number, done) in [(1, 0), (0, 20), (3, 20), (2, 40)] {
            ledger.end(number);
            assert_eq!(ledger.done, at(done), "after {number}");
        }
    }

    #[test]
    fn a_document_is_not_written_by_two_requests_at_once() {
        let mut ledger = Ledger::default();
        let keys = |keys: &[u64]| keys.iter().copied().collect::<HashSet<u64>>();
        for (number, held) in [(0, keys(&[1, 2])), (1, keys(&[3]))] {
            ledger.under_way.insert(number, UnderWay { keys: held, ..UnderWay::default() });
        }
        assert!(ledger.is_writing_to(&keys(&[2, 4])) && ledger.is_writing_to(&keys(&[3])));
        assert!(!ledger.is_writing_to(&keys(&[4])) && !ledger.is_writing_to(&keys(&[])));
        ledger.end(1);
        assert!(!ledger.is_writing_to(&keys(&[3])));
    }
}
