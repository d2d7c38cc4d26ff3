//! How the values of a bucket are distributed, by either of the ways to keep that.

use super::digest::Digest;
use super::hdr::Histogram;

/// What is kept of the values of one bucket.
#[derive(Debug, Clone)]
pub enum Distribution {
    Digest(Digest),
    Hdr(Histogram),
}

impl Distribution {
    /// Makes it ready to be asked: percentiles are read from sorted centroids.
    pub fn prepare(&mut self) {
        if let Distribution::Digest(digest) = self {
            digest.prepare();
        }
    }

    /// What it holds, in bytes, to be charged.
    pub fn bytes(&self) -> u64 {
        match self {
            Distribution::Digest(digest) => digest.bytes(),
            Distribution::Hdr(histogram) => histogram.bytes(),
        }
    }

    /// False: a value cannot be kept.
    pub fn add_all(&mut self, values: &[f64]) -> bool {
        match self {
            Distribution::Digest(digest) => {
                digest.add_all(values);
                true
            }
            Distribution::Hdr(histogram) => values.iter().all(|value| histogram.add(*value)),
        }
    }

    /// Adds values that ascend, each as often as told; false: a value cannot be kept.
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

    /// False: the value cannot be kept.
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
