//! The blobs of a repository.
//!
//! | name | what | written |
//! |---|---|---|
//! | `generations/<20 digits>` | the root: [`Root`] | last; the highest generation counts |
//! | `snapshots/<uuid>` | what `GET _snapshot` tells of a snapshot: [`SnapshotBody`] | before the root |
//! | `indices/<index uuid>/meta-<uuid>` | an index without its documents: [`IndexBody`] | before the snapshot |
//! | `indices/<index uuid>/<shard>/manifest-<uuid>` | the files of a commit of a shard: [`Manifest`] | before the index |
//! | `indices/<index uuid>/<shard>/data-<uuid>-<part>` | bytes of a segment's file, as they are | first |
//! | `verify/<uuid>` | 32 bytes, for the length of a verification | |
//!
//! Uuids are the writer's, so that no two writers choose the same name; of what users name nothing is in a
//! blob's name.
//!
//! All but data is JSON in a frame, numbers in little endian:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `LIMBSNAP` |
//! | 8 | 4 | version, [`VERSION`]; a higher one is refused by name |
//! | 12 | 4 | 1: the body is compressed by zstd; 0: it is not |
//! | 16 | 8 | bytes of the body as stored |
//! | 24 | 8 | bytes of the JSON |
//! | 32 | 4 | CRC-32 of the body as stored |
//! | 36 | 4 | CRC-32 of bytes 0 to 36 |
//! | 40 | | body |
//!
//! A torn write cannot be seen: [`limber_store::repository::Blobs::put_if_absent`] makes whole blobs or none.

use std::collections::BTreeMap;

use limber_codec::checksum::crc32;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::shard::CommitPoint;

pub(crate) const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"LIMBSNAP";
const HEADER_BYTES: usize = 40;
const ZSTD: u32 = 1;
/// zstd's own default: metadata is small.
const ZSTD_LEVEL: i32 = 3;
/// Largest JSON that is read: a root of 10,000 snapshots of 100 shards has some 300 MB.
pub(crate) const JSON_BYTES_MAX: u64 = 1 << 30;

pub(crate) const GENERATIONS: &str = "generations";
pub(crate) const SNAPSHOTS: &str = "snapshots";
pub(crate) const INDICES: &str = "indices";
pub(crate) const VERIFY: &str = "verify";

pub(crate) fn generation_name(generation: u64) -> String {
    format!("{GENERATIONS}/{generation:020}")
}

/// The generation of a root by its blob's name.
pub(crate) fn generation_of(name: &str) -> Option<u64> {
    name.strip_prefix(GENERATIONS)?.strip_prefix('/').filter(|digits| digits.len() == 20)?.parse().ok()
}

pub(crate) fn snapshot_name(uuid: &str) -> String {
    format!("{SNAPSHOTS}/{uuid}")
}

pub(crate) fn index_folder(id: &str) -> String {
    format!("{INDICES}/{id}")
}

pub(crate) fn index_name(id: &str, uuid: &str) -> String {
    format!("{INDICES}/{id}/meta-{uuid}")
}

pub(crate) fn shard_folder(id: &str, shard: usize) -> String {
    format!("{INDICES}/{id}/{shard}")
}

pub(crate) fn manifest_name(id: &str, shard: usize, uuid: &str) -> String {
    format!("{INDICES}/{id}/{shard}/manifest-{uuid}")
}

pub(crate) fn data_name(id: &str, shard: usize, uuid: &str, part: usize) -> String {
    format!("{INDICES}/{id}/{shard}/data-{uuid}-{part}")
}

/// Writes that a root names.
pub(crate) const LINEAGE_MAX: usize = 64;

/// The snapshots of a repository, at one generation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Root {
    /// The repository's uuid.
    pub uuid: String,
    pub generation: u64,
    /// The node that wrote it.
    pub writer: String,
    /// This very write, and up to [`LINEAGE_MAX`] of those that it was made from, newest first: whose write
    /// is in here can tell.
    pub lineage: Vec<String>,
    /// Oldest first.
    pub snapshots: Vec<Entry>,
}

