//! Writes the points of a buffer: those of numbers, of places and of shapes.

use limber_mapping::Field;

use super::shapes::ShapesBuffer;
use super::write::FieldsWriter;
use crate::columns::ColumnSummary;
use crate::file::SectionKind;
use crate::points::{PointsWriter, column_serves, z_order_of};
use crate::{DocId, Result, Sink};

impl FieldsWriter<'_> {
    pub(super) fn write_spatial_points(
        &mut self,
        number: u32,
        mut values: Vec<i64>,
        docs: Option<&[DocId]>,
    ) -> Result<()> {
        values.iter_mut().for_each(|value| *value = z_order_of(*value));
        self.write_points(number, &values, docs, None)
    }

    pub(super) fn write_shapes(&mut self, field: &Field, shapes: ShapesBuffer) -> Result<()> {
        if shapes.docs.len() == 0 {
            return Ok(());
        }
        let (number, info) = self.add_info(field);
        let ShapesBuffer { cells, bytes, starts, docs, .. } = shapes;
        let mut section = self.writer.begin(SectionKind::Shapes, number);
        bytes.chunks().try_for_each(|chunk| section.append(chunk))?;
        self.writer.end(section);
        drop(bytes);
        let repeats = docs.has_repeats();
        let docs = docs.finish(self.doc_count);
        let mut places: Vec<i64> = starts.iter().map(i64::from).collect();
        self.write_column(number, &mut places, docs.as_deref(), repeats, false)?;
        if info.index {
            let (cells, docs) = cells.into_parts();
            let docs = docs.finish(self.doc_count);
            self.write_points(number, &cells, docs.as_deref(), None)?;
        }
        Ok(())
    }

    /// Writes points. `values` are not used if `column` itself serves as the index.
    pub(super) fn write_points(
        &mut self,
        number: u32,
        values: &[i64],
        docs: Option<&[DocId]>,
        column: Option<&ColumnSummary>,
    ) -> Result<()> {
        let mut points = PointsWriter::default();
        if !column.is_some_and(column_serves) {
            points = PointsWriter::with_capacity(values.len());
            match docs {
                None => values.iter().zip(0..).for_each(|(&value, doc)| points.push(doc, value)),
                Some(docs) => values.iter().zip(docs).for_each(|(&value, &doc)| points.push(doc, value)),
            }
        }
        let mut section = self.writer.begin(SectionKind::Points, number);
        points.finish(self.doc_count, column, &mut section)?;
        self.writer.end(section);
        Ok(())
    }
}
