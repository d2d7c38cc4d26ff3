//! The grid cells that the shapes of documents touch.

use limber_mapping::geo::GridShape;
use limber_segment::columns::Batch;
use limber_segment::shapes::ShapeColumn;
use limber_segment::{DocId, Segment};
use limber_work as work;

use super::super::buckets::entries::{Values, push_checked};
use super::super::budget::Budget;
use super::grid_cells::GridCells;
use crate::error::Result;
use crate::geo::cells_of_shape;

/// Reads the shapes of one segment at a time.
#[derive(Debug)]
pub(super) struct ShapeReader<'s> {
    path: &'s str,
    column: Option<ShapeColumn<'s>>,
    batch: Batch<i64>,
    cells: Vec<i64>,
    positions: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> ShapeReader<'s> {
    pub(crate) fn new(path: &'s str, budget: &'s Budget) -> ShapeReader<'s> {
        let (column, batch) = (None, Batch::default());
        ShapeReader { path, column, batch, cells: Vec::new(), positions: Vec::new(), budget }
    }

    /// Starts a segment, whose documents come next.
    pub fn begin(&mut self, segment: &'s Segment) -> Result<()> {
        self.column = segment.shapes(self.path)?;
        Ok(())
    }

    /// Returns the cells of `docs`; a cell occurs once in a document.
    pub fn load(&mut self, docs: &[DocId], wanted: &GridCells) -> Result<Values<'_, i64>> {
        let ShapeReader { column, batch, cells, positions, budget, .. } = self;
        let charged = cells.capacity();
        cells.clear();
        positions.clear();
        let mut shapes: Vec<(usize, GridShape)> = Vec::new();
        if let Some(column) = column {
            column.for_each(docs, batch, |position, bytes| {
                let shape =
                    GridShape::decode(bytes).map_err(limber_segment::Error::in_section("shapes", 0))?;
                match shapes.last_mut() {
                    Some((last, whole)) if *last == position => whole.parts.extend(shape.parts),
                    _ => shapes.push((position, shape)),
                }
                Ok(())
            })?;
        }
        for (position, shape) in shapes {
            let start = cells.len();
            cells_of_shape(wanted.grid, shape, &mut |cell| {
                if !wanted.wants(cell) {
                    return budget.check();
                }
                if cells.len() >= charged {
                    budget.spend(size_of::<i64>() as u64)?;
                }
                push_checked(cells, cell as i64)
            })?;
            // Several parts of a shape can touch the same cell.
            cells[start..].sort_unstable();
            let mut kept = start;
            for at in start..cells.len() {
                if at == start || cells[at] != cells[kept - 1] {
                    cells[kept] = cells[at];
                    kept += 1;
                }
            }
            cells.truncate(kept);
            let bytes_of = |count: usize| count * size_of::<u32>();
            work::check_growth(0, bytes_of(positions.capacity()), bytes_of(kept))?;
            positions.resize(kept, position as u32);
        }
        Ok(Values { values: cells, positions: Some(positions) })
    }
}
