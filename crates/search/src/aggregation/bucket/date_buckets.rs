//! Buckets of dates with a memory: "in which bucket is this instant, when most are where the last one was?"
//!
//! Rounding an instant costs tens of nanoseconds in UTC and some hundred where clocks change. The starts of
//! all buckets between a field's first and last instant are computed once, if they are few; then an instant
//! costs a comparison, or a search. Between two changes of its clock a region is rounded like a fixed offset.

use limber_mapping::date::Zone;

use super::rounding::Rounding;

/// Bucket starts that are computed ahead.
const STARTS_MAX: u64 = 1 << 12;

/// Where there is a document for each of them at least, and they are equally far apart: 3.7 years of hours.
const REGULAR_STARTS_MAX: u64 = 1 << 15;

/// Instants of one bucket: from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: i64,
    pub end: i64,
}

impl Span {
    /// The span that holds no instant.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// Whether an instant lies in it: the start does, the end does not.
    #[inline]
    pub fn contains(self, instant: i64) -> bool {
        instant >= self.start && instant < self.end
    }
}

/// A time without changes of the clock, from `start` to before `end`.
#[derive(Debug)]
struct Season {
    start: i64,
    end: i64,
    /// With the offset of the season.
    rounding: Rounding,
}

/// Finds the bucket of an instant, and knows the bucket that was found last.
#[derive(Debug)]
pub struct DateBuckets {
    pub rounding: Rounding,
    /// Starts of all buckets of the range, ascending, and the end of the last one; empty when they are not
    /// known.
    starts: Vec<i64>,
    /// Where the bucket asked for last begins in `starts`.
    at: usize,
    /// Buckets of `starts` a millisecond.
    per_milli: f64,
    /// How places are found where all buckets are of one length.
    equal: Option<Equal>,
    /// Places in `starts` by instant; `None`: those are not known, or their lengths differ too much.
    cells: Option<Cells>,
    /// Of a region, those met so far.
    seasons: Vec<Season>,
}

/// Time cut into equal cells, none longer than the shortest bucket: at most one bucket begins within a cell.
#[derive(Debug)]
struct Cells {
    first: i64,
    /// Instants of a cell, as a power of two.
    bits: u32,
    /// Of each cell: the place of the bucket at its beginning in the upper half; in the lower half how far
    /// into the cell the next bucket begins, the cell's length or more where none does.
    cells: Vec<u64>,
}

/// Buckets of one length: a place is a distance divided by it, which a multiplication does.
#[derive(Debug, Clone, Copy)]
struct Equal {
    first: i64,
    /// The power of two in the length.
    bits: u32,
    /// What is left of the length divides as a multiplication by this and a shift.
    factor: u64,
    shift: u32,
}

impl Equal {
    /// `starts` has the end of the last bucket, too.
    fn of(starts: &[i64]) -> Option<Equal> {
        let (first, end) = (*starts.first()?, *starts.last()?);
        let length = starts.get(1)?.checked_sub(first)?;
        if !starts.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(length)) {
            return None;
        }
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
        (factor <= u64::from(u32::MAX)).then_some(Equal { first, bits, factor, shift })
    }

    fn places(self, instants: &[i64], out: &mut Vec<u32>) {
        let Equal { first, bits, factor, shift } = self;
        out.extend(instants.iter().map(|instant| {
            let distance = u64::from((instant.wrapping_sub(first) as u64 >> bits) as u32);
            ((distance * u64::from(factor as u32)) >> shift) as u32
        }));
    }
}

impl Cells {
    const COUNT_MAX: u64 = 1 << 16;

    /// `starts` has the end of the last bucket, too.
    fn of(starts: &[i64]) -> Option<Cells> {
        let (first, end) = (*starts.first()?, *starts.last()?);
        let shortest = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min()?;
        let bits = shortest.checked_ilog2()?.min(31);
        let count = (end.checked_sub(first)? as u64 >> bits) + 1;
        if count > Self::COUNT_MAX {
            return None;
        }
        let mut place = 0;
        let cell = |number: u64| {
            let start = first + (number << bits) as i64;
            while starts.get(place + 1).is_some_and(|next| *next <= start) {
                place += 1;
            }
            let next = starts.get(place + 1).map_or(i64::MAX, |next| next.saturating_sub(start));
            (place as u64) << 32 | next.min(1 << bits) as u64
        };
        Some(Cells { first, bits, cells: (0..count).map(cell).collect() })
    }

