//! A shape on the grid, for the index and for queries: "of which points, lines and rings does it consist?"
//!
//! Like Lucene's `LatLonShape`, `XYShape` and Elasticsearch's `GeometryNormalizer`, but a shape that crosses
//! the date line is not cut: its coordinates continue beyond the map.
//!
//! ```text
//! bytes    zigzag varint west, varint width, zigzag varint south, varint height (grid steps)
//!          varint part_count, then per part:
//!             u8 kind (0 points, 1 line, 2 polygon), varint list_count
//!             then per list (a ring without its last point):
//!                varint point_count
//!                per point: zigzag varint x, y relative to the previous point (the first: to west, south)
//! ```

use limber_codec::{Corrupt, Reader, varint};

use super::date_line::{goes_over_date_line, steps_turned_to};
use super::geometry::{Geometry, Position, Rectangle};
use super::grid_edges::{GridBounds, GridPoint};
use super::surface::{Surface, encoded};
use crate::RequestError;

/// Steps of the grid in a full turn.
pub const GRID_TURN: i64 = 1 << 32;

/// Bytes that a list takes: a part with one list, in a list of parts that has grown to twice of what it
/// holds.
const BYTES_A_LIST: u64 = 128;
/// Bytes that a position takes while the cells of the shape are found: the point, its edge, and the places of
/// the edge in the lists of cells.
const BYTES_A_POSITION: u64 = 160;

/// The kind of a part of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// One list of separate points.
    Points,
    /// One list with the points of the line.
    Line,
    /// Rings that end at their first point: the outer ring, then holes.
    Polygon,
}

/// One part of a [`GridShape`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The kind, which determines the meaning of the lists.
    pub kind: PartKind,
    /// Points, one list for each line or ring.
    pub lists: Vec<Vec<GridPoint>>,
}

/// Points, lines and polygons on the grid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GridShape {
    /// The parts of the shape.
    pub parts: Vec<Part>,
}

impl GridShape {
    /// Converts a geometry. `is_clockwise` is the direction of outer rings, which determines on which side of
    /// a wide ring of the globe its inside is.
    ///
    /// # Errors
    /// `illegal_argument_exception` for circles, and for positions that the surface does not have;
    /// `TooManyRequests` if there is not enough memory for it and its cells.
    pub fn of(surface: Surface, geometry: &Geometry, is_clockwise: bool) -> Result<GridShape, RequestError> {
        let (lists, positions) = geometry.extent();
        limber_work::claim(lists as u64 * BYTES_A_LIST + positions as u64 * BYTES_A_POSITION)?;
        let mut shape = GridShape::default();
        shape.add(surface, geometry, is_clockwise)?;
        Ok(shape)
    }

    /// Whether the shape has no parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Iterates over all points; the first point of a ring occurs twice.
    pub fn points(&self) -> impl Iterator<Item = &GridPoint> {
        self.parts.iter().flat_map(|part| part.lists.iter().flatten())
    }

    /// Returns the smallest rectangle around all points.
    pub fn bounds(&self) -> GridBounds {
        GridBounds::of(self.points())
    }

    fn push(&mut self, kind: PartKind, lists: Vec<Vec<GridPoint>>) {
        if lists.iter().any(|list| !list.is_empty()) {
            self.parts.push(Part { kind, lists });
        }
    }

    fn add(&mut self, surface: Surface, geometry: &Geometry, is_clockwise: bool) -> Result<(), RequestError> {
        match geometry {
            Geometry::Point(position) => self.push(PartKind::Points, vec![vec![surface.point(*position)?]]),
            Geometry::MultiPoint(positions) => {
                let points = positions.iter().map(|at| surface.point(*at)).collect::<Result<_, _>>()?;
                self.push(PartKind::Points, vec![points]);
            }
            Geometry::Line(line) => self.add_line(surface, line)?,
            Geometry::MultiLine(lines) => lines.iter().try_for_each(|line| self.add_line(surface, line))?,
            Geometry::Polygon(rings) => self.add_polygon(surface, rings, is_clockwise)?,
            Geometry::MultiPolygon(polygons) => {
                polygons.iter().try_for_each(|rings| self.add_polygon(surface, rings, is_clockwise))?;
            }
            Geometry::Envelope(envelope) => self.add_rectangle(surface, envelope)?,
            Geometry::Circle { .. } => {
                return Err(RequestError::illegal_argument(match surface {
                    Surface::Globe => "CIRCLE geometry is not supported",
                    Surface::Plane => "invalid shape type found [Circle] while indexing shape",
                }));
            }
            Geometry::Collection(parts) => {
                parts.iter().try_for_each(|part| self.add(surface, part, is_clockwise))?;
            }
        }
        Ok(())
    }

