//! Cells of the three grids: "which cell is this point in, what is its name, and which points are in it?"
//!
//! A geohash is a cell of the Z order curve; a geotile is a web map tile (`zoom/x/y`, Mercator); a geohex
//! is a cell of H3. Sources: Elasticsearch's `Geohash`, `GeoTileUtils`, H3's documentation.

use h3o::{CellIndex, LatLng, Resolution};
use limber_codec::z_order;
use limber_mapping::RequestError;
use limber_mapping::geo::{
    GeoPoint, Position, Rectangle, decode_latitude, decode_longitude, geohash_bounds, geohash_text, turned_to,
};
use limber_segment::points::Cell;

/// Finest zoom of a geotile (`GeoTileUtils.MAX_ZOOM`).
pub const ZOOM_MAX: u32 = 29;
/// Latitude where a Mercator map ends.
pub const MERCATOR_LATITUDE_MAX: f64 = 85.051_128_779_806_59;

/// A grid and its precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Grid {
    /// Number of characters, 1 to 12.
    Geohash(u32),
    /// Zoom, 0 to [`ZOOM_MAX`].
    Geotile(u32),
    /// Resolution, 0 to 15.
    Geohex(u32),
}

impl Grid {
    /// Returns the number of the cell that contains a stored point. Cells with equal document counts are
    /// shown by descending number, read as signed. The number of a geohash has its bits above its length.
    #[inline]
    pub fn cell_of(self, stored: i64) -> u64 {
        match self {
            Grid::Geohash(chars) => {
                let (x, y) = (stored as u32 ^ (1 << 31), (stored >> 32) as u32 ^ (1 << 31));
                z_order::interleave(x, y) >> (64 - 5 * chars) << 4 | u64::from(chars)
            }
            Grid::Geotile(zoom) => {
                let x = tile_x(decode_longitude(stored as i32), zoom);
                let y = tile_y(decode_latitude((stored >> 32) as i32), zoom);
                tile_number(zoom, x, y)
            }
            Grid::Geohex(resolution) => {
                let point = GeoPoint::decode(stored);
                let resolution = Resolution::try_from(resolution as u8).unwrap_or(Resolution::Zero);
                LatLng::new(point.latitude, point.longitude)
                    .map_or(0, |place| u64::from(place.to_cell(resolution)))
            }
        }
    }

    /// Returns the same as [`Self::cell_of`], with a cache: computing the row of a tile takes a sine and a
    /// logarithm.
    #[inline]
    pub fn cell_with(self, stored: i64, rows: &mut TileRows) -> u64 {
        match self {
            Grid::Geotile(zoom) => {
                let x = tile_x(decode_longitude(stored as i32), zoom);
                tile_number(zoom, x, rows.row_of((stored >> 32) as i32, zoom))
            }
            other => other.cell_of(stored),
        }
    }

    /// Returns the name of a cell.
    pub fn name(self, cell: u64) -> String {
        match self {
            Grid::Geohash(chars) => geohash_text(cell >> 4 << (64 - 5 * chars), chars as usize),
            Grid::Geotile(_) => {
                let (zoom, x, y) = tile_parts(cell);
                format!("{zoom}/{x}/{y}")
            }
            Grid::Geohex(_) => format!("{cell:x}"),
        }
    }
}

/// A cache of tile rows by latitude, for one zoom. Latitudes are divided into 2^18 bands; the row is looked
/// up for a band that lies in a single row, and computed otherwise.
#[derive(Debug, Default)]
pub struct TileRows {
    /// Indexed by band: 0 if unknown, [`TileRows::SPLIT`], or the row + 1. Empty until the first use.
    bands: Vec<u32>,
}

impl TileRows {
    const BAND_BITS: u32 = 18;
    /// A band that contains a boundary between rows.
    const SPLIT: u32 = u32::MAX;
    /// Memory of the cache once it is used.
    pub const BYTES: u64 = 4 << Self::BAND_BITS;

