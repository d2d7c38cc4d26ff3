//! Shapes in queries on points: "is this point in the shape, and what is the relation of that cell to it?"

use limber_mapping::RequestError;
use limber_mapping::geo::Unit;
use limber_mapping::geo::{ArcFrom, EARTH_RADIUS_METERS, key_of_meters};
use limber_mapping::geo::{
    GRID_TURN, GeoPoint, Geometry, GridBounds, GridPoint, Position, Rectangle, decode_latitude,
    decode_longitude, encode_latitude, encode_longitude, goes_over_date_line, turned_to,
};
use limber_segment::points::{Cell, Overlap};

use super::grid::Hexagon;
use super::polygon::{Polygon, Side, is_on, touches};
use super::target::Target;

/// The relation of a document's points to a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Relation {
    /// At least one point is in the shape.
    Intersects,
    /// There are points, and none is in the shape.
    Disjoint,
    /// There are points, and all are in the shape.
    Within,
}

#[derive(Debug)]
pub(crate) enum Shape {
    /// A rectangle of stored coordinates.
    Cell(Cell),
    Circle(Circle),
    Polygon(Polygon),
    Line(Vec<Position>),
    Hexagon(HexagonShape),
    /// A shape on a plane.
    OnPlane(Target),
    /// The union of several shapes.
    Any(Vec<Shape>),
}

impl Shape {
    /// Returns the empty shape.
    pub fn nothing() -> Shape {
        Shape::Any(Vec::new())
    }

    /// Builds a rectangle from degrees, ends included. The ends are first moved onto the grid of stored
    /// coordinates, as in Elasticsearch.
    pub fn rectangle(rectangle: &Rectangle) -> Shape {
        let Rectangle { west, east, south, north } = *rectangle;
        let y = (encode_latitude(south), encode_latitude(north));
        let (left, right) = (encode_longitude(west), encode_longitude(east));
        if east < west {
            let parts = [(i32::MIN, right), (left, i32::MAX)].map(|x| Shape::Cell(Cell { x, y }));
            Shape::Any(parts.into())
        } else {
            Shape::Cell(Cell { x: (left, right), y })
        }
    }

    /// Builds the shape of a `geo_shape` query; coordinates are first moved onto the grid of stored ones.
    /// `is_clockwise` is the orientation of outer rings; it decides which side of a wide ring is inside.
    pub fn of(geometry: &Geometry, is_clockwise: bool) -> Shape {
        let any = |parts: Vec<Shape>| Shape::Any(parts);
        match geometry {
            Geometry::Point(position) => point(*position),
            Geometry::MultiPoint(positions) => any(positions.iter().map(|at| point(*at)).collect()),
            Geometry::Line(line) => line_of(line),
            Geometry::MultiLine(lines) => any(lines.iter().map(|line| line_of(line)).collect()),
            Geometry::Polygon(rings) => polygon_of(rings, is_clockwise),
            Geometry::MultiPolygon(polygons) => {
                any(polygons.iter().map(|rings| polygon_of(rings, is_clockwise)).collect())
            }
            Geometry::Envelope(envelope) => Shape::rectangle(envelope),
            Geometry::Circle { center, radius_meters } => {
                let (longitude, latitude) = on_grid(normalized(*center));
                Shape::Circle(Circle::new(GeoPoint { latitude, longitude }, *radius_meters))
            }
            Geometry::Collection(parts) => {
                any(parts.iter().map(|part| Shape::of(part, is_clockwise)).collect())
            }
        }
    }

    /// Whether a stored point is in the shape.
    #[inline]
    pub fn contains(&self, stored: i64) -> bool {
        match self {
            Shape::Cell(cell) => {
                let (x, y) = (stored as i32, (stored >> 32) as i32);
                cell.x.0 <= x && x <= cell.x.1 && cell.y.0 <= y && y <= cell.y.1
            }
            Shape::Circle(circle) => circle.contains(GeoPoint::decode(stored)),
            Shape::Polygon(polygon) => {
                let point = GeoPoint::decode(stored);
                polygon.contains(point.longitude, point.latitude)
            }
            Shape::Line(line) => {
                let point = GeoPoint::decode(stored);
                line.windows(2).any(|pair| is_on(pair[0], pair[1], (point.longitude, point.latitude)))
            }
            Shape::Hexagon(shape) => shape.hexagon.contains(stored),
            Shape::OnPlane(target) => target.has((i64::from(stored as i32), stored >> 32)),
            Shape::Any(parts) => parts.iter().any(|part| part.contains(stored)),
        }
    }

