//! The parts of one field in a segment: terms, postings, norms, columns, points and shapes.

use limber_mapping::{Representation, keyed_path};

use super::Segment;
use super::keys::KeyPart;
use super::open::Inverted;
use crate::columns::{NumberColumn, OrdinalColumn};
use crate::file::{SectionEntry, SectionKind};
use crate::norms::Norms;
use crate::points::{Points, ShapeCells, SpatialPoints};
use crate::postings::{Postings, PostingsReader, Want};
use crate::shapes::ShapeColumn;
use crate::terms::{IndexPages, TermDictionary, TermInfo};
use crate::uses::{self, part};
use crate::{Error, Result};

/// The sections that terms and their postings are read from.
const INVERTED_SECTIONS: [SectionKind; 5] = [
    SectionKind::TermDirectory,
    SectionKind::TermIndex,
    SectionKind::Terms,
    SectionKind::Postings,
    SectionKind::Positions,
];

impl Segment {
    pub(super) fn inverted(&self, number: u32) -> Result<Option<&Inverted>> {
        self.file.check_known(&INVERTED_SECTIONS, number)?;
        let state = &self.state(number).inverted;
        if let Some(inverted) = state.get() {
            return Ok(Some(inverted));
        }
        let Some(directory) = self.file.bytes(SectionKind::TermDirectory, number) else { return Ok(None) };
        let missing = || Error::corrupt("section table", 0, "every section of a field's terms");
        let shared = |kind| self.file.shared(kind, number).ok_or_else(missing);
        let index: &SectionEntry = self.file.entry(SectionKind::TermIndex, number).ok_or_else(missing)?;
        let pages = IndexPages {
            directory: self.directory.clone(),
            file: self.file.file_name(index).clone(),
            offset: index.offset,
            len: index.len,
            mapped: self.file.shared(SectionKind::TermIndex, number),
            cache: self.cache.clone(),
            segment_core: self.core,
            field: number,
        };
        let terms = TermDictionary::open(directory, shared(SectionKind::Terms)?, pages)?;
        let positions = self.file.shared(SectionKind::Positions, number);
        let postings = shared(SectionKind::Postings)?;
        let postings = PostingsReader::open(postings, positions, terms.options(), self.doc_count())?;
        Ok(Some(state.get_or_init(|| Inverted { terms, postings })))
    }

    /// Returns the key of a flattened field that this path names; `None` if no document has it.
    pub(super) fn key(&self, path: &str) -> Result<Option<&KeyPart>> {
        let Some(keys) = &self.keys else { return Ok(None) };
        let parents = path.match_indices('.').map(|(dot, _)| (&path[..dot], &path[dot + 1..]));
        for (parent, key) in parents {
            if let Some(number) = self.number(&keyed_path(parent)) {
                self.file.readable_field(number)?;
                return keys.part(self, path, number, key);
            }
        }
        Ok(None)
    }

    /// Notes that a search reads a part of a field.
    #[inline]
    fn note(&self, number: u32, parts: u16) {
        uses::note(self.core, number, parts);
    }

    /// Opens a field, or a key of a flattened one. Notes that a search reads these parts of a field; a key
    /// has postings only.
    fn inverted_by_path(&self, path: &str, parts: u16) -> Result<Option<&Inverted>> {
        let (number, parts) = match self.number(path) {
            Some(number) => (number, parts),
            None => match self.key(path)? {
                Some(key) => (key.number, part::POSTINGS),
                None => return Ok(None),
            },
        };
        self.note(number, parts);
        self.inverted(number)
    }

    /// Returns the sorted terms of a field.
    pub fn terms(&self, path: &str) -> Result<Option<&TermDictionary>> {
        match self.number(path) {
            Some(number) => {
                self.note(number, part::TERMS);
                self.terms_of(number)
            }
            None => Ok(self.key(path)?.map(|key| {
                self.note(key.number, part::TERMS);
                &key.terms
            })),
        }
    }

    pub(crate) fn terms_of(&self, number: u32) -> Result<Option<&TermDictionary>> {
        Ok(self.inverted(number)?.map(|inverted| &inverted.terms))
    }

    /// Opens the postings of a term that [`Segment::terms`] of the same field returned. Do not ask for more
    /// than is needed.
    pub fn postings(&self, path: &str, info: &TermInfo, want: Want) -> Result<Postings> {
        let parts = match want {
            Want::Freqs => part::POSTINGS | part::TERM_FREQUENCIES,
            Want::Positions => part::POSTINGS | part::TERM_FREQUENCIES | part::POSITIONS,
            _ => part::POSTINGS,
        };
        let inverted = self.inverted_by_path(path, parts)?;
        let inverted =
            inverted.ok_or_else(|| Error::corrupt("section table", 0, "the postings of the field"))?;
        inverted.postings.postings(info, want)
    }

    /// Returns the postings of a field, for queries that open many terms.
    pub fn postings_reader(&self, path: &str) -> Result<Option<&PostingsReader>> {
        Ok(self.inverted_by_path(path, part::POSTINGS)?.map(|inverted| &inverted.postings))
    }

