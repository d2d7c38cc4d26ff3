//! One tile and its pixels.

use limber_mapping::RequestError;
use limber_mapping::geo::{
    GeoPoint, Geometry, Position, Rectangle, check_corner, goes_over_date_line, turned_to,
};
use limber_work::{self as work, Stop};

use super::super::grid::{MERCATOR_LATITUDE_MAX, ZOOM_MAX, tile_bounds};
use super::cell::{CellShape, MapCell};
use super::clip::{Box, CORNERS_BETWEEN_CHECKS, Pixel};
use super::outline::{Drawing, Outline, OutlineKind, points_of};

/// A tile of the web's maps, `extent` pixels wide and high, and `buffer` pixels around it in which shapes
/// are still drawn.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    bounds: Rectangle,
    /// `bounds` on a map 1 wide and 1 high, whose origin is the middle: west, south, width, height.
    square: [f64; 4],
    extent: f64,
    buffer: f64,
}

/// Projects a point to a map that is 1 wide and 1 high, whose origin is the middle.
fn mercator((longitude, latitude): Position) -> (f64, f64) {
    let latitude = latitude.clamp(-MERCATOR_LATITUDE_MAX, MERCATOR_LATITUDE_MAX);
    let y = ((90.0 + latitude) * std::f64::consts::PI / 360.0).tan().ln();
    (longitude / 360.0, y / (2.0 * std::f64::consts::PI))
}

impl Frame {
    /// Makes the frame of the tile `zoom/x/y`.
    ///
    /// # Errors
    /// There is no such tile. The message is Elasticsearch's.
    pub fn new(zoom: i32, x: i32, y: i32, extent: u32, buffer: u32) -> Result<Frame, RequestError> {
        let checked = u32::try_from(zoom).ok().filter(|zoom| *zoom <= ZOOM_MAX).ok_or_else(|| {
            RequestError::illegal_argument(format!(
                "Invalid geotile_grid precision of {zoom}. Must be between 0 and {ZOOM_MAX}."
            ))
        })?;
        let on_map = |at: i32| u32::try_from(at).ok().filter(|at| *at < 1 << checked);
        let (Some(column), Some(row)) = (on_map(x), on_map(y)) else {
            let reason = format!("Zoom/X/Y combination is not valid: {zoom}/{x}/{y}");
            return Err(RequestError::illegal_argument(reason));
        };
        let bounds = tile_bounds((checked, column, row));
        let (west, south) = mercator((bounds.west, bounds.south));
        let (east, north) = mercator((bounds.east, bounds.north));
        Ok(Frame {
            bounds,
            square: [west, south, east - west, north - south],
            extent: f64::from(extent),
            buffer: f64::from(buffer),
        })
    }

    /// Returns the bounds of the tile in degrees.
    pub fn bounds(&self) -> Rectangle {
        self.bounds
    }

    /// Returns the position of a point, in pixels from the upper left corner.
    fn pixel(&self, place: Position) -> Pixel {
        let [west, south, width, height] = self.square;
        let (x, y) = mercator(place);
        Pixel { x: (x - west) / width * self.extent, y: self.extent - (y - south) / height * self.extent }
    }

    fn clip(&self) -> Box {
        Box { least: -self.buffer, most: self.extent + self.buffer }
    }

    fn tile(&self) -> Box {
        Box { least: 0.0, most: self.extent }
    }

    /// Draws a point; `None` if it is outside of the tile.
    pub fn point(&self, place: Position) -> Option<Outline> {
        points_of(&[self.pixel(place)], self.tile())
    }

    /// Draws places; those outside of the tile are left out.
    ///
    /// # Errors
    /// There is no memory for it, or the request is to end.
    pub fn points(&self, places: &[Position]) -> Result<Option<Outline>, Stop> {
        self.points_within(places, self.tile())
    }

    fn points_within(&self, places: &[Position], within: Box) -> Result<Option<Outline>, Stop> {
        // The places are copied, projected, rounded and drawn.
        work::claim(4 * size_of_val(places) as u64)?;
        let mut places: Vec<Position> = places.iter().map(|place| on_map(*place)).collect();
        places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        Ok(points_of(&self.pixels(&places, |x| x)?, within))
    }

