//! Writes documents while a race runs.
//!
//! One thread owns the files. Its input waits in a queue of bounded length: telemetry devices wait for space
//! in it, samples of a running step do not.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde_json::Value;

use super::samples::{SampleRecord, StepTexts};

/// Largest number of waiting messages: about 4 MB of samples.
const QUEUE_LENGTH: usize = 64;

pub(crate) const TELEMETRY_FILE: &str = "telemetry.ndjson";
pub(crate) const METRICS_FILE: &str = "metrics.ndjson";

/// Messages to the thread.
enum Message {
    /// A document of a device.
    Telemetry(Value),
    /// Lines of documents, each ending in a line feed.
    Metrics(Vec<u8>),
    Samples(Arc<StepTexts>, Vec<SampleRecord>),
    /// Replies when everything that came before is in the files.
    Flush(SyncSender<io::Result<()>>),
    /// The race has no results, so nothing more is written.
    Discard,
}

/// The thread and its files. Dropping it without [`MetricsWriter::finish`] removes the files, because the
/// race then has no results.
pub(crate) struct MetricsWriter {
    sender: Option<MetricsSender>,
    thread: Option<JoinHandle<()>>,
    folder: PathBuf,
}

/// Sends messages to the thread.
#[derive(Debug, Clone)]
pub(crate) struct MetricsSender {
    sender: SyncSender<Message>,
    /// Number of samples dropped because the queue was full.
    dropped: Arc<AtomicU64>,
}

// Sending fails only after the thread has ended, when nothing is left to write.
impl MetricsSender {
    /// Sends a document of a device. Waits while the queue is full, like all methods except
    /// [`MetricsSender::try_samples`].
    pub(crate) fn telemetry(&self, document: Value) {
        let _ = self.sender.send(Message::Telemetry(document));
    }

    /// Sends a document that does not come from a device.
    pub(crate) fn metric(&self, document: &Value) {
        self.metric_text(format!("{document}\n").into_bytes());
    }

    /// Sends lines of such documents.
    pub(crate) fn metric_text(&self, lines: Vec<u8>) {
        let _ = self.sender.send(Message::Metrics(lines));
    }

    pub(crate) fn samples(&self, texts: &Arc<StepTexts>, batch: Vec<SampleRecord>) {
        let _ = self.sender.send(Message::Samples(Arc::clone(texts), batch));
    }

    /// Sends samples. Drops and counts them when the queue is full.
    pub(crate) fn try_samples(&self, texts: &Arc<StepTexts>, batch: Vec<SampleRecord>) {
        let count = batch.len() as u64;
        if self.sender.try_send(Message::Samples(Arc::clone(texts), batch)).is_err() {
            self.dropped.fetch_add(count, Ordering::Relaxed);
        }
    }
}

impl MetricsWriter {
    /// Starts the thread. `folder` is the race's folder. A file is created with its first document.
    /// `has_metrics` says whether there is a file of all documents in addition to that of telemetry.
    ///
    /// Errors: no thread can be started.
    pub(crate) fn start(folder: &Path, has_metrics: bool) -> io::Result<MetricsWriter> {
        let (sender, receiver) = sync_channel(QUEUE_LENGTH);
        let mut files = Files {
            telemetry: LazyFile::new(folder.join(TELEMETRY_FILE)),
            metrics: has_metrics.then(|| LazyFile::new(folder.join(METRICS_FILE))),
            lines: Vec::new(),
        };
        let thread =
            std::thread::Builder::new().name("metrics".into()).spawn(move || files.take_in(&receiver))?;
        let sender = MetricsSender { sender, dropped: Arc::new(AtomicU64::new(0)) };
        Ok(MetricsWriter { sender: Some(sender), thread: Some(thread), folder: folder.to_owned() })
    }

    pub(crate) fn sender(&self) -> MetricsSender {
        self.sender.clone().expect("taken by `finish` alone, which consumes the writer")
    }

    /// Waits until everything is in the files, which are kept. Returns how many samples were dropped.
    ///
    /// Errors: the first error of a file. Documents are then missing.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        let ended = || io::Error::other("the thread [metrics] ended early");
        let (done, written) = sync_channel(1);
        let queue = self.sender.take().ok_or_else(ended)?;
        queue.sender.send(Message::Flush(done)).map_err(|_| ended())?;
        written.recv().map_err(|_| ended())??;
        Ok(queue.dropped.load(Ordering::Relaxed))
    }
}

impl Drop for MetricsWriter {
    fn drop(&mut self) {
        let Some(queue) = self.sender.take() else { return };
        let _ = queue.sender.send(Message::Discard);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        for file in [TELEMETRY_FILE, METRICS_FILE] {
            let _ = std::fs::remove_file(self.folder.join(file));
        }
        // The folder is not empty if the race left something else.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

struct Files {
    telemetry: LazyFile,
    metrics: Option<LazyFile>,
    /// Text of the current message.
    lines: Vec<u8>,
}

impl Files {
    fn take_in(&mut self, receiver: &Receiver<Message>) {
        let mut outcome = Ok(());
        for message in receiver {
            match message {
                Message::Discard => return,
                Message::Flush(done) => {
                    let _ = done.send(outcome.and_then(|()| self.flush()));
                    return;
                }
                // A full disk does not end the race; the error is reported with its results.
                _ if outcome.is_err() => {}
                message => outcome = self.write(message),
            }
        }
    }

    fn write(&mut self, message: Message) -> io::Result<()> {
        self.lines.clear();
        match message {
            Message::Telemetry(document) => {
                serde_json::to_writer(&mut self.lines, &document)?;
                self.lines.push(b'\n');
                self.telemetry.write(&self.lines)?;
            }
            Message::Metrics(lines) => self.lines.extend_from_slice(&lines),
            Message::Samples(texts, batch) => {
                batch.iter().for_each(|record| texts.write(&mut self.lines, record));
            }
            Message::Flush(_) | Message::Discard => {}
        }
        self.metrics.as_mut().map_or(Ok(()), |file| file.write(&self.lines))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.telemetry.flush()?;
        self.metrics.as_mut().map_or(Ok(()), LazyFile::flush)
    }
}

/// A file that is created when there is something to write.
struct LazyFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl LazyFile {
    fn new(path: PathBuf) -> LazyFile {
        LazyFile { path, file: None }
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                if let Some(folder) = self.path.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                self.file.insert(BufWriter::with_capacity(1 << 16, File::create(&self.path)?))
            }
        };
        file.write_all(lines)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_are_lines_or_leave_no_trace() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("benchmarks/races/r");
        let writer = MetricsWriter::start(&folder, true).unwrap();
        let sender = writer.sender();
        for n in 0..1000 {
            sender.telemetry(json!({ "n": n }));
        }
        sender.metric(&json!({ "m": 1 }));
        assert_eq!(writer.finish().unwrap(), 0);
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let telemetry = read(TELEMETRY_FILE);
        assert_eq!((telemetry.lines().count(), telemetry.lines().last()), (1000, Some("{\"n\":999}")));
        assert_eq!(read(METRICS_FILE), format!("{telemetry}{{\"m\":1}}\n"));

        let folder = home.path().join("benchmarks/races/other");
        let writer = MetricsWriter::start(&folder, false).unwrap();
        let sender = writer.sender();
        sender.telemetry(json!({}));
        drop(writer);
        assert!(!folder.exists());
        // The thread has ended, but sending to it does not fail.
        sender.telemetry(json!({}));
    }
}
