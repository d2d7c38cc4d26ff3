//! A shape that documents' shapes are compared with: "do they meet, does one contain the other?"
//!
//! Answers are Lucene's (`Component2D`, `LatLonShapeQuery`, `XYShapeQuery`), on the grid of stored
//! coordinates of a [`Surface`]: a polygon includes its edges but not those of its holes. A document contains
//! only what does not touch its own edges.

use h3o::CellIndex;
use limber_mapping::RequestError;
use limber_mapping::geo::{
    GRID_TURN, GeoPoint, Geometry, GridBounds, GridEdges, GridPoint, GridShape, GridTree, Part, PartKind,
    Rectangle, Surface, sort_by_place, steps_turned_to,
};
use limber_mapping::number::java_float;
use limber_segment::points::{Cell, Overlap};

use super::plane_circle::PlaneCircle;
use super::shape::Circle;
use super::target_part::{DocPart, Holes, TargetPart, moved, shifts};

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
    surface: Surface,
    /// Each part once, sorted by position.
    parts: Vec<TargetPart>,
    tree: GridTree<GridBounds>,
    bounds: GridBounds,
}

/// Maximum number of anchors that the index is queried for. Each one reduces the candidates.
const ANCHORS_MAX: usize = 8;

impl Target {
    /// Builds the target of a `geo_shape` or `shape` query.
    ///
    /// # Errors
    /// The surface does not have one of its positions, or an envelope or circle of a plane has no size.
    pub fn of(surface: Surface, geometry: &Geometry, is_clockwise: bool) -> Result<Target, RequestError> {
        let mut parts = Vec::new();
        add(surface, &mut parts, geometry, is_clockwise)?;
        Ok(Target::of_parts(surface, parts))
    }

    /// Builds a target from the shape of a document on the globe.
    pub fn of_shape(shape: GridShape) -> Target {
        let mut parts = Vec::new();
        add_given(Surface::Globe, &mut parts, shape.parts);
        Target::of_parts(Surface::Globe, parts)
    }

    fn of_parts(surface: Surface, mut parts: Vec<TargetPart>) -> Target {
        sort_by_place(&mut parts, TargetPart::bounds);
        let bounds: Vec<GridBounds> = parts.iter().map(TargetPart::bounds).collect();
        let tree = GridTree::around(&bounds);
        let bounds = bounds.iter().fold(GridBounds::NOTHING, |all, one| all.with(one));
        Target { surface, parts, tree, bounds }
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
        let envelope = Geometry::Envelope(*rectangle);
        Target::of(Surface::Globe, &envelope, false).expect("a rectangle is on the map")
    }

    /// Builds a rectangle from stored coordinates.
    pub fn cell(cell: &Cell) -> Target {
        let [left, right, bottom, top] = [cell.x.0, cell.x.1, cell.y.0, cell.y.1].map(i64::from);
        let ring = [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)];
        Target::on_map(&ring)
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
        Target::on_map(&ring)
    }

    fn on_map(ring: &[GridPoint]) -> Target {
        let outer = GridEdges::new(Surface::Globe, [ring]);
        let holes = Holes::of(Surface::Globe, &[]);
        Target::of_parts(Surface::Globe, vec![TargetPart::Polygon { outer, holes }])
    }

    /// Builds a circle.
    pub fn circle(circle: Circle) -> Target {
        Target::of_parts(Surface::Globe, vec![TargetPart::Circle(circle)])
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
        let parts = shapes.iter().flat_map(|shape| &shape.parts);
        let mut parts = parts.map(|part| DocPart::of(self.surface, part));
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

    /// Whether a point is in the target.
    pub fn has(&self, at: GridPoint) -> bool {
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

fn add(
    surface: Surface,
    parts: &mut Vec<TargetPart>,
    geometry: &Geometry,
    is_clockwise: bool,
) -> Result<(), RequestError> {
    match geometry {
        Geometry::Circle { center, radius_meters } if surface == Surface::Plane => {
            parts.push(TargetPart::PlaneCircle(PlaneCircle::new(*center, *radius_meters)?));
        }
        Geometry::Circle { center: (longitude, latitude), radius_meters } => {
            let center = GeoPoint { latitude: *latitude, longitude: *longitude }.normalized();
            let center = GeoPoint::decode(center.encode());
            parts.push(TargetPart::Circle(Circle::new(center, *radius_meters)));
        }
        Geometry::Collection(members) => {
            members.iter().try_for_each(|member| add(surface, parts, member, is_clockwise))?;
        }
        Geometry::Envelope(sides) if surface == Surface::Plane && sides.west > sides.east => {
            return Err(RequestError::illegal_argument(format!(
                "minX must be lower than maxX, got {} > {}",
                java_float(sides.west as f32),
                java_float(sides.east as f32)
            )));
        }
        other => add_given(surface, parts, GridShape::of(surface, other, is_clockwise)?.parts),
    }
    Ok(())
}

fn add_given(surface: Surface, parts: &mut Vec<TargetPart>, mut given: Vec<Part>) {
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
                let edges = GridEdges::new(surface, lists.iter().map(Vec::as_slice));
                parts.push(TargetPart::Line(edges));
            }
            (PartKind::Polygon, [outer, holes @ ..]) => parts.push(TargetPart::Polygon {
                outer: GridEdges::new(surface, [outer.as_slice()]),
                holes: Holes::of(surface, holes),
            }),
            (PartKind::Polygon, []) => {}
        }
    }
}
