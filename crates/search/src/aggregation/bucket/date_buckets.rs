//! Buckets of dates with a memory: "in which bucket is this instant, when most are where the last one was?"
//!
//! Rounding an instant costs tens of nanoseconds in UTC and some hundred where clocks change. The starts of all buckets between a
//! field's first and last instant are computed once, if they are few; then an instant costs a comparison, or a search. Between two
//! changes of its clock a region is rounded like a fixed offset.

use limber_mapping::date::Zone;

use super::rounding::Rounding;

/// Bucket starts that are computed ahead.
const STARTS_MAX: u64 = 1 << 12;

/// Instants of one bucket: from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: i64,
    pub end: i64,
}

impl Span {
    pub const NONE: Span = Span { start: 0, end: 0 };

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

#[derive(Debug)]
pub struct DateBuckets {
    pub rounding: Rounding,
    /// Starts of all buckets of the range, ascending, and the end of the last one; empty when they are not known.
    starts: Vec<i64>,
    /// Where the bucket asked for last begins in `starts`.
    at: usize,
    /// Buckets of `starts` a millisecond.
    per_milli: f64,
    /// Of a region, those met so far.
    seasons: Vec<Season>,
}

impl DateBuckets {
    /// `range`: the first and the last instant that will be asked for most.
    pub fn new(rounding: Rounding, range: Option<(i64, i64)>) -> DateBuckets {
        let few = range.filter(|(first, last)| rounding.buckets_between(*first, *last) <= STARTS_MAX);
        let mut buckets =
            DateBuckets { rounding, starts: Vec::new(), at: 0, per_milli: 0.0, seasons: Vec::new() };
        if let Some((first, last)) = few {
            let mut starts = Vec::new();
            let mut start = buckets.rounding.round(first);
            // Twice as many as there can be by their mean length: buckets at the ends of time are shorter.
            while start <= last && starts.len() as u64 <= 2 * STARTS_MAX {
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
            buckets.starts = starts;
        }
        buckets
    }

    /// The bucket of an instant. Of a bucket that was not computed ahead `end` may come too early, never too late.
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
                    let mut buckets = DateBuckets::new(rounding.clone(), Some((first, last)));
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
            let mut buckets = DateBuckets::new(rounding.clone(), Some((first, first + length)));
            for instant in instants {
                let span = buckets.span_of(instant);
                prop_assert_eq!(span.start, rounding.round(instant));
                prop_assert!(span.contains(instant));
                prop_assert_eq!(rounding.round(span.end - 1), span.start);
            }
        }
    }
}
