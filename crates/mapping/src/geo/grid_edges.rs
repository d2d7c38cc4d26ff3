//! Lines between points of the grid, exactly: "does this one touch that one, and is this point inside of
//! those?"
//!
//! Coordinates are whole numbers, so that no answer depends on rounding.

/// A place on the grid of 2^32 steps a full turn ([`super::encode_longitude`], [`super::encode_latitude`]).
/// `x` goes on beyond the map where a shape crosses the date line.
pub type GridPoint = (i64, i64);

/// A rectangle of the grid, ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GridBounds {
    /// West and east.
    pub x: (i64, i64),
    /// South and north.
    pub y: (i64, i64),
}

impl GridBounds {
    /// Holds nothing; grows by [`Self::add`].
    pub const NOTHING: GridBounds = GridBounds { x: (i64::MAX, i64::MIN), y: (i64::MAX, i64::MIN) };

    /// The smallest rectangle around the points.
    pub fn of<'p>(points: impl IntoIterator<Item = &'p GridPoint>) -> GridBounds {
        points.into_iter().fold(GridBounds::NOTHING, |bounds, point| bounds.add(*point))
    }

    fn add(self, (x, y): GridPoint) -> GridBounds {
        GridBounds { x: (self.x.0.min(x), self.x.1.max(x)), y: (self.y.0.min(y), self.y.1.max(y)) }
    }

    /// Whether the rectangles have a point in common.
    #[inline]
    pub fn touches(&self, other: &GridBounds) -> bool {
        self.x.0 <= other.x.1 && other.x.0 <= self.x.1 && self.y.0 <= other.y.1 && other.y.0 <= self.y.1
    }

    /// Whether the point lies inside or on the border.
    #[inline]
    pub fn holds(&self, (x, y): GridPoint) -> bool {
        self.x.0 <= x && x <= self.x.1 && self.y.0 <= y && y <= self.y.1
    }

    /// The rectangle moved by `x` steps to the east.
    pub fn shifted(self, x: i64) -> GridBounds {
        GridBounds { x: (self.x.0.saturating_add(x), self.x.1.saturating_add(x)), y: self.y }
    }
}

/// On which side of the line from `a` to `b` the point `c` lies: positive on the left, 0 on it.
#[inline]
pub fn turn(a: GridPoint, b: GridPoint, c: GridPoint) -> i32 {
    let (abx, aby, acx, acy) = (b.0 - a.0, b.1 - a.1, c.0 - a.0, c.1 - a.1);
    // Products of 31 bits and their difference fit 64.
    let widest = (abx.abs() | aby.abs() | acx.abs() | acy.abs()).leading_zeros();
    if widest > 33 {
        return (abx * acy - aby * acx).signum() as i32;
    }
    (i128::from(abx) * i128::from(acy) - i128::from(aby) * i128::from(acx)).signum() as i32
}

/// Whether `c`, which is on the line through `a` and `b`, is between them.
#[inline]
fn is_between(a: GridPoint, b: GridPoint, c: GridPoint) -> bool {
    a.0.min(b.0) <= c.0 && c.0 <= a.0.max(b.0) && a.1.min(b.1) <= c.1 && c.1 <= a.1.max(b.1)
}

/// Whether a point lies on the line between two others.
#[inline]
pub fn is_on(a: GridPoint, b: GridPoint, c: GridPoint) -> bool {
    is_between(a, b, c) && turn(a, b, c) == 0
}

/// How two lines meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// They have no point in common.
    Apart,
    /// An end of one is on the other.
    Touching,
    /// They share one inner point of both, and go on to the other side.
    Crossing,
}

/// How the line from `a` to `b` meets that from `c` to `d`.
#[inline]
pub fn meeting(a: GridPoint, b: GridPoint, c: GridPoint, d: GridPoint) -> Meeting {
    if a.0.max(b.0) < c.0.min(d.0)
        || c.0.max(d.0) < a.0.min(b.0)
        || a.1.max(b.1) < c.1.min(d.1)
        || c.1.max(d.1) < a.1.min(b.1)
    {
        return Meeting::Apart;
    }
    let (abc, abd) = (turn(a, b, c), turn(a, b, d));
    if abc * abd > 0 {
        return Meeting::Apart;
    }
    let (cda, cdb) = (turn(c, d, a), turn(c, d, b));
    if abc * abd < 0 && cda * cdb < 0 {
        return Meeting::Crossing;
    }
    let touches = (abc == 0 && is_between(a, b, c))
        || (abd == 0 && is_between(a, b, d))
        || (cda == 0 && is_between(c, d, a))
        || (cdb == 0 && is_between(c, d, b));
    if touches { Meeting::Touching } else { Meeting::Apart }
}

