//! HotSpot's unified logging (`-Xlog:gc` or `-Xlog:gc*`), Java 9 and later.
//!
//! A line is decorations in brackets and a message:
//! `[7.975s][info][gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 42M->10M(128M) 6.860ms`.
//! The user chooses the decorations; the time is taken from any decoration that has it. The reader
//! understands G1, Parallel, Serial, ZGC (with and without generations), Shenandoah, and safepoints when they
//! are logged. Source: the man page of `java` ("Enable Logging with the JVM Unified Logging Framework"), logs
//! of Java 17 and 25.

use jiff::fmt::strtime::BrokenDownTime;

use super::events::{GcEvents, HeapChange, PauseKind};

pub(super) const FORMAT: &str = "unified logging (HotSpot)";

/// State of the reader between lines.
#[derive(Debug, Default)]
pub(super) struct Unified {
    region_bytes: Option<u64>,
    /// Size of the old generation before and after the collection whose last line has not been read yet.
    old: Option<(u64, u64)>,
    last_cycle: Option<u64>,
}

impl Unified {
    /// Whether a line looks like this format.
    pub(super) fn recognizes(line: &str) -> bool {
        Line::parse(line).is_some_and(|line| line.stamp_s.is_some())
    }

    pub(super) fn line(&mut self, text: &str, events: &mut GcEvents) {
        let Some(line) = Line::parse(text) else {
            events.unrecognized_line_count += 1;
            return;
        };
        if line.gc_id.is_none() && is_first_word(line.message) {
            events.begin_run();
        }
        if let Some(stamp_s) = line.stamp_s {
            events.at(stamp_s);
        }
        match line.gc_id {
            // ZGC's old generation receives what the young one promotes; the lines of the young one contain
            // that amount.
            Some(_) if line.message.starts_with("O: ") && !line.message.starts_with("O: Pause ") => {}
            Some(id) => self.of_collection(id, without_generation(line.message), events),
            None => self.of_jvm(line.message, events),
        }
    }

    fn of_jvm(&mut self, message: &str, events: &mut GcEvents) {
        if let Some(collector) = message.strip_prefix("Using ") {
            // `Using 2 workers of 2` is about a collection and has a GC id. Without an id, the line is the
            // first one of a JVM.
            events.collector = Some(collector.trim().to_owned());
            self.last_cycle = None;
        } else if let Some(size) = message.strip_prefix("Heap Region Size: ") {
            self.region_bytes = size_of(size);
        } else if let Some(size) =
            message.strip_prefix("Heap Max Capacity: ").or_else(|| message.strip_prefix("Max Capacity: "))
        {
            events.capacity(size_of(size).unwrap_or(0));
        } else if let Some(state) = message.strip_prefix("Compressed Oops: ") {
            events.has_compressed_oops = Some(state.starts_with("Enabled"));
        } else if message.starts_with("Safepoint \"") {
            safepoint(message, events);
        } else if let Some(rest) =
            message.strip_prefix("Total time for which application threads were stopped: ")
        {
            stopped(rest, events);
        } else if is_stall(message) {
            stall(message, events);
        }
    }

