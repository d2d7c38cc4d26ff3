//! Converts files to operations: their format is detected, and each record becomes one operation or one
//! error.

use std::ffi::OsStr;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use limber_mapping::plain_text;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::lines::{Input, Line, Lines};
use super::pack::{Origin, Packer, action, key_of};
use super::sink::Sink;
use super::{access_log, csv_rows};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A document a line
    Ndjson,
    /// Actions and documents as `_bulk` takes them
    Bulk,
    /// Rows, the first with the fields' names
    Csv,
    /// The common or combined log of Apache and nginx
    AccessLog,
}

/// The destination of the documents, and how they get their ids.
#[derive(Debug, Clone)]
pub struct Target {
    /// Bulk files may name their own.
    pub index: Option<String>,
    /// The field whose value is the id.
    pub id_field: Option<String>,
    /// The server generates the ids.
    pub has_auto_ids: bool,
    pub delimiter: Option<u8>,
}

/// If the path is a folder, returns a message that says what it is and what to import instead.
pub fn refused_folder(path: &Path) -> Option<String> {
    let has = |name: &str| path.join(name).exists();
    if !path.is_dir() {
        return None;
    }
    let shown = path.display();
    Some(if has("state/node.json") {
        format!(
            "{shown} is a data folder of Limber. Start a server on it (limber serve --data {shown}) and import from that: limber import \
             http://HOST:9200 --indices PATTERN"
        )
    } else if has("index.latest") || (has("indices") && has("meta")) || has_snapshot_blobs(path) {
        format!(
            "{shown} is a repository of Elasticsearch's snapshots, whose Lucene files Limber does not read. Restore the snapshot in an \
             Elasticsearch or OpenSearch and import from that: limber import http://HOST:9200 --indices PATTERN"
        )
    } else if has("nodes") || has("node.lock") || has("_state") {
        format!(
            "{shown} is a data folder of Elasticsearch, whose Lucene files Limber does not read. Start that server and import from it: \
             limber import http://HOST:9200 --indices PATTERN"
        )
    } else {
        format!("{shown} is a folder; name its files")
    })
}

fn has_snapshot_blobs(path: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("snap-") && name.ends_with(".dat")
    })
}

/// Detects the format of a file from its first line and its name.
///
/// # Errors
/// The format is unknown.
pub fn recognize(path: &Path, input: &mut Input) -> Result<Format> {
    let start = input.fill_buf().with_context(|| format!("cannot read {}", path.display()))?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let shown = path.display();
    match start.first() {
        Some(b'{') if is_action(line) => return Ok(Format::Bulk),
        Some(b'{') => return Ok(Format::Ndjson),
        Some(b'[') => bail!(
            "{shown} begins with a JSON array; write one document per line, for example with: jq -c '.[]' {shown}"
        ),
        None => return Ok(Format::Ndjson),
        Some(_) => {}
    }
    let line = String::from_utf8_lossy(line);
    if access_log::document(line.trim()).is_some() {
        return Ok(Format::AccessLog);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let is_csv = [".csv", ".tsv"].iter().any(|end| name.ends_with(end));
    match is_csv || (csv_rows::delimiter_of(&line).is_some() && !name.ends_with(".log")) {
        true => Ok(Format::Csv),
        false => bail!(
            "{shown} is neither NDJSON nor CSV nor an access log by its first line; --format says what it is"
        ),
    }
}

fn is_action(line: &[u8]) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_slice(line) else { return false };
    let is_name = |name: &str| ["index", "create", "update", "delete"].contains(&name);
    members.len() == 1 && members.iter().all(|(name, value)| is_name(name) && value.is_object())
}

/// Sends the records of one file, without the first `skipped`.
pub struct FileImport<'a> {
    pub path: &'a PathBuf,
    pub unit: u32,
    pub skipped: u64,
    pub target: &'a Target,
    pub sink: &'a Arc<Sink>,
}

