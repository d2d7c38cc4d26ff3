//! Records a race over time from samples as they arrive.
//!
//! The driver's calling thread, which receives the samples anyway, records them, so the threads that generate
//! load have no additional work. A sample costs three increments in small histograms. Slices are written
//! [`HORIZON`] after they ended and their memory is reused, so that about ten slices per running task are in
//! memory, however long the race is.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2Serializer;

use super::format::{Line, SampleType, SliceLine, TICK_NS, TICKS_MAX, TaskLine, VERSION, encoded, histogram};
use crate::model::Task;
use crate::record::sample::Sample;

/// How long a slice waits for samples that are still on their way. Workers pass samples on every 0.1 s while
/// they have any.
pub(crate) const HORIZON: Duration = Duration::from_secs(2);
const FINE_SLICE: Duration = Duration::from_millis(100);
const FINE_SLICES: u32 = 100;
const COARSE_SLICE: Duration = Duration::from_secs(1);

/// Requests of one task and type that ended within one slice of time.
#[derive(Debug)]
pub(crate) struct Slice {
    pub requests: u64,
    pub operations: u64,
    pub errors: u64,
    pub unit: &'static str,
    pub service_time: Histogram<u32>,
    pub latency: Histogram<u32>,
    processing_time: Histogram<u32>,
    has_own_latency: bool,
}

impl Slice {
    fn new() -> Slice {
        Slice {
            requests: 0,
            operations: 0,
            errors: 0,
            unit: "",
            service_time: histogram(),
            latency: histogram(),
            processing_time: histogram(),
            has_own_latency: false,
        }
    }

    fn clear(&mut self) {
        self.service_time.clear();
        self.latency.clear();
        self.processing_time.clear();
        (self.requests, self.operations, self.errors, self.unit) = (0, 0, 0, "");
        self.has_own_latency = false;
    }

    fn add(&mut self, other: &Slice) {
        self.requests += other.requests;
        self.operations += other.operations;
        self.errors += other.errors;
        if !other.unit.is_empty() {
            self.unit = other.unit;
        }
        // A resizing histogram can add any other.
        let _ = self.service_time.add(&other.service_time);
        let _ = self.latency.add(&other.latency);
        let _ = self.processing_time.add(&other.processing_time);
        self.has_own_latency |= other.has_own_latency;
    }

    fn record(&mut self, sample: &Sample) {
        self.requests += 1;
        self.operations += sample.weight;
        self.errors += u64::from(!sample.is_success);
        // Failed requests report the unit "ops", whatever the operation measures.
        if self.unit.is_empty() || sample.is_success {
            self.unit = sample.unit;
        }
        self.service_time += ticks(sample.service_time);
        self.latency += ticks(sample.latency);
        self.processing_time += ticks(sample.processing_time);
        self.has_own_latency |= sample.latency != sample.service_time;
    }
}

fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).div_euclid(TICK_NS).min(TICKS_MAX)
}

/// Returns the start and the width of the slice with this index, relative to the step's start.
fn span(index: u32) -> (Duration, Duration) {
    match index.checked_sub(FINE_SLICES) {
        None => (FINE_SLICE * index, FINE_SLICE),
        Some(beyond) => (FINE_SLICE * FINE_SLICES + COARSE_SLICE * beyond, COARSE_SLICE),
    }
}