    /// Returns the norms (encoded lengths) of a field.
    pub fn norms(&self, path: &str) -> Result<Option<&Norms>> {
        let Some(number) = self.number(path) else { return Ok(None) };
        self.note(number, part::NORMS);
        self.file.check_known(&[SectionKind::Norms], number)?;
        let state = &self.state(number).norms;
        if let Some(norms) = state.get() {
            return Ok(Some(norms));
        }
        let Some(bytes) = self.file.shared(SectionKind::Norms, number) else { return Ok(None) };
        let norms = Norms::open(bytes, self.doc_count())?;
        Ok(Some(state.get_or_init(|| norms)))
    }

    fn section(&self, path: &str, kind: SectionKind, of: Representation) -> Result<Option<&[u8]>> {
        match self.number(path) {
            Some(number) if self.info(number).representation == of => self.file.readable_bytes(kind, number),
            _ => Ok(None),
        }
    }

    /// Returns the numbers of a field by document.
    pub fn numbers(&self, path: &str) -> Result<Option<NumberColumn<'_>>> {
        self.note_path(path, part::DOC_VALUES);
        self.numbers_unnoted(path)
    }

    fn note_path(&self, path: &str, parts: u16) {
        if let Some(number) = self.number(path) {
            self.note(number, parts);
        }
    }

    fn numbers_unnoted(&self, path: &str) -> Result<Option<NumberColumn<'_>>> {
        match self.section(path, SectionKind::Column, Representation::Number)? {
            Some(bytes) => self.of_this_segment(NumberColumn::open(bytes)?).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the ordinals of a field's terms by document.
    pub fn ordinals(&self, path: &str) -> Result<Option<OrdinalColumn<'_>>> {
        match self.number(path) {
            Some(number) if self.info(number).representation == Representation::Terms => {
                self.note(number, part::DOC_VALUES);
                self.ordinals_of(number)
            }
            Some(_) => Ok(None),
            None => self.key(path)?.map_or(Ok(None), |key| {
                self.note(key.number, part::DOC_VALUES);
                key.column(self)
            }),
        }
    }

    pub(crate) fn ordinals_of(&self, number: u32) -> Result<Option<OrdinalColumn<'_>>> {
        match self.file.readable_bytes(SectionKind::Column, number)? {
            Some(bytes) => self.of_this_segment(OrdinalColumn::open(bytes)?).map(Some),
            None => Ok(None),
        }
    }

    fn of_this_segment<'a, T: crate::columns::ColumnValue>(
        &self,
        column: crate::columns::Column<'a, T>,
    ) -> Result<crate::columns::Column<'a, T>> {
        if column.doc_count() == self.doc_count() {
            Ok(column)
        } else {
            Err(Error::corrupt(
                "column",
                u64::from(column.doc_count()),
                "as many documents as the segment has",
            ))
        }
    }

    /// Returns the numbers of a field by value.
    pub fn points(&self, path: &str) -> Result<Option<Points<'_>>> {
        if self.field(path).is_some_and(|field| field.spatial) {
            return Ok(None);
        }
        self.note_path(path, part::POINTS);
        self.raw_points(path)
    }

    /// Returns the positions of a field by cell.
    pub fn spatial_points(&self, path: &str) -> Result<Option<SpatialPoints<'_>>> {
        match self.field(path) {
            Some(field) if field.spatial => {
                self.note_path(path, part::POINTS);
                Ok(self.raw_points(path)?.map(SpatialPoints::new))
            }
            _ => Ok(None),
        }
    }

    /// Returns the cells of a field of shapes.
    pub fn shape_cells(&self, path: &str) -> Result<Option<ShapeCells<'_>>> {
        match self.field(path) {
            Some(field) if field.representation == Representation::Shape => {
                self.note_path(path, part::POINTS);
                Ok(self.raw_points(path)?.map(ShapeCells::new))
            }
            _ => Ok(None),
        }
    }

    /// Returns the shapes of a field by document.
    pub fn shapes(&self, path: &str) -> Result<Option<ShapeColumn<'_>>> {
        self.note_path(path, part::DOC_VALUES);
        let section = |kind| self.section(path, kind, Representation::Shape);
        match [section(SectionKind::Column)?, section(SectionKind::Shapes)?] {
            [Some(places), Some(bytes)] => {
                let places = self.of_this_segment(NumberColumn::open(places)?)?;
                Ok(Some(ShapeColumn::new(places, bytes)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the points section, whatever its numbers mean.
    pub(crate) fn raw_points(&self, path: &str) -> Result<Option<Points<'_>>> {
        let of = self.field(path).map_or(Representation::Number, |field| field.representation);
        match self.section(path, SectionKind::Points, of)? {
            Some(bytes) => {
                // Spatial points do not ascend as the column's numbers do.
                let is_spatial = self.field(path).is_some_and(|field| field.spatial);
                let column = if is_spatial { None } else { self.numbers_unnoted(path)? };
                let points = Points::open(bytes, column)?;
                if points.doc_count() != self.doc_count() {
                    return Err(Error::corrupt("points", 0, "as many documents as the segment has"));
                }
                Ok(Some(points))
            }
            None => Ok(None),
        }
    }
}