    #[inline]
    fn row_of(&mut self, latitude: i32, zoom: u32) -> u32 {
        let place = (latitude as u32 ^ (1 << 31)) >> (32 - Self::BAND_BITS);
        match self.bands.get(place as usize) {
            Some(&known) if known != 0 && known != Self::SPLIT => known - 1,
            Some(&Self::SPLIT) => tile_y(decode_latitude(latitude), zoom),
            _ => self.learn(place, latitude, zoom),
        }
    }

    #[cold]
    fn learn(&mut self, place: u32, latitude: i32, zoom: u32) -> u32 {
        self.bands.resize(1 << Self::BAND_BITS, 0);
        let first = place << (32 - Self::BAND_BITS);
        let last = first | (u32::MAX >> Self::BAND_BITS);
        let row = |place: u32| tile_y(decode_latitude((place ^ (1 << 31)) as i32), zoom);
        let (first, last) = (row(first), row(last));
        self.bands[place as usize] = if first == last { first + 1 } else { Self::SPLIT };
        tile_y(decode_latitude(latitude), zoom)
    }
}

const TILE_MASK: u64 = (1 << 29) - 1;

pub(super) fn tile_number(zoom: u32, x: u32, y: u32) -> u64 {
    u64::from(zoom) << 58 | u64::from(x) << 29 | u64::from(y)
}

/// Returns zoom, column and row of the tile with a number.
pub(super) fn tile_parts(cell: u64) -> (u32, u32, u32) {
    ((cell >> 58) as u32, (cell >> 29 & TILE_MASK) as u32, (cell & TILE_MASK) as u32)
}

/// Returns a place on a map of tiles. `x` and `y` count tiles from the upper left corner of the map.
fn place_on_tiles(zoom: u32, x: f64, y: f64) -> Position {
    let tiles = f64::from(1u32 << zoom);
    let latitude = (std::f64::consts::PI * (1.0 - 2.0 * y / tiles)).sinh().atan().to_degrees();
    (x / tiles * 360.0 - 180.0, latitude)
}

/// Returns the rectangle of a tile in degrees. `tile` is zoom, column and row.
pub(super) fn tile_bounds((zoom, x, y): (u32, u32, u32)) -> Rectangle {
    let (x, y) = (f64::from(x), f64::from(y));
    let (west, north) = place_on_tiles(zoom, x, y);
    let (east, south) = place_on_tiles(zoom, x + 1.0, y + 1.0);
    Rectangle { west, east, south, north }
}

/// Returns the middle of a tile on the map, which is not halfway between its latitudes. `tile` is zoom,
/// column and row.
pub(super) fn tile_middle((zoom, x, y): (u32, u32, u32)) -> Position {
    place_on_tiles(zoom, f64::from(x) + 0.5, f64::from(y) + 0.5)
}

fn tile_x(longitude: f64, zoom: u32) -> u32 {
    let tiles = f64::from(1u32 << zoom);
    let x = ((longitude + 180.0) / 360.0 * tiles).floor();
    x.clamp(0.0, tiles - 1.0) as u32
}

fn tile_y(latitude: f64, zoom: u32) -> u32 {
    let tiles = f64::from(1u32 << zoom);
    let sine = latitude.clamp(-MERCATOR_LATITUDE_MAX, MERCATOR_LATITUDE_MAX).to_radians().sin();
    let y = (tiles * (0.5 - ((1.0 + sine) / (1.0 - sine)).ln() / (4.0 * std::f64::consts::PI))).floor();
    y.clamp(0.0, tiles - 1.0) as u32
}

/// A cell given by its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GridCell {
    /// A rectangle of stored coordinates.
    Rectangle(Cell),
    Hexagon(CellIndex),
}