impl FileImport<'_> {
    /// Imports the file.
    ///
    /// # Errors
    /// The file cannot be read, or the import fails as a whole.
    pub fn run(&self, mut input: Input, format: Format) -> Result<()> {
        let mut packer = Packer::new(self.sink.clone());
        let at = || format!("cannot read {} any further", self.path.display());
        match format {
            Format::Csv => {
                let mut rows = csv_rows::Rows::new(input, self.target.delimiter).with_context(at)?;
                while let Some(row) = rows.next_row().with_context(at)? {
                    self.put(&mut packer, rows.number, row)?;
                }
            }
            Format::AccessLog => self.each_line(&mut packer, Lines::new(input), |text| {
                let line = String::from_utf8_lossy(text);
                access_log::document(&line).ok_or_else(|| "no line of a common or combined access log".into())
            })?,
            Format::Ndjson => self.ndjson(&mut packer, Lines::new(input))?,
            Format::Bulk => {
                // The format is checked by the first line, before anything is sent.
                let _ = input.fill_buf().with_context(at)?;
                self.bulk(&mut packer, Lines::new(input))?;
            }
        }
        packer.flush()
    }

    fn origin(&self, record: u64) -> Origin {
        Origin { unit: self.unit, record }
    }

    fn each_line(
        &self,
        packer: &mut Packer,
        mut lines: Lines,
        document: impl Fn(&[u8]) -> Result<Map<String, Value>, String>,
    ) -> Result<()> {
        while let Some(line) = lines.next_line().with_context(|| self.broken())? {
            let row = match line {
                Line::Text(text) => document(text),
                Line::TooLong => Err("the line is longer than 64 MB".into()),
            };
            self.put(packer, lines.number, row)?;
        }
        Ok(())
    }

    fn broken(&self) -> String {
        format!("cannot read {} any further", self.path.display())
    }

    fn put(&self, packer: &mut Packer, record: u64, row: Result<Map<String, Value>, String>) -> Result<()> {
        if record <= self.skipped {
            return Ok(());
        }
        let text = match row {
            Ok(document) => Value::Object(document).to_string(),
            Err(reason) => {
                self.sink.refuse(self.origin(record), &reason);
                return Ok(());
            }
        };
        self.add(packer, record, text.as_bytes())
    }

    /// Adds one document unchanged, with its action line.
    fn add(&self, packer: &mut Packer, record: u64, document: &[u8]) -> Result<()> {
        let index = self.target.index.as_deref().unwrap_or_default();
        let (operation, id) = match (&self.target.id_field, self.target.has_auto_ids) {
            (Some(field), _) => match id_in(document, field) {
                Some(id) => ("index", Some(id)),
                None => {
                    self.sink.refuse(
                        self.origin(record),
                        &format!("the document has no text or number in [{field}]"),
                    );
                    return Ok(());
                }
            },
            (None, true) => ("create", None),
            (None, false) => ("create", Some(id_of(self.path.file_name(), record))),
        };
        // Other ids are different for every record.
        let key = id.as_deref().filter(|_| self.target.id_field.is_some()).map(|id| key_of(index, id));
        packer.add(&action(operation, index, id.as_deref(), None), Some(document), self.origin(record), key)
    }

    fn ndjson(&self, packer: &mut Packer, mut lines: Lines) -> Result<()> {
        while let Some(line) = lines.next_line().with_context(|| self.broken())? {
            let text = match line {
                Line::Text(text) => text.to_vec(),
                Line::TooLong => b"too long".to_vec(),
            };
            let record = lines.number;
            if record <= self.skipped {
                continue;
            }
            // The document is sent unchanged, so that its numbers and member order are kept. But a line that
            // is not an object would invalidate the whole request, so it is checked.
            match object(&text) {
                Ok(()) => self.add(packer, record, &text)?,
                Err(reason) => self.sink.refuse(self.origin(record), &reason),
            }
        }
        Ok(())
    }

    fn bulk(&self, packer: &mut Packer, mut lines: Lines) -> Result<()> {
        while let Some(line) = lines.next_line().with_context(|| self.broken())? {
            let action_line = match line {
                Line::Text(text) => text.to_vec(),
                Line::TooLong => {
                    bail!("line {} of {} is longer than 64 MB", lines.number, self.path.display())
                }
            };
            let record = lines.number;
            let Some((operation, action_line, key)) = self.with_index(&action_line) else {
                // After an invalid action line it is unknown which lines are actions.
                bail!("line {record} of {} is not an action of _bulk", self.path.display());
            };
            let document = match operation.as_str() {
                "delete" => None,
                _ => match lines.next_line().with_context(|| self.broken())? {
                    Some(Line::Text(text)) => Some(text.to_vec()),
                    Some(Line::TooLong) => {
                        bail!("line {} of {} is longer than 64 MB", record + 1, self.path.display())
                    }
                    None => bail!("{} ends after an action without its document", self.path.display()),
                },
            };
            if record <= self.skipped {
                continue;
            }
            if let Some(Err(reason)) = document.as_deref().map(object) {
                self.sink.refuse(self.origin(record), &reason);
                continue;
            }
            packer.add(&action_line, document.as_deref(), self.origin(record), key)?;
        }
        Ok(())
    }

    /// Returns the action's name and its line, to which the index of the command is added if it names none,
    /// and the key of its document.
    fn with_index(&self, line: &[u8]) -> Option<(String, Vec<u8>, Option<u64>)> {
        let Ok(Value::Object(mut members)) = serde_json::from_slice(line) else { return None };
        let name = members.keys().next()?.clone();
        if members.len() != 1 || !["index", "create", "update", "delete"].contains(&name.as_str()) {
            return None;
        }
        let inner = members.get_mut(&name)?.as_object_mut()?;
        inner.shift_remove("_type");
        if let Some(index) = &self.target.index {
            inner.entry("_index").or_insert_with(|| index.clone().into());
        }
        let index = inner.get("_index").map(plain_text).unwrap_or_default();
        let key = inner.get("_id").map(|id| key_of(&index, &plain_text(id)));
        Some((name, Value::Object(members).to_string().into_bytes(), key))
    }
}

