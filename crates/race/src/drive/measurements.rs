//! The measurements of a race beyond Rally's results, and how far its figures can be trusted.

use super::conditions::machine::MachineUse;
use super::conditions::send_delay::Delays;
use super::conditions::server_process::ServerReading;
use super::driver::TaskResult;
use crate::record::measurements::{
    DelayMeasurements, GeneratorMeasurements, HonestLatency, LatencyMethod, MachineMeasurements,
    Measurements, ServerMeasurements, TaskMeasurements, VERSION, Warning, WarningKind,
};
use crate::record::results::TimeStats;

/// Busy share of a worker thread above which it sends late at every burst.
const WORKER_SHARE_MAX: f64 = 0.85;
/// The load generator's own delay at p99 that still affects no figure: in ms, and as a share of the median
/// service time.
const OWN_DELAY_MS_MAX: f64 = 1.0;
const OWN_DELAY_SHARE_MAX: f64 = 0.1;
/// Share of a closed loop's time that clients may spend between two requests. Above it, the throughput is
/// that of the load generator.
const BETWEEN_SHARE_MAX: f64 = 0.2;
/// Median send delay, as a multiple of the median service time, above which the latency is mostly time in a
/// queue.
const BEHIND_SERVICE_TIMES_MAX: f64 = 2.0;
/// Shares above which the machine itself may cause differences of a few percent.
const STEAL_SHARE_MAX: f64 = 0.02;
const OTHERS_SHARE_MAX: f64 = 0.1;
const MEMORY_STALL_SHARE_MAX: f64 = 0.01;
const QUOTA_SHARE_MAX: f64 = 0.01;
const FREQUENCY_DROP_MAX: f64 = 0.2;
/// Error rate from which on throughput and times say nothing about the work.
const ERROR_RATE_MEANINGLESS: f64 = 0.1;
/// Shorter races are noisy in any case, and clock ticks of 10 ms are too coarse for them.
const JUDGED_WALL_S_MIN: f64 = 1.0;

/// The server's use before and after the race.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerUse {
    pub before: ServerReading,
    pub after: ServerReading,
    /// Whether it was started for this race.
    pub is_fresh: bool,
}

impl ServerUse {
    /// Returns the processor time in seconds; `None` when it is unknown or the server was restarted in
    /// between.
    fn cpu_s(&self) -> Option<f64> {
        let (after, before) = self.after.cpu_s.zip(self.before.cpu_s)?;
        Some(after - before).filter(|seconds| *seconds >= 0.0)
    }

    /// Whether the peak of resident memory was reached in this race; `None` when no peak is known.
    fn is_peak_of_race(&self) -> Option<bool> {
        let (after, before) = self.after.peak_resident_bytes.zip(self.before.peak_resident_bytes)?;
        Some(self.is_fresh || after > before)
    }
}

