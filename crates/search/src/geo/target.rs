//! A shape that documents' shapes are compared with: "do they meet, does one contain the other?"
//!
//! Answers are Lucene's (`Component2D`, `LatLonShapeQuery`), on the grid of stored coordinates: a polygon
//! includes its edges but not those of its holes. A document contains only what does not touch its own edges.

use h3o::CellIndex;
use limber_mapping::RequestError;
use limber_mapping::geo::{
    GRID_TURN, GeoPoint, Geometry, GridBounds, GridEdges, GridPoint, GridShape, GridTree, Meeting, Part,
    PartKind, Rectangle, Side, edges_of_line, is_on, sort_by_place, steps_turned_to, turn,
};
use limber_segment::points::{Cell, Overlap};
use limber_work as work;

use super::shape::Circle;

/// The relation of a document's shapes to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShapeRelation {
    /// At least one of them meets it.
    Intersects,
    /// There are some, and none meets it.
    Disjoint,
    /// There are some, and all are in it.
    Within,
    /// Together they contain all of it.
    Contains,
}

/// A target: points, lines, polygons and circles.
#[derive(Debug)]
pub(crate) struct Target {
    /// Each part once, sorted by position.
    parts: Vec<TargetPart>,
    tree: GridTree<GridBounds>,
    bounds: GridBounds,
}

#[derive(Debug)]
enum TargetPart {
    Point(GridPoint),
    Line(GridEdges),
    Polygon { outer: GridEdges, holes: Holes },
    Circle(Circle),
}

/// Holes of one polygon, each once, sorted by position.
#[derive(Debug)]
struct Holes {
    holes: Vec<GridEdges>,
    tree: GridTree<GridBounds>,
}

impl Holes {
    fn of(rings: &[Vec<GridPoint>]) -> Holes {
        let mut rings: Vec<&Vec<GridPoint>> = rings.iter().collect();
        rings.sort_unstable();
        rings.dedup();
        let mut holes: Vec<GridEdges> =
            rings.into_iter().map(|ring| GridEdges::new([ring.as_slice()])).collect();
        sort_by_place(&mut holes, |hole| *hole.bounds());
        let bounds: Vec<GridBounds> = holes.iter().map(|hole| *hole.bounds()).collect();
        Holes { holes, tree: GridTree::around(&bounds) }
    }

    /// Whether `is_found` holds for any hole that may touch a rectangle.
    fn any_near(&self, bounds: &GridBounds, is_found: impl Fn(&GridEdges) -> bool) -> bool {
        self.tree.any_near(bounds, |hole| is_found(&self.holes[hole]))
    }
}

/// Maximum number of anchors that the index is queried for. Each one reduces the candidates.
const ANCHORS_MAX: usize = 8;

impl Target {
    /// Builds the target of a `geo_shape` query.
    ///
    /// # Errors
    /// A polygon reaches beyond a pole.
    pub fn of(geometry: &Geometry, is_clockwise: bool) -> Result<Target, RequestError> {
        let mut parts = Vec::new();
        add(&mut parts, geometry, is_clockwise)?;
        Ok(Target::of_parts(parts))
    }

    /// Builds a target from the shape of a document.
    pub fn of_shape(shape: GridShape) -> Target {
        let mut parts = Vec::new();
        add_given(&mut parts, shape.parts);
        Target::of_parts(parts)
    }

    fn of_parts(mut parts: Vec<TargetPart>) -> Target {
        sort_by_place(&mut parts, TargetPart::bounds);
        let bounds: Vec<GridBounds> = parts.iter().map(TargetPart::bounds).collect();
        let tree = GridTree::around(&bounds);
        let bounds = bounds.iter().fold(GridBounds::NOTHING, |all, one| all.with(one));
        Target { parts, tree, bounds }
    }

    /// Calls `is_found` for the parts that may touch a rectangle, with the whole turns by which it must be
    /// moved, until one call returns `true`.
    fn any_near(&self, bounds: &GridBounds, mut is_found: impl FnMut(&TargetPart, i64) -> bool) -> bool {
        if self.parts.is_empty() {
            return false;
        }
        shifts(&self.bounds, bounds).any(|shift| {
            self.tree.any_near(&bounds.shifted(shift), |part| is_found(&self.parts[part], shift))
        })
    }

