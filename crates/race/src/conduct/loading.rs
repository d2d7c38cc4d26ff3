//! Loads the track of a race in a way that an interrupt can end.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::conduct::config::RaceConfig;
use crate::conduct::live::Progress;
use crate::error::Error;
use crate::track::load::{self, LoadError, Loaded};

/// How often an interrupt is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What the thread that loads reports.
enum Event {
    /// A line about its progress.
    Line(String),
    Loaded(Box<Result<Loaded, LoadError>>),
}

/// Loads the track on a thread of its own. A download, an archive or the making of documents can take
/// minutes; an interrupt abandons the thread, which ends with the process. The next race continues a download
/// and begins anything else anew.
///
/// Errors: those of the loader; `Interrupted`.
pub(super) fn load(config: &RaceConfig, progress: &mut dyn Progress) -> Result<Loaded, Error> {
    let (sender, events) = mpsc::channel();
    let track = config.track.clone();
    let work = move || {
        let mut log = Lines { sender: sender.clone(), line: Vec::new() };
        let loaded = load::load(&track, &mut log);
        // After an interrupt nobody waits for it.
        let _ = sender.send(Event::Loaded(Box::new(loaded)));
    };
    let thread = std::thread::Builder::new()
        .name("load-track".into())
        .spawn(work)
        .map_err(Error::machine("cannot start the thread that loads the track"))?;
    loop {
        match events.recv_timeout(LOOK_EVERY) {
            Ok(Event::Line(line)) => progress.note(&line),
            Ok(Event::Loaded(loaded)) => return Ok((*loaded)?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("it reports what it loaded unless it panics");
                std::panic::resume_unwind(panic);
            }
        }
        if config.is_cancelled.load(Ordering::Acquire) {
            return Err(Error::Interrupted);
        }
    }
}

/// Passes on complete lines of the loader's log.
struct Lines {
    sender: Sender<Event>,
    line: Vec<u8>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for byte in bytes {
            if *byte == b'\n' {
                let line = String::from_utf8_lossy(&self.line).into_owned();
                let _ = self.sender.send(Event::Line(line));
                self.line.clear();
            } else {
                self.line.push(*byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
