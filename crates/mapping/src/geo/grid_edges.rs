//! Predicates on lines between grid points: "do these lines touch, and is this point inside these rings?"
//!
//! Coordinates are integers, so no result on the globe depends on rounding ([`Surface::turn`]).

use limber_work as work;

use super::grid_tree::GridTree;
use super::surface::Surface;

/// A point on the grid of a [`Surface`]. On the globe a full turn has 2^32 steps, and `x` continues beyond
/// the map if a shape crosses the date line.
pub type GridPoint = (i64, i64);

/// A rectangle on the grid, limits included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GridBounds {
    /// West and east.
    pub x: (i64, i64),
    /// South and north.
    pub y: (i64, i64),
}

impl GridBounds {
    /// Contains nothing; grows by [`Self::add`].
    pub const NOTHING: GridBounds = GridBounds { x: (i64::MAX, i64::MIN), y: (i64::MAX, i64::MIN) };

    /// Returns the smallest rectangle around the points.
    pub fn of<'p>(points: impl IntoIterator<Item = &'p GridPoint>) -> GridBounds {
        points.into_iter().fold(GridBounds::NOTHING, |bounds, point| bounds.add(*point))
    }

    fn add(self, (x, y): GridPoint) -> GridBounds {
        GridBounds { x: (self.x.0.min(x), self.x.1.max(x)), y: (self.y.0.min(y), self.y.1.max(y)) }
    }

    /// Returns the smallest rectangle around both.
    #[must_use]
    pub fn with(self, other: &GridBounds) -> GridBounds {
        self.add((other.x.0, other.y.0)).add((other.x.1, other.y.1))
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

    /// Returns the rectangle moved by `x` steps to the east.
    pub fn shifted(self, x: i64) -> GridBounds {
        GridBounds { x: (self.x.0.saturating_add(x), self.x.1.saturating_add(x)), y: self.y }
    }
}

/// Whether `c`, which is on the line through `a` and `b`, is between them.
#[inline]
fn is_between(a: GridPoint, b: GridPoint, c: GridPoint) -> bool {
    a.0.min(b.0) <= c.0 && c.0 <= a.0.max(b.0) && a.1.min(b.1) <= c.1 && c.1 <= a.1.max(b.1)
}

/// Whether a point lies on the line between two others.
#[inline]
pub fn is_on(surface: Surface, a: GridPoint, b: GridPoint, c: GridPoint) -> bool {
    is_between(a, b, c) && surface.turn(a, b, c) == 0
}

/// How two line segments meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// They have no point in common.
    Apart,
    /// An end of one lies on the other.
    Touching,
    /// They cross at one inner point of both.
    Crossing,
}

/// Returns how the line from `a` to `b` meets the line from `c` to `d`.
#[inline]
pub fn meeting(surface: Surface, a: GridPoint, b: GridPoint, c: GridPoint, d: GridPoint) -> Meeting {
    if a.0.max(b.0) < c.0.min(d.0)
        || c.0.max(d.0) < a.0.min(b.0)
        || a.1.max(b.1) < c.1.min(d.1)
        || c.1.max(d.1) < a.1.min(b.1)
    {
        return Meeting::Apart;
    }
    let (abc, abd) = (surface.turn(a, b, c), surface.turn(a, b, d));
    if abc * abd > 0 {
        return Meeting::Apart;
    }
    let (cda, cdb) = (surface.turn(c, d, a), surface.turn(c, d, b));
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
pub fn touches_bounds(surface: Surface, a: GridPoint, b: GridPoint, bounds: &GridBounds) -> bool {
    let GridBounds { x, y } = *bounds;
    if a.0.max(b.0) < x.0 || a.0.min(b.0) > x.1 || a.1.max(b.1) < y.0 || a.1.min(b.1) > y.1 {
        return false;
    }
    if a == b {
        return true;
    }
    // If all corners are on one side, the line does not touch the rectangle.
    let corners = [(x.0, y.0), (x.1, y.0), (x.0, y.1), (x.1, y.1)];
    let turns = corners.map(|corner| surface.turn(a, b, corner));
    !(turns.iter().all(|turn| *turn > 0) || turns.iter().all(|turn| *turn < 0))
}

/// The position of a point relative to rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// In none of the rings, or in a hole.
    Outside,
    /// On an edge.
    On,
    /// In the area that the rings enclose.
    Inside,
}

/// Edges with a tree of bounding rectangles, so that a query examines few of them. Consecutive edges of lines
/// and rings are close together, and for a run that is wholly to the east of a point only its ends matter.
#[derive(Debug)]
pub struct GridEdges {
    surface: Surface,
    edges: Vec<(GridPoint, GridPoint)>,
    tree: GridTree<Run>,
    bounds: GridBounds,
}

/// Consecutive edges.
#[derive(Debug, Clone, Copy)]
struct Run {
    bounds: GridBounds,
    /// Whether each edge starts where the previous one ends.
    is_chain: bool,
}

/// Number of edges that a query examines between two checks for cancellation.
const EDGES_BETWEEN_CHECKS: u32 = 1 << 16;

