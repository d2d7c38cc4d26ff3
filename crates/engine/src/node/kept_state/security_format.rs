//! The format of the files of users, roles and keys: "what did this change put, set and delete?"
//!
//! A file is text, one line per record:
//!
//! | line | content |
//! |---|---|
//! | first | `limber-security 1 <kind> <version> <cluster UUID>`; the kind is `whole` or `change` |
//! | record | `{"put": <entry kind>, "name": <name>, "body": {...}}`: the entry is new or replaced |
//! | record | `{"set": <entry kind>, "name": <name>, "body": {...}}`: these members of the entry change |
//! | record | `{"delete": <entry kind>, "name": <name>}` |
//! | last | `end <number of records> <CRC-32 of all lines before this one, hex>` |
//!
//! A file `whole` contains the whole store at a version, as records `put`. A file `change` contains what the
//! version changes in the previous one. The version is the number of changes since the store was made, and
//! part of the file's name. JSON texts contain no line feeds.
//!
//! A file gets its name only once it is durable, so a file that is torn or ends early is damaged.

use limber_access::{EntryChange, EntryKind, Store};
use limber_codec::checksum::{Crc32, crc32};
use limber_store::FileWriter;
use serde_json::{Map, Value, json};

use crate::api::Result;
use crate::checked_file::{Unreadable, damaged};

const MAGIC: &str = "limber-security";
/// Raised when older builds would misread a file.
const VERSION: u32 = 1;

/// What a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Whole,
    Change,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            FileKind::Whole => "whole",
            FileKind::Change => "change",
        }
    }
}

/// Which file it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileId {
    pub kind: FileKind,
    pub version: u64,
}

impl FileId {
    /// Returns the file's name. Names sort by version.
    pub(super) fn file_name(&self) -> String {
        format!("{}-{:020}", self.kind.name(), self.version)
    }

    /// Returns which file has this name, or would get it when it is complete. `None` for other files.
    pub(super) fn of(name: &str) -> Option<(FileId, bool)> {
        let complete = name.strip_suffix(limber_store::directory::TEMPORARY_SUFFIX);
        let is_complete = complete.is_none();
        let (kind, version) = complete.unwrap_or(name).split_once('-')?;
        let kind = [FileKind::Whole, FileKind::Change].into_iter().find(|one| one.name() == kind)?;
        let id = FileId { kind, version: version.parse().ok()? };
        (id.file_name() == complete.unwrap_or(name)).then_some((id, is_complete))
    }

    fn first_line(&self, cluster_uuid: &str) -> String {
        format!("{MAGIC} {VERSION} {} {} {cluster_uuid}\n", self.kind.name(), self.version)
    }
}

/// Writes a file record by record.
pub(super) struct RecordWriter<'w> {
    file: &'w mut dyn FileWriter,
    crc: Crc32,
    count: u64,
}

impl<'w> RecordWriter<'w> {
    pub(super) fn begin(
        file: &'w mut dyn FileWriter,
        id: &FileId,
        cluster_uuid: &str,
    ) -> limber_store::Result<RecordWriter<'w>> {
        let mut writer = RecordWriter { file, crc: Crc32::new(), count: 0 };
        writer.line(id.first_line(cluster_uuid).as_bytes())?;
        Ok(writer)
    }

    pub(super) fn add(&mut self, change: EntryChange<'_>) -> limber_store::Result<()> {
        let (kind, name) = (change.kind.name(), change.name);
        let record = match change.after {
            None => json!({"delete": kind, "name": name}),
            Some(set) if change.is_partial => json!({"set": kind, "name": name, "body": set}),
            Some(put) => json!({"put": kind, "name": name, "body": put}),
        };
        self.count += 1;
        self.line(format!("{record}\n").as_bytes())
    }

    pub(super) fn end(self) -> limber_store::Result<()> {
        let last = format!("end {} {:08x}\n", self.count, self.crc.finish());
        self.file.write_all(last.as_bytes())
    }

    fn line(&mut self, line: &[u8]) -> limber_store::Result<()> {
        self.crc.update(line);
        self.file.write_all(line)
    }
}

/// Applies a file to the store of the version before it, or, if it is a whole store, to an empty one. `file`
/// is its path in messages.
///
/// # Errors
/// The file is damaged, or of a newer version, or does not fit the store.
pub(super) fn apply(
    bytes: &[u8],
    id: &FileId,
    cluster_uuid: &str,
    file: &str,
    store: &mut Store,
) -> Result<()> {
    let bad = |what: &str| damaged(file, what);
    let lines = bytes.strip_suffix(b"\n").ok_or_else(|| bad("it ends within a line"))?;
    let last = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (body, last) = (&bytes[..last], &lines[last..]);
    let mut lines = body.split_inclusive(|byte| *byte == b'\n');
    check_first_line(lines.next().unwrap_or_default(), id, cluster_uuid, file)?;
    let count = lines.clone().count();
    let expected = format!("end {count} {:08x}", crc32(body));
    if last != expected.as_bytes() {
        return Err(bad(&format!("[{expected}] should be its last line")));
    }
    for line in lines {
        let record: Map<String, Value> =
            serde_json::from_slice(line).map_err(|error| bad(&error.to_string()))?;
        apply_record(&record, store).map_err(|error| bad(&error.reason))?;
    }
    store.version = id.version;
    Ok(())
}

fn check_first_line(line: &[u8], id: &FileId, cluster_uuid: &str, file: &str) -> Result<()> {
    let expected = id.first_line(cluster_uuid);
    if line == expected.as_bytes() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(line);
    let mut words = text.split(' ');
    let (magic, version) = (words.next(), words.next().and_then(|word| word.parse::<u32>().ok()));
    match version {
        Some(found) if magic == Some(MAGIC) && found > VERSION => {
            Err(Unreadable::Newer { magic: MAGIC, version: VERSION, found }.refusal(file))
        }
        _ => Err(damaged(file, &format!("[{}] should be its first line", expected.trim_end()))),
    }
}

