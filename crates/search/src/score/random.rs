//! The numbers of `random_score` and of `randomScore` in scripts: always the same for the same seed and
//! document.
//!
//! Source: Elasticsearch's `RandomScoreFunction`, HPPC's `BitMixer`.

use limber_codec::java_hash::java_hash;
use limber_codec::murmur3::murmur3_32;
use limber_segment::{DocId, Segment};

/// Generates the numbers from 0 to 1 for one shard and seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomOf {
    salted: u32,
}

impl RandomOf {
    /// Creates the generator for a seed on a shard of an index.
    pub fn shard(seed: i32, index: &str, shard: u32) -> RandomOf {
        let salt = (java_hash(index) << 10) | shard as i32;
        RandomOf { salted: mix(seed as u32, salt as u32) }
    }

    /// Returns the number for the bytes of a field's value.
    #[inline]
    pub fn bytes(self, bytes: &[u8]) -> f64 {
        unit(murmur3_32(bytes, self.salted))
    }

    /// Returns the number for a document without a value of the field.
    #[inline]
    pub fn nothing(self) -> f64 {
        unit(self.salted)
    }

    /// Returns the number for a document of a segment, by its document id.
    #[inline]
    pub fn place(self, segment: &Segment, doc: DocId) -> f64 {
        unit(mix(base_of(segment).wrapping_add(doc), self.salted))
    }
}

/// Returns a base that differs between segments, so that segments of a shard do not repeat each other's
/// numbers.
fn base_of(segment: &Segment) -> u32 {
    (segment.meta().id.0 as u32).wrapping_mul(0x9e37_79b9)
}

/// Applies the finalizer of murmur3 to both.
#[inline]
fn mix(key: u32, seed: u32) -> u32 {
    let mut mixed = key ^ seed;
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

/// Returns the lower 24 bits as a number from 0 to 1, rounded to float.
#[inline]
fn unit(hash: u32) -> f64 {
    f64::from((hash & 0x00ff_ffff) as f32 / (1 << 24) as f32)
}