/// Whether the line between two points touches a rectangle.
#[inline]
pub fn touches_bounds(a: GridPoint, b: GridPoint, bounds: &GridBounds) -> bool {
    let GridBounds { x, y } = *bounds;
    if a.0.max(b.0) < x.0 || a.0.min(b.0) > x.1 || a.1.max(b.1) < y.0 || a.1.min(b.1) > y.1 {
        return false;
    }
    if a == b {
        return true;
    }
    // All corners on one side: the line passes by.
    let turns = [(x.0, y.0), (x.1, y.0), (x.0, y.1), (x.1, y.1)].map(|corner| turn(a, b, corner));
    !(turns.iter().all(|turn| *turn > 0) || turns.iter().all(|turn| *turn < 0))
}

/// Where a point lies to rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// In none of the rings, or in a hole.
    Outside,
    /// On a line.
    On,
    /// In the area that the rings enclose.
    Inside,
}

/// Lines sorted into bands of latitude, so that a question looks at few of them.
#[derive(Debug)]
pub struct GridEdges {
    edges: Vec<(GridPoint, GridPoint)>,
    /// Where the edges of each band start in `by_band`; one more than there are bands.
    band_starts: Vec<u32>,
    by_band: Vec<u32>,
    bounds: GridBounds,
}

/// Most bands that edges are sorted into.
const BANDS_MAX: usize = 4096;

/// Most bands that an edge goes through on average: tall ones have fewer bands instead of being listed in
/// thousands of them.
const BANDS_AN_EDGE_MAX: u64 = 16;

/// A question of edges that was given up, because too many of them are near one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyPairs;