fn apply_record(record: &Map<String, Value>, store: &mut Store) -> Result<()> {
    let bad = || damaged("a record", "it is not one of [put], [set] and [delete]");
    let text = |member: &str| record.get(member).and_then(Value::as_str);
    let name = text("name").ok_or_else(bad)?;
    let body = record.get("body");
    for action in ["put", "set", "delete"] {
        let Some(kind) = text(action) else { continue };
        let kind = EntryKind::named(kind).ok_or_else(bad)?;
        return match (action, body) {
            ("put", Some(body @ Value::Object(_))) => store.put_entry(kind, name, body),
            ("set", Some(Value::Object(members))) => store.set_members(kind, name, members),
            ("delete", None) if store.remove_entry(kind, name) => Ok(()),
            _ => Err(bad()),
        };
    }
    Err(bad())
}

#[cfg(test)]
mod tests {
    use super::*;
    use limber_access::User;
    use limber_store::{CrashDirectory, Directory};

    const UUID: &str = "uuid-of-cluster";

    fn user(enabled: bool) -> User {
        User {
            roles: vec!["r".into()],
            full_name: None,
            email: None,
            metadata: Map::new(),
            enabled,
            password_hash: Some("h".into()),
        }
    }

    fn written(id: &FileId, before: &Store, after: &Store) -> Vec<u8> {
        let directory = CrashDirectory::new(1);
        let mut file = directory.create("f").expect("made");
        let mut writer = RecordWriter::begin(&mut *file, id, UUID).expect("written");
        after.for_each_change(before, |change| writer.add(change)).expect("written");
        writer.end().expect("written");
        file.sync().expect("written");
        directory.open("f").expect("there").to_vec()
    }

    #[test]
    fn the_bytes_are_pinned_and_every_flipped_bit_is_noticed() {
        let mut stores = vec![Store::default()];
        let mut change = |act: &dyn Fn(&mut Store)| {
            let mut next = stores.last().expect("one").clone();
            act(&mut next);
            next.version += 1;
            stores.push(next);
        };
        change(&|store| assert!(store.users.insert("u", user(true))));
        change(&|store| assert!(!store.users.insert("u", user(false))));
        change(&|store| assert!(store.users.remove("u")));
        let expected = [
            "limber-security 1 change 1 uuid-of-cluster\n{\"put\":\"user\",\"name\":\"u\",\"body\":{\"roles\":[\"r\"],\"full_name\":null,\
             \"email\":null,\"metadata\":{},\"enabled\":true,\"password_hash\":\"h\"}}\nend 1 ",
            "limber-security 1 change 2 uuid-of-cluster\n{\"set\":\"user\",\"name\":\"u\",\"body\":{\"enabled\":false}}\nend 1 ",
            "limber-security 1 change 3 uuid-of-cluster\n{\"delete\":\"user\",\"name\":\"u\"}\nend 1 ",
        ];
        for (pair, expected) in stores.windows(2).zip(expected) {
            let id = FileId { kind: FileKind::Change, version: pair[1].version };
            let bytes = written(&id, &pair[0], &pair[1]);
            let text = String::from_utf8(bytes.clone()).expect("text");
            assert_eq!(&text[..text.len() - 9], expected);
            let mut store = pair[0].clone();
            apply(&bytes, &id, UUID, "f", &mut store).expect("valid");
            assert_eq!(store, pair[1]);
            for at in 0..bytes.len() {
                let mut store = pair[0].clone();
                assert!(apply(&bytes[..at], &id, UUID, "f", &mut store).is_err(), "cut at {at}");
                for bit in 0..8 {
                    let mut flipped = bytes.clone();
                    flipped[at] ^= 1 << bit;
                    assert!(apply(&flipped, &id, UUID, "f", &mut store).is_err(), "byte {at} bit {bit}");
                }
                assert_eq!(store, pair[0]);
            }
        }
        let id = FileId { kind: FileKind::Whole, version: 0 };
        let empty = b"limber-security 1 whole 0 uuid-of-cluster\nend 0 fd7be3ef\n";
        assert_eq!(written(&id, &Store::default(), &Store::default()), empty);
    }

    #[test]
    fn files_of_others_and_of_newer_builds_are_refused_by_name() {
        let id = FileId { kind: FileKind::Whole, version: 3 };
        let check = |text: &str, expected: &str| {
            let bytes = format!("{text}\nend 0 {:08x}\n", crc32(format!("{text}\n").as_bytes()));
            let error = apply(bytes.as_bytes(), &id, UUID, "f", &mut Store::default()).expect_err("refused");
            assert!(error.reason.contains(expected), "{error}");
        };
        check(
            "limber-security 2 whole 3 uuid-of-cluster",
            "[limber-security 2] of a newer version of Limber",
        );
        let other = "[limber-security 1 whole 3 uuid-of-cluster] should be its first line";
        check("limber-security 1 whole 4 uuid-of-cluster", other);
        check("limber-security 1 change 3 uuid-of-cluster", other);
        check("limber-security 1 whole 3 another", other);
    }

    #[test]
    fn names() {
        let id = FileId { kind: FileKind::Change, version: 12 };
        assert_eq!(id.file_name(), "change-00000000000000000012");
        assert_eq!(FileId::of("change-00000000000000000012"), Some((id.clone(), true)));
        assert_eq!(FileId::of("change-00000000000000000012.tmp"), Some((id, false)));
        for other in ["change-12", "other-00000000000000000012", "whole", "whole-x"] {
            assert_eq!(FileId::of(other), None);
        }
    }
}
