//! Finds the buckets of instants quickly, since most instants are in the same bucket as the one before.
//!
//! Rounding an instant costs tens of nanoseconds in UTC, and some hundreds in a region where clocks change.
//! If a field's range of instants has few buckets, their starts are all computed in advance; an instant then
//! costs a comparison or a search. Between two clock changes a region is rounded like a fixed offset.

use limber_mapping::date::Zone;

use super::rounding::Rounding;

/// Largest number of bucket starts that are computed in advance.
const STARTS_MAX: u64 = 1 << 12;

/// The same if all buckets are equally long and there are at least as many documents: 3.7 years of hours.
const REGULAR_STARTS_MAX: u64 = 1 << 15;

/// Largest number of buckets of one length whose indexes are computed although their starts are not: two
/// years of minutes.
const EQUAL_MAX: u64 = 1 << 20;

/// The instants of one bucket: from `start` (included) to `end` (excluded).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: i64,
    pub end: i64,
}

impl Span {
    /// A span that contains no instant.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// Whether the span contains an instant.
    #[inline]
    pub fn contains(self, instant: i64) -> bool {
        instant >= self.start && instant < self.end
    }
}

/// A time between two clock changes, before the offset of the rounding is added, from `start` (included) to
/// `end` (excluded).
#[derive(Debug)]
struct Season {
    start: i64,
    end: i64,
    /// Uses the fixed offset of the season.
    rounding: Rounding,
}

/// Finds the bucket of an instant, and remembers the last one.
#[derive(Debug)]
pub struct DateBuckets {
    pub rounding: Rounding,
    /// The starts of all buckets of the range in ascending order, then the end of the last one. Empty when
    /// they were not computed.
    starts: Vec<i64>,
    /// The index in `starts` of the last bucket that was found.
    at: usize,
    /// Mean number of buckets in a millisecond.
    per_milli: f64,
    /// How a bucket's index is computed if all buckets are equally long, whether or not there are starts.
    equal: Option<Equal>,
    /// Looks up a bucket's index by instant. `None`: there are no starts, or bucket lengths differ too much.
    cells: Option<Cells>,
    /// The seasons of a region that have occurred so far.
    seasons: Vec<Season>,
}

/// Time divided into equal cells, none longer than the shortest bucket, so that at most one bucket begins
/// within a cell.
#[derive(Debug)]
struct Cells {
    first: i64,
    /// Binary logarithm of the number of instants in a cell.
    bits: u32,
    /// For each cell: the upper half is the index of the bucket that its first instant is in; the lower half
    /// is the offset in the cell at which the next bucket begins, or the length of the cell if none does.
    cells: Vec<u64>,
}

/// Buckets of one length. A bucket's index is the distance from `first` divided by the length, which is
/// computed by a multiplication and shifts.
#[derive(Debug, Clone, Copy)]
struct Equal {
    first: i64,
    /// The end of the last bucket.
    end: i64,
    length: i64,
    /// Exponent of the power of two that divides the length.
    bits: u32,
    /// Dividing by the odd part of the length is multiplying by `factor` and shifting right by `shift`.
    factor: u64,
    shift: u32,
}

