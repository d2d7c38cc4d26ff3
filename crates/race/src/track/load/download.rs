//! Downloads a file completely, even if the connection breaks.
//!
//! A download goes to `<file>.part`, with the server's validator (its ETag or date) in
//! `<file>.part.validator`. If a run is interrupted, the next one continues it with a range request as long
//! as the file on the server has not changed (RFC 9110, `If-Range`). If the size and checksums are right, the
//! part becomes `<file>`. Rally's `esrally/utils/net.py` starts over each time and checks only sizes.

mod checksum;

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Response, StatusCode, header};

use self::checksum::Checksum;
use super::LoadError;
use crate::notation::units::pretty_size;
use crate::track::track_files::files::suffixed;

const BUFFER_BYTES: usize = 1 << 18;
/// Number of buffers between the connection and the disk.
const BUFFERS: usize = 8;

/// A file to download.
#[derive(Debug)]
pub(crate) struct Download<'a> {
    pub url: &'a str,
    pub target: &'a Path,
    pub expected_bytes: Option<u64>,
    /// Hexadecimal SHA-256 of the file, if its publisher gives one. The server's own checksums are compared
    /// in any case.
    pub sha256: Option<&'a str>,
    /// Error message when the server does not have the file, instead of its status.
    pub advice_if_missing: Option<&'a str>,
}

/// How long to wait for a server that does not answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// A connection without a byte for this long counts as broken.
    pub stall: Duration,
    /// Pause before the first retry. It doubles before each further one.
    pub pause: Duration,
    /// Number of consecutive attempts without a byte before giving up.
    pub attempts: u32,
    /// Time between two progress lines.
    pub report_every: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            stall: Duration::from_secs(60),
            pause: Duration::from_secs(1),
            attempts: 6,
            report_every: Duration::from_secs(10),
        }
    }
}

/// Why an attempt ended.
enum Broken {
    /// The connection broke; the next attempt continues.
    Off(String),
    /// The server's file is not the one that was begun; the next attempt starts over.
    Changed,
    Final(LoadError),
}

/// Downloads the file to `target`. Progress goes to `log` as lines.
///
/// # Errors
/// `Documents` when the server refuses, does not answer, or has another file than expected; `Io` for the
/// disk.
pub(crate) fn fetch(
    download: &Download<'_>,
    patience: &Patience,
    log: &mut dyn Write,
) -> Result<(), LoadError> {
    let mut transfer = Transfer::new(download, patience)?;
    let started = Instant::now();
    // If the log cannot be written, the download continues.
    let _ = writeln!(
        log,
        "[INFO] Downloading track data from [{}] to [{}].",
        download.url,
        download.target.display()
    );
    let mut failures = 0;
    loop {
        let before = transfer.bytes;
        match transfer.attempt(log) {
            Ok(()) => break,
            Err(Broken::Final(error)) => return Err(error),
            Err(Broken::Changed) => transfer.begin_anew()?,
            Err(Broken::Off(reason)) => {
                failures = if transfer.bytes > before { 1 } else { failures + 1 };
                if failures >= patience.attempts {
                    return Err(LoadError::Documents(format!(
                        "Could not download [{}] to [{}]: {reason}. What is there is kept; start again to continue.",
                        download.url,
                        download.target.display()
                    )));
                }
                let _ = writeln!(
                    log,
                    "[WARNING] The download broke off at {}: {reason}. Trying again.",
                    size(transfer.bytes)
                );
                std::thread::sleep(patience.pause * (1 << (failures - 1)));
            }
        }
    }
    transfer.finish()?;
    let _ = writeln!(log, "[INFO] Downloaded {} in {} s.", size(transfer.bytes), started.elapsed().as_secs());
    Ok(())
}

struct Transfer<'a> {
    download: &'a Download<'a>,
    patience: &'a Patience,
    agent: ureq::Agent,
    part: PathBuf,
    validator_file: PathBuf,
    /// Bytes that are on disk.
    bytes: u64,
    total: Option<u64>,
    checksums: Vec<Checksum>,
}