    fn of_collection(&mut self, id: u64, message: &str, events: &mut GcEvents) {
        if message.starts_with("Pause ") {
            self.pause(message, events);
        } else if message == "To-space exhausted" {
            events.evacuation_failures += 1;
        } else if let Some(counts) = message.strip_prefix("Old regions: ") {
            let bytes = |count: &str| Some(count.parse::<u64>().ok()?.saturating_mul(self.region_bytes?));
            self.old = counts.split_once("->").and_then(|(before, after)| {
                Some((bytes(before)?, bytes(after.split('(').next().unwrap_or(after))?))
            });
        } else if let Some(sizes) = ["ParOldGen: ", "PSOldGen: ", "Tenured: "]
            .iter()
            .find_map(|generation| message.strip_prefix(generation))
        {
            self.old = sizes.split_once("->").and_then(|(before, after)| {
                Some((size_of(before.split('(').next()?)?, size_of(after.split('(').next()?)?))
            });
        } else if let Some(columns) = message.trim_start().strip_prefix("Promoted:") {
            events.promote(last_size(columns).unwrap_or(0));
        } else if let Some(columns) = message.trim_start().strip_prefix("Allocated:") {
            events.allocate(last_size(columns).unwrap_or(0));
        } else if is_stall(message) {
            stall(message, events);
        } else if is_cycle(message)
            && let Some(change) = message.split_whitespace().find_map(heap_change)
        {
            // Shenandoah cleans up twice in a cycle, and the second time is more exact.
            match self.last_cycle.replace(id) == Some(id) {
                true => events.heap_again(change),
                false => events.heap(change, true),
            }
        }
    }

    fn pause(&mut self, message: &str, events: &mut GcEvents) {
        // The line that announces a pause does not end with a duration.
        let Some(millis) = message.rsplit(' ').next().and_then(millis_of) else { return };
        let kind = kind_of(message);
        events.pause(millis, kind);
        if message.contains("(Evacuation Failure") {
            events.evacuation_failures += 1;
        }
        if let (Some((before, after)), PauseKind::Young) = (self.old, kind) {
            events.promote(after.saturating_sub(before));
        }
        self.old = None;
        if let Some(change) = message.split_whitespace().find_map(heap_change) {
            events.heap(change, kind != PauseKind::Phase);
        }
    }
}

/// Whether this is a line that a JVM writes first when it starts.
fn is_first_word(message: &str) -> bool {
    ["Using ", "Version: ", "Initializing The Z", "CardTable entry size: "]
        .iter()
        .any(|start| message.starts_with(start))
}

struct Line<'a> {
    stamp_s: Option<f64>,
    gc_id: Option<u64>,
    message: &'a str,
}

impl<'a> Line<'a> {
    /// Returns `None` for a line without decorations.
    fn parse(text: &'a str) -> Option<Line<'a>> {
        let mut rest = text;
        let mut stamp: Option<(u8, f64)> = None;
        let mut has_decoration = false;
        while let Some(after) = rest.strip_prefix('[') {
            let (decoration, after) = after.split_once(']')?;
            has_decoration = true;
            let found = stamp_of(decoration.trim());
            // If there are several clocks, use the one that distinguishes runs best.
            if found.map(|(rank, _)| rank) > stamp.map(|(rank, _)| rank) {
                stamp = found;
            }
            rest = after;
        }
        let message = rest.strip_prefix(' ').unwrap_or(rest);
        let (gc_id, message) = match message.strip_prefix("GC(").and_then(|rest| rest.split_once(')')) {
            Some((id, rest)) if id.parse::<u64>().is_ok() => {
                (id.parse().ok(), rest.strip_prefix(' ').unwrap_or(rest))
            }
            _ => (None, message),
        };
        has_decoration.then_some(Line {
            stamp_s: stamp.map(|(_, at_s)| at_s),
            gc_id,
            message: message.trim_end(),
        })
    }
}

/// Returns the time in a decoration, in seconds, and a rank of the clock (higher is better).
fn stamp_of(decoration: &str) -> Option<(u8, f64)> {
    let last = decoration.bytes().last()?;
    let number = |digits: &str| -> Option<f64> {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',');
        if !is_number {
            return None;
        }
        digits.replace(',', ".").parse().ok()
    };
    if last == b's' {
        return match decoration.strip_suffix("ms") {
            Some(digits) => Some((1, number(digits)? / 1e3)),
            None => match decoration.strip_suffix("ns") {
                Some(digits) => Some((0, number(digits)? / 1e9)),
                None => Some((2, number(decoration.strip_suffix('s')?)?)),
            },
        };
    }
    if decoration.len() < 23 || decoration.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let time = BrokenDownTime::parse("%Y-%m-%dT%H:%M:%S%.f%z", decoration).ok()?;
    let stamp = time.to_timestamp().ok()?;
    Some((3, stamp.as_millisecond() as f64 / 1e3))
}

