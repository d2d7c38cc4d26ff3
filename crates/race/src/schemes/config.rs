//! The configuration of a race between the two schemes, and its results.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::round::{Round, SweepRow};
use crate::record::RaceStore;
use crate::track::load::TrackSpec;

/// What to race.
#[derive(Debug, Clone)]
pub(crate) struct SchemesConfig {
    /// The track `segment_memory`; its challenge is ignored.
    pub track: TrackSpec,
    /// Number of rounds that count, after a warm-up.
    pub rounds: u32,
    /// Budget of the cached scheme, in percent of what is resident in the native scheme after loading.
    pub budget_percent: f64,
    /// Budgets at which to query after the rounds, in percent of the same.
    pub sweep_percent: Vec<f64>,
    /// The store that keeps the races.
    pub store: RaceStore,
    /// Set when the user interrupts.
    pub is_cancelled: Arc<AtomicBool>,
}

/// Results of the rounds and the sweep.
#[derive(Debug)]
pub(crate) struct SchemesOutcome {
    /// Bytes resident in the native scheme after loading. All percentages refer to it.
    pub working_set_bytes: u64,
    /// Budget of the cached scheme in the rounds.
    pub budget_bytes: u64,
    /// Disk use after the rounds.
    pub store_bytes: u64,
    /// Segments after the rounds.
    pub segment_count: u64,
    /// What was measured in each round.
    pub rounds: Vec<Round>,
    /// What was measured with each budget of the sweep.
    pub sweep: Vec<SweepRow>,
}