/// One snapshot as the root lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub name: String,
    pub uuid: String,
    pub state: State,
    pub start_ms: u64,
    pub end_ms: u64,
    /// By name.
    pub indices: BTreeMap<String, IndexEntry>,
    pub data_streams: Vec<String>,
    /// The policy that took it.
    pub policy: Option<String>,
    pub failed_shards: u64,
}

impl Entry {
    pub(crate) fn shard_count(&self) -> u64 {
        self.indices.values().map(|index| index.shards.len() as u64).sum()
    }
}

/// The blobs and folders that hold an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexEntry {
    /// The uuid that the index had where it was snapshotted.
    pub id: String,
    /// Blob of its metadata.
    pub meta: String,
    /// Blob of each shard's manifest; `None`: the shard failed.
    pub shards: Vec<Option<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum State {
    Success,
    Partial,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Success => "SUCCESS",
            State::Partial => "PARTIAL",
        }
    }
}

/// What is told of a snapshot beyond its entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SnapshotBody {
    /// Elasticsearch's version that the node claimed.
    pub version: String,
    pub index_version: String,
    pub include_global_state: bool,
    pub metadata: Option<Value>,
    pub failures: Vec<ShardFailure>,
    /// By index; one of each shard.
    pub shards: BTreeMap<String, Vec<ShardFigures>>,
    /// By name; what [`crate::catalog::DataStream`] keeps.
    pub data_streams: Map<String, Value>,
    /// Settings, templates and so on, where they were asked for.
    pub global_state: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardFailure {
    pub index: String,
    pub index_uuid: String,
    pub shard: u32,
    pub reason: String,
}

/// What was copied for a shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardFigures {
    pub file_count: u64,
    pub bytes: u64,
    /// Those that the repository did not have.
    pub new_file_count: u64,
    pub new_bytes: u64,
    pub segment_count: u64,
    pub start_ms: u64,
    pub time_ms: u64,
}

/// An index without its documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct IndexBody {
    pub name: String,
    pub creation_date_ms: u64,
    pub version_created: String,
    pub number_of_shards: u32,
    pub settings: Map<String, Value>,
    pub mappings: Value,
    pub aliases: Map<String, Value>,
    pub rollover_info: Map<String, Value>,
    pub lifecycle: Value,
}

/// One commit of a shard: which files, and where their bytes are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub commit: CommitPoint,
    pub files: Vec<File>,
}

/// A file of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct File {
    pub name: String,
    pub bytes: u64,
    /// CRC-32 of the whole file.
    pub crc: u32,
    /// Its parts are `data-<blob>-0` and so on.
    pub blob: String,
    /// The size of every part but the last.
    pub part_bytes: u64,
    /// CRC-32 of each part.
    pub parts: Vec<u32>,
}

impl File {
    /// Bytes of a part.
    pub(crate) fn bytes_of(&self, part: usize) -> u64 {
        let start = self.part_bytes.saturating_mul(part as u64);
        self.part_bytes.min(self.bytes.saturating_sub(start))
    }

    /// Whether parts and lengths agree, so that reading them needs no further look.
    pub(crate) fn is_consistent(&self) -> bool {
        self.part_bytes > 0 && self.bytes.div_ceil(self.part_bytes) == self.parts.len() as u64
    }
}

/// The blob of a value.
pub(crate) fn seal(value: &impl Serialize, compressed: bool) -> Result<Vec<u8>, String> {
    let json = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    let json_bytes = json.len() as u64;
    let body = match compressed {
        true => zstd::bulk::compress(&json, ZSTD_LEVEL).map_err(|error| error.to_string())?,
        false => json,
    };
    let mut blob = Vec::with_capacity(HEADER_BYTES + body.len());
    blob.extend_from_slice(MAGIC);
    blob.extend_from_slice(&VERSION.to_le_bytes());
    blob.extend_from_slice(&(if compressed { ZSTD } else { 0 }).to_le_bytes());
    blob.extend_from_slice(&(body.len() as u64).to_le_bytes());
    blob.extend_from_slice(&json_bytes.to_le_bytes());
    blob.extend_from_slice(&crc32(&body).to_le_bytes());
    let header_crc = crc32(&blob);
    blob.extend_from_slice(&header_crc.to_le_bytes());
    blob.extend_from_slice(&body);
    Ok(blob)
}