    /// Replaces `out` by the place of each instant, which all lie within the range.
    fn places(&self, instants: &[i64], out: &mut Vec<u32>) {
        let (cells, mask) = (self.cells.as_slice(), (1u64 << self.bits) - 1);
        out.extend(instants.iter().map(|instant| {
            let distance = instant.wrapping_sub(self.first) as u64;
            let cell = cells[(distance >> self.bits) as usize];
            (cell >> 32) as u32 + u32::from((distance & mask) as u32 >= cell as u32)
        }));
    }
}

impl DateBuckets {
    /// `range`: the first and the last instant that will be asked for most; `doc_count`: for how many
    /// documents at most.
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
            // Twice as many as there can be by their mean length: buckets at the ends of time are shorter.
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
            // The end of the last one.
            starts.push(start);
            buckets.per_milli = (starts.len() - 1) as f64 / start.saturating_sub(starts[0]).max(1) as f64;
            buckets.equal = Equal::of(&starts);
            buckets.cells = Cells::of(&starts);
            buckets.starts = starts;
        }
        buckets
    }

    /// How many buckets have a place; 0 when places are not known.
    pub fn place_count(&self) -> usize {
        self.cells.as_ref().map_or(0, |_| self.starts.len() - 1)
    }

    /// Appends the place of each instant to `out`; all lie within the range.
    pub fn places(&self, instants: &[i64], out: &mut Vec<u32>) {
        match (&self.equal, &self.cells) {
            (Some(equal), Some(_)) => equal.places(instants, out),
            (None, Some(cells)) => cells.places(instants, out),
            (_, None) => {}
        }
    }

    /// The start of the bucket at a place.
    pub fn start_at(&self, place: u32) -> i64 {
        self.starts[place as usize]
    }

    /// The bucket of an instant. Of a bucket that was not computed ahead `end` may come too early, never too
    /// late.
    #[inline]
    pub fn span_of(&mut self, instant: i64) -> Span {
        match self.place_of(instant) {
            Some(at) => Span { start: self.starts[at], end: self.starts[at + 1] },
            None => self.span_beyond(instant),
        }
    }

    /// The start of the bucket after the one that starts at `start`.
    pub fn next(&mut self, start: i64) -> i64 {
        match self.span_of_season(start) {
            Some(span) => span.end.max(start.saturating_add(1)),
            None => self.rounding.next(start),
        }
    }

    /// The instant's bucket among those computed ahead.
    #[inline]
    fn place_of(&mut self, instant: i64) -> Option<usize> {
        let is_in = |at: usize| match self.starts.get(at..at.saturating_add(2)) {
            Some([start, end]) => *start <= instant && instant < *end,
            _ => false,
        };
        if is_in(self.at) {
            return Some(self.at);
        }
        // Buckets are about equally long: a guess is mostly right or one off.
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
        // Only what is known for sure: the next start may lie beyond a change of the clock.
        let end = match self.rounding.zone {
            Zone::Region(_) => instant.saturating_add(1),
            _ => self.rounding.next(start).max(instant.saturating_add(1)),
        };
        Span { start, end }
    }

    /// The bucket of an instant in a region, if it lies within a season.
    fn span_of_season(&mut self, instant: i64) -> Option<Span> {
        if !matches!(self.rounding.zone, Zone::Region(_)) {
            return None;
        }
        let is_it = |season: &Season| season.start <= instant && instant < season.end;
        let at = match self.seasons.iter().position(is_it) {
            Some(at) => at,
            None => {
                let (start, end) = self.rounding.zone.season_at(instant)?;
                let seconds = self.rounding.zone.offset_seconds_at(instant);
                let rounding = Rounding { zone: Zone::Fixed { seconds }, ..self.rounding.clone() };
                self.seasons.push(Season { start, end, rounding });
                self.seasons.len() - 1
            }
        };
        let season = &self.seasons[at];
        let start = season.rounding.round(instant);
        let span = Span { start, end: season.rounding.next(start) };
        (span.start >= season.start && span.end <= season.end && span.end > instant).then_some(span)
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
                Interval::FixedMillis(5_400_000), Interval::FixedMillis(3 * 86_400_000),
            ]),
        ) {
            let rounding = Rounding { interval, zone: Zone::parse(zone).expect("a zone"), offset_millis: 0 };
            let mut buckets = DateBuckets::new(rounding.clone(), Some((first, first + length)), 0);
            for instant in instants {
                let span = buckets.span_of(instant);
                prop_assert_eq!(span.start, rounding.round(instant));
                prop_assert!(span.contains(instant));
                prop_assert_eq!(rounding.round(span.end - 1), span.start);
                if buckets.place_count() > 0 && (first..=first + length).contains(&instant) {
                    let mut places = Vec::new();
                    buckets.places(&[instant], &mut places);
                    prop_assert_eq!(buckets.start_at(places[0]), span.start);
                }
            }
        }
    }
}