impl GridCell {
    /// Parses a geohash of 1 to 12 characters.
    pub fn geohash(name: &str) -> Result<GridCell, RequestError> {
        let cell = geohash_bounds(name)?;
        let chars = name.len().min(limber_mapping::geo::GEOHASH_CHARS_MAX) as u32;
        let corner = GeoPoint { latitude: cell.south, longitude: cell.west }.encode();
        let (x, y) = (corner as i32, (corner >> 32) as i32);
        let (x_bits, y_bits) = ((5 * chars).div_ceil(2), 5 * chars / 2);
        let last = |first: i32, bits: u32| (first as u32 | u32::MAX.checked_shr(bits).unwrap_or(0)) as i32;
        Ok(GridCell::Rectangle(Cell { x: (x, last(x, x_bits)), y: (y, last(y, y_bits)) }))
    }

    /// Parses a map tile as `zoom/x/y`.
    pub fn geotile(name: &str) -> Result<GridCell, RequestError> {
        let (zoom, x, y) = tile_parts(tile_of(name)?);
        let x_ends = ends(|stored| tile_x(decode_longitude(stored), zoom).cmp(&x));
        Ok(GridCell::Rectangle(Cell { x: x_ends, y: latitudes_of_row(y, zoom) }))
    }

    /// Parses the address of an H3 cell in hexadecimal digits.
    pub fn geohex(name: &str) -> Result<GridCell, RequestError> {
        hexagon_of(name).map(GridCell::Hexagon)
    }
}

/// Parses the address of an H3 cell in hexadecimal digits.
pub(super) fn hexagon_of(name: &str) -> Result<CellIndex, RequestError> {
    name.parse().map_err(|_| RequestError::illegal_argument(format!("Invalid h3 address [{name}]")))
}

/// Returns the number of the tile with a name such as `8/75/96`.
pub(crate) fn tile_of(name: &str) -> Result<u64, RequestError> {
    let refuse = || {
        RequestError::illegal_argument(format!(
            "Invalid geotile_grid hash string of {name}. Must be three integers in a form \"zoom/x/y\"."
        ))
    };
    let parts: Vec<u32> = name.split('/').map_while(|part| part.parse().ok()).collect();
    let [zoom, x, y] = parts[..] else { return Err(refuse()) };
    if name.split('/').count() != 3 || zoom > ZOOM_MAX {
        return Err(refuse());
    }
    if x >= 1 << zoom || y >= 1 << zoom {
        return Err(RequestError::illegal_argument(format!("Zoom/X/Y combination is not valid: {name}")));
    }
    Ok(tile_number(zoom, x, y))
}

/// Returns the first and last stored latitude of a row of tiles.
pub(super) fn latitudes_of_row(row: u32, zoom: u32) -> (i32, i32) {
    ends(|stored| row.cmp(&tile_y(decode_latitude(stored), zoom)))
}

/// Returns the first and last stored coordinate for which `order` is `Equal`; `order` ascends with the
/// coordinate.
fn ends(order: impl Fn(i32) -> std::cmp::Ordering) -> (i32, i32) {
    let first = |is_before: &dyn Fn(i32) -> bool| {
        let (mut low, mut high) = (i64::from(i32::MIN), i64::from(i32::MAX) + 1);
        while low < high {
            let middle = (low + high).div_euclid(2);
            if is_before(middle as i32) { low = middle + 1 } else { high = middle }
        }
        low
    };
    let start = first(&|stored| order(stored).is_lt());
    let end = first(&|stored| order(stored).is_le());
    (start as i32, (end - 1) as i32)
}

/// A hexagon with an outer and an inner circle, in meters.
#[derive(Debug)]
pub(crate) struct Hexagon {
    pub cell: CellIndex,
    pub center: GeoPoint,
    pub outer_meters: f64,
    pub inner_meters: f64,
}

