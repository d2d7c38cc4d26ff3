//! "Which cells of a grid does this shape touch?"
//!
//! Geohashes and tiles are found by halving the whole map, skipping parts that the shape does not touch.
//! Hexagons do not contain one another, so they are followed from neighbour to neighbour. Source:
//! Elasticsearch's `GeoGridTiler`.

use h3o::CellIndex;
use limber_mapping::geo::{GridPoint, GridShape, PartKind};
use limber_segment::points::{Cell, Overlap};

use super::grid::{Grid, latitudes_of_row, tile_number};
use super::target::{ShapeRelation, Target};
use crate::error::Result;

/// Called with each cell; an error ends the search.
pub(crate) type Found<'f> = &'f mut dyn FnMut(u64) -> Result<()>;

/// Calls `found` with the number of each cell that the shape touches, as [`Grid::cell_of`] numbers them. A
/// cell may be reported twice.
pub(crate) fn cells_of_shape(grid: Grid, shape: GridShape, found: Found<'_>) -> Result<()> {
    match grid {
        Grid::Geohash(chars) => {
            let halves = Halves { target: Target::of_shape(shape), bits: 5 * chars, chars };
            halves.go(WHOLE_MAP, 0, 0, false, found)
        }
        Grid::Geotile(zoom) => {
            let tiles = Tiles { target: Target::of_shape(shape), zoom };
            tiles.rows(0, (1 << zoom) - 1, found)
        }
        Grid::Geohex(_) => hexagons(grid, shape, found),
    }
}

/// All stored coordinates.
const WHOLE_MAP: Cell = Cell { x: (i32::MIN, i32::MAX), y: (i32::MIN, i32::MAX) };

/// Returns the lower and upper half of a range of stored coordinates.
fn halves((low, high): (i32, i32)) -> [(i32, i32); 2] {
    let middle = ((i64::from(low) + i64::from(high)) >> 1) as i32;
    [(low, middle), (middle + 1, high)]
}

/// Finds geohashes: halves longitude and latitude in turn.
struct Halves {
    target: Target,
    /// Bits of a cell at the precision.
    bits: u32,
    chars: u32,
}

impl Halves {
    fn go(&self, cell: Cell, bit: u32, prefix: u64, is_inside: bool, found: Found<'_>) -> Result<()> {
        let is_inside = is_inside
            || match self.target.overlap(&cell) {
                Overlap::None => return Ok(()),
                Overlap::All => true,
                Overlap::Some => false,
            };
        if bit == self.bits {
            return found(prefix << 4 | u64::from(self.chars));
        }
        let is_x = bit.is_multiple_of(2);
        for (upper, half) in halves(if is_x { cell.x } else { cell.y }).into_iter().enumerate() {
            let part = if is_x { Cell { x: half, y: cell.y } } else { Cell { x: cell.x, y: half } };
            self.go(part, bit + 1, prefix << 1 | upper as u64, is_inside, found)?;
        }
        Ok(())
    }
}

/// Finds map tiles: halves the rows, then the columns of each.
struct Tiles {
    target: Target,
    zoom: u32,
}

impl Tiles {
    fn rows(&self, first: u32, last: u32, found: Found<'_>) -> Result<()> {
        let y = (latitudes_of_row(last, self.zoom).0, latitudes_of_row(first, self.zoom).1);
        if self.target.overlap(&Cell { x: WHOLE_MAP.x, y }) == Overlap::None {
            return Ok(());
        }
        if first == last {
            return self.columns(first, y, 0, 0, false, found);
        }
        let middle = first.midpoint(last);
        self.rows(first, middle, found)?;
        self.rows(middle + 1, last, found)
    }

    /// Visits the columns of a row whose leading bits are `column`.
    fn columns(
        &self,
        row: u32,
        y: (i32, i32),
        bit: u32,
        column: u32,
        is_inside: bool,
        found: Found<'_>,
    ) -> Result<()> {
        // Longitudes are divided evenly, so a column is a range of stored numbers.
        let width = 1i64 << (32 - bit);
        let west = i64::from(i32::MIN) + i64::from(column) * width;
        let x = (west as i32, (west + width - 1) as i32);
        let is_inside = is_inside
            || match self.target.overlap(&Cell { x, y }) {
                Overlap::None => return Ok(()),
                Overlap::All => true,
                Overlap::Some => false,
            };
        if bit == self.zoom {
            return found(tile_number(self.zoom, column, row));
        }
        self.columns(row, y, bit + 1, column << 1, is_inside, found)?;
        self.columns(row, y, bit + 1, column << 1 | 1, is_inside, found)
    }
}

/// Finds H3 cells: from one point of each part on, follows the neighbours that touch the part.
fn hexagons(grid: Grid, shape: GridShape, found: Found<'_>) -> Result<()> {
    for part in shape.parts {
        let points = part.lists.iter().flatten();
        if part.kind == PartKind::Points {
            points.map(|point| grid.cell_of(stored(*point))).try_for_each(&mut *found)?;
            continue;
        }
        let Some(first) = points.map(|point| grid.cell_of(stored(*point))).next() else { continue };
        let part = [GridShape { parts: vec![part] }];
        let mut known = std::collections::HashSet::from([first]);
        let mut open = vec![first];
        found(first)?;
        while let Some(cell) = open.pop() {
            let Ok(cell) = CellIndex::try_from(cell) else { continue };
            for next in cell.grid_disk::<Vec<CellIndex>>(1) {
                if known.insert(u64::from(next))
                    && Target::hexagon(next).holds(ShapeRelation::Intersects, &part)
                {
                    found(u64::from(next))?;
                    open.push(u64::from(next));
                }
            }
        }
    }
    Ok(())
}

/// Returns a point of a shape as columns store points, brought back onto the map.
fn stored((x, y): GridPoint) -> i64 {
    y << 32 | i64::from(x as i32 as u32)
}