    /// Builds a rectangle, which may cross the date line.
    pub fn rectangle(rectangle: &Rectangle) -> Target {
        Target::of(&Geometry::Envelope(*rectangle), false).expect("a rectangle is on the map")
    }

    /// Builds a rectangle from stored coordinates.
    pub fn cell(cell: &Cell) -> Target {
        let [left, right, bottom, top] = [cell.x.0, cell.x.1, cell.y.0, cell.y.1].map(i64::from);
        let ring = [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)];
        let outer = GridEdges::new([&ring[..]]);
        Target::of_parts(vec![TargetPart::Polygon { outer, holes: Holes::of(&[]) }])
    }

    /// Builds a cell of H3 whose sides are straight on the map.
    pub fn hexagon(cell: CellIndex) -> Target {
        let mut ring: Vec<GridPoint> = Vec::new();
        for corner in cell.boundary().iter() {
            let stored = GeoPoint { latitude: corner.lat(), longitude: corner.lng() }.encode();
            let (x, y) = (i64::from(stored as i32), stored >> 32);
            let before = ring.last().map_or(x, |(before, _)| *before);
            ring.push((steps_turned_to(x, before), y));
        }
        // Around a pole the corners make a whole turn; the ring is closed over the pole.
        let (first, last) = (ring[0], ring[ring.len() - 1]);
        let turns = (last.0 - first.0) / (GRID_TURN / 2);
        if turns != 0 {
            let pole = if first.1 > 0 { i64::from(i32::MAX) } else { i64::from(i32::MIN) };
            let end = first.0 + turns.signum() * GRID_TURN;
            ring.extend([(end, first.1), (end, pole), (first.0, pole)]);
        }
        ring.push(first);
        let outer = GridEdges::new([ring.as_slice()]);
        Target::of_parts(vec![TargetPart::Polygon { outer, holes: Holes::of(&[]) }])
    }

    /// Builds a circle.
    pub fn circle(circle: Circle) -> Target {
        Target::of_parts(vec![TargetPart::Circle(circle)])
    }

    /// Whether the target is empty, so that nothing can meet it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the relation of a cell of the map to the target.
    pub fn overlap(&self, cell: &Cell) -> Overlap {
        let ends = |(low, high): (i32, i32)| (i64::from(low), i64::from(high));
        let bounds = GridBounds { x: ends(cell.x), y: ends(cell.y) };
        let mut found = Overlap::None;
        self.any_near(&bounds, |part, shift| {
            let overlap = match part {
                TargetPart::Circle(circle) => circle.overlap_of(cell),
                part => part.overlap(&bounds.shifted(shift)),
            };
            match overlap {
                Overlap::None => {}
                overlap => found = overlap,
            }
            found == Overlap::All
        });
        found
    }

    /// Returns cells of points that a document must contain if it contains the target.
    pub fn anchors(&self) -> Vec<Cell> {
        let stored = |part: &TargetPart| {
            let (x, y) = part.anchor()?;
            let x = (x + GRID_TURN / 2).rem_euclid(GRID_TURN) - GRID_TURN / 2;
            Some(Cell { x: (x as i32, x as i32), y: (y as i32, y as i32) })
        };
        self.parts.iter().filter_map(stored).take(ANCHORS_MAX).collect()
    }

    /// Whether a document with these shapes, at least one, has the relation.
    pub fn holds(&self, relation: ShapeRelation, shapes: &[GridShape]) -> bool {
        let mut parts = shapes.iter().flat_map(|shape| &shape.parts).map(DocPart::of);
        match relation {
            ShapeRelation::Intersects => parts.any(|part| self.meets(&part)),
            ShapeRelation::Disjoint => !parts.any(|part| self.meets(&part)),
            ShapeRelation::Within => parts.all(|part| self.surrounds(&part)),
            ShapeRelation::Contains => {
                let parts: Vec<DocPart<'_>> = parts.collect();
                !self.parts.is_empty() && self.parts.iter().all(|target| target.is_contained_in(&parts))
            }
        }
    }

    fn meets(&self, part: &DocPart<'_>) -> bool {
        // With many points and many parts, each point is near few parts.
        if part.kind == PartKind::Points && self.parts.len() > 1 {
            return part.points().any(|at| self.has(at));
        }
        self.any_near(&part.bounds, |target, shift| target.meets(part, shift))
    }

    fn has(&self, at: GridPoint) -> bool {
        self.any_near(&GridBounds::of([&at]), |target, shift| target.has(moved(at, shift)))
    }

    fn surrounds(&self, part: &DocPart<'_>) -> bool {
        match part.kind {
            PartKind::Points => part.points().all(|point| self.has(point)),
            PartKind::Line => part.edges().all(|(a, b)| {
                let bounds = GridBounds::of([&a, &b]);
                self.any_near(&bounds, |target, shift| target.has_line(moved(a, shift), moved(b, shift)))
            }),
            PartKind::Polygon => self.any_near(&part.bounds, |target, shift| target.has_polygon(part, shift)),
        }
    }
}