impl Equal {
    /// `starts` includes the end of the last bucket.
    fn of(starts: &[i64]) -> Option<Equal> {
        let (first, end) = (*starts.first()?, *starts.last()?);
        let length = starts.get(1)?.checked_sub(first)?;
        let is_equal = starts.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(length));
        if is_equal { Self::with_length(first, end, length) } else { None }
    }

    /// Returns the buckets that contain the instants from `first` to `last`, without their starts.
    fn of_range(rounding: &Rounding, first: i64, last: i64) -> Option<Equal> {
        if !rounding.is_regular() || rounding.buckets_between(first, last) > EQUAL_MAX {
            return None;
        }
        let (start, last_start) = (rounding.round(first), rounding.round(last));
        let length = rounding.next(start).checked_sub(start)?;
        let end = last_start.checked_add(length)?;
        // Near the limits of the representable time, buckets are shorter.
        let is_regular = end.checked_sub(start)? % length == 0 && rounding.next(last_start) == end;
        if is_regular { Self::with_length(start, end, length) } else { None }
    }

    fn with_length(first: i64, end: i64, length: i64) -> Option<Equal> {
        let bits = length.trailing_zeros();
        let odd = (length >> bits) as u64;
        let most = end.checked_sub(first)? as u64 >> bits;
        // With distances below 2^31 a factor of 32 bits is exact (Granlund and Montgomery, "Division by
        // invariant integers").
        let shift = 31 + odd.next_power_of_two().trailing_zeros();
        if most >= 1 << 31 || shift > 62 {
            return None;
        }
        let factor = (1u64 << shift).div_ceil(odd);
        (factor <= u64::from(u32::MAX)).then_some(Equal { first, end, length, bits, factor, shift })
    }

    fn count(self) -> usize {
        (self.end.wrapping_sub(self.first) / self.length) as usize
    }

    /// Returns the bucket of an instant within the range.
    fn span_of(self, instant: i64) -> Option<Span> {
        if instant < self.first || instant >= self.end {
            return None;
        }
        let start = instant - instant.wrapping_sub(self.first) % self.length;
        Some(Span { start, end: start + self.length })
    }

    fn key_indexes(self, instants: &[i64], out: &mut Vec<u32>) {
        let Equal { first, bits, factor, shift, .. } = self;
        out.extend(instants.iter().map(|instant| {
            let distance = u64::from((instant.wrapping_sub(first) as u64 >> bits) as u32);
            ((distance * u64::from(factor as u32)) >> shift) as u32
        }));
    }
}

impl Cells {
    const COUNT_MAX: u64 = 1 << 16;

    /// `starts` includes the end of the last bucket.
    fn of(starts: &[i64]) -> Option<Cells> {
        let (first, end) = (*starts.first()?, *starts.last()?);
        let shortest = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min()?;
        let bits = shortest.checked_ilog2()?.min(31);
        let count = (end.checked_sub(first)? as u64 >> bits) + 1;
        if count > Self::COUNT_MAX {
            return None;
        }
        let mut bucket_index = 0;
        let cell = |number: u64| {
            let start = first + (number << bits) as i64;
            while starts.get(bucket_index + 1).is_some_and(|next| *next <= start) {
                bucket_index += 1;
            }
            let next = starts.get(bucket_index + 1).map_or(i64::MAX, |next| next.saturating_sub(start));
            (bucket_index as u64) << 32 | next.min(1 << bits) as u64
        };
        Some(Cells { first, bits, cells: (0..count).map(cell).collect() })
    }

    /// Appends the bucket index of each instant to `out`. All instants must be within the range.
    fn key_indexes(&self, instants: &[i64], out: &mut Vec<u32>) {
        let (cells, mask) = (self.cells.as_slice(), (1u64 << self.bits) - 1);
        out.extend(instants.iter().map(|instant| {
            let distance = instant.wrapping_sub(self.first) as u64;
            let cell = cells[(distance >> self.bits) as usize];
            (cell >> 32) as u32 + u32::from((distance & mask) as u32 >= cell as u32)
        }));
    }
}

impl DateBuckets {
    /// `range`: the first and the last instant that most requests are between; `doc_count`: upper bound of
    /// the number of documents.
    pub fn new(rounding: Rounding, range: Option<(i64, i64)>, doc_count: u64) -> DateBuckets {
        let starts_max = match rounding.is_regular() {
            true => doc_count.clamp(STARTS_MAX, REGULAR_STARTS_MAX),
            false => STARTS_MAX,
        };
        let few = range.filter(|(first, last)| rounding.buckets_between(*first, *last) <= starts_max);
        let (starts, seasons) = (Vec::new(), Vec::new());
        let mut buckets =
            DateBuckets { rounding, starts, at: 0, per_milli: 0.0, equal: None, cells: None, seasons };
        if let Some((first, last)) = few {
            let mut starts = Vec::new();
            let mut start = buckets.rounding.round(first);
            // Twice the number of buckets of mean length: buckets at the ends of the representable time are
            // shorter.
            while start <= last && starts.len() as u64 <= 2 * starts_max {
                starts.push(start);
                let next = buckets.next(start);
                if next <= start {
                    break;
                }
                start = next;
            }
            if start <= last {
                return DateBuckets { starts: Vec::new(), ..buckets };
            }
            // The end of the last bucket.
            starts.push(start);
            buckets.per_milli = (starts.len() - 1) as f64 / start.saturating_sub(starts[0]).max(1) as f64;
            buckets.equal = Equal::of(&starts);
            buckets.cells = Cells::of(&starts);
            buckets.starts = starts;
        } else if let Some((first, last)) = range.filter(|_| doc_count > REGULAR_STARTS_MAX) {
            buckets.equal = Equal::of_range(&buckets.rounding, first, last);
        }
        buckets
    }