    fn add_rectangle(&mut self, surface: Surface, rectangle: &Rectangle) -> Result<(), RequestError> {
        let Rectangle { west, east, south, north } = *rectangle;
        let ((left, bottom), (right, top)) = match surface {
            Surface::Globe => (encoded((west, south)), encoded((east, north))),
            Surface::Plane => (surface.corner((west, south))?, surface.corner((east, north))?),
        };
        let is_across = surface == Surface::Globe && east < west;
        let right = if is_across { right + GRID_TURN } else { right };
        let ring = vec![(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)];
        self.push(PartKind::Polygon, vec![ring]);
        Ok(())
    }

    /// Adds a line. On the globe, a line crosses the date line if that is shorter, and a line that winds
    /// around the earth is cut, so that coordinates stay small.
    fn add_line(&mut self, surface: Surface, line: &[Position]) -> Result<(), RequestError> {
        let mut list: Vec<GridPoint> = Vec::with_capacity(line.len());
        for position in line {
            let (mut x, y) = surface.corner(*position)?;
            if let (Surface::Globe, Some((before, _))) = (surface, list.last()) {
                x = steps_turned_to(x, *before);
            }
            list.push((x, y));
            if x.abs() > GRID_TURN {
                self.push(PartKind::Line, vec![std::mem::take(&mut list)]);
                list.push((x - x.signum() * GRID_TURN, y));
            }
        }
        if list.len() > 1 {
            self.push(PartKind::Line, vec![list]);
        }
        Ok(())
    }

    fn add_polygon(
        &mut self,
        surface: Surface,
        rings: &[Vec<Position>],
        is_clockwise: bool,
    ) -> Result<(), RequestError> {
        let Some(outer) = rings.first() else { return Ok(()) };
        let is_across = surface == Surface::Globe && goes_over_date_line(outer, is_clockwise);
        let place = |position: &Position| -> Result<GridPoint, RequestError> {
            let (x, y) = surface.corner(*position)?;
            Ok((if is_across && position.0 < 0.0 { x + GRID_TURN } else { x }, y))
        };
        let lists = rings.iter().map(|ring| ring.iter().map(place).collect::<Result<Vec<_>, RequestError>>());
        let lists: Vec<Vec<GridPoint>> = lists.collect::<Result<_, RequestError>>()?;
        self.push(PartKind::Polygon, lists);
        Ok(())
    }

    /// Appends the encoded shape.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let GridBounds { x, y } = self.bounds();
        varint::write_u64(out, varint::zigzag(x.0));
        varint::write_u64(out, (x.1 - x.0) as u64);
        varint::write_u64(out, varint::zigzag(y.0));
        varint::write_u64(out, (y.1 - y.0) as u64);
        varint::write_u64(out, self.parts.len() as u64);
        for part in &self.parts {
            out.push(part.kind as u8);
            varint::write_u64(out, part.lists.len() as u64);
            for list in &part.lists {
                let list = match part.kind {
                    PartKind::Polygon => &list[..list.len().saturating_sub(1)],
                    _ => list,
                };
                varint::write_u64(out, list.len() as u64);
                let mut before = (x.0, y.0);
                for point in list {
                    varint::write_u64(out, varint::zigzag(point.0 - before.0));
                    varint::write_u64(out, varint::zigzag(point.1 - before.1));
                    before = *point;
                }
            }
        }
    }

    /// Decodes the bounds of an encoded shape.
    pub fn decode_bounds(bytes: &[u8]) -> Result<GridBounds, Corrupt> {
        read_bounds(&mut Reader::new(bytes))
    }

    /// Inverse of [`Self::encode`].
    pub fn decode(bytes: &[u8]) -> Result<GridShape, Corrupt> {
        let mut reader = Reader::new(bytes);
        let bounds = read_bounds(&mut reader)?;
        let part_count = reader.varint()?;
        let mut shape = GridShape::default();
        for _ in 0..part_count {
            let kind = match reader.u8()? {
                0 => PartKind::Points,
                1 => PartKind::Line,
                2 => PartKind::Polygon,
                _ => return Err(reader.corrupt("a kind of a shape's part")),
            };
            let list_count = reader.varint()?;
            reader.expect(list_count <= reader.remaining() as u64, "lists that fit the shape")?;
            let mut lists = Vec::with_capacity(list_count as usize);
            for _ in 0..list_count {
                lists.push(read_list(&mut reader, &bounds, kind == PartKind::Polygon)?);
            }
            shape.parts.push(Part { kind, lists });
        }
        reader.expect(reader.remaining() == 0, "the end of the shape")?;
        Ok(shape)
    }
}