/// Removes ZGC's marks of the young and the old generation.
fn without_generation(message: &str) -> &str {
    ["Y: ", "y: ", "O: "].iter().find_map(|mark| message.strip_prefix(mark)).unwrap_or(message)
}

/// Whether this is the closing line of a concurrent cycle.
fn is_cycle(message: &str) -> bool {
    ["Garbage Collection (", "Major Collection (", "Minor Collection (", "Concurrent cleanup"]
        .iter()
        .any(|start| message.starts_with(start))
}

fn kind_of(message: &str) -> PauseKind {
    match message {
        _ if message.starts_with("Pause Young (Mixed)") => PauseKind::Mixed,
        _ if message.starts_with("Pause Young") => PauseKind::Young,
        _ if message.starts_with("Pause Full") || message.starts_with("Pause Degenerated") => PauseKind::Full,
        _ => PauseKind::Phase,
    }
}

/// Reads `42M->10M(128M)` or `34M(13%)->26M(10%)`.
fn heap_change(word: &str) -> Option<HeapChange> {
    let (before, after) = word.split_once("->")?;
    let (after, bracket) = after.split_once('(').unwrap_or((after, ""));
    Some(HeapChange {
        before_bytes: size_of(before.split('(').next()?)?,
        after_bytes: size_of(after)?,
        capacity_bytes: size_of(bracket.trim_end_matches(')')),
    })
}

/// Reads `128M`, `512K` or `17B`.
fn size_of(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "B" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Returns the last size in a row of ZGC's tables: `-   4M (2%)   5M (2%)`.
fn last_size(columns: &str) -> Option<u64> {
    columns.split_whitespace().rev().find_map(size_of)
}

fn millis_of(word: &str) -> Option<f64> {
    word.strip_suffix("ms")?.replace(',', ".").parse().ok()
}

fn is_stall(message: &str) -> bool {
    message.starts_with("Allocation Stall (") || message.starts_with("Relocation Stall (")
}

/// Reads `Allocation Stall (main) 12.345ms`.
fn stall(message: &str, events: &mut GcEvents) {
    if let Some(millis) = message.rsplit(' ').next().and_then(millis_of).filter(|millis| *millis >= 0.0) {
        events.stall_count += 1;
        events.stall_millis += millis;
    }
}

/// Reads `Safepoint "G1CollectFull", Time since last: 1 ns, Reaching safepoint: 2 ns, ..., Total: 3 ns, ...`.
fn safepoint(message: &str, events: &mut GcEvents) {
    let millis = |name: &str| -> Option<f64> {
        let (_, rest) = message.split_once(name)?;
        let nanos: f64 = rest.trim_start().split(' ').next()?.parse().ok()?;
        (nanos >= 0.0).then_some(nanos / 1e6)
    };
    if let Some(total) = millis(", Total:") {
        events.safepoint_count += 1;
        events.safepoint_millis += total;
        events.reaching_millis_max =
            events.reaching_millis_max.max(millis(", Reaching safepoint:").unwrap_or(0.0));
    }
}

/// Reads `0.0012 seconds, Stopping threads took: 0.0001 seconds`, the form of Java 9 to 12.
fn stopped(rest: &str, events: &mut GcEvents) {
    let seconds = |text: &str| text.split_whitespace().next()?.replace(',', ".").parse::<f64>().ok();
    if let Some(total) = seconds(rest).filter(|total| *total >= 0.0) {
        events.safepoint_count += 1;
        events.safepoint_millis += total * 1e3;
        let reaching = rest.split_once("took: ").and_then(|(_, rest)| seconds(rest)).unwrap_or(0.0);
        events.reaching_millis_max = events.reaching_millis_max.max(reaching * 1e3);
    }
}
