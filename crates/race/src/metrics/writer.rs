//! Who writes documents while a race runs?
//!
//! One thread, which owns the files. What comes in waits in a queue of bounded length: devices of telemetry wait for room.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde_json::Value;

/// Messages that wait at most.
const QUEUE_LENGTH: usize = 256;

pub const TELEMETRY_FILE: &str = "telemetry.ndjson";

/// What the thread is told.
enum Message {
    /// A document of a device.
    Telemetry(Value),
    /// Everything that came before is in the files.
    Flush(SyncSender<io::Result<()>>),
    /// The race has no results.
    Discard,
}

/// The thread and its files. Dropping it without [`MetricsWriter::finish`] removes what was written: the race has no results.
pub struct MetricsWriter {
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    folder: PathBuf,
}

/// A way to the thread.
#[derive(Clone)]
pub struct MetricsSender {
    sender: SyncSender<Message>,
}

impl MetricsSender {
    /// Waits while the queue is full.
    pub fn telemetry(&self, document: Value) {
        // The thread is gone only when a file could not be written, which it tells at the end.
        let _ = self.sender.send(Message::Telemetry(document));
    }
}

impl MetricsWriter {
    /// `folder`: the race's. Files are made when the first document of theirs comes.
    ///
    /// Errors: no thread is to be had.
    pub fn start(folder: &Path) -> io::Result<MetricsWriter> {
        let (sender, receiver) = sync_channel(QUEUE_LENGTH);
        let mut files = Files { telemetry: LazyFile::new(folder.join(TELEMETRY_FILE)) };
        let thread =
            std::thread::Builder::new().name("metrics".into()).spawn(move || files.take_in(&receiver))?;
        Ok(MetricsWriter { sender: Some(sender), thread: Some(thread), folder: folder.to_owned() })
    }

    pub fn sender(&self) -> MetricsSender {
        let sender = self.sender.as_ref().expect("taken by `finish` alone, which consumes the writer");
        MetricsSender { sender: sender.clone() }
    }

    /// Waits until everything is in the files, which stay.
    ///
    /// Errors: the first that a file had; documents are missing then.
    pub fn finish(mut self) -> io::Result<()> {
        let (sender, done) = sync_channel(1);
        let queue = self.sender.take().expect("taken here alone");
        let is_told = queue.send(Message::Flush(sender)).is_ok();
        drop(queue);
        let ended = || io::Error::other("the thread [metrics] ended early");
        match is_told {
            true => done.recv().unwrap_or_else(|_| Err(ended())),
            false => Err(ended()),
        }
    }
}

impl Drop for MetricsWriter {
    fn drop(&mut self) {
        let Some(sender) = self.sender.take() else { return };
        let _ = sender.send(Message::Discard);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(self.folder.join(TELEMETRY_FILE));
        // Folders that hold other races stay, since they are not empty.
        for folder in self.folder.ancestors().take(3) {
            if std::fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

struct Files {
    telemetry: LazyFile,
}

impl Files {
    fn take_in(&mut self, receiver: &Receiver<Message>) {
        let mut outcome = Ok(());
        for message in receiver {
            match message {
                Message::Telemetry(document) if outcome.is_ok() => outcome = self.telemetry.write(&document),
                // A full disk does not end the race; its results say so.
                Message::Telemetry(_) => {}
                Message::Discard => return,
                Message::Flush(done) => {
                    let flushed =
                        std::mem::replace(&mut outcome, Ok(())).and_then(|()| self.telemetry.flush());
                    let _ = done.send(flushed);
                    return;
                }
            }
        }
    }
}

/// A file that is made when there is something to write.
struct LazyFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl LazyFile {
    fn new(path: PathBuf) -> LazyFile {
        LazyFile { path, file: None }
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<File>> {
        if self.file.is_none() {
            if let Some(folder) = self.path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            self.file = Some(BufWriter::with_capacity(1 << 16, File::create(&self.path)?));
        }
        Ok(self.file.as_mut().expect("made above"))
    }

    fn write(&mut self, document: &Value) -> io::Result<()> {
        let file = self.open()?;
        serde_json::to_writer(&mut *file, document)?;
        file.write_all(b"\n")
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
        let writer = MetricsWriter::start(&folder).unwrap();
        let sender = writer.sender();
        for n in 0..1000 {
            sender.telemetry(json!({ "n": n }));
        }
        writer.finish().unwrap();
        let text = std::fs::read_to_string(folder.join(TELEMETRY_FILE)).unwrap();
        assert_eq!(text.lines().count(), 1000);
        assert_eq!(text.lines().last(), Some("{\"n\":999}"));

        let folder = home.path().join("other/races/r");
        let writer = MetricsWriter::start(&folder).unwrap();
        writer.sender().telemetry(json!({}));
        drop(writer);
        assert!(!home.path().join("other").exists());
    }
}