/// Maximum coordinate, far below values at which arithmetic could overflow.
const COORDINATE_MAX: i64 = 1 << 40;

fn read_bounds(reader: &mut Reader<'_>) -> Result<GridBounds, Corrupt> {
    let mut side = || -> Result<(i64, i64), Corrupt> {
        let (low, length) = (varint::unzigzag(reader.varint()?), reader.varint()?);
        let is_near = low.unsigned_abs() <= COORDINATE_MAX as u64 && length <= COORDINATE_MAX as u64;
        reader.expect(is_near, "bounds of a shape near the map")?;
        Ok((low, low + length as i64))
    };
    Ok(GridBounds { x: side()?, y: side()? })
}

fn read_list(reader: &mut Reader<'_>, bounds: &GridBounds, is_ring: bool) -> Result<Vec<GridPoint>, Corrupt> {
    let count = reader.varint()?;
    reader.expect(count >= 1 && count <= reader.remaining() as u64, "points that fit the shape")?;
    let mut list = Vec::with_capacity(count as usize + usize::from(is_ring));
    let mut at = (bounds.x.0, bounds.y.0);
    for _ in 0..count {
        let (x, y) = (varint::unzigzag(reader.varint()?), varint::unzigzag(reader.varint()?));
        at = (at.0.wrapping_add(x), at.1.wrapping_add(y));
        reader.expect(bounds.holds(at), "points within the shape's bounds")?;
        list.push(at);
    }
    if is_ring {
        list.push(list[0]);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{WktOptions, geometry_from_wkt, geometry_from_wkt_on};
    use super::*;

    fn shape(text: &str, is_clockwise: bool) -> GridShape {
        let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
        let geometry = geometry_from_wkt(text, notation).expect(text);
        GridShape::of(Surface::Globe, &geometry, is_clockwise).expect(text)
    }

    #[test]
    fn shapes_over_the_date_line_go_on_beyond_the_map() {
        let check = |text: &str, is_clockwise: bool, west: f64, east: f64| {
            let bounds = shape(text, is_clockwise).bounds();
            let degrees = |x: i64| x as f64 * 360.0 / GRID_TURN as f64;
            let found = (degrees(bounds.x.0), degrees(bounds.x.1));
            assert!((found.0 - west).abs() < 1e-6 && (found.1 - east).abs() < 1e-6, "{text}: {found:?}");
        };
        check("LINESTRING (170 0, -170 0)", false, 170.0, 190.0);
        check("LINESTRING (170 0, 190 0)", false, 170.0, 190.0);
        check("LINESTRING (-170 0, 170 0)", false, -190.0, -170.0);
        check("POINT (190 0)", false, -170.0, -170.0);
        // Half a turn is as short in both directions.
        check("LINESTRING (-180 0, 0 0)", false, -180.0, 0.0);
        check("LINESTRING (-90 0, 90 0)", false, -90.0, 90.0);
        check("BBOX (170, -170, 10, 0)", false, 170.0, 190.0);
        // Wide and against the expected direction: the short way around.
        check("POLYGON ((-170 0, -170 10, 170 10, 170 0, -170 0))", false, 170.0, 190.0);
        check("POLYGON ((-170 0, 170 0, 170 10, -170 10, -170 0))", false, -170.0, 170.0);
        check("POLYGON ((-170 0, 170 0, 170 10, -170 10, -170 0))", true, 170.0, 190.0);
        check("POLYGON ((170 0, 190 0, 190 10, 170 10, 170 0))", false, 170.0, 190.0);
    }

    #[test]
    fn lines_that_wind_around_the_earth_are_cut() {
        let turns: Vec<Position> = (0..2000).map(|at| (f64::from(at * 100 % 360) - 180.0, 0.0)).collect();
        let shape = GridShape::of(Surface::Globe, &Geometry::Line(turns), false).expect("a line");
        let GridBounds { x, .. } = shape.bounds();
        assert!(x.0 >= -2 * GRID_TURN && x.1 <= 2 * GRID_TURN, "{x:?}");
        let mut bytes = Vec::new();
        shape.encode(&mut bytes);
        assert_eq!(GridShape::decode(&bytes).expect("sound"), shape);
    }

    #[test]
    fn positions_far_from_the_map_are_refused() {
        for text in [
            "LINESTRING (1e300 0, 1 1)",
            "LINESTRING (0 91, 1 1)",
            "POINT (NaN NaN)",
            "POLYGON ((0 0, 600 0, 1 1, 0 0))",
        ] {
            let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
            let geometry = geometry_from_wkt(text, notation).expect(text);
            assert!(GridShape::of(Surface::Globe, &geometry, false).is_err(), "{text}");
        }
        let far = Geometry::Point((1e300, 1e300));
        let on_map = GridShape::of(Surface::Globe, &far, false);
        assert!(on_map.is_ok(), "points come back onto the map");
        assert!(GridShape::of(Surface::Plane, &far, false).is_err(), "no float");
    }

    #[test]
    fn shapes_of_a_plane_are_neither_turned_nor_cut() {
        let check = |text: &str, west: f64, east: f64| {
            let geometry = geometry_from_wkt_on(Surface::Plane, text, true, false).expect(text);
            let bounds = GridShape::of(Surface::Plane, &geometry, false).expect(text).bounds();
            let at = |x: i64| Surface::Plane.position((x, 0)).0;
            assert_eq!((at(bounds.x.0), at(bounds.x.1)), (west, east), "{text}");
        };
        check("LINESTRING (170 0, -170 0)", -170.0, 170.0);
        check("LINESTRING (-5000 900, 7000.5 -900)", -5000.0, 7000.5);
        check("POLYGON ((-170 0, -170 1000, 170 1000, 170 0, -170 0))", -170.0, 170.0);
        check("BBOX (1000, 2000, 500, -500)", 1000.0, 2000.0);
        check("POINT (1e30 -1e30)", f64::from(1e30_f32), f64::from(1e30_f32));
    }

    #[test]
    fn the_bytes_of_a_shape() {
        let mut bytes = Vec::new();
        let lists = vec![vec![(0, 0), (3, 0), (3, -2), (0, 0)]];
        let shape = GridShape { parts: vec![Part { kind: PartKind::Polygon, lists }] };
        shape.encode(&mut bytes);
        assert_eq!(bytes, [0, 3, 3, 2, 1, 2, 1, 3, 0, 4, 6, 0, 0, 3]);
        assert_eq!(GridShape::decode(&bytes).expect("sound"), shape);
        for len in 0..bytes.len() {
            assert!(GridShape::decode(&bytes[..len]).is_err(), "{len}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn shapes_come_back(lists in prop::collection::vec(
            (0u8..3, prop::collection::vec(prop::collection::vec((any::<i32>(), any::<i32>()), 1..9), 1..4)), 1..5,
        )) {
            let parts = lists.into_iter().map(|(kind, lists)| {
                let kind = [PartKind::Points, PartKind::Line, PartKind::Polygon][kind as usize];
                let lists = lists.into_iter().map(|list| {
                    let mut list: Vec<GridPoint> =
                        list.into_iter().map(|(x, y)| (i64::from(x) * 2, i64::from(y))).collect();
                    if kind == PartKind::Polygon {
                        list.push(list[0]);
                    }
                    list
                });
                Part { kind, lists: lists.collect() }
            });
            let shape = GridShape { parts: parts.collect() };
            let mut bytes = Vec::new();
            shape.encode(&mut bytes);
            prop_assert_eq!(GridShape::decode_bounds(&bytes).expect("sound"), shape.bounds());
            prop_assert_eq!(GridShape::decode(&bytes).expect("sound"), shape);
        }

        #[test]
        fn corrupt_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = GridShape::decode(&bytes);
        }
    }
}
