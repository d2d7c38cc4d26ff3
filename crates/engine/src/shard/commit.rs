//! The commit: a small file that lists what a shard consists of ([`crate::checked_file`]). Its format has
//! always been version 1.

use limber_segment::SegmentMeta;
use limber_store::directory::write_atomically;
use limber_store::{Directory, Error, Result};
use serde::{Deserialize, Serialize};

use crate::checked_file::Format;

pub(crate) const COMMIT_NAME: &str = "commit";
const FORMAT: Format = Format { magic: "limber-commit", version: 1 };

/// One segment of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommittedSegment {
    pub meta: SegmentMeta,
    /// Generation of its live docs; `None` when nothing is deleted.
    pub live_generation: Option<u64>,
    /// How many documents are not deleted; `None` in commits older than this member.
    #[serde(default)]
    pub live_doc_count: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Commit {
    /// Counts the commits of the shard.
    pub generation: u64,
    pub segments: Vec<CommittedSegment>,
    /// Operations from this translog generation on are replayed if their sequence number is above
    /// `max_seq_no`.
    pub translog_generation: u64,
    /// Every operation up to this sequence number is in the segments; `None` when there are none.
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
        write_atomically(directory, COMMIT_NAME, &FORMAT.encode(&body))
    }

    /// Reads the commit. [`Error::Corrupt`] names what is wrong and where.
    pub(crate) fn read(directory: &dyn Directory) -> Result<Commit> {
        let bytes = directory.read_whole(COMMIT_NAME)?;
        let body = FORMAT.decode(&bytes).map_err(|error| error.in_file(COMMIT_NAME))?;
        let wrong = |found: String| Error::Corrupt {
            file: COMMIT_NAME.to_owned(),
            offset: (bytes.len() - body.len()) as u64,
            expected: "a commit".to_owned(),
            found,
        };
        let commit: Commit = serde_json::from_slice(body).map_err(|error| wrong(error.to_string()))?;
        commit.check_numbers().map_err(wrong)?;
        Ok(commit)
    }

    /// Checks that the next numbers can be counted. A commit from a repository may contain any.
    fn check_numbers(&self) -> std::result::Result<(), String> {
        let numbers = [
            self.generation,
            self.translog_generation,
            self.max_seq_no.unwrap_or(0),
            self.primary_term,
            self.next_segment,
        ];
        match numbers.into_iter().find(|number| *number >= i64::MAX as u64) {
            None => Ok(()),
            Some(number) => Err(format!("the number {number}")),
        }
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