    /// Returns the relation of a cell of points to the shape.
    pub fn overlap(&self, cell: &Cell) -> Overlap {
        match self {
            Shape::Cell(own) => {
                if cell.x.1 < own.x.0 || own.x.1 < cell.x.0 || cell.y.1 < own.y.0 || own.y.1 < cell.y.0 {
                    Overlap::None
                } else if own.x.0 <= cell.x.0
                    && cell.x.1 <= own.x.1
                    && own.y.0 <= cell.y.0
                    && cell.y.1 <= own.y.1
                {
                    Overlap::All
                } else {
                    Overlap::Some
                }
            }
            Shape::Circle(circle) => {
                let (x, y) = degrees(cell);
                circle.overlap(x, y)
            }
            Shape::Polygon(polygon) => {
                let (x, y) = degrees(cell);
                match polygon.side(x, y) {
                    Side::Outside => Overlap::None,
                    Side::Inside => Overlap::All,
                    Side::Across => Overlap::Some,
                }
            }
            Shape::Line(line) => {
                let (x, y) = degrees(cell);
                let is_near = line.windows(2).any(|pair| touches(pair[0], pair[1], x, y));
                if is_near { Overlap::Some } else { Overlap::None }
            }
            Shape::Hexagon(shape) => {
                let (x, y) = degrees(cell);
                match shape.outer.overlap(x, y) {
                    Overlap::None => Overlap::None,
                    _ if shape.inner.overlap(x, y) == Overlap::All || shape.holds(x, y) => Overlap::All,
                    _ => Overlap::Some,
                }
            }
            Shape::OnPlane(target) => target.overlap(cell),
            Shape::Any(parts) => {
                let mut found = Overlap::None;
                for part in parts {
                    match part.overlap(cell) {
                        Overlap::All => return Overlap::All,
                        Overlap::Some => found = Overlap::Some,
                        Overlap::None => {}
                    }
                }
                found
            }
        }
    }
}

/// Returns the bounds of a cell in degrees: longitudes, latitudes.
pub(crate) fn degrees(cell: &Cell) -> ((f64, f64), (f64, f64)) {
    (
        (decode_longitude(cell.x.0), decode_longitude(cell.x.1)),
        (decode_latitude(cell.y.0), decode_latitude(cell.y.1)),
    )
}

/// Brings a position back onto the map.
fn normalized((longitude, latitude): Position) -> Position {
    let point = GeoPoint { latitude, longitude }.normalized();
    (point.longitude, point.latitude)
}

fn on_grid(position: Position) -> Position {
    (decode_longitude(encode_longitude(position.0)), decode_latitude(encode_latitude(position.1)))
}

fn point(position: Position) -> Shape {
    let (longitude, latitude) = normalized(position);
    let (x, y) = (encode_longitude(longitude), encode_latitude(latitude));
    Shape::Cell(Cell { x: (x, x), y: (y, y) })
}

/// Builds a line. It is cut at the date line where crossing that is shorter.
fn line_of(line: &[Position]) -> Shape {
    let mut unrolled: Vec<Position> = Vec::with_capacity(line.len());
    for (longitude, latitude) in line {
        let near = unrolled.last().map_or(*longitude, |(before, _)| turned_to(*longitude, *before));
        unrolled.push((near, *latitude));
    }
    let copies = shifts(unrolled.iter().map(|position| position.0)).into_iter().map(|shift| {
        let moved = unrolled.iter().map(|(longitude, latitude)| {
            let longitude = longitude + shift;
            if (-180.0..=180.0).contains(&longitude) {
                on_grid((longitude, *latitude))
            } else {
                (longitude, *latitude)
            }
        });
        Shape::Line(moved.collect())
    });
    Shape::Any(copies.collect())
}

/// Builds a polygon, with copies shifted by whole turns where it reaches beyond the map.
fn polygon_of(rings: &[Vec<Position>], is_clockwise: bool) -> Shape {
    let Some(outer) = rings.first() else { return Shape::nothing() };
    let is_across = goes_over_date_line(outer, is_clockwise);
    let placed: Vec<Vec<Position>> = rings
        .iter()
        .map(|ring| {
            ring.iter()
                .map(|position| {
                    let (longitude, latitude) = match (-180.0..=180.0).contains(&position.0) {
                        true => on_grid(*position),
                        false => *position,
                    };
                    (if is_across && longitude < 0.0 { longitude + 360.0 } else { longitude }, latitude)
                })
                .collect()
        })
        .collect();
    let copies = shifts(placed.iter().flatten().map(|position| position.0));
    let mut parts: Vec<Shape> =
        copies.into_iter().map(|shift| Shape::Polygon(Polygon::new(&placed, shift))).collect();
    if parts.len() == 1 { parts.remove(0) } else { Shape::Any(parts) }
}

