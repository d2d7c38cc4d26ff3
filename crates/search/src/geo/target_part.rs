//! Parts of a target: "does this part of a document's shape meet that point, line, polygon or circle?"

use limber_mapping::geo::{
    GRID_TURN, GridBounds, GridEdges, GridPoint, GridTree, Meeting, Part, PartKind, Position, Side, Surface,
    edges_of_line, is_on, sort_by_place,
};
use limber_segment::points::Overlap;
use limber_work as work;

use super::plane_circle::PlaneCircle;
use super::shape::Circle;

/// A part of a target.
#[derive(Debug)]
pub(super) enum TargetPart {
    Point(GridPoint),
    Line(GridEdges),
    Polygon { outer: GridEdges, holes: Holes },
    Circle(Circle),
    PlaneCircle(PlaneCircle),
}

/// Holes of one polygon, each once, sorted by position.
#[derive(Debug)]
pub(super) struct Holes {
    holes: Vec<GridEdges>,
    tree: GridTree<GridBounds>,
}

impl Holes {
    /// Builds the holes from their rings.
    pub fn of(surface: Surface, rings: &[Vec<GridPoint>]) -> Holes {
        let mut rings: Vec<&Vec<GridPoint>> = rings.iter().collect();
        rings.sort_unstable();
        rings.dedup();
        let mut holes: Vec<GridEdges> =
            rings.into_iter().map(|ring| GridEdges::new(surface, [ring.as_slice()])).collect();
        sort_by_place(&mut holes, |hole| *hole.bounds());
        let bounds: Vec<GridBounds> = holes.iter().map(|hole| *hole.bounds()).collect();
        Holes { holes, tree: GridTree::around(&bounds) }
    }

    /// Whether `is_found` holds for any hole that may touch a rectangle.
    fn any_near(&self, bounds: &GridBounds, is_found: impl Fn(&GridEdges) -> bool) -> bool {
        self.tree.any_near(bounds, |hole| is_found(&self.holes[hole]))
    }
}

/// Returns a point moved by `shift` steps to the east.
pub(super) fn moved((x, y): GridPoint, shift: i64) -> GridPoint {
    (x + shift, y)
}

/// Returns the whole turns that move a rectangle to where it touches another.
pub(super) fn shifts(own: &GridBounds, other: &GridBounds) -> impl Iterator<Item = i64> + use<> {
    let is_near = own.y.0 <= other.y.1 && other.y.0 <= own.y.1;
    let first = -(other.x.1 - own.x.0).div_euclid(GRID_TURN);
    let last = if is_near { (own.x.1 - other.x.0).div_euclid(GRID_TURN) } else { first - 1 };
    (first..=last).map(|turns| turns * GRID_TURN)
}

/// Edges of a document between two checks whether the request may continue.
const EDGES_BETWEEN_CHECKS: usize = 64;

/// Whether the work may continue: edges of a shape times edges of a document may be much. What is found
/// after `false` is not used, because the caller stops too.
fn may_continue(edge: usize) -> bool {
    !(edge + 1).is_multiple_of(EDGES_BETWEEN_CHECKS) || work::check_beyond_deadline().is_ok()
}

fn degrees(at: GridPoint) -> Position {
    Surface::Globe.position(at)
}

/// A part of a document's shape.
pub(super) struct DocPart<'d> {
    surface: Surface,
    pub kind: PartKind,
    lists: &'d [Vec<GridPoint>],
    pub bounds: GridBounds,
}