/// Bytes of the JSON in a blob, as its header says; the header is verified.
pub(crate) fn json_bytes(blob: &[u8]) -> Result<u64, String> {
    let header = blob.get(..HEADER_BYTES).ok_or("it is shorter than a header")?;
    if !header.starts_with(MAGIC) {
        return Err("it is not a blob of a Limber repository".to_owned());
    }
    let version = number(header, 8, 4);
    if number(header, 36, 4) != u64::from(crc32(&header[..36])) {
        return Err("the checksum of its header is wrong".to_owned());
    }
    if version != u64::from(VERSION) {
        return Err(format!("it has version [{version}], but this node knows version [{VERSION}] only"));
    }
    let body = &blob[HEADER_BYTES..];
    if number(header, 16, 8) != body.len() as u64 {
        return Err(format!("it has [{}] bytes instead of [{}]", body.len(), number(header, 16, 8)));
    }
    if number(header, 32, 4) != u64::from(crc32(body)) {
        return Err("its checksum is wrong".to_owned());
    }
    let json_bytes = number(header, 24, 8);
    match json_bytes <= JSON_BYTES_MAX {
        true => Ok(json_bytes),
        false => Err(format!("it holds [{json_bytes}] bytes of JSON, more than [{JSON_BYTES_MAX}]")),
    }
}

/// The value in a blob, verified.
pub(crate) fn unseal<T: DeserializeOwned>(blob: &[u8]) -> Result<T, String> {
    let json_bytes = json_bytes(blob)?;
    let body = &blob[HEADER_BYTES..];
    let parse = |json: &[u8]| serde_json::from_slice(json).map_err(|error| error.to_string());
    match number(blob, 12, 4) {
        0 => parse(body),
        1 => parse(&zstd::bulk::decompress(body, json_bytes as usize).map_err(|error| error.to_string())?),
        other => Err(format!("it is compressed in the unknown way [{other}]")),
    }
}

/// A number of up to 8 bytes in little endian. The caller has checked that it is there.
fn number(bytes: &[u8], offset: usize, len: usize) -> u64 {
    bytes[offset..offset + len].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> Root {
        let lineage = vec!["w".into()];
        Root { uuid: "u".into(), generation: 3, writer: "n".into(), lineage, snapshots: Vec::new() }
    }

    #[test]
    fn the_bytes_of_a_small_root() {
        let blob = seal(&root(), false).expect("sealed");
        let json = br#"{"uuid":"u","generation":3,"writer":"n","lineage":["w"],"snapshots":[]}"#;
        assert_eq!(&blob[..16], b"LIMBSNAP\x01\0\0\0\0\0\0\0");
        assert_eq!(&blob[16..32], b"\x47\0\0\0\0\0\0\0\x47\0\0\0\0\0\0\0");
        assert_eq!(&blob[40..], json);
        assert_eq!(unseal::<Root>(&blob), Ok(root()));
        assert_eq!(generation_name(7), "generations/00000000000000000007");
        assert_eq!(generation_of(&generation_name(u64::from(u32::MAX))), Some(u64::from(u32::MAX)));
        assert_eq!(generation_of("generations/x"), None);
    }

    #[test]
    fn every_damaged_byte_is_noticed() {
        for compressed in [false, true] {
            let whole = seal(&root(), compressed).expect("sealed");
            assert_eq!(unseal::<Root>(&whole), Ok(root()));
            for at in 0..whole.len() {
                let mut damaged = whole.clone();
                damaged[at] ^= 1;
                assert!(unseal::<Root>(&damaged).is_err(), "byte {at}");
                assert!(unseal::<Root>(&whole[..at]).is_err(), "{at} bytes");
            }
        }
    }

    #[test]
    fn a_newer_version_is_refused_by_name() {
        let mut blob = seal(&root(), false).expect("sealed");
        blob[8] = 2;
        let crc = crc32(&blob[..36]);
        blob[36..40].copy_from_slice(&crc.to_le_bytes());
        let why = unseal::<Root>(&blob).expect_err("refused");
        assert_eq!(why, "it has version [2], but this node knows version [1] only");
    }
}