    /// Returns the number of buckets that have an index; 0 when indexes are not known.
    pub fn key_index_count(&self) -> usize {
        match (&self.equal, &self.cells) {
            (Some(equal), _) => equal.count(),
            (None, Some(_)) => self.starts.len() - 1,
            (None, None) => 0,
        }
    }

    /// Appends the bucket index of each instant to `out`. All instants must be within the range.
    pub fn key_indexes(&self, instants: &[i64], out: &mut Vec<u32>) {
        match (&self.equal, &self.cells) {
            (Some(equal), _) => equal.key_indexes(instants, out),
            (None, Some(cells)) => cells.key_indexes(instants, out),
            (None, None) => {}
        }
    }

    /// Returns the start of the bucket at an index.
    pub fn start_at(&self, bucket_index: u32) -> i64 {
        match &self.equal {
            Some(equal) => equal.first + i64::from(bucket_index) * equal.length,
            None => self.starts[bucket_index as usize],
        }
    }

    /// Returns the bucket of an instant. For a bucket that was not computed in advance, `end` may be too
    /// early but is never too late.
    #[inline]
    pub fn span_of(&mut self, instant: i64) -> Span {
        match self.bucket_index_of(instant) {
            Some(at) => Span { start: self.starts[at], end: self.starts[at + 1] },
            None => self
                .equal
                .and_then(|equal| equal.span_of(instant))
                .unwrap_or_else(|| self.span_beyond(instant)),
        }
    }

    /// Returns the start of the bucket after the one that starts at `start`.
    pub fn next(&mut self, start: i64) -> i64 {
        match self.span_of_season(start) {
            Some(span) => span.end.max(start.saturating_add(1)),
            None => self.rounding.next(start),
        }
    }

    /// Returns the index of the instant's bucket, if it was computed in advance.
    #[inline]
    fn bucket_index_of(&mut self, instant: i64) -> Option<usize> {
        let is_in = |at: usize| match self.starts.get(at..at.saturating_add(2)) {
            Some([start, end]) => *start <= instant && instant < *end,
            _ => false,
        };
        if is_in(self.at) {
            return Some(self.at);
        }
        // Bucket lengths are similar, so the estimate is mostly right or one off.
        let guess = (instant.wrapping_sub(*self.starts.first()?) as f64 * self.per_milli) as usize;
        for at in [guess, guess.wrapping_sub(1), guess.saturating_add(1)] {
            if is_in(at) {
                self.at = at;
                return Some(at);
            }
        }
        let after = self.starts.partition_point(|&start| start <= instant);
        if after == 0 || after >= self.starts.len() {
            return None;
        }
        self.at = after - 1;
        Some(self.at)
    }

    fn span_beyond(&mut self, instant: i64) -> Span {
        if let Some(span) = self.span_of_season(instant) {
            return span;
        }
        let start = self.rounding.round(instant);
        // In a region only this instant is certain: the clock may change before the next start.
        let end = match self.rounding.zone {
            Zone::Region(_) => instant.saturating_add(1),
            _ => self.rounding.next(start).max(instant.saturating_add(1)),
        };
        Span { start, end }
    }