impl<'d> DocPart<'d> {
    /// Reads a part of a shape that lies on this surface.
    pub fn of(surface: Surface, part: &'d Part) -> DocPart<'d> {
        let bounds = GridBounds::of(part.lists.iter().flatten());
        DocPart { surface, kind: part.kind, lists: &part.lists, bounds }
    }

    /// Iterates over all points; the first point of a ring occurs twice.
    pub fn points(&self) -> impl Iterator<Item = GridPoint> {
        self.lists.iter().flatten().copied()
    }

    /// Iterates over the edges of its lines or rings.
    pub fn edges(&self) -> impl Iterator<Item = (GridPoint, GridPoint)> {
        self.lists.iter().flat_map(|list| edges_of_line(list))
    }

    /// Returns the relation of a point to the rings of a polygon.
    fn side_of(&self, at: GridPoint) -> Side {
        if !self.bounds.holds(at) {
            return Side::Outside;
        }
        let mut is_inside = false;
        for (a, b) in self.edges() {
            let (low, high) = (a.1.min(b.1), a.1.max(b.1));
            if at.1 < low || high < at.1 || a.0.max(b.0) < at.0 {
                continue;
            }
            let turn = self.surface.turn(a, b, at);
            if turn == 0 && a.0.min(b.0) <= at.0 {
                return Side::On;
            }
            // The edge crosses the ray from the point to the east.
            if (a.1 > at.1) != (b.1 > at.1) {
                is_inside ^= (turn > 0) == (b.1 > a.1);
            }
        }
        if is_inside { Side::Inside } else { Side::Outside }
    }

    fn is_polygon_around(&self, at: GridPoint, shift: i64) -> bool {
        self.kind == PartKind::Polygon && self.side_of(moved(at, -shift)) != Side::Outside
    }
}

/// What a part of a document's shape implies about whether the document contains a target (Lucene's
/// `WithinRelation`).
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Apart,
    Against,
    For,
}

impl TargetPart {
    /// Returns the smallest rectangle of the grid around the part.
    pub fn bounds(&self) -> GridBounds {
        match self {
            TargetPart::Point(point) => GridBounds::of([point]),
            TargetPart::Line(edges) | TargetPart::Polygon { outer: edges, .. } => *edges.bounds(),
            TargetPart::Circle(circle) => circle.grid_bounds(),
            TargetPart::PlaneCircle(circle) => circle.grid_bounds(),
        }
    }

    /// Returns the turns that bring a document's part near this one.
    fn shifts(&self, part: &DocPart<'_>) -> impl Iterator<Item = i64> + use<> {
        shifts(&self.bounds(), &part.bounds)
    }

    /// Returns a point of the part.
    pub fn anchor(&self) -> Option<GridPoint> {
        match self {
            TargetPart::Point(point) => Some(*point),
            TargetPart::Line(edges) | TargetPart::Polygon { outer: edges, .. } => edges.first_point(),
            TargetPart::Circle(circle) => Some(circle.grid_center()),
            TargetPart::PlaneCircle(circle) => Some(circle.grid_center()),
        }
    }

    /// Returns the relation of a rectangle that may touch the part to it.
    pub fn overlap(&self, bounds: &GridBounds) -> Overlap {
        match self {
            TargetPart::PlaneCircle(circle) => circle.overlap(bounds),
            TargetPart::Point(point) if bounds.holds(*point) => Overlap::Some,
            TargetPart::Line(edges) if edges.touch(bounds) => Overlap::Some,
            TargetPart::Polygon { outer, holes }
                if outer.touch(bounds) || holes.any_near(bounds, |hole| hole.touch(bounds)) =>
            {
                Overlap::Some
            }
            TargetPart::Polygon { .. } if self.has((bounds.x.0, bounds.y.0)) => Overlap::All,
            _ => Overlap::None,
        }
    }

    /// Whether a point is in the part.
    pub fn has(&self, at: GridPoint) -> bool {
        match self {
            TargetPart::Point(point) => *point == at,
            TargetPart::Line(edges) => edges.is_on(at),
            TargetPart::Polygon { outer, holes } => {
                let bounds = GridBounds::of([&at]);
                outer.side_of(at) != Side::Outside
                    && !holes.any_near(&bounds, |hole| hole.side_of(at) != Side::Outside)
            }
            TargetPart::Circle(circle) => circle.has(degrees(at)),
            TargetPart::PlaneCircle(circle) => circle.has(Surface::Plane.position(at)),
        }
    }

    /// Whether a line of a document meets the part.
    fn meets_line(&self, surface: Surface, a: GridPoint, b: GridPoint) -> bool {
        match self {
            TargetPart::Point(point) => is_on(surface, a, b, *point),
            TargetPart::Line(edges) => edges.meets(a, b, Meeting::Touching),
            TargetPart::Polygon { outer, holes } => {
                self.has(a)
                    || self.has(b)
                    || outer.meets(a, b, Meeting::Touching)
                    || holes.any_near(&GridBounds::of([&a, &b]), |hole| hole.meets(a, b, Meeting::Crossing))
            }
            TargetPart::Circle(circle) => {
                self.has(a) || self.has(b) || circle.meets_line(degrees(a), degrees(b))
            }
            TargetPart::PlaneCircle(circle) => {
                circle.meets_line(Surface::Plane.position(a), Surface::Plane.position(b))
            }
        }
    }

