//! Clips lines and polygons to a square, and simplifies them.

use limber_work::{self as work, Stop};

/// Pixels from the upper left corner of a tile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pixel {
    pub x: f64,
    pub y: f64,
}

/// The square from `least` to `most` both ways.
#[derive(Debug, Clone, Copy)]
pub(super) struct Box {
    pub least: f64,
    pub most: f64,
}

/// A side of a [`Box`]: its axis, its coordinate, and whether smaller coordinates are inside.
type Side = (bool, f64, bool);

impl Box {
    /// Whether a point is inside of the square or on its edge.
    pub fn contains(&self, at: Pixel) -> bool {
        let inside = |value: f64| value >= self.least && value <= self.most;
        inside(at.x) && inside(at.y)
    }

    fn sides(&self) -> [Side; 4] {
        [
            (true, self.least, false),
            (true, self.most, true),
            (false, self.least, false),
            (false, self.most, true),
        ]
    }

    /// Returns the part of a ring inside of the square, by the algorithm of Sutherland and Hodgman: parts
    /// that only touch each other through the outside are joined along the sides. Empty where nothing is
    /// inside.
    pub fn ring(&self, mut ring: Vec<Pixel>) -> Vec<Pixel> {
        for side in self.sides() {
            let mut kept = Vec::with_capacity(ring.len() + 4);
            for (at, &end) in ring.iter().enumerate() {
                let start = ring[if at == 0 { ring.len() - 1 } else { at - 1 }];
                let (starts_in, ends_in) = (is_inside(start, side), is_inside(end, side));
                if starts_in != ends_in {
                    kept.push(crossing(start, end, side));
                }
                if ends_in {
                    kept.push(end);
                }
            }
            ring = kept;
        }
        ring
    }

    /// Returns the parts of a line inside of the square.
    pub fn line(&self, line: &[Pixel]) -> Vec<Vec<Pixel>> {
        let mut parts: Vec<Vec<Pixel>> = Vec::new();
        let mut open: Vec<Pixel> = Vec::new();
        for pair in line.windows(2) {
            let Some((start, end)) = self.segment(pair[0], pair[1]) else {
                parts.extend((open.len() > 1).then(|| std::mem::take(&mut open)));
                open.clear();
                continue;
            };
            if open.last() != Some(&start) {
                parts.extend((open.len() > 1).then(|| std::mem::take(&mut open)));
                open = vec![start];
            }
            open.push(end);
        }
        parts.extend((open.len() > 1).then_some(open));
        parts
    }

    fn segment(&self, mut start: Pixel, mut end: Pixel) -> Option<(Pixel, Pixel)> {
        for side in self.sides() {
            match (is_inside(start, side), is_inside(end, side)) {
                (true, true) => {}
                (false, false) => return None,
                (true, false) => end = crossing(start, end, side),
                (false, true) => start = crossing(start, end, side),
            }
        }
        Some((start, end))
    }
}

fn is_inside(at: Pixel, (is_x, limit, inside_is_less): Side) -> bool {
    let value = if is_x { at.x } else { at.y };
    if inside_is_less { value <= limit } else { value >= limit }
}

fn crossing(start: Pixel, end: Pixel, (is_x, limit, _): Side) -> Pixel {
    let part =
        if is_x { (limit - start.x) / (end.x - start.x) } else { (limit - start.y) / (end.y - start.y) };
    match is_x {
        true => Pixel { x: limit, y: start.y + part * (end.y - start.y) },
        false => Pixel { x: start.x + part * (end.x - start.x), y: limit },
    }
}

/// Returns the pixel of a position, rounded as Java rounds.
pub(super) fn rounded(at: Pixel) -> (i64, i64) {
    ((at.x + 0.5).floor() as i64, (at.y + 0.5).floor() as i64)
}

/// How many times in a row a part of a line is divided at its farthest corner; after that it is divided in
/// the middle. A line on a real map needs about twice the logarithm of its number of corners. A spiral or a
/// fading zigzag would need one division per corner.
const DIVISIONS_MAX: u32 = 64;
/// Number of corners between two checks for cancellation.
pub(super) const CORNERS_BETWEEN_CHECKS: usize = 1 << 14;

/// Returns the corners that a line needs so that no other is more than a pixel away from it (Douglas and
/// Peucker). It keeps the first and the last corner. Among consecutive corners on the same pixel, it
/// considers only the first.
///
/// # Errors
/// The request was cancelled.
pub(super) fn simplified(line: &[Pixel]) -> Result<Vec<Pixel>, Stop> {
    let Some((first, rest)) = line.split_first() else { return Ok(Vec::new()) };
    let mut corners = vec![*first];
    if let Some((last, middle)) = rest.split_last() {
        for at in middle {
            if corners.last().is_none_or(|before| rounded(*before) != rounded(*at)) {
                corners.push(*at);
            }
        }
        corners.push(*last);
    }
    let (keeps, _) = needed(&corners)?;
    Ok(corners.iter().zip(keeps).filter(|(_, keep)| *keep).map(|(at, _)| *at).collect())
}

