//! The cells that a shape touches: "under which numbers is this shape indexed?"
//!
//! The map, or the grid of a plane, is repeatedly halved in both directions. A cell's number consists of its
//! bits in Z order with a mark after them, so that the numbers of all cells within it are one range (the
//! scheme of Google's S2). Lucene's `LatLonShape` indexes the bounds of triangles instead.

use std::collections::VecDeque;

use limber_codec::z_order::{deinterleave, interleave};

use super::grid_edges::{GridBounds, GridEdges, GridPoint, Side, touches_bounds};
use super::grid_shape::{GRID_TURN, GridShape, PartKind};
use super::surface::Surface;

const SIGN: u32 = 1 << 31;
const SIGNS: u64 = 1 << 63;
/// Half the map, in grid steps.
const HALF_TURN: i64 = GRID_TURN / 2;
/// Maximum number of cells of a shape with few edges. More cells are more exact, but the index is larger.
const CELLS_LEAST: usize = 16;
/// Maximum number of cells of any shape.
const CELLS_MAX: usize = 128;
/// Number of edges for which one more cell is allowed.
const EDGES_A_CELL: usize = 2;
/// How often the cells that may be split hold an edge on average, at most. Most edges are in one cell; if
/// many cross the whole map, smaller cells would exclude little.
const COPIES_MAX: usize = 8;
/// Number of edges that these cells may hold in any case.
const HELD_LEAST: usize = 1 << 16;

/// A cell: the map, or a quarter of another cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeCell {
    /// The bits that all its points share, in Z order, followed by zeros.
    prefix: u64,
    level: u32,
}

impl ShapeCell {
    /// The whole map.
    pub const MAP: ShapeCell = ShapeCell { prefix: 0, level: 0 };
    /// The finest level: cells are two grid steps wide.
    pub const LEVEL_MAX: u32 = 31;

    /// Returns how often the map was quartered, 0 to [`ShapeCell::LEVEL_MAX`].
    pub fn level(self) -> u32 {
        self.level
    }

    fn mark(self) -> u64 {
        1 << (63 - 2 * self.level)
    }

    /// Returns its number: above those of the first half of the cells within it, below those of the other
    /// half.
    pub fn number(self) -> i64 {
        ((self.prefix | self.mark()) ^ SIGNS) as i64
    }

    /// Inverse of [`Self::number`]; `None` if no cell has the number.
    pub fn of_number(number: i64) -> Option<ShapeCell> {
        let bits = number as u64 ^ SIGNS;
        let place = bits.trailing_zeros();
        (place % 2 == 1 && place < 64)
            .then(|| ShapeCell { prefix: bits & (bits - 1), level: (63 - place) / 2 })
    }

    /// Returns the smallest and the largest number of the cells within it, including itself.
    pub fn numbers_within(self) -> (i64, i64) {
        let last = self.prefix | (self.mark() << 1).wrapping_sub(1);
        (((self.prefix + 1) ^ SIGNS) as i64, (last ^ SIGNS) as i64)
    }

    /// Returns its quarters, sorted by number.
    pub fn quarters(self) -> [ShapeCell; 4] {
        let level = self.level + 1;
        [0, 1, 2, 3].map(|quarter| ShapeCell { prefix: self.prefix | quarter << (64 - 2 * level), level })
    }

    /// Returns its bounds, up to and including the first points of its neighbours, so that no line can pass
    /// between two cells.
    pub fn bounds(self) -> GridBounds {
        let (left, bottom) = deinterleave(self.prefix);
        let side = 1i64 << (32 - self.level);
        let (left, bottom) = (i64::from((left ^ SIGN) as i32), i64::from((bottom ^ SIGN) as i32));
        GridBounds { x: (left, left + side), y: (bottom, bottom + side) }
    }

    /// Returns the smallest cell that contains a rectangle of the map.
    fn around(bounds: &GridBounds) -> ShapeCell {
        let number = |x: i64, y: i64| interleave(x as u32 ^ SIGN, y as u32 ^ SIGN);
        let (first, last) = (number(bounds.x.0, bounds.y.0), number(bounds.x.1, bounds.y.1));
        let level = ((first ^ last).leading_zeros() / 2).min(ShapeCell::LEVEL_MAX);
        let prefix = if level == 0 { 0 } else { first >> (64 - 2 * level) << (64 - 2 * level) };
        ShapeCell { prefix, level }
    }
}