/// A query was given up because too many edges are close to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyPairs;

/// Returns the edges of a line or a ring, without edges of length zero. A line whose points are all equal is
/// one edge of length zero.
pub fn edges_of_line(line: &[GridPoint]) -> impl Iterator<Item = (GridPoint, GridPoint)> {
    let is_place = line.first().is_some_and(|first| line.iter().all(|point| point == first));
    let place = line.first().filter(|_| is_place).map(|only| (*only, *only));
    place.into_iter().chain(line.windows(2).map(|pair| (pair[0], pair[1])).filter(|(a, b)| a != b))
}

impl GridEdges {
    /// Builds the tree for the edges of lines or rings.
    pub fn new<'l>(surface: Surface, lines: impl IntoIterator<Item = &'l [GridPoint]>) -> GridEdges {
        let edges: Vec<_> = lines.into_iter().flat_map(edges_of_line).collect();
        let bounds = GridBounds::of(edges.iter().flat_map(|(a, b)| [a, b]));
        let is_joined = |at: usize| edges[at - 1].1 == edges[at].0;
        let of_edges = |run: std::ops::Range<usize>| Run {
            bounds: GridBounds::of(edges[run.clone()].iter().flat_map(|(a, b)| [a, b])),
            is_chain: run.skip(1).all(is_joined),
        };
        let of_runs = |all: &Run, run: &Run, joint: usize| Run {
            bounds: all.bounds.with(&run.bounds),
            is_chain: all.is_chain && run.is_chain && is_joined(joint),
        };
        let tree = GridTree::new(edges.len(), of_edges, of_runs);
        GridEdges { surface, edges, tree, bounds }
    }

    /// Returns the smallest rectangle around all edges.
    pub fn bounds(&self) -> &GridBounds {
        &self.bounds
    }

    /// Returns all edges in the order in which they were given.
    pub fn edges(&self) -> &[(GridPoint, GridPoint)] {
        &self.edges
    }

    /// Returns the start of the first edge; `None` if there are none.
    pub fn first_point(&self) -> Option<GridPoint> {
        self.edges.first().map(|(start, _)| *start)
    }

    /// Calls `is_found` for the edges of all runs that `may_hold` accepts, until it returns true. `may_hold`
    /// also gets the start and the end of the run.
    fn any(
        &self,
        mut may_hold: impl FnMut(&Run, GridPoint, GridPoint) -> bool,
        mut is_found: impl FnMut(GridPoint, GridPoint) -> bool,
    ) -> bool {
        let edges = &self.edges;
        self.tree.any(
            |run, of| may_hold(run, edges[of.start].0, edges[of.end - 1].1),
            |edge| is_found(edges[edge].0, edges[edge].1),
        )
    }

    /// Returns the position of a point relative to the rings formed by the edges. A point within an odd
    /// number of rings is inside.
    pub fn side_of(&self, at: GridPoint) -> Side {
        if !self.bounds.holds(at) {
            return Side::Outside;
        }
        // Counts how many edges cross the ray from the point to the east.
        let crossings = std::cell::Cell::new(0u32);
        let crosses = |a: GridPoint, b: GridPoint| (a.1 > at.1) != (b.1 > at.1);
        let may_hold = |run: &Run, start: GridPoint, end: GridPoint| {
            let GridBounds { x, y } = run.bounds;
            if at.1 < y.0 || y.1 < at.1 || x.1 < at.0 {
                return false;
            }
            let is_beyond = run.is_chain && at.0 < x.0;
            crossings.set(crossings.get() ^ u32::from(is_beyond && crosses(start, end)));
            !is_beyond
        };
        let is_on_any = self.any(may_hold, |a, b| {
            let is_crossing = crosses(a, b) && (self.surface.turn(a, b, at) > 0) == (b.1 > a.1);
            crossings.set(crossings.get() ^ u32::from(is_crossing));
            is_on(self.surface, a, b, at)
        });
        match is_on_any {
            true => Side::On,
            false if crossings.get() == 1 => Side::Inside,
            false => Side::Outside,
        }
    }

    /// Whether a point lies on an edge.
    pub fn is_on(&self, at: GridPoint) -> bool {
        self.any(|run, _, _| run.bounds.holds(at), |a, b| is_on(self.surface, a, b, at))
    }

    /// Whether any edge meets the line between two points at least as closely as `wanted`. After a
    /// cancellation the result is meaningless, but then the caller ends too.
    pub fn meets(&self, a: GridPoint, b: GridPoint, wanted: Meeting) -> bool {
        let line = GridBounds::of([&a, &b]);
        let mut looked_at = 0u32;
        let mut is_met = false;
        self.any(
            |run, _, _| line.touches(&run.bounds) && touches_bounds(self.surface, a, b, &run.bounds),
            |c, d| {
                is_met = match meeting(self.surface, a, b, c, d) {
                    Meeting::Apart => false,
                    Meeting::Touching => wanted == Meeting::Touching,
                    Meeting::Crossing => true,
                };
                looked_at += 1;
                is_met
                    || (looked_at.is_multiple_of(EDGES_BETWEEN_CHECKS)
                        && work::check_beyond_deadline().is_err())
            },
        );
        is_met
    }

    /// Returns an edge that crosses the line between two points. `pairs_left` is the number of edges that may
    /// still be examined.
    ///
    /// # Errors
    /// None are left.
    pub fn crossing(
        &self,
        a: GridPoint,
        b: GridPoint,
        pairs_left: &mut u64,
    ) -> Result<Option<(GridPoint, GridPoint)>, TooManyPairs> {
        let line = GridBounds::of([&a, &b]);
        let mut found = Ok(None);
        self.any(
            |run, _, _| line.touches(&run.bounds),
            |c, d| {
                match pairs_left.checked_sub(1) {
                    None => found = Err(TooManyPairs),
                    Some(left) => *pairs_left = left,
                }
                if found.is_ok() && meeting(self.surface, a, b, c, d) == Meeting::Crossing {
                    found = Ok(Some((c, d)));
                }
                found != Ok(None)
            },
        );
        found
    }

    /// Whether any edge touches a rectangle.
    pub fn touch(&self, bounds: &GridBounds) -> bool {
        self.any(|run, _, _| run.bounds.touches(bounds), |a, b| touches_bounds(self.surface, a, b, bounds))
    }
}