fn add(parts: &mut Vec<TargetPart>, geometry: &Geometry, is_clockwise: bool) -> Result<(), RequestError> {
    match geometry {
        Geometry::Circle { center: (longitude, latitude), radius_meters } => {
            let center = GeoPoint { latitude: *latitude, longitude: *longitude }.normalized();
            let center = GeoPoint::decode(center.encode());
            parts.push(TargetPart::Circle(Circle::new(center, *radius_meters)));
        }
        Geometry::Collection(members) => {
            members.iter().try_for_each(|member| add(parts, member, is_clockwise))?;
        }
        other => add_given(parts, GridShape::of(other, is_clockwise)?.parts),
    }
    Ok(())
}

fn add_given(parts: &mut Vec<TargetPart>, mut given: Vec<Part>) {
    // One copy of equal lines and polygons is enough.
    given.sort_by(|one, other| one.lists.cmp(&other.lists));
    given.dedup();
    for Part { kind, mut lists } in given {
        match (kind, &mut lists[..]) {
            (PartKind::Points, _) => {
                let mut points: Vec<GridPoint> = lists.into_iter().flatten().collect();
                points.sort_unstable();
                points.dedup();
                parts.extend(points.into_iter().map(TargetPart::Point));
            }
            (PartKind::Line, lists) => {
                parts.push(TargetPart::Line(GridEdges::new(lists.iter().map(Vec::as_slice))));
            }
            (PartKind::Polygon, [outer, holes @ ..]) => parts.push(TargetPart::Polygon {
                outer: GridEdges::new([outer.as_slice()]),
                holes: Holes::of(holes),
            }),
            (PartKind::Polygon, []) => {}
        }
    }
}

fn moved((x, y): GridPoint, shift: i64) -> GridPoint {
    (x + shift, y)
}

/// Returns the whole turns that move a rectangle to where it touches another.
fn shifts(own: &GridBounds, other: &GridBounds) -> impl Iterator<Item = i64> + use<> {
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

fn degrees((x, y): GridPoint) -> (f64, f64) {
    (x as f64 * 360.0 / GRID_TURN as f64, y as f64 * 180.0 / GRID_TURN as f64)
}

/// A part of a document's shape.
struct DocPart<'d> {
    kind: PartKind,
    lists: &'d [Vec<GridPoint>],
    bounds: GridBounds,
}