/// Returns which corners [`simplified`] keeps, and how many distances were computed: for each corner at most
/// [`DIVISIONS_MAX`] plus the logarithm of the number of corners. A part that has been divided
/// [`DIVISIONS_MAX`] times is halved instead, and keeps the corner in its middle.
fn needed(line: &[Pixel]) -> Result<(Vec<bool>, usize), Stop> {
    let mut keeps = vec![true; line.len()];
    let mut distance_count = 0;
    if line.len() < 3 {
        return Ok((keeps, distance_count));
    }
    keeps[1..line.len() - 1].fill(false);
    let (mut rest, mut checked_count) = (vec![(0, line.len() - 1, 0)], 0);
    while let Some((first, last, divisions)) = rest.pop() {
        distance_count += last - first;
        if distance_count - checked_count >= CORNERS_BETWEEN_CHECKS {
            checked_count = distance_count;
            work::check_beyond_deadline()?;
        }
        let far = (first + 1..last).map(|at| (at, distance(line[at], line[first], line[last])));
        let Some((farthest, _)) =
            far.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, far)| *far > 1.0)
        else {
            continue;
        };
        let at = if divisions < DIVISIONS_MAX { farthest } else { first.midpoint(last) };
        keeps[at] = true;
        rest.extend([(first, at, divisions + 1), (at, last, divisions + 1)]);
    }
    Ok((keeps, distance_count))
}

/// Returns the distance from a point to a line segment.
fn distance(at: Pixel, start: Pixel, end: Pixel) -> f64 {
    let (x, y) = (end.x - start.x, end.y - start.y);
    let length = x * x + y * y;
    let along = match length > 0.0 {
        true => (((at.x - start.x) * x + (at.y - start.y) * y) / length).clamp(0.0, 1.0),
        false => 0.0,
    };
    (start.x + along * x - at.x).hypot(start.y + along * y - at.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(list: &[(f64, f64)]) -> Vec<Pixel> {
        list.iter().map(|&(x, y)| Pixel { x, y }).collect()
    }

    const SQUARE: Box = Box { least: 0.0, most: 10.0 };

    #[test]
    fn a_ring_keeps_what_is_inside() {
        let around = pixels(&[(-5.0, -5.0), (15.0, -5.0), (15.0, 15.0), (-5.0, 15.0)]);
        let kept = SQUARE.ring(around);
        assert_eq!(kept.len(), 4);
        assert!(kept.iter().all(|at| SQUARE.contains(*at)));
        assert!(SQUARE.ring(pixels(&[(20.0, 0.0), (30.0, 0.0), (30.0, 9.0)])).is_empty());
    }

    #[test]
    fn a_line_falls_into_parts() {
        let line = pixels(&[(-5.0, 5.0), (5.0, 5.0), (5.0, 20.0), (8.0, 20.0), (8.0, 2.0)]);
        let parts = SQUARE.line(&line);
        let expected = [pixels(&[(0.0, 5.0), (5.0, 5.0), (5.0, 10.0)]), pixels(&[(8.0, 10.0), (8.0, 2.0)])];
        assert_eq!(parts, expected);
    }

    #[test]
    fn corners_of_less_than_a_pixel_go() {
        let line = pixels(&[(0.0, 0.0), (1.0, 0.5), (2.0, 0.0), (4.0, 6.0), (8.0, 0.0)]);
        assert_eq!(
            simplified(&line).expect("no limit"),
            pixels(&[(0.0, 0.0), (2.0, 0.0), (4.0, 6.0), (8.0, 0.0)])
        );
    }

    /// Returns a zigzag in which each corner is farther out than all later ones.
    fn fading_zigzag(corner_count: usize) -> Vec<Pixel> {
        let place = |at: usize| {
            let height = 4096.0 * (1.0 - at as f64 / corner_count as f64);
            Pixel { x: at as f64 / 16.0, y: if at.is_multiple_of(2) { height } else { -height } }
        };
        (0..corner_count).map(place).collect()
    }

    #[test]
    fn a_zigzag_takes_little_more_than_a_straight_line() {
        let line = fading_zigzag(20_000);
        let (keeps, distance_count) = needed(&line).expect("no limit");
        let most = line.len() * (DIVISIONS_MAX as usize + 1 + line.len().ilog2() as usize + 1);
        assert!(distance_count <= most, "{distance_count} {most}");
        let kept: Vec<usize> = (0..line.len()).filter(|at| keeps[*at]).collect();
        for ends in kept.windows(2) {
            for at in ends[0] + 1..ends[1] {
                assert!(distance(line[at], line[ends[0]], line[ends[1]]) <= 1.0, "{at}");
            }
        }
    }

    #[test]
    fn corners_on_one_pixel_count_once() {
        let line: Vec<Pixel> =
            (0..1000).map(|at| Pixel { x: f64::from(at) / 500.0, y: f64::from(at % 2) / 4.0 }).collect();
        let kept = simplified(&line).expect("no limit");
        assert_eq!(kept, [line[0], line[999]]);
        assert_eq!(simplified(&line[..1]).expect("no limit"), line[..1]);
        assert!(simplified(&[]).expect("no limit").is_empty());
    }

    #[test]
    fn a_cancelled_request_does_not_wait_for_a_line() {
        let work = work::Work::default();
        work.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let _entered = work.enter();
        assert_eq!(simplified(&fading_zigzag(20_000)), Err(Stop::Cancelled));
    }
}
