//! `min_hash`: replaces all tokens by their smallest hashes in each of several buckets. Similar texts have
//! many of them in common.
//!
//! Source: Lucene's `MinHashFilter`.

use std::collections::{BTreeMap, BTreeSet};

use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::pace;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct MinHash {
    hash_count: u32,
    bucket_count: u32,
    set_size: usize,
    rotates: bool,
}

/// Reads `hash_count` (1), `bucket_count` (512), `hash_set_size` (1) and `with_rotation`.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let size = |key: &str, default: i32, what: &str| {
        settings.count(key, default, 1, |_| format!("{what} must be greater than zero"))
    };
    let bucket_count = size("bucket_count", 512, "bucketCount")? as u32;
    Ok(Filter::stream(MinHash {
        hash_count: size("hash_count", 1, "hashCount")? as u32,
        bucket_count,
        set_size: size("hash_set_size", 1, "hashSetSize")?,
        rotates: settings.bool("with_rotation", bucket_count > 1)?,
    }))
}

/// A hash of 128 bits, compared as in Lucene: the second half first.
type Hash = (u64, u64);

/// The smallest hashes of each non-empty bucket, by the number of the hash function and of the bucket.
type Buckets = BTreeMap<(u32, u32), BTreeSet<Hash>>;

struct Gathering<'a> {
    own: &'a MinHash,
    buckets: Buckets,
    end: u32,
    hashes: usize,
}

/// Number of hashes between two checks for cancellation.
const HASHES_BEFORE_CHECK: usize = 1 << 12;
/// Bytes charged for a hash in its bucket.
const HASH_BYTES: usize = 128;

impl Stream for MinHash {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Gathering { own: self, buckets: Buckets::new(), end: 0, hashes: 0 })
    }
}

impl Gathering<'_> {
    /// Adds a hash. Returns false if there is not enough memory.
    fn add(&mut self, function: u32, hash: Hash) -> bool {
        let bucket_size = (1u64 << 32).div_ceil(u64::from(self.own.bucket_count));
        let bucket = ((hash.0 >> 32) / bucket_size) as u32;
        let least = self.buckets.entry((function, bucket)).or_default();
        if least.len() >= self.own.set_size {
            if least.last().is_none_or(|last| hash >= *last) {
                return true;
            }
            least.pop_last();
            least.insert(hash);
            return true;
        }
        !least.insert(hash) || limber_work::state_bytes(HASH_BYTES)
    }

    fn term(&self, function: u32, (high, low): Hash) -> String {
        let parts = |number: u64| [48, 32, 16, 0].map(|shift| (number >> shift) as u16);
        let mut units = Vec::with_capacity(10);
        if self.own.hash_count > 1 {
            units.extend([(function >> 16) as u16, function as u16]);
        }
        units.extend(parts(high));
        units.extend(&parts(low)[..if self.own.hash_count > 1 { 2 } else { 4 }]);
        String::from_utf16_lossy(&units)
    }
}

impl Stage for Gathering<'_> {
    fn push(&mut self, token: &mut TokenBuf, _: Emit<'_>) -> bool {
        let bytes: Vec<u8> = token.text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (low, high) = murmur3(&bytes);
        self.end = token.end;
        for function in 0..self.own.hash_count {
            self.hashes += 1;
            if self.hashes.is_multiple_of(HASHES_BEFORE_CHECK) && !limber_work::analysis_goes_on() {
                return false;
            }
            let own = murmur3(&function.to_be_bytes());
            let combined = |of: u64, own: u64| of.wrapping_mul(37).wrapping_add(own);
            if !self.add(function, (combined(high, own.1), combined(low, own.0))) {
                return false;
            }
        }
        true
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        if self.buckets.is_empty() {
            return trailing;
        }
        let mut token = TokenBuf { end: self.end, kind: "MIN_HASH", ..TokenBuf::default() };
        let mut increment = 1;
        let mut one = |own: &Self, function: u32, hash: Hash| {
            token.text = own.term(function, hash);
            token.increment = std::mem::take(&mut increment);
            emit(&mut token)
        };
        for function in 0..self.own.hash_count {
            if !pace::goes_on(1) {
                return trailing;
            }
            let of_function = self.buckets.range((function, 0)..=(function, u32::MAX));
            if !(self.own.rotates && self.own.set_size == 1) {
                for (_, hashes) in of_function {
                    if !hashes.iter().all(|hash| one(self, function, *hash)) {
                        return trailing;
                    }
                }
                continue;
            }
            // An empty bucket gets the hash of the next non-empty one, cyclically.
            let full: Vec<(u32, Hash)> = of_function
                .filter_map(|((_, bucket), hashes)| hashes.first().map(|hash| (*bucket, *hash)))
                .collect();
            let Some(first) = full.first() else { continue };
            let mut next = 0;
            for bucket in 0..self.own.bucket_count {
                while full.get(next).is_some_and(|(at, _)| *at < bucket) {
                    next += 1;
                }
                let hash = full.get(next).unwrap_or(first).1;
                if !one(self, function, hash) {
                    return trailing;
                }
            }
        }
        trailing
    }
}

/// Computes MurmurHash3 x64 of 128 bits with seed 0. Returns its first and second half.
fn murmur3(bytes: &[u8]) -> (u64, u64) {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let word = |part: &[u8]| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    };
    let mix1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (0u64, 0u64);
    let blocks = bytes.chunks_exact(16);
    let rest = blocks.remainder();
    for block in blocks {
        h1 = (h1 ^ mix1(word(&block[..8]))).rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ mix2(word(&block[8..]))).rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    if rest.len() > 8 {
        h2 ^= mix2(word(&rest[8..]));
    }
    h1 ^= mix1(word(&rest[..rest.len().min(8)]));
    let length = bytes.len() as u64;
    let finish = |mut k: u64| {
        k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        k ^ (k >> 33)
    };
    (h1, h2) = (h1 ^ length, h2 ^ length);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2) = (finish(h1), finish(h2));
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2)
}