    /// Draws the part of a rectangle that is on the tile: a line or a point if it has no width or height
    /// there.
    pub fn rectangle(&self, given: Rectangle) -> Option<Outline> {
        let on_tile = |at: f64| (at + 0.5).floor().clamp(0.0, self.extent) as i64;
        let (upper, lower) = (self.pixel((given.west, given.north)), self.pixel((given.east, given.south)));
        if upper.x > self.extent || lower.x < 0.0 || upper.y > self.extent || lower.y < 0.0 {
            return None;
        }
        let (left, right) = (on_tile(upper.x), on_tile(lower.x));
        let (top, bottom) = (on_tile(upper.y), on_tile(lower.y));
        Some(Outline::rectangle((left, right), (top, bottom)))
    }

    /// Draws a cell of a grid; `None` outside of the tile.
    ///
    /// # Errors
    /// The request is to end.
    pub fn cell(&self, cell: MapCell) -> Result<Option<Outline>, Stop> {
        match cell.shape() {
            CellShape::Rectangle(rectangle) => Ok(self.rectangle(rectangle)),
            CellShape::Ring(ring) => self.ring(&ring),
        }
    }

    /// Draws a shape. Points, lines and polygons in it become separate outlines. Outer rings are
    /// counter-clockwise, which decides whether a wide one crosses the date line.
    ///
    /// # Errors
    /// There is no memory for it, or the request is to end.
    pub fn shape(&self, shape: &Geometry) -> Result<Vec<Outline>, Stop> {
        let one = match shape {
            Geometry::Point(place) => points_of(&[self.pixel(on_map(*place))], self.clip()),
            Geometry::MultiPoint(places) => self.points_within(places, self.clip())?,
            Geometry::Line(line) => self.lines(std::slice::from_ref(line))?,
            Geometry::MultiLine(many) => self.lines(many)?,
            Geometry::Polygon(rings) => self.polygons(std::slice::from_ref(rings))?,
            Geometry::MultiPolygon(many) => self.polygons(many)?,
            Geometry::Envelope(envelope) => self.ring(&ring_of(*envelope))?,
            Geometry::Circle { .. } => None,
            Geometry::Collection(parts) => {
                let mut outlines = Vec::new();
                for part in parts {
                    work::check_beyond_deadline()?;
                    outlines.extend(self.shape(part)?);
                }
                return Ok(outlines);
            }
        };
        Ok(one.into_iter().collect())
    }

    /// Draws lines. Once a line is a whole turn beyond the map, the rest of it is moved back by a turn, so
    /// that a line that winds around the earth is drawn once for each turn.
    fn lines(&self, lines: &[Vec<Position>]) -> Result<Option<Outline>, Stop> {
        let mut drawing = Drawing::new(self.clip());
        for line in lines.iter().filter(|line| can_be_drawn(line)) {
            work::claim(size_of_val(&line[..]) as u64)?;
            let (mut before, mut part) = (None, Vec::new());
            for &(x, y) in line {
                let x = before.map_or(x, |before| turned_to(x, before));
                part.push(self.pixel((x, y)));
                if part.len().is_multiple_of(CORNERS_BETWEEN_CHECKS) {
                    work::check_beyond_deadline()?;
                }
                before = Some(x);
                if x.abs() > 360.0 {
                    self.draw_line(&mut drawing, &part)?;
                    part.clear();
                    let back = x - 360f64.copysign(x);
                    part.push(self.pixel((back, y)));
                    before = Some(back);
                }
            }
            self.draw_line(&mut drawing, &part)?;
        }
        Ok(drawing.outline(OutlineKind::Lines))
    }

    fn draw_line(&self, drawing: &mut Drawing, line: &[Pixel]) -> Result<(), Stop> {
        self.turns(line.iter()).into_iter().try_for_each(|east| drawing.line(line, east))
    }

    fn polygons(&self, polygons: &[Vec<Vec<Position>>]) -> Result<Option<Outline>, Stop> {
        let mut drawing = Drawing::new(self.clip());
        for rings in polygons.iter().filter(|rings| rings.iter().all(|ring| can_be_drawn(ring))) {
            let is_across = rings.first().is_some_and(|outer| goes_over_date_line(outer, false));
            let place = |x: f64| if is_across && x < 0.0 { x + 360.0 } else { x };
            let rings = rings.iter().map(|ring| self.pixels(ring, place)).collect::<Result<Vec<_>, _>>()?;
            self.draw_polygon(&mut drawing, &rings)?;
        }
        Ok(drawing.outline(OutlineKind::Polygons))
    }