    /// Returns the bucket of an instant in a region, if the bucket lies within one season.
    fn span_of_season(&mut self, instant: i64) -> Option<Span> {
        if !matches!(self.rounding.zone, Zone::Region(_)) {
            return None;
        }
        let offset = self.rounding.offset_millis;
        // Rounding subtracts the offset first, so it is the clock at this time that counts.
        let plain = instant.saturating_sub(offset);
        let is_it = |season: &Season| season.start <= plain && plain < season.end;
        let at = match self.seasons.iter().position(is_it) {
            Some(at) => at,
            None => {
                let (start, end) = self.rounding.zone.season_at(plain)?;
                let seconds = self.rounding.zone.offset_seconds_at(plain);
                let rounding = Rounding { zone: Zone::Fixed { seconds }, ..self.rounding.clone() };
                self.seasons.push(Season { start, end, rounding });
                self.seasons.len() - 1
            }
        };
        let season = &self.seasons[at];
        let start = season.rounding.round(instant);
        let span = Span { start, end: season.rounding.next(start) };
        let plain_span = (span.start.saturating_sub(offset), span.end.saturating_sub(offset));
        let is_within = plain_span.0 >= season.start && plain_span.1 <= season.end;
        (is_within && span.end > instant).then_some(span)
    }
}

#[cfg(test)]
mod tests {
    use limber_mapping::date::Zone;
    use proptest::prelude::*;

    use super::super::rounding::Interval;
    use super::*;

    #[test]
    fn the_last_instant_ends_the_list_of_starts() {
        for zone in ["UTC", "Europe/Berlin"] {
            for interval in [Interval::Month, Interval::Year, Interval::Second] {
                let rounding =
                    Rounding { interval, zone: Zone::parse(zone).expect("a zone"), offset_millis: 0 };
                for (first, last) in
                    [(i64::MAX, i64::MAX), (i64::MIN, i64::MIN), (i64::MAX - 9_999_999, i64::MAX)]
                {
                    let mut buckets = DateBuckets::new(rounding.clone(), Some((first, last)), 0);
                    assert!(buckets.starts.len() as u64 <= 2 * STARTS_MAX + 2);
                    assert_eq!(buckets.span_of(last).start, rounding.round(last), "{zone} {interval:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn spans_are_what_rounding_says(
            first in 1_400_000_000_000i64..1_500_000_000_000,
            length in 0i64..40_000_000_000,
            instants in prop::collection::vec(1_390_000_000_000i64..1_550_000_000_000, 1..40),
            zone in prop::sample::select(vec!["UTC", "+05:30", "Europe/Berlin", "America/New_York"]),
            interval in prop::sample::select(vec![
                Interval::Second, Interval::Hour, Interval::Day, Interval::Week, Interval::Month, Interval::Year,
                Interval::FixedMillis(5_400_000), Interval::FixedMillis(3 * 86_400_000), Interval::Minute,
                Interval::FixedMillis(450_000),
            ]),
            offset_millis in prop::sample::select(vec![
                0, 3_600_000, -3_600_000, 86_400_000, -86_400_000, -1_234_567, 40 * 86_400_000, -40 * 86_400_000,
            ]),
            doc_count in prop::sample::select(vec![0, 1 << 30]),
        ) {
            let rounding = Rounding { interval, zone: Zone::parse(zone).expect("a zone"), offset_millis };
            // With few documents starts are computed; with many, only the indexes of buckets of one length.
            let mut buckets = DateBuckets::new(rounding.clone(), Some((first, first + length)), doc_count);
            for instant in instants {
                let span = buckets.span_of(instant);
                prop_assert_eq!(span.start, rounding.round(instant));
                prop_assert!(span.contains(instant));
                prop_assert_eq!(rounding.round(span.end - 1), span.start);
                if buckets.key_index_count() > 0 && (first..=first + length).contains(&instant) {
                    let mut key_indexes = Vec::new();
                    buckets.key_indexes(&[instant], &mut key_indexes);
                    prop_assert_eq!(buckets.start_at(key_indexes[0]), span.start);
                }
            }
        }
    }
}
