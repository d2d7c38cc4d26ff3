//! What a server says about itself while it is raced.
//!
//! These are Rally's optional telemetry devices (`--telemetry`, `esrally/telemetry.py`) and two further ones
//! that are cheap enough to be always on. Each has a file and a line in [`DEVICES`]. A device becomes one
//! [`Recorder`] per cluster. One thread per cluster asks its recorders in turn, each at its interval, over a
//! connection of its own ([`sampler`]). The results are documents in Rally's layout.

mod blob_store_stats;
mod ccr_stats;
mod data_stream_stats;
mod device;
mod disk_usage_stats;
mod flatten;
mod geoip_stats;
mod ingest_pipeline_stats;
mod jvm_devices;
mod local_process;
mod master_node_stats;
mod node_stats;
mod params;
mod process_stats;
mod recovery_stats;
mod sampler;
mod searchable_snapshots_stats;
mod segment_stats;
mod server_stats;
mod shard_stats;
mod transform_stats;

pub(crate) use device::{Device, Surroundings, Watched};
pub(crate) use jvm_devices::options as jvm_options;
pub(crate) use sampler::{Sampled, Sampling, WatchPlan};

/// All devices, in the order of `--help` and of Rally's list.
pub(crate) const DEVICES: [Device; 19] = [
    jvm_devices::JIT,
    jvm_devices::GC,
    jvm_devices::FLIGHT_RECORDER,
    jvm_devices::HEAP_DUMP,
    node_stats::DEVICE,
    recovery_stats::DEVICE,
    ccr_stats::DEVICE,
    segment_stats::DEVICE,
    transform_stats::DEVICE,
    searchable_snapshots_stats::DEVICE,
    shard_stats::DEVICE,
    data_stream_stats::DEVICE,
    ingest_pipeline_stats::DEVICE,
    disk_usage_stats::DEVICE,
    geoip_stats::DEVICE,
    blob_store_stats::DEVICE,
    master_node_stats::DEVICE,
    process_stats::DEVICE,
    server_stats::DEVICE,
];
