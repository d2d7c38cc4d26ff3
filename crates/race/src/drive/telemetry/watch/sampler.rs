//! Asks each device when it is due.
//!
//! One thread per cluster, with its own connection, sleeps until the next device is due and asks it. The
//! devices of a cluster take turns, so that a slow answer delays samples and requests do not pile up. A
//! device that fails is not used again, and the user learns why.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::DEVICES;
use super::device::{Device, Findings, Output, Planned, Recorder, Surroundings, Watched};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::{Metric, MetricsSender, RaceContext};
use crate::model::Params;

/// Word after `--telemetry` that turns off all devices except those named beside it.
const NONE: &str = "none";
/// How long a thread sleeps that has nothing to sample.
const IDLE: Duration = Duration::from_secs(3600);

/// The devices that the user wants.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WatchPlan {
    /// Names of devices; `none` leaves out those that are on by default.
    pub devices: Vec<String>,
    pub params: Params,
}

/// Results of sampling.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    /// Values that become rows of the report.
    pub results: Vec<Metric>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

impl WatchPlan {
    /// Returns a plan without any devices, not even the default ones.
    pub(crate) fn none() -> WatchPlan {
        WatchPlan { devices: vec![NONE.to_owned()], params: Params::new() }
    }

    /// Errors: an unknown device or parameter, or a parameter of a device that does not run.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let names: Vec<&str> = DEVICES.iter().map(|device| device.name).collect();
        if let Some(unknown) =
            self.devices.iter().find(|name| *name != NONE && !names.contains(&name.as_str()))
        {
            return Err(Error::Argument(format!(
                "telemetry device [{unknown}] does not exist; there are {}",
                names.join(", ")
            )));
        }
        for name in self.params.keys() {
            let owner = DEVICES.iter().find(|device| device.params.contains(&name.as_str()));
            match owner {
                None => return Err(Error::Argument(format!("telemetry parameter [{name}] does not exist"))),
                Some(device) if !self.has(device) => {
                    return Err(Error::Argument(format!(
                        "telemetry parameter [{name}] is one of device [{}], which --telemetry does not name",
                        device.name
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn is_asked_for(&self, device: &Device) -> bool {
        self.devices.iter().any(|name| name == device.name)
    }

    fn has(&self, device: &Device) -> bool {
        let has_defaults = !self.devices.iter().any(|name| name == NONE);
        self.is_asked_for(device) || (device.is_default && has_defaults)
    }

    /// Errors: a device that cannot work here, with its name.
    fn plan(
        &self,
        surroundings: &Surroundings<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<(&'static Device, Planned)>, Error> {
        self.check()?;
        let is_serverless = surroundings.clusters.iter().any(Watched::is_serverless);
        let mut planned = Vec::new();
        for device in DEVICES.iter().filter(|device| self.has(device)) {
            if is_serverless && !device.is_on_serverless {
                if self.is_asked_for(device) {
                    warnings.push(format!(
                        "Excluding telemetry device [{}] as it is unavailable on serverless.",
                        device.name
                    ));
                }
                continue;
            }
            let of_device = (device.plan)(&Parameters(&self.params), surroundings)
                .map_err(|reason| reason.within(format_args!("telemetry device [{}]", device.name)))?;
            planned.extend(of_device.into_iter().map(|one| (device, one)));
        }
        Ok(planned)
    }
}

/// The threads that sample. Dropping it ends them without a last sample.
pub(crate) struct Sampling {
    threads: Vec<(Sender<()>, JoinHandle<Findings>)>,
    warnings: Vec<String>,
}

impl Sampling {
    /// Starts the threads, and returns when every device is ready.
    ///
    /// Errors: a device cannot work here, or no thread can be started.
    pub(crate) fn start(
        plan: &WatchPlan,
        surroundings: &Surroundings<'_>,
        context: &Arc<RaceContext>,
        sender: &MetricsSender,
    ) -> Result<Sampling, Error> {
        let mut sampling = Sampling { threads: Vec::new(), warnings: Vec::new() };
        let clusters = surroundings.clusters;
        let mut by_cluster: Vec<Vec<Task>> = clusters.iter().map(|_| Vec::new()).collect();
        for (device, planned) in plan.plan(surroundings, &mut sampling.warnings)? {
            let task = Task {
                device: device.name,
                interval: planned.interval,
                due: None,
                recorder: planned.recorder,
                is_failed: false,
            };
            by_cluster[planned.cluster].push(task);
        }
        let (ready, all_ready) = channel();
        for (watched, tasks) in clusters.iter().zip(by_cluster) {
            if tasks.is_empty() {
                continue;
            }
            let cluster = Cluster::new(&watched.hosts, &watched.headers, watched.timeout)
                .map_err(|error| error.within("telemetry"))?;
            let (stop, stopped) = channel();
            let (context, sender, ready) = (Arc::clone(context), sender.clone(), ready.clone());
            let sampler = Sampler { cluster, tasks, context, sender, findings: Findings::default() };
            let thread = std::thread::Builder::new()
                .name("telemetry".into())
                .spawn(move || sampler.run(&stopped, ready))
                .map_err(Error::machine("telemetry: no thread"))?;
            sampling.threads.push((stop, thread));
        }
        drop(ready);
        // Each thread drops its sender when it is ready.
        let _ = all_ready.recv();
        Ok(sampling)
    }

    /// Takes the last samples and ends the threads.
    pub(crate) fn finish(mut self) -> Sampled {
        let mut sampled = Sampled { warnings: std::mem::take(&mut self.warnings), ..Sampled::default() };
        let threads = std::mem::take(&mut self.threads);
        for (stop, _) in &threads {
            let _ = stop.send(());
        }
        for (_, thread) in threads {
            let findings = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sampled.results.extend(findings.results);
            sampled.notes.extend(findings.notes);
            sampled.warnings.extend(findings.warnings);
        }
        sampled
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        for (stop, thread) in self.threads.drain(..) {
            drop(stop);
            let _ = thread.join();
        }
    }
}

/// A recorder and when it is due.
struct Task {
    device: &'static str,
    interval: Option<Duration>,
    due: Option<Instant>,
    recorder: Box<dyn Recorder>,
    is_failed: bool,
}

struct Sampler {
    cluster: Cluster,
    tasks: Vec<Task>,
    context: Arc<RaceContext>,
    sender: MetricsSender,
    findings: Findings,
}

impl Sampler {
    fn run(mut self, stopped: &std::sync::mpsc::Receiver<()>, ready: Sender<()>) -> Findings {
        self.each(|_| true, |recorder, cluster, output| recorder.start(cluster, output));
        let began = Instant::now();
        for task in &mut self.tasks {
            task.due = task.interval.map(|interval| began + interval);
        }
        drop(ready);
        loop {
            let next = self.tasks.iter().filter(|task| !task.is_failed).filter_map(|task| task.due).min();
            let pause = next.map_or(IDLE, |due| due.saturating_duration_since(Instant::now()));
            match stopped.recv_timeout(pause) {
                Ok(()) => break,
                // The race ended without results, so there is no last sample.
                Err(RecvTimeoutError::Disconnected) => return self.findings,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            self.each(
                |task| task.due.is_some_and(|due| due <= now),
                |recorder, cluster, output| recorder.record(cluster, output),
            );
            for task in self.tasks.iter_mut().filter(|task| task.due.is_some_and(|due| due <= now)) {
                task.due = task.interval.map(|interval| Instant::now() + interval);
            }
        }
        self.each(|_| true, |recorder, cluster, output| recorder.finish(cluster, output));
        self.findings
    }

    /// Runs `act` for every chosen device that has not failed.
    fn each(
        &mut self,
        is_chosen: impl Fn(&Task) -> bool,
        mut act: impl FnMut(&mut dyn Recorder, &mut Cluster, &mut Output<'_>) -> Result<(), Error>,
    ) {
        for task in self.tasks.iter_mut().filter(|task| !task.is_failed && is_chosen(task)) {
            let mut output =
                Output { context: &self.context, sender: &self.sender, findings: &mut self.findings };
            if let Err(reason) = act(&mut *task.recorder, &mut self.cluster, &mut output) {
                task.is_failed = true;
                self.findings.warnings.push(format!("Telemetry device [{}] ended: {reason}", task.device));
            }
        }
    }
}