fn index_at(time: Duration) -> u32 {
    let fine = time.as_millis() / FINE_SLICE.as_millis();
    let fine_slices = u128::from(FINE_SLICES);
    let index = if fine < fine_slices {
        fine
    } else {
        fine_slices + (time - FINE_SLICE * FINE_SLICES).as_millis() / COARSE_SLICE.as_millis()
    };
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A task of the running step.
#[derive(Debug)]
pub(crate) struct RunningTask {
    number: u32,
    /// Slices that are not written yet, by index: those of the warm-up and those of measured requests.
    open: [BTreeMap<u32, Slice>; 2],
    pub requests: u64,
    pub errors: u64,
    pub is_warmup: bool,
    /// When its first request was prepared and when the last one ended, relative to the step's start.
    pub first: Option<Duration>,
    pub last_end: Duration,
    /// When the first request after the warm-up was prepared, relative to the step's start.
    pub measured_from: Option<Duration>,
    /// The requests after the warm-up that have already been written.
    written: Slice,
    /// Share done by each client of the step that has reported one.
    shares: Vec<Option<f32>>,
}

impl RunningTask {
    fn new(number: u32) -> RunningTask {
        RunningTask {
            number,
            open: [BTreeMap::new(), BTreeMap::new()],
            requests: 0,
            errors: 0,
            is_warmup: false,
            first: None,
            last_end: Duration::ZERO,
            measured_from: None,
            written: Slice::new(),
            shares: Vec::new(),
        }
    }

    /// Returns the slices of the last [`HORIZON`] or slightly more before `now` (relative to the step's
    /// start), and the start of the first of them, whether or not anything ended in it.
    pub(crate) fn recent(&self, now: Duration) -> (Duration, impl Iterator<Item = &Slice>) {
        let first = index_at(now.saturating_sub(HORIZON));
        let slices = self.open.iter().flat_map(move |open| open.range(first..)).map(|(_, slice)| slice);
        (span(first).0, slices)
    }

    /// Returns all requests after the warm-up, until now.
    pub(crate) fn measured(&self) -> Slice {
        let mut whole = Slice::new();
        whole.add(&self.written);
        self.open[1].values().for_each(|slice| whole.add(slice));
        whole
    }

    /// Returns the sum of the shares that the clients report as done; `None` if no client has reported one.
    pub(crate) fn share_sum(&self) -> Option<f64> {
        let mut known = self.shares.iter().flatten().peekable();
        known.peek().is_some().then(|| known.map(|share| f64::from(*share)).sum())
    }

    fn note_share(&mut self, sample: &Sample) {
        let client = sample.client as usize;
        if client >= self.shares.len() {
            self.shares.resize(client + 1, None);
        }
        self.shares[client] = sample.progress;
    }
}

/// Writes a race's timeline.
pub(crate) struct Recorder<W> {
    out: W,
    /// The error that ended the recording; the race continues.
    failure: Option<io::Error>,
    race_start: Instant,
    /// Relative to the race's start.
    step_start: Duration,
    task_count: u32,
    running: Vec<RunningTask>,
    spare: Vec<Slice>,
    serializer: V2Serializer,
    bytes: Vec<u8>,
}

impl<W: Write> Recorder<W> {
    /// `start_ms` is `race_start` in milliseconds since the epoch.
    pub(crate) fn new(out: W, race_id: &str, race_start: Instant, start_ms: u64) -> Recorder<W> {
        let mut recorder = Recorder {
            out,
            failure: None,
            race_start,
            step_start: Duration::ZERO,
            task_count: 0,
            running: Vec::new(),
            spare: Vec::new(),
            serializer: V2Serializer::new(),
            bytes: Vec::new(),
        };
        recorder.write(&Line::Race { version: VERSION, race_id: race_id.to_owned(), start_ms });
        recorder
    }

    /// Returns the tasks of the running step, in the order of [`Sample::task_index`].
    pub(crate) fn running(&self) -> &[RunningTask] {
        &self.running
    }

    pub(crate) fn start_step(&mut self, tasks: &[&Task], start: Instant) {
        self.step_start = start.saturating_duration_since(self.race_start);
        for task in tasks {
            let throughput = task.target_throughput.as_ref();
            self.write(&Line::Task(TaskLine {
                task: self.task_count,
                name: task.name.clone(),
                operation: task.operation.name.clone(),
                operation_type: task.operation.kind.clone(),
                clients: task.clients,
                target_throughput: throughput.map(|target| (target.value, target.unit.clone())),
                start_s: self.step_start.as_secs_f64(),
                is_reported: task.operation.include_in_reporting,
            }));
            self.running.push(RunningTask::new(self.task_count));
            self.task_count += 1;
        }
    }

    pub(crate) fn record(&mut self, sample: &Sample) {
        let Some(task) = self.running.get_mut(sample.task_index as usize) else { return };
        let end = sample.request_start + sample.service_time;
        task.requests += 1;
        task.errors += u64::from(!sample.is_success);
        task.is_warmup = sample.is_warmup;
        task.first =
            Some(task.first.map_or(sample.processing_start, |first| first.min(sample.processing_start)));
        task.last_end = task.last_end.max(end);
        if !sample.is_warmup {
            let start = sample.processing_start;
            task.measured_from = Some(task.measured_from.map_or(start, |first| first.min(start)));
        }
        task.note_share(sample);
        let spare = &mut self.spare;
        task.open[usize::from(!sample.is_warmup)]
            .entry(index_at(end))
            .or_insert_with(|| spare.pop().unwrap_or_else(Slice::new))
            .record(sample);
    }

    /// Writes the slices that ended [`HORIZON`] before `now` (relative to the step's start).
    pub(crate) fn advance(&mut self, now: Duration) {
        self.write_slices(|index| span(index).0 + span(index).1 + HORIZON <= now);
    }

    /// Writes the remaining slices of the step's tasks.
    pub(crate) fn end_step(&mut self) {
        self.write_slices(|_| true);
        for task in std::mem::take(&mut self.running) {
            let end_s = (self.step_start + task.last_end).as_secs_f64();
            self.write(&Line::TaskEnd { task: task.number, end_s });
        }
    }

    /// Errors: the first error that occurred while writing. The file then ends before the race did.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.out.flush(),
        }
    }

    fn write_slices(&mut self, is_over: impl Fn(u32) -> bool) {
        let mut running = std::mem::take(&mut self.running);
        for task in &mut running {
            for (open, sample_type) in task.open.iter_mut().zip([SampleType::Warmup, SampleType::Normal]) {
                while let Some(entry) = open.first_entry().filter(|entry| is_over(*entry.key())) {
                    let (index, mut slice) = entry.remove_entry();
                    self.write_slice(task.number, sample_type, index, &slice);
                    if sample_type == SampleType::Normal {
                        task.written.add(&slice);
                    }
                    slice.clear();
                    self.spare.push(slice);
                }
            }
        }
        self.running = running;
    }

    fn write_slice(&mut self, task: u32, sample_type: SampleType, index: u32, slice: &Slice) {
        let (start, width) = span(index);
        let width_s = width.as_secs_f64();
        let mut encode = |histogram| encoded(histogram, &mut self.serializer, &mut self.bytes);
        let line = Line::Slice(SliceLine {
            task,
            sample_type,
            start_s: (self.step_start + start).as_secs_f64(),
            width_s,
            requests: slice.requests,
            operations: slice.operations,
            unit: slice.unit.to_owned(),
            errors: slice.errors,
            throughput: slice.operations as f64 / width_s,
            service_time: encode(&slice.service_time),
            latency: slice.has_own_latency.then(|| encode(&slice.latency)),
            processing_time: encode(&slice.processing_time),
        });
        self.write(&line);
    }

    fn write(&mut self, line: &Line) {
        if self.failure.is_none() {
            let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
            self.failure = written.and_then(|()| self.out.write_all(b"\n")).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::schedule::tests::plain_task;

    fn sample(end_ms: u64, service_ms: u64) -> Sample {
        let (end, service_time) = (Duration::from_millis(end_ms), Duration::from_millis(service_ms));
        Sample {
            is_warmup: end_ms < 1000,
            weight: 10,
            unit: "docs",
            progress: Some(0.5),
            ..Sample::of_test(end, service_time)
        }
    }

    fn recorded(act: impl FnOnce(&mut Recorder<&mut Vec<u8>>)) -> Vec<Line> {
        let (mut out, start) = (Vec::new(), Instant::now());
        let mut recorder = Recorder::new(&mut out, "r", start, 5);
        let task = plain_task("bulk", serde_json::json!({}));
        recorder.start_step(&[&task], start);
        act(&mut recorder);
        recorder.end_step();
        recorder.finish().unwrap();
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn slices(lines: &[Line]) -> Vec<(SampleType, f64, f64, u64, f64)> {
        let slice = |line: &Line| match line {
            Line::Slice(slice) => Some((
                slice.sample_type,
                (slice.start_s * 1e6).round() / 1e6,
                (slice.width_s * 1e6).round() / 1e6,
                slice.requests,
                slice.throughput.round(),
            )),
            _ => None,
        };
        lines.iter().filter_map(slice).collect()
    }

    #[test]
    fn slices_are_fine_then_coarse() {
        for (index, start_ms, width_ms) in
            [(0, 0, 100), (99, 9_900, 100), (100, 10_000, 1000), (160, 70_000, 1000)]
        {
            let (start, width) = (Duration::from_millis(start_ms), Duration::from_millis(width_ms));
            assert_eq!(span(index), (start, width));
            assert_eq!(index_at(start), index);
            assert_eq!(index_at(start + width - Duration::from_nanos(1)), index);
        }
    }

    #[test]
    fn a_race_becomes_lines() {
        let lines = recorded(|recorder| {
            for end_ms in [50, 60, 1050, 10_500, 11_250] {
                recorder.record(&sample(end_ms, 20));
            }
            assert_eq!(recorder.running()[0].share_sum(), Some(0.5));
        });
        assert!(matches!(&lines[0], Line::Race { version: VERSION, start_ms: 5, .. }), "{:?}", lines[0]);
        assert!(matches!(&lines[1], Line::Task(task) if task.name == "bulk"), "{:?}", lines[1]);
        use SampleType::{Normal, Warmup};
        let expected = [
            (Warmup, 0.0, 0.1, 2, 200.0),
            (Normal, 1.0, 0.1, 1, 100.0),
            (Normal, 10.0, 1.0, 1, 10.0),
            (Normal, 11.0, 1.0, 1, 10.0),
        ];
        assert_eq!(slices(&lines), expected);
        assert!(matches!(lines.last(), Some(Line::TaskEnd { task: 0, .. })), "{:?}", lines.last());
    }

    #[test]
    fn late_samples_are_written_late() {
        let lines = recorded(|recorder| {
            recorder.record(&sample(1050, 20));
            recorder.record(&sample(9050, 20));
            recorder.advance(Duration::from_secs(9));
            recorder.record(&sample(1055, 20));
            recorder.advance(Duration::from_secs(9));
        });
        let starts: Vec<(f64, u64)> = slices(&lines).iter().map(|slice| (slice.1, slice.3)).collect();
        assert_eq!(starts, [(1.0, 1), (1.0, 1), (9.0, 1)]);
    }

    #[test]
    fn memory_stays_flat() {
        recorded(|recorder| {
            let mut spare_max = 0;
            for second in 1..5_000 {
                for fraction in 0..4 {
                    recorder.record(&sample(second * 1000 + fraction * 250, 5 + second % 400));
                }
                recorder.advance(Duration::from_secs(second));
                spare_max = spare_max.max(recorder.spare.len() + recorder.running[0].open[1].len());
            }
            assert!(spare_max <= 40, "{spare_max}");
        });
    }

    #[test]
    fn a_full_disk_does_not_end_the_race() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut recorder = Recorder::new(Full, "r", Instant::now(), 0);
        recorder.start_step(&[&plain_task("bulk", serde_json::json!({}))], Instant::now());
        recorder.record(&sample(50, 1));
        recorder.end_step();
        assert_eq!(recorder.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