#[cfg(test)]
mod tests {
    use super::Surface::Globe;
    use super::*;

    #[test]
    fn lines_meet_exactly() {
        let check = |a, b, c, d, expected| {
            assert_eq!(meeting(Globe, a, b, c, d), expected, "{a:?} {b:?} {c:?} {d:?}");
            assert_eq!(meeting(Globe, c, d, b, a), expected, "{c:?} {d:?} {b:?} {a:?}");
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
    fn edges_that_are_far_are_not_looked_at() {
        let zigzag: Vec<GridPoint> = (0..40_000).map(|x| (x, x % 2 * 1_000_000)).collect();
        let edges = GridEdges::new(Globe, [zigzag.as_slice()]);
        let mut pairs_left = 100;
        assert_eq!(edges.crossing((5, 1), (5, 7), &mut pairs_left), Ok(None));
        assert!(pairs_left > 80, "{pairs_left}");
        assert_eq!(edges.crossing((5, 1), (30_000, 1), &mut 0), Err(TooManyPairs));
        let lines = [&[(1, 2); 1_000_000][..], &[(1, 2), (1, 2), (3, 4), (3, 4)][..]];
        let standing = GridEdges::new(Globe, lines);
        assert_eq!(standing.edges(), [((1, 2), (1, 2)), ((1, 2), (3, 4))]);
        assert!(standing.is_on((2, 3)) && !standing.is_on((2, 2)));
        let none = GridEdges::new(Globe, []);
        assert!(
            !none.is_on((0, 0))
                && !none.touch(&GridBounds::of([&(0, 0)]))
                && none.side_of((0, 0)) == Side::Outside
        );
    }

    /// Compares points, lines and rectangles around rings with many runs, one of them open, with a check of
    /// all edges one by one.
    #[test]
    fn runs_answer_as_all_edges_do() {
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % below) as i64
        };
        for count in [1usize, 3, 7, 8, 9, 30, 64, 65, 700] {
            let mut ring: Vec<GridPoint> = (0..count).map(|_| (next(40), next(40))).collect();
            ring.push(ring[0]);
            let around = [(-5, -5), (50, -5), (50, 50), (-5, 50), (-5, -5)];
            let edges = GridEdges::new(Globe, [&around[..], &ring[..]]);
            for _ in 0..400 {
                let (a, b) = ((next(60) - 10, next(60) - 10), (next(60) - 10, next(60) - 10));
                let all = edges.edges();
                let inside = all.iter().filter(|(c, d)| {
                    (c.1 > a.1) != (d.1 > a.1) && (Globe.turn(*c, *d, a) > 0) == (d.1 > c.1)
                });
                let side = match inside.count() % 2 {
                    _ if all.iter().any(|(c, d)| is_on(Globe, *c, *d, a)) => Side::On,
                    0 => Side::Outside,
                    _ => Side::Inside,
                };
                assert_eq!(edges.side_of(a), side, "{count} {a:?}");
                assert_eq!(edges.is_on(a), side == Side::On);
                let bounds = GridBounds::of([&a, &b]);
                let is_touched = all.iter().any(|(c, d)| touches_bounds(Globe, *c, *d, &bounds));
                assert_eq!(edges.touch(&bounds), is_touched);
                for wanted in [Meeting::Touching, Meeting::Crossing] {
                    let is_met = all.iter().map(|(c, d)| meeting(Globe, a, b, *c, *d)).any(|found| {
                        found == Meeting::Crossing || (found == Meeting::Touching && wanted == found)
                    });
                    assert_eq!(edges.meets(a, b, wanted), is_met, "{count} {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn rings_know_their_inside() {
        let square = |from: i64, to: i64| vec![(from, from), (to, from), (to, to), (from, to), (from, from)];
        let rings = [square(0, 100), square(40, 60)];
        let edges = GridEdges::new(Globe, rings.iter().map(Vec::as_slice));
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
