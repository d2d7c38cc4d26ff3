//! One tile and its pixels.

use limber_mapping::RequestError;
use limber_mapping::geo::{Geometry, Position, Rectangle};
use limber_work::Stop;

use super::super::grid::{MERCATOR_LATITUDE_MAX, ZOOM_MAX, tile_bounds};
use super::cell::{CellShape, MapCell};
use super::clip::{Box, Pixel};
use super::outline::{Outline, lines_of, points_of, polygons_of};

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
    /// The tile `zoom/x/y`.
    ///
    /// # Errors
    /// There is no such tile, in Elasticsearch's words.
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

    /// The place of the tile on the earth.
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

    /// A place; `None` outside of the tile.
    pub fn point(&self, place: Position) -> Option<Outline> {
        points_of(&[self.pixel(place)], self.tile())
    }

    /// Places; those outside of the tile are left out.
    pub fn points(&self, places: &[Position]) -> Option<Outline> {
        let mut places = places.to_vec();
        places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let pixels: Vec<Pixel> = places.iter().map(|place| self.pixel(*place)).collect();
        points_of(&pixels, self.tile())
    }

    /// The part of a rectangle that is on the tile: a line or a point where it has no width or height there.
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
            CellShape::Ring(ring) => Ok(self.shape(&Geometry::Polygon(vec![ring]))?.into_iter().next()),
        }
    }

    /// Draws a shape. Points, lines and polygons in it become separate outlines.
    ///
    /// # Errors
    /// There is no memory for it, or the request is to end.
    pub fn shape(&self, shape: &Geometry) -> Result<Vec<Outline>, Stop> {
        let clip = self.clip();
        let ring = |ring: &Vec<Position>, turn: f64| -> Vec<Pixel> {
            unrolled(ring).map(|(x, y)| self.pixel((x + turn, y))).collect()
        };
        // What goes over the date line is drawn on both sides of the map.
        let turns = [-360.0, 0.0, 360.0];
        let polygons = |shapes: &[Vec<Vec<Position>>]| {
            let turned = shapes.iter().flat_map(|rings| {
                turns.map(|turn| rings.iter().map(|one| ring(one, turn)).collect::<Vec<_>>())
            });
            polygons_of(turned, clip)
        };
        let lines = |lines: &[Vec<Position>]| {
            lines_of(lines.iter().flat_map(|line| turns.map(|turn| ring(line, turn))), clip)
        };
        let one = match shape {
            Geometry::Point(place) => points_of(&[self.pixel(*place)], clip),
            Geometry::MultiPoint(places) => {
                let mut places = places.clone();
                places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
                points_of(&places.iter().map(|place| self.pixel(*place)).collect::<Vec<_>>(), clip)
            }
            Geometry::Line(line) => lines(std::slice::from_ref(line))?,
            Geometry::MultiLine(many) => lines(many)?,
            Geometry::Polygon(rings) => polygons(std::slice::from_ref(rings))?,
            Geometry::MultiPolygon(many) => polygons(many)?,
            Geometry::Envelope(envelope) => polygons(&[vec![ring_of(*envelope)]])?,
            Geometry::Circle { .. } => None,
            Geometry::Collection(parts) => {
                let mut outlines = Vec::new();
                for part in parts {
                    outlines.extend(self.shape(part)?);
                }
                return Ok(outlines);
            }
        };
        Ok(one.into_iter().collect())
    }
}

/// The corners of a rectangle, which may go over the date line.
fn ring_of(rectangle: Rectangle) -> Vec<Position> {
    let Rectangle { west, mut east, south, north } = rectangle;
    if east < west {
        east += 360.0;
    }
    // Sides of more than half of the earth would be taken for the short way around it.
    let middle = (west + east) / 2.0;
    vec![
        (west, south),
        (middle, south),
        (east, south),
        (east, north),
        (middle, north),
        (west, north),
        (west, south),
    ]
}

/// Returns the corners with longitudes made continuous across the date line.
fn unrolled(corners: &[Position]) -> impl Iterator<Item = Position> + '_ {
    let mut turn = 0.0;
    let mut before: Option<f64> = None;
    corners.iter().map(move |&(x, y)| {
        if let Some(before) = before {
            turn += match x - before {
                jump if jump > 180.0 => -360.0,
                jump if jump < -180.0 => 360.0,
                _ => 0.0,
            };
        }
        before = Some(x);
        (x + turn, y)
    })
}

#[cfg(test)]
mod tests {
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
