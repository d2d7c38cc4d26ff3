//! What the server's processes on this machine use. Rally does not have this device; it is always on if the
//! server is local.
//!
//! There is one document per process before the race, every second, and after it: `rss_bytes` (of which
//! `anonymous_bytes`, `file_bytes`), `threads`, `cpu_time_ms` since the process started, `cpu_percent` since
//! the last sample (100: one processor), `disk_read_bytes` and `disk_write_bytes` since the process started.
//! Its meta information has `cluster` and `host`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::local_process::{self, ProcessSample};
use super::params::Parameters;
use crate::drive::conditions::proc_files::ticks_per_s;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "process-stats",
    help: "Samples memory, CPU and disk of the server's process where it runs on this machine (on by default)",
    params: &["process-stats-sample-interval"],
    is_default: true,
    is_on_serverless: true,
    plan,
};

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("process-stats-sample-interval", 1)?;
    let mut planned = Vec::new();
    for (cluster, watched) in surroundings.clusters.iter().enumerate() {
        let find = |host: &crate::http::Address| {
            let process = local_process::find(Path::new("/proc"), &host.sockets)?;
            Some(Process { id: process, host: host.authority.clone(), last: None })
        };
        let mut processes: Vec<Process> = watched.hosts.iter().filter_map(find).collect();
        processes.dedup_by_key(|process| process.id);
        if !processes.is_empty() {
            let recorder =
                ProcessStats { cluster: watched.name.clone(), processes, ticks_per_s: ticks_per_s() };
            planned.push(Planned { cluster, interval: Some(interval), recorder: Box::new(recorder) });
        }
    }
    Ok(planned)
}

struct Process {
    id: u32,
    host: String,
    last: Option<(Instant, u64)>,
}

struct ProcessStats {
    cluster: String,
    processes: Vec<Process>,
    ticks_per_s: u64,
}

impl Recorder for ProcessStats {
    fn start(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        self.record(cluster, output)
    }

    fn record(&mut self, _cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        for process in &mut self.processes {
            let folder = PathBuf::from(format!("/proc/{}", process.id));
            let now = Instant::now();
            let Some(sample) = local_process::sample(&folder, self.ticks_per_s) else { continue };
            let before = process.last.replace((now, sample.cpu_ms));
            let cpu_percent = before.and_then(|(then, cpu_ms)| {
                let wall_ms = (now - then).as_secs_f64() * 1000.0;
                (wall_ms > 0.0).then(|| sample.cpu_ms.saturating_sub(cpu_ms) as f64 / wall_ms * 100.0)
            });
            let meta = json!({"cluster": self.cluster, "host": process.host});
            let fields = fields(process.id, &sample, cpu_percent);
            output.document(Level::Cluster, fields, &meta.as_object().cloned().unwrap_or_default());
        }
        Ok(())
    }

    fn finish(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        self.record(cluster, output)
    }
}

fn fields(id: u32, sample: &ProcessSample, cpu_percent: Option<f64>) -> Params {
    let all = json!({
        "name": DEVICE.name,
        "pid": id,
        "rss_bytes": sample.rss_bytes,
        "anonymous_bytes": sample.anonymous_bytes,
        "file_bytes": sample.file_bytes,
        "threads": sample.threads,
        "cpu_time_ms": sample.cpu_ms,
        "cpu_percent": cpu_percent,
        "disk_read_bytes": sample.disk_read_bytes,
        "disk_write_bytes": sample.disk_write_bytes,
    });
    let known =
        all.as_object().cloned().unwrap_or_default().into_iter().filter(|(_, value)| *value != Value::Null);
    known.collect()
}