impl Hexagon {
    pub(crate) fn new(cell: CellIndex) -> Hexagon {
        let center = LatLng::from(cell);
        let from = limber_mapping::geo::ArcFrom::new(center.lat(), center.lng());
        let distances =
            cell.boundary().iter().map(|at| from.meters(at.lat(), at.lng())).collect::<Vec<f64>>();
        Hexagon {
            cell,
            center: GeoPoint { latitude: center.lat(), longitude: center.lng() },
            outer_meters: 1.01 * distances.iter().copied().fold(0.0, f64::max) + 1.0,
            // A pentagon's sides are at 0.81 of the distance of its corners; the rest allows for the
            // projection.
            inner_meters: 0.7 * distances.iter().copied().fold(f64::MAX, f64::min),
        }
    }

    /// Whether a point, as columns store it, is in the cell.
    pub fn contains(&self, stored: i64) -> bool {
        Grid::Geohex(u32::from(u8::from(self.cell.resolution()))).cell_of(stored) == u64::from(self.cell)
    }
}

/// Returns the corners of an H3 cell counter-clockwise, and the first one again. Longitudes continue beyond
/// the map where the cell crosses the date line. A ring around a pole is closed over the pole.
pub(super) fn hexagon_ring(cell: CellIndex) -> Vec<Position> {
    let boundary = cell.boundary();
    let mut ring: Vec<Position> = Vec::with_capacity(boundary.len() + 4);
    for corner in boundary.iter() {
        let before = ring.last().map_or(corner.lng(), |before| before.0);
        ring.push((turned_to(corner.lng(), before), corner.lat()));
    }
    let (first, last) = (ring[0], ring[ring.len() - 1]);
    let end = turned_to(first.0, last.0);
    if end != first.0 {
        let pole = 90f64.copysign(first.1);
        ring.extend([(end, first.1), (end, pole), (first.0, pole)]);
    }
    ring.push(first);
    ring
}

/// Returns the rectangle around an H3 cell; longitudes may lie beyond the map, as in [`hexagon_ring`].
pub(super) fn hexagon_bounds(cell: CellIndex) -> Rectangle {
    hexagon_ring(cell).iter().fold(NOWHERE, |bounds, (x, y)| Rectangle {
        west: bounds.west.min(*x),
        east: bounds.east.max(*x),
        south: bounds.south.min(*y),
        north: bounds.north.max(*y),
    })
}

/// A rectangle that contains nothing.
const NOWHERE: Rectangle = Rectangle {
    west: f64::INFINITY,
    east: f64::NEG_INFINITY,
    south: f64::INFINITY,
    north: f64::NEG_INFINITY,
};

/// Returns the bounds of a cell in degrees; the longitudes of a hexagon may lie beyond the map.
fn cell_bounds(grid: Grid, cell: u64) -> Rectangle {
    match grid {
        Grid::Geohash(_) => geohash_bounds(&grid.name(cell)).expect("a name made of a number"),
        Grid::Geotile(_) => tile_bounds(tile_parts(cell)),
        Grid::Geohex(_) => CellIndex::try_from(cell).map_or(NOWHERE, hexagon_bounds),
    }
}

/// Whether a cell and a rectangle share more than an edge.
pub(crate) fn cell_touches(grid: Grid, cell: u64, bounds: &Rectangle) -> bool {
    let own = cell_bounds(grid, cell);
    if bounds.north <= own.south || bounds.south >= own.north {
        return false;
    }
    let east = if bounds.east < bounds.west { bounds.east + 360.0 } else { bounds.east };
    [-360.0, 0.0, 360.0].iter().any(|turn| bounds.west < own.east + turn && east > own.west + turn)
}

