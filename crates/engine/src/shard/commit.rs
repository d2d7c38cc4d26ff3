//! The commit: the one small file that says what a shard is.
//!
//! `commit` holds one line `limber-commit 1 <crc-32 of the rest, hex> <length of the rest>` and then JSON. It is replaced by
//! write, fsync, rename, fsync of the folder, so that there is always exactly one whole commit.
//!
//! **Versions.** The first line stays as it is for ever. [`VERSION`] is raised when a member of the JSON changes its meaning or one is
//! added without which older builds would read the folder wrongly; they then refuse it by name. Since version 1: none.

use limber_codec::checksum::crc32;
use limber_segment::SegmentMeta;
use limber_store::directory::write_atomically;
use limber_store::{Directory, Error, Result};
use serde::{Deserialize, Serialize};

pub(crate) const COMMIT_NAME: &str = "commit";
const MAGIC: &str = "limber-commit";
const VERSION: u32 = 1;

/// One segment of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommittedSegment {
    pub meta: SegmentMeta,
    /// Generation of its live docs; `None`: no deletes.
    pub live_generation: Option<u64>,
    /// Documents that are not deleted; `None` in commits from before they were counted.
    #[serde(default)]
    pub live_doc_count: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Commit {
    /// Counts commits.
    pub generation: u64,
    pub segments: Vec<CommittedSegment>,
    /// Operations from this translog generation on are to be replayed when their number is above `max_seq_no`.
    pub translog_generation: u64,
    /// Every operation up to this one is in the segments; `None`: there was none.
    pub max_seq_no: Option<u64>,
    pub primary_term: u64,
    /// Identity of the shard's history, 32 hexadecimal digits.
    pub history: String,
    pub next_segment: u64,
}

impl Commit {
    pub(crate) fn write(&self, directory: &dyn Directory) -> Result<()> {
        let body = serde_json::to_string(self)
            .map_err(|e| Error::io("encode", directory.path().join(COMMIT_NAME), std::io::Error::other(e)))?;
        let head = format!("{MAGIC} {VERSION} {:08x} {}\n", crc32(body.as_bytes()), body.len());
        write_atomically(directory, COMMIT_NAME, (head + &body).as_bytes())
    }

    /// [`Error::Corrupt`] names what is wrong and where.
    pub(crate) fn read(directory: &dyn Directory) -> Result<Commit> {
        let bytes = directory.open(COMMIT_NAME)?;
        let corrupt = |offset: usize, expected: &str, found: &str| Error::Corrupt {
            file: COMMIT_NAME.to_owned(),
            offset: offset as u64,
            expected: expected.to_owned(),
            found: found.to_owned(),
        };
        let end =
            bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| corrupt(0, "a first line", "none"))?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| corrupt(0, "text", "other bytes"))?;
        let words: Vec<&str> = head.split(' ').collect();
        let body = &bytes[end + 1..];
        let [magic, version, crc, len] = words[..] else { return Err(corrupt(0, "four words", head)) };
        let found = version.parse::<u32>().ok().filter(|_| magic == MAGIC);
        match found {
            Some(found) if found > VERSION => {
                let (found, supported) = (u64::from(found), u64::from(VERSION));
                return Err(Error::Newer { file: COMMIT_NAME.to_owned(), found, supported });
            }
            Some(found) if found == VERSION && version == VERSION.to_string() => {}
            _ => return Err(corrupt(0, "limber-commit 1", head)),
        }
        if len != body.len().to_string() {
            return Err(corrupt(end + 1, &format!("{len} bytes"), &body.len().to_string()));
        }
        if crc != format!("{:08x}", crc32(body)) {
            return Err(corrupt(end + 1, &format!("checksum {crc}"), "another"));
        }
        serde_json::from_slice(body).map_err(|e| corrupt(end + 1, "a commit", &e.to_string()))
    }

    pub(crate) fn history_bytes(&self) -> [u8; 16] {
        u128::from_str_radix(&self.history, 16).unwrap_or(0).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use limber_store::FsDirectory;

    #[test]
    fn every_damaged_byte_is_noticed() {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory = FsDirectory::open(temporary.path()).expect("opens");
        let commit = Commit {
            generation: 3,
            segments: Vec::new(),
            translog_generation: 4,
            max_seq_no: Some(9),
            primary_term: 2,
            history: format!("{:032x}", 77u128),
            next_segment: 5,
        };
        commit.write(&directory).expect("writes");
        assert_eq!(Commit::read(&directory).expect("reads"), commit);
        let path = temporary.path().join(COMMIT_NAME);
        let whole = std::fs::read(&path).expect("reads");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).expect("writes");
            assert!(Commit::read(&directory).is_err(), "byte {at}");
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).expect("writes");
        assert!(Commit::read(&directory).is_err());
    }
}