/// Returns the whole turns, in degrees, that bring a shape with these longitudes onto the map.
fn shifts(longitudes: impl Iterator<Item = f64>) -> Vec<f64> {
    let (west, east) = longitudes.fold((f64::MAX, f64::MIN), |(west, east), at| (west.min(at), east.max(at)));
    let mut shifts = vec![0.0];
    if east > 180.0 {
        shifts.push(-360.0);
    }
    if west < -180.0 {
        shifts.push(360.0);
    }
    shifts
}

/// All points up to a distance from a center.
#[derive(Debug)]
pub(crate) struct Circle {
    center: ArcFrom,
    radius_meters: f64,
    key: f64,
    /// Bounds of the circle in degrees of latitude.
    south: f64,
    north: f64,
    /// Degrees of longitude to either side; half a turn if a pole is inside.
    reach: f64,
}

/// How often a line near a circle is halved: down to some centimetres.
const LINE_HALVES_MAX: u32 = 28;
/// Upper bound of the meters per degree.
const DEGREE_METERS_MAX: f64 = 111_200.0;

/// Meters added to the bounds of the circle because distances are rounded (Lucene's `GeoUtils` adds the
/// same).
const SLACK_METERS: f64 = 0.5;

impl Circle {
    pub(crate) fn new(center: GeoPoint, radius_meters: f64) -> Circle {
        let angle = (radius_meters + SLACK_METERS) / EARTH_RADIUS_METERS;
        let latitude = center.latitude.to_radians();
        let (south, north) = (latitude - angle, latitude + angle);
        let quarter = std::f64::consts::FRAC_PI_2;
        let has_pole = south <= -quarter || north >= quarter;
        let reach = if has_pole { 180.0 } else { (angle.sin() / latitude.cos()).asin().to_degrees() };
        Circle {
            center: ArcFrom::new(center.latitude, center.longitude),
            radius_meters,
            key: key_of_meters(radius_meters),
            south: south.to_degrees().max(-90.0),
            north: north.to_degrees().min(90.0),
            reach: if reach.is_nan() { 180.0 } else { reach + 1e-6 },
        }
    }

    #[inline]
    fn contains(&self, point: GeoPoint) -> bool {
        point.latitude >= self.south
            && point.latitude <= self.north
            && self.center.key(point.latitude, point.longitude) <= self.key
    }

    /// Whether a point in degrees (longitude, latitude) is in the circle; longitudes may be off by whole
    /// turns.
    pub fn has(&self, (longitude, latitude): Position) -> bool {
        self.contains(GeoPoint { latitude, longitude })
    }

    /// Whether the circle touches a line that is straight on the map, apart from its ends. Lucene's
    /// `Circle2D` only tests the point of the line that is nearest to the center on the map, which is not
    /// the nearest on the earth.
    pub fn meets_line(&self, a: Position, b: Position) -> bool {
        self.meets_half(a, b, LINE_HALVES_MAX)
    }

    fn meets_half(&self, a: Position, b: Position, halves_left: u32) -> bool {
        let middle = (a.0.midpoint(b.0), a.1.midpoint(b.1));
        if self.has(middle) {
            return true;
        }
        // No point of the line is further than this from its middle.
        let reach_meters = (b.0 - a.0).hypot(b.1 - a.1) / 2.0 * DEGREE_METERS_MAX;
        let apart_meters = self.center.meters(middle.1, middle.0) - self.radius_meters;
        halves_left > 0
            && apart_meters <= reach_meters
            && (self.meets_half(a, middle, halves_left - 1) || self.meets_half(middle, b, halves_left - 1))
    }

    /// Returns the center in stored coordinates.
    pub fn grid_center(&self) -> GridPoint {
        let (longitude, latitude) = (self.center.longitude(), self.center.latitude());
        (i64::from(encode_longitude(longitude)), i64::from(encode_latitude(latitude)))
    }

    /// Returns a bounding box of the circle on the grid.
    pub fn grid_bounds(&self) -> GridBounds {
        let (x, _) = self.grid_center();
        let reach = (self.reach / 360.0 * GRID_TURN as f64) as i64 + 2;
        let end = |latitude: f64| i64::from(encode_latitude(latitude));
        GridBounds { x: (x - reach, x + reach), y: (end(self.south) - 1, end(self.north) + 1) }
    }

    /// Returns the relation of a cell of points to the circle.
    pub fn overlap_of(&self, cell: &Cell) -> Overlap {
        let (x, y) = degrees(cell);
        self.overlap(x, y)
    }

