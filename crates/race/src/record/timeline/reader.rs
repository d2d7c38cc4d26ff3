//! Reads a timeline into as many bins per task as a plot can show.
//!
//! The file is read twice: first for the tasks' lengths, then into bins of a suitable width, so that a race
//! of a day needs no more memory than one of a minute.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use hdrhistogram::serialization::Deserializer;

use super::format::{HistogramError, Line, SampleType, SliceLine, TaskLine, VERSION, decoded, ms};

/// Largest number of bins of a task, which are the points of a plot.
const BINS_MAX: f64 = 240.0;
/// Number of requests that a bin should have, so that its rate means something.
const REQUESTS_PER_BIN: f64 = 4.0;
/// Minimum number of bins of a task if its length allows that many, however few requests each bin then has.
const BINS_MIN: f64 = 12.0;
/// Widths of bins in seconds: integer fractions and multiples of a slice.
pub(crate) const WIDTHS_S: [f64; 16] =
    [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0];
/// If there are several bins, the last one counts as at least this share of a bin.
const LAST_BIN_SHARE_MIN: f64 = 0.5;
/// Seconds of a task after which its slices are one second long.
const FINE_S: f64 = 10.0;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TimelineError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("line {line}: {reason}")]
    Corrupt { line: usize, reason: String },
    #[error("its layout has version {0}; this limber reads version {VERSION}")]
    Version(u32),
}

#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// Start of the race, in milliseconds since the epoch.
    pub start_ms: u64,
    pub tasks: Vec<TaskCourse>,
}

/// A task over time.
#[derive(Debug)]
pub(crate) struct TaskCourse {
    pub task: TaskLine,
    /// End of the task, in seconds since the race's start.
    pub end_s: f64,
    pub unit: String,
    /// Width of a bin in seconds.
    pub bin_s: f64,
    /// Consecutive bins from the task's start to its end, including those in which no request ended; empty
    /// for a task without requests.
    pub bins: Vec<Bin>,
    /// Times of the measured requests of the whole task.
    pub service_time: Counts,
    pub latency: Counts,
    pub processing_time: Counts,
}

/// The requests that ended within one bin of a task's time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bin {
    /// Seconds since the task's start.
    pub start_s: f64,
    /// Length of the bin in seconds; the last one may be shorter than the others.
    pub covered_s: f64,
    /// Whether it has only warm-up requests.
    pub is_warmup: bool,
    pub requests: u64,
    pub operations: u64,
    pub errors: u64,
    pub service_time: Counts,
    pub latency: Counts,
}

impl Bin {
    /// Returns the operations per second: what ended in the bin, divided by the bin's length.
    pub(crate) fn throughput(&self) -> f64 {
        self.operations as f64 / self.covered_s.max(1e-3)
    }
}

/// How often each time was measured: a map from ticks of the histogram to a count.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Counts {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

impl Counts {
    fn read(text: &str, deserializer: &mut Deserializer) -> Result<Counts, HistogramError> {
        let histogram = decoded(text, deserializer)?;
        let counts: BTreeMap<u64, u64> = histogram
            .iter_recorded()
            .map(|step| (histogram.median_equivalent(step.value_iterated_to()), step.count_at_value()))
            .collect();
        let total = counts.values().sum();
        Ok(Counts { counts, total })
    }

