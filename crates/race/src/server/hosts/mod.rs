//! Which servers the user means, and how to connect to them: `--target-hosts` and `--client-options`.
//!
//! There are Rally's two forms (`esrally/utils/opts.py`): one cluster as a list of hosts and `key:value`
//! options, or several clusters as JSON objects whose keys are the clusters' names. The cluster `default` is
//! raced; telemetry watches the others.

mod address;
mod client_options;
mod clusters;

pub(crate) use address::{connect, resolve};
pub(crate) use client_options::{ClientOptions, Retries};
pub(crate) use clusters::{ClusterTarget, DEFAULT_CLUSTER, clusters};