/// Returns all measurements except those that only the caller knows (race id, position in the series, hosts,
/// settings).
pub(crate) fn measurements(
    tasks: &mut [TaskResult<'_>],
    machine: &MachineUse,
    server: &ServerUse,
) -> Measurements {
    let mut warnings = Vec::new();
    let tasks: Vec<TaskMeasurements> = tasks.iter_mut().map(of_task).collect();
    for task in &tasks {
        warn_of_task(task, &mut warnings);
    }
    let machine = of_machine(machine, server);
    warn_of_machine(&machine, &mut warnings);
    Measurements {
        version: VERSION,
        machine,
        server: ServerMeasurements {
            cpu_s: server.cpu_s(),
            resident_bytes: server.after.resident_bytes,
            peak_resident_bytes: server.after.peak_resident_bytes,
            is_peak_of_race: server.is_peak_of_race(),
        },
        tasks,
        warnings,
        ..Measurements::default()
    }
}

fn of_task(result: &mut TaskResult<'_>) -> TaskMeasurements {
    let statistics = &mut result.statistics;
    let is_scheduled = statistics.send_delay.count() > 0;
    let latency = statistics.latency.time_stats();
    let honest_latency = match statistics.service_time.median() {
        _ if is_scheduled => HonestLatency {
            method: LatencyMethod::IntendedSendTime,
            expected_interval_ms: None,
            times: latency.clone(),
        },
        // A single sample has no pace.
        Some(median) if statistics.service_time.count() > 1 => {
            let (percentiles, mean_ms) = statistics.service_time.corrected_ms(median);
            HonestLatency {
                method: LatencyMethod::ExpectedInterval,
                expected_interval_ms: Some(median.as_secs_f64() * 1e3),
                times: TimeStats::new(&percentiles, mean_ms.unwrap_or_default()),
            }
        }
        _ => HonestLatency::default(),
    };
    TaskMeasurements {
        task: result.task.name.clone(),
        clients: result.task.clients,
        sample_count: statistics.service_time.count(),
        measured_s: statistics.measured().map(|time| time.as_secs_f64()),
        error_rate: statistics.error_rate(),
        service_time: statistics.service_time.time_stats(),
        latency,
        honest_latency,
        took: statistics.took.time_stats(),
        send_delay: delays(&statistics.send_delay),
        own_delay: delays(&statistics.own_delay),
        generator: GeneratorMeasurements {
            workers: result.generator.workers_count,
            cpu_s: result.generator.cpu_s,
            wall_s: result.generator.wall_s,
            busiest_worker_share: result.generator.busiest_worker_share,
        },
        steal_share: result.machine.steal_share,
    }
}

fn delays(delays: &Delays) -> Option<DelayMeasurements> {
    Some(DelayMeasurements {
        mean: delays.mean_ms()?,
        p50: delays.quantile_ms(0.5)?,
        p99: delays.quantile_ms(0.99)?,
        max: delays.max_ms(),
    })
}

fn of_machine(machine: &MachineUse, server: &ServerUse) -> MachineMeasurements {
    // A server on another machine uses nothing of this one. If it is on this machine and its time is unknown,
    // so is the time of other processes.
    let server_here_s = if server.after.is_local { server.cpu_s() } else { Some(0.0) };
    let others_cpu_s = match (machine.busy_s, machine.own_cpu_s, server_here_s) {
        (Some(busy_s), Some(own_s), Some(server_s)) => Some((busy_s - own_s - server_s).max(0.0)),
        _ => None,
    };
    MachineMeasurements {
        wall_s: machine.wall_s,
        processors: machine.processors_count,
        busy_s: machine.busy_s,
        generator_cpu_s: machine.own_cpu_s,
        others_cpu_s,
        steal_share: machine.steal_share,
        cpu_stall_share: machine.cpu_stall_share,
        memory_stall_share: machine.memory_stall_share,
        io_stall_share: machine.io_stall_share,
        quota_throttled_share: machine.quota_throttled_share,
        heat_throttle_count: machine.heat_throttle_count,
        mhz_before: machine.mhz_before,
        mhz_after: machine.mhz_after,
    }
}

fn warn_of_task(task: &TaskMeasurements, warnings: &mut Vec<Warning>) {
    let found = [of_failures(task), of_busy_generator(task), of_late_sending(task), of_waiting(task)];
    warnings.extend(found.into_iter().flatten().map(|(kind, text)| Warning {
        kind,
        task: Some(task.task.clone()),
        text,
    }));
}

type Doubt = Option<(WarningKind, String)>;

fn of_failures(task: &TaskMeasurements) -> Doubt {
    let percent = task.error_rate * 100.0;
    let text = match task.error_rate {
        rate if rate >= ERROR_RATE_MEANINGLESS => format!(
            "{percent:.1} % of the requests failed: its throughput and times say nothing about the work it was to do."
        ),
        rate if rate > 0.0 => {
            format!("{percent:.3} % of the requests failed; their times are in the figures.")
        }
        _ => return None,
    };
    Some((WarningKind::Errors, text))
}

fn of_busy_generator(task: &TaskMeasurements) -> Doubt {
    let share = task.generator.busiest_worker_share;
    let is_busy = task.generator.wall_s >= JUDGED_WALL_S_MIN && share >= WORKER_SHARE_MAX;
    is_busy.then(|| {
        let text = format!(
            "a thread of the load generator was busy for {:.0} % of the time: the figures may be its own, not the server's.",
            share * 100.0
        );
        (WarningKind::Generator, text)
    })
}

fn median_service_ms(task: &TaskMeasurements) -> Option<f64> {
    task.service_time.get("50_0").map(|median| median.as_f64())
}

fn of_late_sending(task: &TaskMeasurements) -> Doubt {
    let (own, median_ms) = (task.own_delay?, median_service_ms(task)?);
    (own.p99 > OWN_DELAY_MS_MAX.max(OWN_DELAY_SHARE_MAX * median_ms)).then(|| {
        let text = format!(
            "the load generator sent 1 % of the requests at least {:.1} ms later than it could have.",
            own.p99
        );
        (WarningKind::Generator, text)
    })
}

/// Warns of clients that spend their time between requests (without a schedule), or that wait for the server
/// (behind their schedule).
fn of_waiting(task: &TaskMeasurements) -> Doubt {
    let (own, median_ms) = (task.own_delay?, median_service_ms(task)?);
    let Some(delay) = task.send_delay else {
        let mean_ms = task.service_time.mean.map_or(0.0, |mean| mean.as_f64());
        let between = own.mean / (own.mean + mean_ms);
        return (between > BETWEEN_SHARE_MAX).then(|| {
            let text = format!(
                "its clients spent {:.0} % of their time between requests: the throughput is the load generator's, not the server's.",
                between * 100.0
            );
            (WarningKind::Generator, text)
        });
    };
    (delay.p50 > BEHIND_SERVICE_TIMES_MAX * median_ms && delay.p50 > OWN_DELAY_MS_MAX).then(|| {
        let text = format!(
            "half of the requests were sent at least {:.1} ms after they were due, because their clients still waited for answers: \
             the server does not reach the target throughput, and latency is mostly the queue.",
            delay.p50
        );
        (WarningKind::Schedule, text)
    })
}

fn warn_of_machine(machine: &MachineMeasurements, warnings: &mut Vec<Warning>) {
    if machine.wall_s < JUDGED_WALL_S_MIN {
        return;
    }
    let mut warn = |text: String| warnings.push(Warning { kind: WarningKind::Machine, task: None, text });
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    if let Some(share) = machine.steal_share.filter(|share| *share > STEAL_SHARE_MAX) {
        warn(format!(
            "The hypervisor gave {} of the processors' time to others: repeat the race.",
            percent(share)
        ));
    }
    let capacity_s = machine.wall_s * machine.processors as f64;
    if let Some(share) =
        machine.others_cpu_s.map(|s| s / capacity_s).filter(|share| *share > OTHERS_SHARE_MAX)
    {
        warn(format!(
            "Other processes than the server and the load generator used {} of the machine: repeat the race when it is quiet.",
            percent(share)
        ));
    }
    if let Some(share) = machine.memory_stall_share.filter(|share| *share > MEMORY_STALL_SHARE_MAX) {
        warn(format!("For {} of the time something on the machine waited for memory (PSI).", percent(share)));
    }
    if let Some(share) = machine.quota_throttled_share.filter(|share| *share > QUOTA_SHARE_MAX) {
        warn(format!(
            "The cgroup's processor quota stopped the load generator for {} of the time.",
            percent(share)
        ));
    }
    if machine.heat_throttle_count.is_some_and(|count| count > 0) {
        warn("The processor slowed down because of heat.".to_owned());
    }
    if let (Some(before), Some(after)) = (machine.mhz_before, machine.mhz_after)
        && before > 0.0
        && (before - after) / before > FREQUENCY_DROP_MAX
    {
        warn(format!("The processors' clock fell from {before:.0} to {after:.0} MHz during the race."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet_task() -> TaskMeasurements {
        TaskMeasurements {
            task: "search".into(),
            sample_count: 100,
            service_time: TimeStats::new(&[(50.0, 4.0), (99.0, 9.0), (100.0, 9.0)], 5.0),
            own_delay: Some(DelayMeasurements { mean: 0.1, p50: 0.1, p99: 0.3, max: 0.4 }),
            generator: GeneratorMeasurements {
                workers: 1,
                cpu_s: 3.0,
                wall_s: 10.0,
                busiest_worker_share: 0.3,
            },
            ..TaskMeasurements::default()
        }
    }

    #[track_caller]
    fn check_task(change: impl FnOnce(&mut TaskMeasurements), expected: &[(WarningKind, &str)]) {
        let mut task = quiet_task();
        change(&mut task);
        let mut warnings = Vec::new();
        warn_of_task(&task, &mut warnings);
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        for (warning, (kind, part)) in warnings.iter().zip(expected) {
            assert!(warning.kind == *kind && warning.text.contains(part), "{warning:?}");
        }
    }

    #[test]
    fn what_makes_a_task_doubtful() {
        use WarningKind::{Errors, Generator, Schedule};
        check_task(|_| {}, &[]);
        check_task(|task| task.error_rate = 0.005, &[(Errors, "0.500 %")]);
        check_task(|task| task.error_rate = 0.5, &[(Errors, "say nothing about the work")]);
        check_task(|task| task.generator.busiest_worker_share = 0.9, &[(Generator, "busy for 90 %")]);
        let delay = |mean: f64, p50: f64, p99: f64| Some(DelayMeasurements { mean, p50, p99, max: p99 });
        check_task(|task| task.own_delay = delay(0.2, 0.1, 3.0), &[(Generator, "at least 3.0 ms later")]);
        check_task(
            |task| task.own_delay = delay(2.0, 0.9, 0.9),
            &[(Generator, "29 % of their time between")],
        );
        check_task(
            |task| task.send_delay = delay(90.0, 80.0, 200.0),
            &[(Schedule, "does not reach the target")],
        );
        check_task(|task| task.send_delay = delay(0.2, 0.1, 0.9), &[]);
    }

    #[track_caller]
    fn check_machine(change: impl FnOnce(&mut MachineUse, &mut ServerUse), expected: &[&str]) {
        let mut machine = MachineUse {
            wall_s: 10.0,
            processors_count: 2,
            busy_s: Some(12.0),
            own_cpu_s: Some(4.0),
            steal_share: Some(0.0),
            mhz_before: Some(3000.0),
            mhz_after: Some(2900.0),
            ..MachineUse::default()
        };
        let reading =
            |cpu_s: f64| ServerReading { cpu_s: Some(cpu_s), is_local: true, ..ServerReading::default() };
        let mut server = ServerUse { before: reading(100.0), after: reading(107.0), is_fresh: false };
        change(&mut machine, &mut server);
        let mut warnings = Vec::new();
        warn_of_machine(&of_machine(&machine, &server), &mut warnings);
        let texts: Vec<&str> = warnings.iter().map(|warning| warning.text.as_str()).collect();
        assert_eq!(texts.len(), expected.len(), "{texts:?}");
        for (text, part) in texts.iter().zip(expected) {
            assert!(text.contains(part), "{texts:?}");
        }
    }

    #[test]
    fn what_makes_a_machine_noisy() {
        check_machine(|_, _| {}, &[]);
        check_machine(|machine, _| machine.steal_share = Some(0.05), &["5.0 % of the processors' time"]);
        check_machine(|machine, _| machine.busy_s = Some(15.0), &["used 20.0 % of the machine"]);
        // A server on another machine does not count here. If a server on this machine does not report its
        // time, the time of other processes is unknown.
        check_machine(|_, server| server.after.is_local = false, &["used 40.0 % of the machine"]);
        check_machine(|_, server| server.after.cpu_s = None, &[]);
        check_machine(|machine, _| machine.memory_stall_share = Some(0.2), &["waited for memory"]);
        check_machine(|machine, _| machine.quota_throttled_share = Some(0.2), &["quota"]);
        check_machine(|machine, _| machine.heat_throttle_count = Some(2), &["heat"]);
        check_machine(|machine, _| machine.mhz_after = Some(1500.0), &["from 3000 to 1500 MHz"]);
        check_machine(|machine, _| (machine.wall_s, machine.steal_share) = (0.2, Some(0.5)), &[]);
    }
}