impl<'a> Transfer<'a> {
    fn new(download: &'a Download<'a>, patience: &'a Patience) -> Result<Transfer<'a>, LoadError> {
        let beside = |suffix: &str| suffixed(download.target, suffix);
        let part = beside(".part");
        if let Some(folder) = part.parent() {
            std::fs::create_dir_all(folder).map_err(LoadError::at(folder))?;
        }
        let given = download.sha256.map(|text| {
            Checksum::sha256(text).ok_or_else(|| {
                LoadError::invalid(format!("[{text}] is no SHA-256 checksum of 64 hexadecimal digits"))
            })
        });
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(patience.stall))
            .timeout_recv_response(Some(patience.stall))
            .user_agent(concat!("limber-race/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Ok(Transfer {
            download,
            patience,
            agent,
            bytes: part.metadata().map_or(0, |metadata| metadata.len()),
            part,
            validator_file: beside(".part.validator"),
            total: download.expected_bytes,
            checksums: given.transpose()?.into_iter().collect(),
        })
    }

    fn attempt(&mut self, log: &mut dyn Write) -> Result<(), Broken> {
        if self.bytes > 0 && Some(self.bytes) == self.download.expected_bytes {
            return Ok(());
        }
        let validator = std::fs::read_to_string(&self.validator_file).unwrap_or_default();
        // Without a validator it is not known whether the rest belongs to the same file.
        if self.bytes > 0 && validator.is_empty() {
            return Err(Broken::Changed);
        }
        let mut request = self.agent.get(self.download.url).header(header::ACCEPT_ENCODING, "identity");
        if self.bytes > 0 {
            request = request
                .header(header::RANGE, format!("bytes={}-", self.bytes))
                .header(header::IF_RANGE, &validator);
        }
        let response = request.call().map_err(|error| self.unreachable(error))?;
        let headers = response.headers();
        match response.status() {
            StatusCode::PARTIAL_CONTENT if range_start(headers) == Some(self.bytes) => {}
            StatusCode::OK if self.bytes == 0 => {}
            // The file changed, or the server does not support ranges: this answer is the whole file.
            StatusCode::OK => self.begin_anew().map_err(Broken::Final)?,
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE if self.bytes > 0 => {
                return Err(Broken::Changed);
            }
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                return Err(Broken::Off(format!("HTTP status {status}")));
            }
            status => return Err(Broken::Final(self.refused(status))),
        }
        self.learn(headers)?;
        self.receive(response, log)
    }

    /// Takes the size, validator and checksums from the answer's head.
    fn learn(&mut self, headers: &HeaderMap) -> Result<(), Broken> {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let announced = match text(header::CONTENT_RANGE) {
            Some(range) => range.rsplit('/').next().and_then(|total| total.parse().ok()),
            None => text(header::CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        };
        if let (Some(announced), Some(expected)) = (announced, self.download.expected_bytes)
            && announced != expected
        {
            return Err(Broken::Final(LoadError::Documents(format!(
                "[{}] has [{announced}] bytes but the track says [{expected}]; is it the right version of the track?",
                self.download.url
            ))));
        }
        self.total = announced.or(self.download.expected_bytes);
        self.checksums.extend(checksum::of_headers(headers));
        // A weak validator does not promise equal bytes.
        let validator =
            text(header::ETAG).filter(|tag| !tag.starts_with("W/")).or(text(header::LAST_MODIFIED));
        std::fs::write(&self.validator_file, validator.unwrap_or_default())
            .map_err(|error| Broken::Final(LoadError::at(&self.validator_file)(error)))
    }

    /// Appends the body to the part. A separate thread reads the connection; it is abandoned when the
    /// connection stalls.
    fn receive(&mut self, response: Response<ureq::Body>, log: &mut dyn Write) -> Result<(), Broken> {
        let disk = |error| Broken::Final(LoadError::at(&self.part)(error));
        let mut file = OpenOptions::new().create(true).append(true).open(&self.part).map_err(disk)?;
        let (sender, receiver) = mpsc::sync_channel::<io::Result<Vec<u8>>>(BUFFERS);
        let mut body = response.into_body().into_reader();
        let read = move || {
            loop {
                let mut buffer = vec![0; BUFFER_BYTES];
                let outcome = body.read(&mut buffer).map(|count| {
                    buffer.truncate(count);
                    buffer
                });
                let is_last = !matches!(&outcome, Ok(buffer) if !buffer.is_empty());
                if sender.send(outcome).is_err() || is_last {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("download".into()).spawn(read).map_err(disk)?;
        let mut progress = Progress::new(self.bytes, self.patience.report_every);
        loop {
            match receiver.recv_timeout(self.patience.stall) {
                Ok(Ok(buffer)) if buffer.is_empty() => break,
                Ok(Ok(buffer)) => {
                    file.write_all(&buffer).map_err(disk)?;
                    self.bytes += buffer.len() as u64;
                    progress.tell(self.bytes, self.total, log);
                }
                Ok(Err(error)) => return Err(Broken::Off(error.to_string())),
                Err(_) => {
                    return Err(Broken::Off(format!("no byte came for {} s", self.patience.stall.as_secs())));
                }
            }
        }
        match self.total {
            Some(total) if self.bytes < total => Err(Broken::Off("the server closed the connection".into())),
            _ => Ok(()),
        }
    }

    /// Checks the complete file and renames it to its final name.
    fn finish(&self) -> Result<(), LoadError> {
        let target = self.download.target;
        let corrupt = |reason: String| {
            self.forget();
            Err(LoadError::Documents(format!("[{}] is corrupt. {reason}", target.display())))
        };
        if let Some(expected) = self.total.filter(|expected| *expected != self.bytes) {
            return corrupt(format!(
                "Downloaded [{}] bytes but [{expected}] bytes are expected.",
                self.bytes
            ));
        }
        if let Some(checksum) =
            checksum::first_wrong(&self.checksums, &self.part).map_err(LoadError::at(&self.part))?
        {
            return corrupt(format!("Its {} is not {}, as it should be.", checksum.name(), checksum.text()));
        }
        std::fs::rename(&self.part, target).map_err(LoadError::at(target))?;
        let _ = std::fs::remove_file(&self.validator_file);
        Ok(())
    }

    fn begin_anew(&mut self) -> Result<(), LoadError> {
        File::create(&self.part).map_err(LoadError::at(&self.part))?;
        let _ = std::fs::remove_file(&self.validator_file);
        self.bytes = 0;
        self.checksums.truncate(usize::from(self.download.sha256.is_some()));
        Ok(())
    }

    fn forget(&self) {
        let _ = std::fs::remove_file(&self.part);
        let _ = std::fs::remove_file(&self.validator_file);
    }

    fn refused(&self, status: StatusCode) -> LoadError {
        if let (StatusCode::NOT_FOUND, Some(advice)) = (status, self.download.advice_if_missing) {
            return LoadError::Documents(advice.to_owned());
        }
        LoadError::Documents(format!(
            "Could not download [{}] to [{}] (HTTP status: {}{})",
            self.download.url,
            self.download.target.display(),
            status.as_u16(),
            status.canonical_reason().map_or_else(String::new, |reason| format!(", reason: {reason}"))
        ))
    }

    fn unreachable(&self, error: ureq::Error) -> Broken {
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::RequireHttpsOnly(_) => {
                Broken::Final(LoadError::invalid(format!(
                    "[{}] is no URL to download from: {error}",
                    self.download.url
                )))
            }
            other => Broken::Off(other.to_string()),
        }
    }
}

/// Returns the first byte of the answer's `content-range: bytes 5-9/10`.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.parse().ok()
}

fn size(bytes: u64) -> String {
    pretty_size(Some(bytes))
}

/// Writes a line every few seconds.
struct Progress {
    every: Duration,
    started: Instant,
    told: Instant,
    start_bytes: u64,
}

impl Progress {
    fn new(start_bytes: u64, every: Duration) -> Progress {
        let now = Instant::now();
        Progress { every, started: now, told: now, start_bytes }
    }

    fn tell(&mut self, bytes: u64, total: Option<u64>, log: &mut dyn Write) {
        if self.told.elapsed() < self.every {
            return;
        }
        self.told = Instant::now();
        let rate = (bytes - self.start_bytes) as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let share = total.filter(|total| *total > 0).map_or_else(String::new, |total| {
            let left_s = total.saturating_sub(bytes) as f64 / rate.max(1.0);
            format!(" of {} ({:.1} %, {left_s:.0} s left)", size(total), bytes as f64 / total as f64 * 100.0)
        });
        let _ = writeln!(log, "[INFO] Downloaded {}{share}, {}/s.", size(bytes), size(rate as u64));
    }
}

#[cfg(test)]
mod tests;