    /// Whether a part of a document's shape, moved by `shift`, meets this one.
    pub fn meets(&self, part: &DocPart<'_>, shift: i64) -> bool {
        let edges = part.edges().enumerate().take_while(|(number, _)| may_continue(*number));
        let meets_edges = || {
            let mut edges = edges.map(|(_, (a, b))| (moved(a, shift), moved(b, shift)));
            edges.any(|(a, b)| self.meets_line(part.surface, a, b))
        };
        match part.kind {
            PartKind::Points => part.points().any(|point| self.has(moved(point, shift))),
            PartKind::Line => meets_edges(),
            PartKind::Polygon => {
                meets_edges() || self.anchor().is_some_and(|anchor| part.is_polygon_around(anchor, shift))
            }
        }
    }

    /// Whether a line is inside of the part.
    pub fn has_line(&self, a: GridPoint, b: GridPoint) -> bool {
        match self {
            TargetPart::Point(_) | TargetPart::Line(_) => false,
            TargetPart::Polygon { outer, holes } => {
                self.has(a)
                    && self.has(b)
                    && !outer.meets(a, b, Meeting::Crossing)
                    && !holes.any_near(&GridBounds::of([&a, &b]), |hole| hole.meets(a, b, Meeting::Touching))
            }
            TargetPart::Circle(_) | TargetPart::PlaneCircle(_) => self.has(a) && self.has(b),
        }
    }

    /// Whether a polygon of a document, moved by `shift`, is inside of the part.
    pub fn has_polygon(&self, part: &DocPart<'_>, shift: i64) -> bool {
        let edges = part.edges().enumerate().take_while(|(number, _)| may_continue(*number));
        let has_edges = || {
            let mut edges = edges.map(|(_, (a, b))| (moved(a, shift), moved(b, shift)));
            edges.all(|(a, b)| self.has_line(a, b))
        };
        match self {
            TargetPart::Point(_) | TargetPart::Line(_) => false,
            TargetPart::Circle(_) | TargetPart::PlaneCircle(_) => {
                part.points().all(|point| self.has(moved(point, shift)))
            }
            TargetPart::Polygon { holes, .. } => {
                let is_inside = |hole: &GridEdges| {
                    hole.first_point().is_some_and(|point| part.is_polygon_around(point, shift))
                };
                has_edges() && !holes.any_near(&part.bounds.shifted(shift), is_inside)
            }
        }
    }

    /// Whether a document with these parts contains this one.
    pub fn is_contained_in(&self, parts: &[DocPart<'_>]) -> bool {
        let mut is_held = false;
        for part in parts {
            for shift in self.shifts(part) {
                match self.verdict(part, shift) {
                    Verdict::Against => return false,
                    Verdict::For => is_held = true,
                    Verdict::Apart => {}
                }
            }
        }
        is_held
    }

    fn verdict(&self, part: &DocPart<'_>, shift: i64) -> Verdict {
        let verdict = |holds: bool, verdict: Verdict| if holds { verdict } else { Verdict::Apart };
        let is_inside = || self.anchor().is_some_and(|anchor| part.is_polygon_around(anchor, shift));
        match (self, part.kind) {
            (TargetPart::Point(at), PartKind::Points) => {
                verdict(part.points().any(|point| moved(point, shift) == *at), Verdict::For)
            }
            (TargetPart::Line(_), PartKind::Points) | (TargetPart::Point(_), PartKind::Line) => {
                Verdict::Apart
            }
            (TargetPart::Point(_), PartKind::Polygon) => verdict(is_inside(), Verdict::For),
            (_, PartKind::Points) => {
                verdict(part.points().any(|point| self.has(moved(point, shift))), Verdict::Against)
            }
            (_, PartKind::Line | PartKind::Polygon) => {
                let edges = part.edges().enumerate().take_while(|(number, _)| may_continue(*number));
                let mut edges = edges.map(|(_, (a, b))| (moved(a, shift), moved(b, shift)));
                if edges.any(|(a, b)| self.meets_line(part.surface, a, b)) {
                    return Verdict::Against;
                }
                verdict(is_inside(), Verdict::For)
            }
        }
    }
}