impl<'d> DocPart<'d> {
    fn of(part: &'d Part) -> DocPart<'d> {
        let bounds = GridBounds::of(part.lists.iter().flatten());
        DocPart { kind: part.kind, lists: &part.lists, bounds }
    }

    fn points(&self) -> impl Iterator<Item = GridPoint> {
        self.lists.iter().flatten().copied()
    }

    fn edges(&self) -> impl Iterator<Item = (GridPoint, GridPoint)> {
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
            let turn = turn(a, b, at);
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
    fn bounds(&self) -> GridBounds {
        match self {
            TargetPart::Point(point) => GridBounds::of([point]),
            TargetPart::Line(edges) | TargetPart::Polygon { outer: edges, .. } => *edges.bounds(),
            TargetPart::Circle(circle) => circle.grid_bounds(),
        }
    }

    /// Returns the turns that bring a document's part near this one.
    fn shifts(&self, part: &DocPart<'_>) -> impl Iterator<Item = i64> + use<> {
        shifts(&self.bounds(), &part.bounds)
    }

    /// Returns a point of the part.
    fn anchor(&self) -> Option<GridPoint> {
        match self {
            TargetPart::Point(point) => Some(*point),
            TargetPart::Line(edges) | TargetPart::Polygon { outer: edges, .. } => edges.first_point(),
            TargetPart::Circle(circle) => Some(circle.grid_center()),
        }
    }

    /// Returns the relation of a rectangle that may touch the part to it.
    fn overlap(&self, bounds: &GridBounds) -> Overlap {
        match self {
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
    fn has(&self, at: GridPoint) -> bool {
        match self {
            TargetPart::Point(point) => *point == at,
            TargetPart::Line(edges) => edges.is_on(at),
            TargetPart::Polygon { outer, holes } => {
                let bounds = GridBounds::of([&at]);
                outer.side_of(at) != Side::Outside
                    && !holes.any_near(&bounds, |hole| hole.side_of(at) != Side::Outside)
            }
            TargetPart::Circle(circle) => circle.has(degrees(at)),
        }
    }

    /// Whether a line of a document meets the part.
    fn meets_line(&self, a: GridPoint, b: GridPoint) -> bool {
        match self {
            TargetPart::Point(point) => is_on(a, b, *point),
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
        }
    }

    fn meets(&self, part: &DocPart<'_>, shift: i64) -> bool {
        let edges = part.edges().enumerate().take_while(|(number, _)| may_continue(*number));
        let meets_edges = || {
            let mut edges = edges.map(|(_, (a, b))| (moved(a, shift), moved(b, shift)));
            edges.any(|(a, b)| self.meets_line(a, b))
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
    fn has_line(&self, a: GridPoint, b: GridPoint) -> bool {
        match self {
            TargetPart::Point(_) | TargetPart::Line(_) => false,
            TargetPart::Polygon { outer, holes } => {
                self.has(a)
                    && self.has(b)
                    && !outer.meets(a, b, Meeting::Crossing)
                    && !holes.any_near(&GridBounds::of([&a, &b]), |hole| hole.meets(a, b, Meeting::Touching))
            }
            TargetPart::Circle(_) => self.has(a) && self.has(b),
        }
    }

    fn has_polygon(&self, part: &DocPart<'_>, shift: i64) -> bool {
        let edges = part.edges().enumerate().take_while(|(number, _)| may_continue(*number));
        let has_edges = || {
            let mut edges = edges.map(|(_, (a, b))| (moved(a, shift), moved(b, shift)));
            edges.all(|(a, b)| self.has_line(a, b))
        };
        match self {
            TargetPart::Point(_) | TargetPart::Line(_) => false,
            TargetPart::Circle(_) => part.points().all(|point| self.has(moved(point, shift))),
            TargetPart::Polygon { holes, .. } => {
                let is_inside = |hole: &GridEdges| {
                    hole.first_point().is_some_and(|point| part.is_polygon_around(point, shift))
                };
                has_edges() && !holes.any_near(&part.bounds.shifted(shift), is_inside)
            }
        }
    }

    fn is_contained_in(&self, parts: &[DocPart<'_>]) -> bool {
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
                let mut edges = part.edges().enumerate().take_while(|(number, _)| may_continue(*number));
                if edges.any(|(_, (a, b))| self.meets_line(moved(a, shift), moved(b, shift))) {
                    return Verdict::Against;
                }
                verdict(is_inside(), Verdict::For)
            }
        }
    }
}