impl GridEdges {
    /// The edges of lines or rings; those of one point are lines of no length.
    pub fn new<'l>(lines: impl IntoIterator<Item = &'l [GridPoint]>) -> GridEdges {
        let mut edges = Vec::new();
        for line in lines {
            match line {
                [only] => edges.push((*only, *only)),
                _ => edges.extend(line.windows(2).map(|pair| (pair[0], pair[1]))),
            }
        }
        let bounds = GridBounds::of(edges.iter().flat_map(|(a, b)| [a, b]));
        let mut this = GridEdges { edges, band_starts: Vec::new(), by_band: Vec::new(), bounds };
        let bands = this.band_count();
        this.band_starts = vec![0; bands + 1];
        let of_edge = |this: &GridEdges, edge: usize| {
            let ((_, a), (_, b)) = this.edges[edge];
            this.band(a.min(b))..=this.band(a.max(b))
        };
        for edge in 0..this.edges.len() {
            of_edge(&this, edge).for_each(|band| this.band_starts[band + 1] += 1);
        }
        for band in 0..bands {
            this.band_starts[band + 1] += this.band_starts[band];
        }
        let mut next = this.band_starts.clone();
        this.by_band = vec![0; this.band_starts[bands] as usize];
        for edge in 0..this.edges.len() {
            for band in of_edge(&this, edge) {
                this.by_band[next[band] as usize] = edge as u32;
                next[band] += 1;
            }
        }
        this
    }

    /// The smallest rectangle around all lines.
    pub fn bounds(&self) -> &GridBounds {
        &self.bounds
    }

    /// All lines in the order in which they were given.
    pub fn edges(&self) -> &[(GridPoint, GridPoint)] {
        &self.edges
    }

    /// Where the first line begins; `None` without lines.
    pub fn first_point(&self) -> Option<GridPoint> {
        self.edges.first().map(|(start, _)| *start)
    }

    fn band_count(&self) -> usize {
        let wanted = self.edges.len().div_ceil(4).clamp(1, BANDS_MAX);
        let height = self.bounds.y.1.abs_diff(self.bounds.y.0).max(1);
        // The height of all edges together, in heights of the whole.
        let tall: u128 = self.edges.iter().map(|((_, a), (_, b))| u128::from(a.abs_diff(*b))).sum();
        let heights = (tall / u128::from(height)).max(1);
        let most = self.edges.len() as u128 * u128::from(BANDS_AN_EDGE_MAX) / heights;
        wanted.min(usize::try_from(most).unwrap_or(BANDS_MAX)).max(1)
    }

    fn band(&self, y: i64) -> usize {
        let bands = self.band_starts.len() - 1;
        let (low, high) = self.bounds.y;
        let share = (y.clamp(low, high) - low) as u128 * bands as u128 / ((high - low) as u128 + 1);
        share as usize
    }

    /// Edges that may reach latitudes between two; one that goes through several bands comes several times.
    fn near(&self, y: (i64, i64)) -> impl Iterator<Item = (GridPoint, GridPoint)> {
        let is_near = !self.edges.is_empty() && y.0 <= self.bounds.y.1 && self.bounds.y.0 <= y.1;
        let bands = if is_near {
            self.band_starts[self.band(y.0)] as usize..self.band_starts[self.band(y.1) + 1] as usize
        } else {
            0..0
        };
        self.by_band[bands].iter().map(|edge| self.edges[*edge as usize])
    }

    /// Where a point lies to the rings that the edges make: inside of an odd number of them is inside.
    pub fn side_of(&self, at: GridPoint) -> Side {
        if !self.bounds.holds(at) {
            return Side::Outside;
        }
        let mut is_inside = false;
        for (a, b) in self.near((at.1, at.1)) {
            if is_on(a, b, at) {
                return Side::On;
            }
            if (a.1 > at.1) != (b.1 > at.1) {
                is_inside ^= (turn(a, b, at) > 0) == (b.1 > a.1);
            }
        }
        if is_inside { Side::Inside } else { Side::Outside }
    }

    /// Whether a point lies on an edge.
    pub fn is_on(&self, at: GridPoint) -> bool {
        self.bounds.holds(at) && self.near((at.1, at.1)).any(|(a, b)| is_on(a, b, at))
    }

    /// Whether any edge meets the line between two points at least as closely as `wanted`.
    pub fn meets(&self, a: GridPoint, b: GridPoint, wanted: Meeting) -> bool {
        let line = GridBounds::of([&a, &b]);
        self.bounds.touches(&line)
            && self.near(line.y).any(|(c, d)| match meeting(a, b, c, d) {
                Meeting::Apart => false,
                Meeting::Touching => wanted == Meeting::Touching,
                Meeting::Crossing => true,
            })
    }

    /// An edge that crosses the line between two points. `pairs_left`: how many edges may still be looked at.
    ///
    /// # Errors
    /// None are left.
    pub fn crossing(
        &self,
        a: GridPoint,
        b: GridPoint,
        pairs_left: &mut u64,
    ) -> Result<Option<(GridPoint, GridPoint)>, TooManyPairs> {
        // What has no length touches, and crosses nothing.
        if a == b {
            return Ok(None);
        }
        let line = GridBounds::of([&a, &b]);
        for (c, d) in self.near(line.y) {
            *pairs_left = pairs_left.checked_sub(1).ok_or(TooManyPairs)?;
            if meeting(a, b, c, d) == Meeting::Crossing {
                return Ok(Some((c, d)));
            }
        }
        Ok(None)
    }

    /// Whether any edge touches a rectangle.
    pub fn touch(&self, bounds: &GridBounds) -> bool {
        self.bounds.touches(bounds) && self.near(bounds.y).any(|(a, b)| touches_bounds(a, b, bounds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_meet_exactly() {
        let check = |a, b, c, d, expected| {
            assert_eq!(meeting(a, b, c, d), expected, "{a:?} {b:?} {c:?} {d:?}");
            assert_eq!(meeting(c, d, b, a), expected, "{c:?} {d:?} {b:?} {a:?}");
        };
        check((0, 0), (4, 4), (0, 4), (4, 0), Meeting::Crossing);
        check((0, 0), (4, 4), (2, 2), (4, 0), Meeting::Touching);
        check((0, 0), (4, 4), (1, 1), (2, 2), Meeting::Touching);
        check((0, 0), (4, 4), (5, 5), (6, 6), Meeting::Apart);
        check((0, 0), (4, 4), (3, 2), (4, 0), Meeting::Apart);
        check((0, 0), (0, 0), (0, 0), (4, 0), Meeting::Touching);
        let far = 1 << 33;
        check((-far, -far), (far, far), (-far, -far + 1), (far, far + 1), Meeting::Apart);
        check((-far, -far), (far, far), (-far, -far + 1), (far, far - 1), Meeting::Crossing);
    }

    #[test]
    fn tall_edges_have_few_bands() {
        let zigzag: Vec<GridPoint> = (0..40_000).map(|x| (x, x % 2 * 1_000_000)).collect();
        let edges = GridEdges::new([zigzag.as_slice()]);
        assert!(edges.by_band.len() <= 20 * edges.edges.len(), "{}", edges.by_band.len());
        assert_eq!(edges.crossing((5, 0), (5, 7), &mut 10), Err(TooManyPairs));
        assert_eq!(edges.crossing((5, 7), (5, 7), &mut 0), Ok(None));
    }

    #[test]
    fn rings_know_their_inside() {
        let square = |from: i64, to: i64| vec![(from, from), (to, from), (to, to), (from, to), (from, from)];
        let rings = [square(0, 100), square(40, 60)];
        let edges = GridEdges::new(rings.iter().map(Vec::as_slice));
        for (x, y, expected) in [
            (1, 1, Side::Inside),
            (0, 50, Side::On),
            (100, 100, Side::On),
            (50, 50, Side::Outside),
            (40, 50, Side::On),
            (101, 1, Side::Outside),
        ] {
            assert_eq!(edges.side_of((x, y)), expected, "{x} {y}");
        }
        let cell = |from: i64, to: i64| GridBounds { x: (from, to), y: (from, to) };
        assert!(edges.touch(&cell(30, 50)) && !edges.touch(&cell(45, 55)) && !edges.touch(&cell(10, 20)));
        assert!(edges.meets((50, 50), (50, 90), Meeting::Crossing));
        assert!(!edges.meets((40, 40), (40, 60), Meeting::Crossing));
        assert!(edges.meets((40, 40), (40, 60), Meeting::Touching));
    }
}