    /// Draws a ring whose longitudes continue beyond the map.
    fn ring(&self, ring: &[Position]) -> Result<Option<Outline>, Stop> {
        let mut drawing = Drawing::new(self.clip());
        self.draw_polygon(&mut drawing, &[self.pixels(ring, |x| x)?])?;
        Ok(drawing.outline(OutlineKind::Polygons))
    }

    fn draw_polygon(&self, drawing: &mut Drawing, rings: &[Vec<Pixel>]) -> Result<(), Stop> {
        self.turns(rings.iter().flatten()).into_iter().try_for_each(|east| drawing.polygon(rings, east))
    }

    /// Projects corners, after `place` has moved their longitudes.
    fn pixels(&self, corners: &[Position], place: impl Fn(f64) -> f64) -> Result<Vec<Pixel>, Stop> {
        work::claim(size_of_val(corners) as u64)?;
        let mut pixels = Vec::with_capacity(corners.len());
        for some in corners.chunks(CORNERS_BETWEEN_CHECKS) {
            work::check_beyond_deadline()?;
            pixels.extend(some.iter().map(|(x, y)| self.pixel((place(*x), *y))));
        }
        Ok(pixels)
    }

    /// Returns the distances, in pixels to the east, by which the outline must move to touch the tile. Each
    /// is a whole number of turns around the earth.
    fn turns<'p>(&self, outline: impl Iterator<Item = &'p Pixel>) -> Vec<f64> {
        let (clip, world) = (self.clip(), self.extent / self.square[2]);
        let (west, east) =
            outline.fold((f64::MAX, f64::MIN), |(west, east), at| (west.min(at.x), east.max(at.x)));
        let all = (-TURNS_MAX..=TURNS_MAX).map(|turn| f64::from(turn) * world);
        all.filter(|by| east + by >= clip.least && west + by <= clip.most).collect()
    }
}

/// The largest number of turns around the earth by which an outline may have to move. Corners that can be
/// drawn are at most one turn beyond the map; those of a ring across the date line are at most two.
const TURNS_MAX: i32 = 2;

/// Whether an index accepts all corners. A document whose malformed values are ignored may contain others.
fn can_be_drawn(corners: &[Position]) -> bool {
    corners.iter().all(|corner| check_corner(*corner).is_ok())
}

/// Moves a point that was given beyond the map back onto it, as the index does.
fn on_map((longitude, latitude): Position) -> Position {
    let point = GeoPoint { latitude, longitude }.normalized();
    (point.longitude, point.latitude)
}

/// Returns the corners of a rectangle, which may cross the date line.
fn ring_of(rectangle: Rectangle) -> Vec<Position> {
    let Rectangle { west, mut east, south, north } = rectangle;
    if east < west {
        east += 360.0;
    }
    vec![(west, south), (east, south), (east, north), (west, north), (west, south)]
}

#[cfg(test)]
mod tests {
    use limber_mapping::geo::{WktOptions, geometry_from_wkt};

    use super::*;

    #[test]
    fn tiles_that_are_not_there() {
        let reason = |zoom, x, y| Frame::new(zoom, x, y, 4096, 5).expect_err("no tile").reason;
        assert_eq!(reason(30, 0, 0), "Invalid geotile_grid precision of 30. Must be between 0 and 29.");
        assert_eq!(reason(-1, 0, 0), "Invalid geotile_grid precision of -1. Must be between 0 and 29.");
        assert_eq!(reason(1, 2, 0), "Zoom/X/Y combination is not valid: 1/2/0");
        assert_eq!(reason(0, 0, -1), "Zoom/X/Y combination is not valid: 0/0/-1");
    }

    #[test]
    fn the_whole_world_is_one_square() {
        let frame = Frame::new(0, 0, 0, 4096, 5).expect("a tile");
        let all = frame.rectangle(frame.bounds()).expect("on the tile");
        assert_eq!(all, Outline::rectangle((0, 4096), (0, 4096)));
        assert_eq!(frame.point((0.0, 0.0)), points_of(&[Pixel { x: 2048.0, y: 2048.0 }], frame.tile()));
    }

    /// Returns the columns of those tiles north of the equator, at zoom 2, that a shape touches.
    fn columns(text: &str) -> Vec<i32> {
        let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
        let shape = geometry_from_wkt(text, notation).expect(text);
        let is_on = |x: &i32| {
            let frame = Frame::new(2, *x, 1, 4096, 5).expect("a tile");
            !frame.shape(&shape).expect("no limit").is_empty()
        };
        (0..4).filter(is_on).collect()
    }

