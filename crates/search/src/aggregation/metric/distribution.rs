//! The distribution of a bucket's values, as a t-digest or as an HDR histogram.

use super::digest::Digest;
use super::hdr::Histogram;

/// The distribution of one bucket's values.
#[derive(Debug, Clone)]
pub enum Distribution {
    Digest(Digest),
    Hdr(Histogram),
}

impl Distribution {
    /// Prepares it for queries: percentiles are computed from sorted centroids.
    pub fn prepare(&mut self) {
        if let Distribution::Digest(digest) = self {
            digest.prepare();
        }
    }

    /// Returns its memory in bytes, for the memory charge.
    pub fn bytes(&self) -> u64 {
        match self {
            Distribution::Digest(digest) => digest.bytes(),
            Distribution::Hdr(histogram) => histogram.bytes(),
        }
    }

    /// Adds values. Returns false if one of them cannot be stored.
    pub fn add_all(&mut self, values: &[f64]) -> bool {
        match self {
            Distribution::Digest(digest) => {
                digest.add_all(values);
                true
            }
            Distribution::Hdr(histogram) => values.iter().all(|value| histogram.add(*value)),
        }
    }

    /// Adds ascending values, each with its count. Returns false if one of them cannot be stored.
    pub fn add_counted(&mut self, counted: impl Iterator<Item = (f64, u64)> + Clone) -> bool {
        match self {
            Distribution::Digest(digest) => {
                digest.add_counted(counted);
                true
            }
            Distribution::Hdr(histogram) => {
                let mut counted = counted;
                counted.all(|(value, times)| histogram.add_counted(value, times))
            }
        }
    }

    /// Adds a value with a weight. Returns false if it cannot be stored.
    pub fn add_weighted(&mut self, value: f64, weight: u64) -> bool {
        match self {
            Distribution::Digest(digest) => {
                digest.add_weighted(value, weight);
                true
            }
            Distribution::Hdr(histogram) => histogram.add_counted(value, weight),
        }
    }

    /// Adds a value. Returns false if it cannot be stored.
    #[inline]
    pub fn add(&mut self, value: f64) -> bool {
        match self {
            Distribution::Digest(digest) => {
                digest.add(value);
                true
            }
            Distribution::Hdr(histogram) => histogram.add(value),
        }
    }
}