    fn overlap(&self, x: (f64, f64), y: (f64, f64)) -> Overlap {
        if y.1 < self.south || y.0 > self.north {
            return Overlap::None;
        }
        let center = self.center.longitude();
        // Degrees between the center's meridian and another one, the short way around.
        let apart = |longitude: f64| {
            let apart = (longitude - center).abs();
            apart.min(360.0 - apart)
        };
        let holds_meridian = x.0 <= center && center <= x.1;
        if !holds_meridian && apart(x.0).min(apart(x.1)) > self.reach {
            return Overlap::None;
        }
        // If all of the cell is within a quarter turn, the distance has no maximum inside of the cell.
        let is_convex = x.1 - x.0 < 90.0 && apart(x.0).max(apart(x.1)) < 90.0;
        let corners = [(y.0, x.0), (y.0, x.1), (y.1, x.0), (y.1, x.1)];
        if is_convex
            && corners.iter().all(|(latitude, longitude)| self.center.key(*latitude, *longitude) <= self.key)
        {
            return Overlap::All;
        }
        Overlap::Some
    }
}

/// Points from one distance (included) to another (excluded), both in a unit.
#[derive(Debug)]
pub(crate) struct Ring {
    center: ArcFrom,
    from: f64,
    to: f64,
    unit: Unit,
    inner: Circle,
    outer: Circle,
}

/// The circles that decide about whole cells are smaller than the ring's edges by this factor, so that
/// rounding cannot put a point on the other side.
const EDGE_SHARE: f64 = 1.0 - 1e-9;

impl Ring {
    pub(crate) fn new(center: ArcFrom, from: f64, to: f64, unit: Unit) -> Ring {
        let point = GeoPoint { latitude: center.latitude(), longitude: center.longitude() };
        let circle = |distance: f64| Circle::new(point, distance.max(0.0) * unit.meters * EDGE_SHARE);
        Ring { center, from, to, unit, inner: circle(from), outer: circle(to) }
    }

    /// Whether a point, as columns store it, is between the two distances.
    pub fn contains(&self, stored: i64) -> bool {
        let point = GeoPoint::decode(stored);
        let distance = self.center.meters(point.latitude, point.longitude) / self.unit.meters;
        self.from <= distance && distance < self.to
    }

    pub(crate) fn overlap(&self, cell: &Cell) -> Overlap {
        let (x, y) = degrees(cell);
        let inner = if self.from > 0.0 { self.inner.overlap(x, y) } else { Overlap::None };
        let outer = if self.to.is_finite() { self.outer.overlap(x, y) } else { Overlap::All };
        match (inner, outer) {
            (Overlap::All, _) | (_, Overlap::None) => Overlap::None,
            (Overlap::None, Overlap::All) => Overlap::All,
            _ => Overlap::Some,
        }
    }
}

/// A cell of H3 with an outer and an inner circle.
#[derive(Debug)]
pub(crate) struct HexagonShape {
    hexagon: Hexagon,
    outer: Circle,
    inner: Circle,
}

impl HexagonShape {
    pub(crate) fn new(hexagon: Hexagon) -> HexagonShape {
        let (outer, inner) = (
            Circle::new(hexagon.center, hexagon.outer_meters),
            Circle::new(hexagon.center, hexagon.inner_meters),
        );
        HexagonShape { hexagon, outer, inner }
    }

    /// Whether a small rectangle is certainly inside. A hexagon is convex except for bends of a degree or
    /// so. So the rectangle is widened by more than parallels and sides can bend; if its corners and the
    /// middles of its sides are inside, all of it is.
    fn holds(&self, x: (f64, f64), y: (f64, f64)) -> bool {
        let (width, height) = (x.1 - x.0, y.1 - y.0);
        if width > SMALL_DEGREES || height > SMALL_DEGREES || y.0 < -75.0 || y.1 > 75.0 {
            return false;
        }
        let margin = 0.1 * width.max(height) + 1e-6;
        let (xs, ys) = (ends_and_middle(x, margin), ends_and_middle(y, margin));
        let is_on_map = xs[0] >= -180.0 && xs[2] <= 180.0;
        is_on_map
            && ys.iter().all(|latitude| {
                xs.iter().all(|longitude| {
                    let point = GeoPoint { latitude: *latitude, longitude: *longitude };
                    self.hexagon.contains(point.encode())
                })
            })
    }
}

/// The sides of rectangles up to this size bend by less than a tenth of their length: half a degree's
/// parallel at 75 degrees bends by 1 %.
const SMALL_DEGREES: f64 = 0.5;

fn ends_and_middle((low, high): (f64, f64), margin: f64) -> [f64; 3] {
    [low - margin, (low + high) / 2.0, high + margin]
}

/// Refuses lines, which Lucene does not support here.
pub(crate) fn check_within(geometry: &Geometry) -> Result<(), RequestError> {
    match geometry {
        Geometry::Line(_) | Geometry::MultiLine(_) => {
            Err(RequestError::illegal_argument("found an unsupported shape Line"))
        }
        Geometry::Collection(parts) => parts.iter().try_for_each(check_within),
        _ => Ok(()),
    }
}