    fn add(&mut self, other: &Counts) {
        for (ticks, count) in &other.counts {
            *self.counts.entry(*ticks).or_default() += count;
        }
        self.total += other.total;
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns pairs of (ms, count), ascending.
    pub(crate) fn iter_ms(&self) -> impl Iterator<Item = (f64, u64)> {
        self.counts.iter().map(|(ticks, count)| (ms(*ticks), *count))
    }

    /// Returns the smallest value that is not exceeded by at least the share `quantile` of all values, in ms;
    /// `None` without values.
    pub(crate) fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        let wanted = ((quantile * self.total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let mut reaching = self.counts.iter().skip_while(|(_, count)| {
            seen += **count;
            seen < wanted
        });
        reaching.next().or_else(|| self.counts.last_key_value()).map(|(ticks, _)| ms(*ticks))
    }
}

impl Timeline {
    /// Reads a timeline.
    ///
    /// # Errors
    /// The file cannot be read, or is not a timeline. An incomplete line at its end is not an error.
    pub(crate) fn read(path: &Path) -> Result<Timeline, TimelineError> {
        let mut timeline = Timeline::default();
        let mut spans: Vec<(f64, u64)> = Vec::new();
        let mut ends: BTreeMap<usize, f64> = BTreeMap::new();
        lines(path, &mut |line| {
            match line {
                Line::Race { version: VERSION, start_ms, .. } => timeline.start_ms = start_ms,
                Line::Race { version, .. } => return Err(ReadError::Version(version)),
                Line::Task(task) => {
                    spans.push((task.start_s, 0));
                    timeline.tasks.push(TaskCourse::new(task));
                }
                Line::Slice(slice) => {
                    let span = spans.get_mut(slice.task as usize).ok_or("a slice of an unknown task")?;
                    *span = (span.0.max(slice.start_s + slice.width_s), span.1 + slice.requests);
                }
                Line::TaskEnd { task, end_s } => {
                    ends.insert(task as usize, end_s);
                }
            }
            Ok(())
        })?;
        for (task, (course, (end_s, requests))) in timeline.tasks.iter_mut().zip(spans).enumerate() {
            // If a race was cut off, only its slices show how far it got.
            course.end_s = ends.get(&task).copied().filter(|_| requests > 0).unwrap_or(end_s);
            course.bin_s = bin_width_s(end_s - course.task.start_s, requests);
        }
        let mut binned: Vec<BTreeMap<i64, Bin>> = timeline.tasks.iter().map(|_| BTreeMap::new()).collect();
        let mut deserializer = Deserializer::new();
        lines(path, &mut |line| {
            if let Line::Slice(slice) = line {
                let index = slice.task as usize;
                let (course, bins) =
                    timeline.tasks.get_mut(index).zip(binned.get_mut(index)).ok_or("a slice too many")?;
                course.take(&slice, bins, &mut deserializer)?;
            }
            Ok(())
        })?;
        for (course, bins) in timeline.tasks.iter_mut().zip(binned) {
            course.bins = course.filled(bins);
        }
        Ok(timeline)
    }

    /// Returns the seconds from the race's start to the last task's end.
    pub(crate) fn duration_s(&self) -> f64 {
        self.tasks.iter().map(|course| course.end_s).fold(0.0, f64::max)
    }
}

impl TaskCourse {
    fn new(task: TaskLine) -> TaskCourse {
        TaskCourse {
            end_s: task.start_s,
            task,
            unit: String::new(),
            bin_s: 1.0,
            bins: Vec::new(),
            service_time: Counts::default(),
            latency: Counts::default(),
            processing_time: Counts::default(),
        }
    }

    pub(crate) fn duration_s(&self) -> f64 {
        self.end_s - self.task.start_s
    }

    /// Whether latency differs from service time.
    pub(crate) fn has_own_latency(&self) -> bool {
        self.latency != self.service_time
    }

    fn take(
        &mut self,
        slice: &SliceLine,
        bins: &mut BTreeMap<i64, Bin>,
        deserializer: &mut Deserializer,
    ) -> Result<(), HistogramError> {
        let service_time = Counts::read(&slice.service_time, deserializer)?;
        let latency = match &slice.latency {
            Some(text) => Counts::read(text, deserializer)?,
            None => service_time.clone(),
        };
        let is_warmup = slice.sample_type == SampleType::Warmup;
        if !is_warmup {
            self.service_time.add(&service_time);
            self.latency.add(&latency);
            self.processing_time.add(&Counts::read(&slice.processing_time, deserializer)?);
        }
        if self.unit.is_empty() || slice.errors < slice.requests {
            self.unit.clone_from(&slice.unit);
        }
        // A slice's start is a sum of decimal fractions, so rounding may put it slightly before its bin.
        let number = ((slice.start_s - self.task.start_s + 1e-6) / self.bin_s).floor();
        let bin = bins.entry(number as i64).or_insert_with(|| Bin { is_warmup: true, ..Bin::default() });
        bin.is_warmup &= is_warmup;
        bin.requests += slice.requests;
        bin.operations += slice.operations;
        bin.errors += slice.errors;
        bin.service_time.add(&service_time);
        bin.latency.add(&latency);
        Ok(())
    }

    /// Returns all bins from the task's start to its end, each with its length. Bins in which no request
    /// ended are zero.
    fn filled(&self, mut bins: BTreeMap<i64, Bin>) -> Vec<Bin> {
        let Some((&last, _)) = bins.last_key_value() else { return Vec::new() };
        let mut is_warmup = bins.first_key_value().is_some_and(|(_, first)| first.is_warmup);
        (0..=last)
            .map(|number| {
                let mut bin = bins.remove(&number).unwrap_or(Bin { is_warmup, ..Bin::default() });
                is_warmup = bin.is_warmup;
                bin.start_s = number as f64 * self.bin_s;
                // A last bin that has just begun would turn one request into a rate that never occurred.
                let shortest_s = if last == 0 { 0.0 } else { self.bin_s * LAST_BIN_SHARE_MIN };
                let covered_s = (self.duration_s() - bin.start_s).max(shortest_s);
                bin.covered_s = covered_s.max(self.scheduled_s(&bin)).min(self.bin_s);
                bin
            })
            .collect()
    }

    /// Returns the seconds that the schedule of a paced task allots to what ended in a bin; 0 for other
    /// tasks. The task ends with its last request, although the schedule allots as much time to that as to
    /// any other. Without this correction, a steady rate would be drawn as rising at the end.
    fn scheduled_s(&self, bin: &Bin) -> f64 {
        match &self.task.target_throughput {
            Some((rate, unit)) if *rate > 0.0 && unit.split('/').next() == Some(self.unit.as_str()) => {
                bin.operations as f64 / rate
            }
            _ => 0.0,
        }
    }
}

fn bin_width_s(duration_s: f64, requests: u64) -> f64 {
    let suits = |width_s: &f64| {
        let bins = duration_s / width_s;
        let has_slices = *width_s >= 1.0 || duration_s <= FINE_S;
        has_slices && bins <= BINS_MAX && (requests as f64 / bins >= REQUESTS_PER_BIN || bins <= BINS_MIN)
    };
    WIDTHS_S.into_iter().find(suits).unwrap_or_else(|| (duration_s / BINS_MAX).ceil().max(1.0))
}

enum ReadError {
    Version(u32),
    Reason(String),
}

impl From<HistogramError> for ReadError {
    fn from(error: HistogramError) -> ReadError {
        ReadError::Reason(error.to_string())
    }
}

impl From<&str> for ReadError {
    fn from(reason: &str) -> ReadError {
        ReadError::Reason(reason.to_owned())
    }
}

/// Calls `take` for each line.
fn lines(path: &Path, take: &mut dyn FnMut(Line) -> Result<(), ReadError>) -> Result<(), TimelineError> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        // A last line without its end was being written when the machine or the process crashed.
        if reader.read_until(b'\n', &mut text)? == 0 || text.last() != Some(&b'\n') {
            break;
        }
        let corrupt = |reason| TimelineError::Corrupt { line: number, reason };
        let line = serde_json::from_slice(&text).map_err(|error| corrupt(error.to_string()))?;
        take(line).map_err(|error| match error {
            ReadError::Version(version) => TimelineError::Version(version),
            ReadError::Reason(reason) => corrupt(reason),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::schedule::tests::plain_task;
    use crate::model::{Task, Throughput};
    use crate::record::sample::Sample;
    use crate::record::timeline::recorder::Recorder;
    use std::time::{Duration, Instant};

    fn recorded(samples: &[(u64, u64, bool)]) -> Vec<u8> {
        let (mut out, start) = (Vec::new(), Instant::now());
        let mut recorder = Recorder::new(&mut out, "r", start, 1000);
        recorder.start_step(&[&plain_task("search", serde_json::json!({}))], start);
        for &(end_ms, service_ms, is_warmup) in samples {
            let (end, service_time) = (Duration::from_millis(end_ms), Duration::from_millis(service_ms));
            recorder.record(&Sample {
                is_warmup,
                latency: service_time * 2,
                ..Sample::of_test(end, service_time)
            });
        }
        recorder.end_step();
        recorder.finish().unwrap();
        out
    }

    fn read(bytes: &[u8]) -> Result<Timeline, TimelineError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Timeline::read(file.path())
    }

    #[test]
    fn what_was_recorded_is_read() {
        let samples: Vec<(u64, u64, bool)> = (0..600).map(|i| (20 + i * 5, 1 + i % 10, i < 200)).collect();
        let timeline = read(&recorded(&samples)).unwrap();
        assert_eq!(timeline.start_ms, 1000);
        let course = &timeline.tasks[0];
        assert_eq!((course.bin_s, course.bins.len(), course.unit.as_str()), (0.1, 31, "ops"));
        assert_eq!(course.bins.iter().map(|bin| bin.requests).sum::<u64>(), 600);
        assert_eq!(course.bins.iter().filter(|bin| bin.is_warmup).count(), 10);
        assert_eq!(course.service_time.total(), 400);
        let median_ms = course.service_time.quantile_ms(0.5).unwrap();
        assert!((median_ms - 5.0).abs() < 0.05, "{median_ms}");
        assert!((course.latency.quantile_ms(1.0).unwrap() - 20.0).abs() < 0.2);
        assert!(course.has_own_latency());
        let full = &course.bins[20];
        assert!((full.throughput() - 200.0).abs() < 1e-6, "{full:?}");
    }

    /// Records a bulk of 1,000 documents every two seconds, as in a task paced at 500 docs/s.
    #[test]
    fn a_paced_task_has_its_pace() {
        let (mut out, start) = (Vec::new(), Instant::now());
        let mut recorder = Recorder::new(&mut out, "r", start, 1000);
        let pace = Throughput { value: 500.0, unit: "docs/s".to_owned() };
        let task = Task { target_throughput: Some(pace), ..plain_task("bulk", serde_json::json!({})) };
        recorder.start_step(&[&task], start);
        for request in 0..60 {
            let end = Duration::from_millis(2000 * request + 20);
            let sample = Sample::of_test(end, Duration::from_millis(20));
            recorder.record(&Sample { weight: 1000, unit: "docs", ..sample });
        }
        recorder.end_step();
        recorder.finish().unwrap();
        let timeline = read(&out).unwrap();
        let course = &timeline.tasks[0];
        assert!((course.end_s - 118.02).abs() < 1e-6, "{}", course.end_s);
        assert!(
            course
                .bins
                .windows(2)
                .all(|pair| (pair[1].start_s - pair[0].start_s - course.bin_s).abs() < 1e-9)
        );
        let rates: Vec<f64> = course.bins.iter().map(Bin::throughput).collect();
        assert!(rates.iter().all(|rate| (rate - 500.0).abs() < 1e-6), "{rates:?}");
    }

    /// Requests that are seconds apart leave empty bins between them, which are zero.
    #[test]
    fn empty_bins_are_zero() {
        let timeline = read(&recorded(&[(50, 20, false), (4_050, 20, false), (8_050, 20, false)])).unwrap();
        let course = &timeline.tasks[0];
        let requests: Vec<u64> = course.bins.iter().map(|bin| bin.requests).collect();
        assert_eq!(requests.iter().sum::<u64>(), 3);
        assert!(requests.contains(&0), "{requests:?}");
        let all: f64 = course.bins.iter().map(|bin| bin.throughput() * bin.covered_s).sum();
        assert!((all - 3.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn half_a_line_is_left_out_and_nonsense_is_refused() {
        let whole = recorded(&[(50, 2, false), (13_000, 2, false)]);
        let cut = &whole[..whole.len() - 10];
        assert_eq!(read(cut).unwrap().tasks.len(), 1);
        let error =
            read(b"{\"kind\":\"race\",\"version\":9,\"race-id\":\"r\",\"start-ms\":0}\n").unwrap_err();
        assert!(error.to_string().contains("version 9"), "{error}");
        assert!(read(b"nonsense\n").unwrap_err().to_string().starts_with("line 1: "));
    }

    #[test]
    fn bins_suit_the_task() {
        for (duration_s, requests, width_s) in [
            (0.5, 10_000, 0.1),
            (9.0, 10_000, 0.1),
            (60.0, 10_000, 1.0),
            (60.0, 30, 5.0),
            (3600.0, 1_000_000, 20.0),
            (1e6, 1_000_000_000, 4167.0),
        ] {
            assert_eq!(bin_width_s(duration_s, requests), width_s, "{duration_s}");
        }
    }
}
