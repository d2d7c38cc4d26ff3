//! A cell of a map's grid: "where on the earth is the cell with this name?"

use h3o::{CellIndex, LatLng};
use limber_mapping::RequestError;
use limber_mapping::geo::{Position, Rectangle, turned_to};

use super::super::grid::{
    hexagon_bounds, hexagon_of, hexagon_ring, tile_bounds, tile_middle, tile_of, tile_parts,
};

/// A cell of `geotile_grid` or `geohex_grid`.
#[derive(Debug, Clone, Copy)]
pub struct MapCell(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Zoom, column and row.
    Tile((u32, u32, u32)),
    Hexagon(CellIndex),
}

/// What a cell looks like on a map.
pub(super) enum CellShape {
    Rectangle(Rectangle),
    /// Longitudes may lie beyond the map.
    Ring(Vec<Position>),
}

impl MapCell {
    /// Parses the name of a cell: `zoom/x/y`, or the address of a hexagon.
    ///
    /// # Errors
    /// No grid has such a cell.
    pub fn parse(name: &str) -> Result<MapCell, RequestError> {
        Ok(MapCell(match name.contains('/') {
            true => Kind::Tile(tile_parts(tile_of(name)?)),
            false => Kind::Hexagon(hexagon_of(name)?),
        }))
    }

    pub(super) fn shape(self) -> CellShape {
        match self.0 {
            Kind::Tile(tile) => CellShape::Rectangle(tile_bounds(tile)),
            Kind::Hexagon(cell) => CellShape::Ring(hexagon_ring(cell)),
        }
    }

    /// Returns the middle of the cell on a map.
    pub fn middle(self) -> Position {
        match self.0 {
            Kind::Tile(tile) => tile_middle(tile),
            Kind::Hexagon(cell) => {
                let center = LatLng::from(cell);
                (center.lng(), center.lat())
            }
        }
    }

    /// Moves a place into the rectangle around the cell.
    pub fn nearest_to(self, (x, y): Position) -> Position {
        let bounds = match self.0 {
            Kind::Tile(tile) => tile_bounds(tile),
            Kind::Hexagon(cell) => hexagon_bounds(cell),
        };
        let x = turned_to(x, f64::midpoint(bounds.west, bounds.east)).max(bounds.west).min(bounds.east);
        let on_map = match x {
            beyond if beyond < -180.0 => beyond + 360.0,
            beyond if beyond > 180.0 => beyond - 360.0,
            within => within,
        };
        (on_map, y.max(bounds.south).min(bounds.north))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str) -> MapCell {
        MapCell::parse(name).expect("a cell")
    }

    #[test]
    fn middles_of_cells() {
        let middle = cell("0/0/0").middle();
        assert!(middle.0.abs() < 1e-9 && middle.1.abs() < 1e-9, "{middle:?}");
        let middle = cell("1/1/0").middle();
        assert!((middle.0 - 90.0).abs() < 1e-9 && (middle.1 - 66.513_260_443_111_86).abs() < 1e-9);
    }

    #[test]
    fn places_are_moved_into_the_cell() {
        assert_eq!(cell("1/1/0").nearest_to((-10.0, -10.0)), (0.0, 0.0));
        assert_eq!(cell("1/1/0").nearest_to((180.0, 10.0)), (180.0, 10.0));
        let hexagon = LatLng::new(10.0, 180.0).expect("a place").to_cell(h3o::Resolution::Four).to_string();
        for longitude in [-180.0, 180.0] {
            assert_eq!(cell(&hexagon).nearest_to((longitude, 10.0)).0.abs(), 180.0);
        }
        let moved = cell(&hexagon).nearest_to((-150.0, 10.0));
        assert!(moved.0 > -180.0 && moved.0 < -179.0, "{moved:?}");
    }

    #[test]
    fn names_that_are_no_cells() {
        let reason = |name: &str| MapCell::parse(name).expect_err("no cell").reason;
        assert_eq!(reason("1/2/0"), "Zoom/X/Y combination is not valid: 1/2/0");
        assert_eq!(
            reason("1/0"),
            "Invalid geotile_grid hash string of 1/0. Must be three integers in a form \"zoom/x/y\"."
        );
        assert_eq!(reason("xyz"), "Invalid h3 address [xyz]");
    }
}
