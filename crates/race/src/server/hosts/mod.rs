//! "Which servers did the user mean, and how does one talk to them?": `--target-hosts` and
//! `--client-options`.
//!
//! Rally's two forms (`esrally/utils/opts.py`): one cluster as a list of hosts and `key:value` options, or
//! several clusters as JSON objects whose keys are the clusters' names. The cluster `default` is raced; the
//! others are watched by telemetry.

mod address;
mod client_options;
mod clusters;

pub(crate) use address::{connect, resolve};
pub(crate) use client_options::{ClientOptions, Retries};
pub(crate) use clusters::{ClusterTarget, DEFAULT_CLUSTER, clusters};