/// Checks that a line is a JSON object, without keeping it; the error says why it is not.
fn object(text: &[u8]) -> Result<(), String> {
    match serde_json::from_slice::<serde::de::IgnoredAny>(text) {
        Ok(_) if text.starts_with(b"{") => Ok(()),
        Ok(_) => Err("no JSON object".into()),
        Err(error) => Err(format!("no JSON object: {error}")),
    }
}

/// Returns the value of a member, which may be in an inner object, as an id.
fn id_in(document: &[u8], field: &str) -> Option<String> {
    let document: Value = serde_json::from_slice(document).ok()?;
    let value = match document.get(field) {
        Some(value) => value,
        None => field.split('.').try_fold(&document, |at, name| at.get(name))?,
    };
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns an id that is the same whenever the same file is imported.
fn id_of(name: Option<&OsStr>, record: u64) -> String {
    let mut hash = Sha256::new();
    hash.update(name.unwrap_or_default().as_encoded_bytes());
    hash.update([0]);
    hash.update(record.to_le_bytes());
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&hash.finalize()[..15])
}

/// Returns a fingerprint that changes when the file changes.
pub fn fingerprint(path: &Path) -> String {
    let Ok(data) = std::fs::metadata(path) else { return String::new() };
    let changed = data.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{} {}", data.len(), changed.unwrap_or_default().as_nanos())
}

/// The bytes of all files that have been read so far, and their total.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub read: Arc<AtomicU64>,
    pub total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognized_by_their_first_line() {
        let check = |name: &str, text: &str, expected: Option<Format>| {
            let mut input: Input = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
            assert_eq!(recognize(Path::new(name), &mut input).ok(), expected, "{text}");
        };
        check("a.json", "\n {\"index\": {\"_id\": \"1\"}}\n{}\n", Some(Format::Bulk));
        check("a.json", "{\"index\": 1, \"b\": 2}\n", Some(Format::Ndjson));
        check("a.json", "{\"index\": 1}\n", Some(Format::Ndjson));
        check("a", "h - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 1\n", Some(Format::AccessLog));
        check("a.tsv.gz", "a\n1\n", Some(Format::Csv));
        check("a", "a,b\n1,2\n", Some(Format::Csv));
        check("a", "[{}]", None);
        check("a.log", "some, line\n", None);
        check("a", "", Some(Format::Ndjson));
    }

    #[test]
    fn ids() {
        let id = |text: &str, field| id_in(text.as_bytes(), field);
        assert_eq!(id(r#"{"a": {"b": 7}}"#, "a.b").as_deref(), Some("7"));
        assert_eq!(id(r#"{"a.b": "x", "a": 1}"#, "a.b").as_deref(), Some("x"));
        assert_eq!(id(r#"{"a": null}"#, "a"), None);
        let name = Some(OsStr::new("f"));
        assert_eq!(id_of(name, 1).len(), 20);
        assert!(id_of(name, 1) == id_of(name, 1) && id_of(name, 1) != id_of(name, 2));
    }

    #[test]
    fn folders_of_elasticsearch_are_refused_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let check = |file: &str, part: &str| {
            let path = folder.path().join(file.replace(['/', '.'], "-"));
            std::fs::create_dir_all(path.join(file).parent().expect("a parent")).expect("made");
            std::fs::write(path.join(file), "").expect("written");
            let refusal = refused_folder(&path).expect("refused");
            assert!(refusal.contains(part), "{refusal}");
        };
        check("index.latest", "snapshots");
        check("snap-abc.dat", "snapshots");
        check("nodes/0/node.lock", "data folder of Elasticsearch");
        check("state/node.json", "data folder of Limber");
        check("a.csv", "name its files");
        assert_eq!(refused_folder(&folder.path().join("none")), None);
    }
}