    #[test]
    fn shapes_go_around_the_earth_as_the_index_has_them() {
        for (text, expected) in [
            // A wide counter-clockwise ring takes the long way around the earth.
            ("POLYGON ((-170 1, 170 1, 170 9, -170 9, -170 1))", vec![0, 1, 2, 3]),
            // A wide clockwise ring crosses the date line.
            ("POLYGON ((-170 1, -170 9, 170 9, 170 1, -170 1))", vec![0, 3]),
            ("POLYGON ((-170 1, 0 1, 170 1, 170 9, 0 9, -170 9, -170 1))", vec![0, 1, 2, 3]),
            ("POLYGON ((170 1, 190 1, 190 9, 170 9, 170 1))", vec![0, 3]),
            ("POLYGON ((500 1, 530 1, 530 9, 500 9, 500 1))", vec![3]),
            ("POLYGON ((-530 1, -500 1, -500 9, -530 9, -530 1))", vec![0]),
            ("BBOX (170, -170, 9, 1)", vec![0, 3]),
            ("BBOX (-170, 170, 9, 1)", vec![0, 1, 2, 3]),
            ("LINESTRING (170 1, -170 1)", vec![0, 3]),
            ("LINESTRING (-89 1, 89 1)", vec![1, 2]),
            ("LINESTRING (-91 1, 89 1)", vec![0, 1, 2]),
            ("POINT (190 1)", vec![0]),
            ("MULTIPOINT (190 1, -190 1)", vec![0, 3]),
            ("POLYGON ((0 1, 1e300 1, 5 5, 0 1))", vec![]),
            ("LINESTRING (-1e300 1, 0 1)", vec![]),
        ] {
            assert_eq!(columns(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_around_the_earth_is_drawn_once_for_each_time_around() {
        let frame = Frame::new(2, 1, 1, 4096, 5).expect("a tile");
        let command_count = |times: u32| {
            let corners = (0..times * 4).map(|at| (f64::from(at % 4) * 90.0 - 180.0, 1.0)).collect();
            frame.shape(&Geometry::Line(corners)).expect("no limit")[0].commands.len()
        };
        // A line from the left border to the right one takes eight numbers.
        assert!(command_count(1000) <= 1001 * 8, "{}", command_count(1000));
        assert!(command_count(1000) >= 999 * 6, "{}", command_count(1000));
    }

    #[test]
    fn holes_follow_their_polygon_over_the_date_line() {
        let frame = Frame::new(2, 3, 1, 4096, 5).expect("a tile");
        let holed = "POLYGON ((-160 1, -160 19, 160 19, 160 1, -160 1), (170 5, 175 5, 175 9, 170 5))";
        let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
        let shape = geometry_from_wkt(holed, notation).expect(holed);
        let commands = &frame.shape(&shape).expect("no limit")[0].commands;
        assert_eq!(commands.iter().filter(|command| **command == 15).count(), 2);
    }

    #[test]
    fn a_cancelled_request_does_not_wait_for_a_shape() {
        let frame = Frame::new(2, 1, 1, 4096, 5).expect("a tile");
        let request = work::Work::default();
        request.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let _entered = request.enter();
        let points = vec![Geometry::Point((0.0, 0.0)); 3];
        let line = vec![(0.0, 0.0), (1.0, 1.0)];
        for shape in [
            Geometry::MultiPoint(vec![(0.0, 0.0)]),
            Geometry::Line(line.clone()),
            Geometry::Polygon(vec![line]),
            Geometry::Collection(points),
        ] {
            assert_eq!(frame.shape(&shape), Err(Stop::Cancelled), "{shape:?}");
        }
        assert_eq!(frame.points(&[(0.0, 0.0)]), Err(Stop::Cancelled));
    }

    #[test]
    fn polygons_over_the_date_line_are_on_both_sides() {
        let polygon = Geometry::Polygon(vec![vec![
            (170.0, -10.0),
            (-170.0, -10.0),
            (-170.0, 10.0),
            (170.0, 10.0),
            (170.0, -10.0),
        ]]);
        for (x, on_tile) in [(0, true), (1, false), (2, false), (3, true)] {
            let frame = Frame::new(2, x, 1, 4096, 5).expect("a tile");
            assert_eq!(!frame.shape(&polygon).expect("no limit").is_empty(), on_tile, "{x}");
        }
    }
}
