//! The numbers of `random_score` and of the scripts' `randomScore`: the same ones for the same seed and
//! document.
//!
//! Source: Elasticsearch's `RandomScoreFunction`, HPPC's `BitMixer`.

use limber_codec::murmur3::murmur3_32;
use limber_segment::{DocId, Segment};

/// Numbers from 0 to 1 of one shard and seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomOf {
    salted: u32,
}

impl RandomOf {
    /// The numbers of a seed on a shard of an index.
    pub fn shard(seed: i32, index: &str, shard: u32) -> RandomOf {
        let salt = (java_hash(index) << 10) | shard as i32;
        RandomOf { salted: mix(seed as u32, salt as u32) }
    }

    /// For the bytes of a field.
    #[inline]
    pub fn bytes(self, bytes: &[u8]) -> f64 {
        unit(murmur3_32(bytes, self.salted))
    }

    /// For a document without a value of the field.
    #[inline]
    pub fn nothing(self) -> f64 {
        unit(self.salted)
    }

    /// For a document of a segment by its place.
    #[inline]
    pub fn place(self, segment: &Segment, doc: DocId) -> f64 {
        unit(mix(base_of(segment).wrapping_add(doc), self.salted))
    }
}

/// `String#hashCode`.
pub(crate) fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// Segments of a shard must not repeat each other's numbers.
fn base_of(segment: &Segment) -> u32 {
    (segment.meta().id.0 as u32).wrapping_mul(0x9e37_79b9)
}

/// The finalizer of murmur3 over both.
#[inline]
fn mix(key: u32, seed: u32) -> u32 {
    let mut mixed = key ^ seed;
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

/// The lower 24 bits as a float from 0 to 1.
#[inline]
fn unit(hash: u32) -> f64 {
    f64::from((hash & 0x00ff_ffff) as f32 / (1 << 24) as f32)
}