/// Returns the number of characters of geohashes whose cells have about this size
/// (`GeoUtils#geoHashLevelsForPrecision`: the size is a cell's diagonal).
pub(crate) fn geohash_chars_of(meters: f64) -> u32 {
    const EQUATOR_METERS: f64 = 2.0 * std::f64::consts::PI * 6_378_137.0;
    const MERIDIAN_METERS: f64 = std::f64::consts::PI * 6_356_752.314_245;
    if meters <= 0.0 {
        return 12;
    }
    let ratio = MERIDIAN_METERS / EQUATOR_METERS;
    let width = meters / (1.0 + ratio * ratio).sqrt();
    let cells = (EQUATOR_METERS / width).ceil().min(1e18) as u64;
    let bits = 64 - cells.leading_zeros();
    let (full, left) = (bits / 5, bits % 5);
    (full + u32::from(left > 0) + full + u32::from(left > 3)).min(12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_the_places_that_they_are_the_cells_of() {
        let mut state = 1u64;
        for _ in 0..300 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let stored = state as i64;
            for (grid, read) in [
                (Grid::Geohash(3), GridCell::geohash as fn(&str) -> _),
                (Grid::Geohash(12), GridCell::geohash),
                (Grid::Geotile(0), GridCell::geotile),
                (Grid::Geotile(7), GridCell::geotile),
                (Grid::Geotile(29), GridCell::geotile),
            ] {
                let name = grid.name(grid.cell_of(stored));
                let Ok(GridCell::Rectangle(cell)) = read(&name) else { panic!("{name}") };
                let (x, y) = (stored as i32, (stored >> 32) as i32);
                assert!(
                    cell.x.0 <= x && x <= cell.x.1 && cell.y.0 <= y && y <= cell.y.1,
                    "{name} {cell:?} {x} {y}"
                );
            }
            let name = Grid::Geohex(5).name(Grid::Geohex(5).cell_of(stored));
            let Ok(GridCell::Hexagon(cell)) = GridCell::geohex(&name) else { panic!("{name}") };
            let hexagon = Hexagon::new(cell);
            let point = GeoPoint::decode(stored);
            let center = limber_mapping::geo::ArcFrom::new(hexagon.center.latitude, hexagon.center.longitude);
            assert!(hexagon.contains(stored));
            assert!(center.meters(point.latitude, point.longitude) <= hexagon.outer_meters);
        }
    }

    /// The example of H3's documentation, and tiles of a well-known map.
    #[test]
    fn cells_have_the_names_that_others_give_them() {
        let named = |grid: Grid, latitude: f64, longitude: f64| {
            grid.name(grid.cell_of(GeoPoint { latitude, longitude }.encode()))
        };
        assert_eq!(named(Grid::Geohex(9), 37.775_270_215, -122.418_307_271), "8928308280fffff");
        assert_eq!(named(Grid::Geotile(6), 55.0, 7.0), "6/33/20");
        assert_eq!(named(Grid::Geotile(3), 89.9, 180.0), "3/7/0");
        assert_eq!(named(Grid::Geohash(12), 41.12, -71.34), "drm3btev3e86");
    }

    #[test]
    fn a_hexagon_around_a_pole_reaches_the_pole() {
        for latitude in [90.0, -90.0] {
            for resolution in [0, 3, 9] {
                let grid = Grid::Geohex(resolution);
                let cell = grid.cell_of(GeoPoint { latitude, longitude: 0.0 }.encode());
                for west in [-180.0, -30.0, 60.0, 170.0] {
                    let (south, north) = (latitude.min(89.999_999), latitude.max(-89.999_999));
                    let near = Rectangle { west, east: west + 1.0, south, north };
                    assert!(cell_touches(grid, cell, &near), "{latitude} {resolution} {west}");
                }
            }
        }
    }

    #[test]
    fn a_hexagon_across_the_date_line_stays_small() {
        let cell = LatLng::new(10.0, 180.0).expect("a place").to_cell(Resolution::Four);
        let bounds = hexagon_bounds(cell);
        assert!(bounds.east - bounds.west < 1.0 && bounds.west.abs() > 179.0, "{bounds:?}");
        assert!(bounds.west < -180.0 || bounds.east > 180.0, "{bounds:?}");
    }

    #[test]
    fn names_that_are_no_cells() {
        assert!(GridCell::geohash("a").is_err());
        assert!(GridCell::geotile("1/2/0").is_err());
        assert!(GridCell::geotile("1/0").is_err());
        assert!(GridCell::geotile("30/0/0").is_err());
        assert!(GridCell::geohex("xyz").is_err());
    }
}