/// Returns the numbers of cells that together cover the shape, ascending. Each touches the shape, and none is
/// within another.
pub fn cells_of(surface: Surface, shape: &GridShape) -> Vec<i64> {
    let edges = edges_of(shape);
    let polygons: Vec<GridEdges> = (shape.parts.iter())
        .filter(|part| part.kind == PartKind::Polygon)
        .map(|part| GridEdges::new(surface, part.lists.iter().map(Vec::as_slice)))
        .collect();
    let bounds = shape.bounds();
    let map = GridBounds { x: (-HALF_TURN, HALF_TURN - 1), y: (-HALF_TURN, HALF_TURN - 1) };
    let mut found = Vec::new();
    // Parts of a shape that lie beyond the map are on the map after a shift by full turns.
    let first = (bounds.x.0 + HALF_TURN).div_euclid(GRID_TURN);
    let last = (bounds.x.1 + HALF_TURN).div_euclid(GRID_TURN);
    for turn in first..=last {
        let shift = turn * GRID_TURN;
        let moved = bounds.shifted(-shift);
        let within = GridBounds {
            x: (moved.x.0.max(map.x.0), moved.x.1.min(map.x.1)),
            y: (moved.y.0.clamp(map.y.0, map.y.1), moved.y.1.clamp(map.y.0, map.y.1)),
        };
        Descent { surface, edges: &edges, polygons: &polygons, shift }.cover(&within, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn edges_of(shape: &GridShape) -> Vec<(GridPoint, GridPoint)> {
    let mut edges = Vec::new();
    for part in &shape.parts {
        for list in &part.lists {
            match part.kind {
                PartKind::Points => edges.extend(list.iter().map(|point| (*point, *point))),
                PartKind::Line | PartKind::Polygon => {
                    edges.extend(list.windows(2).map(|pair| (pair[0], pair[1])));
                }
            }
        }
    }
    edges
}

struct Descent<'s> {
    surface: Surface,
    edges: &'s [(GridPoint, GridPoint)],
    polygons: &'s [GridEdges],
    /// The offset from x coordinates on the map to those of the shape.
    shift: i64,
}

impl Descent<'_> {
    /// Repeatedly splits the coarsest cell that an edge crosses, while more cells are allowed.
    fn cover(&self, bounds: &GridBounds, found: &mut Vec<i64>) {
        let cells_max = (CELLS_LEAST + self.edges.len() / EDGES_A_CELL).min(CELLS_MAX);
        let mut done = Vec::new();
        let root = ShapeCell::around(bounds);
        let all: Vec<u32> = (0..self.edges.len() as u32).collect();
        let held_max = (COPIES_MAX * self.edges.len()).max(HELD_LEAST);
        let (mut held, mut is_full) = (all.len(), false);
        let mut open = VecDeque::from([(root, all)]);
        while let Some((cell, edges)) = open.pop_front() {
            held -= edges.len();
            is_full |= held + 4 * edges.len() > held_max;
            if is_full || cell.level == ShapeCell::LEVEL_MAX || done.len() + open.len() + 4 > cells_max {
                done.push(cell);
                continue;
            }
            for quarter in cell.quarters() {
                let bounds = quarter.bounds().shifted(self.shift);
                let here: Vec<u32> =
                    edges.iter().copied().filter(|edge| self.touches(*edge, &bounds)).collect();
                if !here.is_empty() {
                    held += here.len();
                    open.push_back((quarter, here));
                } else if self.is_inside(&bounds) {
                    done.push(quarter);
                }
            }
        }
        found.extend(done.into_iter().map(ShapeCell::number));
    }

    fn touches(&self, edge: u32, bounds: &GridBounds) -> bool {
        let (a, b) = self.edges[edge as usize];
        if a == b {
            // A point belongs to one cell only, not to its neighbours.
            return bounds.holds(a) && a.0 < bounds.x.1 && a.1 < bounds.y.1;
        }
        touches_bounds(self.surface, a, b, bounds)
    }

    /// Whether a rectangle that no edge touches is inside a polygon.
    fn is_inside(&self, bounds: &GridBounds) -> bool {
        let corner = (bounds.x.0, bounds.y.0);
        self.polygons.iter().any(|polygon| polygon.side_of(corner) != Side::Outside)
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid_shape::Part;
    use super::*;

    #[test]
    fn numbers_of_cells_within_are_a_range() {
        let mut cell = ShapeCell::MAP;
        for level in 0..ShapeCell::LEVEL_MAX {
            assert_eq!(ShapeCell::of_number(cell.number()), Some(cell));
            let (first, last) = cell.numbers_within();
            let numbers = cell.quarters().map(ShapeCell::number);
            assert!(numbers.is_sorted() && first <= numbers[0] && numbers[3] <= last);
            assert!(numbers[1] < cell.number() && cell.number() < numbers[2]);
            for quarter in cell.quarters() {
                let (inner_first, inner_last) = quarter.numbers_within();
                assert!(first <= inner_first && inner_last <= last);
                assert!(cell.number() < inner_first || inner_last < cell.number());
            }
            cell = cell.quarters()[(level as usize * 7 + 1) % 4];
        }
        assert_eq!(ShapeCell::of_number(1), None);
        assert_eq!(
            ShapeCell::MAP.bounds(),
            GridBounds { x: (-HALF_TURN, HALF_TURN), y: (-HALF_TURN, HALF_TURN) }
        );
    }

    fn shape(kind: PartKind, points: &[GridPoint]) -> GridShape {
        GridShape { parts: vec![Part { kind, lists: vec![points.to_vec()] }] }
    }

    fn cells(shape: &GridShape) -> Vec<ShapeCell> {
        let numbers = cells_of(Surface::Globe, shape).into_iter();
        numbers.map(|number| ShapeCell::of_number(number).expect("a cell")).collect()
    }

    #[test]
    fn a_point_is_one_finest_cell() {
        for point in [(0, 0), (-1, -1), (HALF_TURN - 1, -HALF_TURN), (12_345_678, -87_654_321)] {
            let cells = cells(&shape(PartKind::Points, &[point]));
            assert_eq!(cells.len(), 1);
            assert_eq!(cells[0].level(), ShapeCell::LEVEL_MAX);
            assert!(cells[0].bounds().holds(point));
        }
    }

    #[test]
    fn cells_hold_the_shape() {
        let side = 1 << 28;
        let ring = [(-side, -side), (side, -side), (side, side), (0, 3), (-side, side), (-side, -side)];
        let polygon = shape(PartKind::Polygon, &ring);
        let found = cells(&polygon);
        assert!(found.len() <= CELLS_LEAST + 4, "{}", found.len());
        let edges = GridEdges::new(Surface::Globe, [&ring[..]]);
        for x in -17..=17 {
            for y in -17..=17 {
                let at = (x * side / 16, y * side / 16);
                if edges.side_of(at) != Side::Outside {
                    assert!(found.iter().any(|cell| cell.bounds().holds(at)), "{at:?}");
                }
            }
        }
    }

    #[test]
    fn lines_across_the_map_share_few_cells() {
        let across = [(-HALF_TURN, -HALF_TURN), (HALF_TURN - 1, HALF_TURN - 1)];
        let part = Part { kind: PartKind::Line, lists: vec![across.to_vec()] };
        let covered = |lines: usize| cells(&GridShape { parts: vec![part.clone(); lines] });
        let found = covered(20_000);
        assert!(found.len() < covered(1).len(), "{}", found.len());
        for at in (-16..16).map(|step| step * (HALF_TURN / 16)) {
            assert!(found.iter().any(|cell| cell.bounds().holds((at, at))), "{at}");
        }
    }

    #[test]
    fn shapes_beyond_the_map_are_on_both_of_its_ends() {
        let line = shape(PartKind::Line, &[(HALF_TURN - 100, 0), (HALF_TURN + 100, 50)]);
        let found = cells(&line);
        let reaches = |at: GridPoint| found.iter().any(|cell| cell.bounds().holds(at));
        assert!(reaches((HALF_TURN - 100, 0)) && reaches((100 - HALF_TURN, 50)) && !reaches((0, 0)));
    }
}
