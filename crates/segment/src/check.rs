//! `limber check`: "is every byte of this segment what was written, and does every part agree with the
//! others?"

use limber_codec::checksum::crc32;
use limber_mapping::Representation;

use crate::file::{SectionKind, format::Lane};
use crate::id_filter::{IdFilter, id_hash};
use crate::identity::ID_PATH;
use crate::points::ShapeCells;
use crate::postings::{Postings, Want};
use crate::segment::Segment;
use crate::{Error, FieldInfo, NO_MORE_DOCS, Result};

/// What a check has verified, and the problems that it found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Bytes whose checksums were verified.
    pub bytes: u64,
    /// Number of sections that were verified.
    pub section_count: u64,
    /// Fields, those of nested documents included.
    pub field_count: u64,
    /// Terms of all fields.
    pub term_count: u64,
    /// (term, document) pairs.
    pub posting_count: u64,
    /// Values of columns.
    pub value_count: u64,
    /// Values of points.
    pub point_count: u64,
    /// Documents, deleted ones included.
    pub document_count: u64,
    /// Empty when the segment is sound.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file, without its folder.
    pub file: String,
    /// Path of the field; empty for a problem of the whole segment.
    pub field: String,
    /// What was expected, and where.
    pub message: String,
}

impl CheckReport {
    /// Whether nothing was found wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn note(&mut self, file: &str, field: &str, result: Result<()>) {
        if let Err(error) = result {
            let (file, field) = (file.to_owned(), field.to_owned());
            self.problems.push(Problem { file, field, message: error.to_string() });
        }
    }
}

impl Segment {
    /// Verifies every checksum, then every structure: order and bounds of terms, postings, values, points
    /// and stored documents, and the summaries kept about them. Continues after a problem, but does not
    /// read further in a section whose checksum is wrong.
    pub fn check(&self) -> CheckReport {
        let mut report = CheckReport { field_count: self.file().fields.len() as u64, ..Default::default() };
        let mut broken = Vec::new();
        for entry in self.file().sections() {
            let bytes = self.file().entry_bytes(entry);
            report.section_count += 1;
            if crc32(bytes) != entry.crc {
                broken.push((entry.kind, entry.field));
                let field = self.file().fields.get(entry.field as usize);
                let field = field.map_or_else(String::new, |field| field.shown_path().to_string());
                let file = self.file().file_name(entry).to_string();
                let message = format!("checksum of section {:?} is wrong", entry.kind);
                report.problems.push(Problem { file, field, message });
            }
        }
        for (name, bytes) in self.file().files() {
            report.bytes += bytes.len() as u64;
            let listed = self.meta().files.iter().find(|file| file.name == name);
            if broken.is_empty() && listed.is_none_or(|file| file.crc != crc32(bytes)) {
                let message = "checksum of the file is not the one of the commit".to_owned();
                report.problems.push(Problem { file: name.to_owned(), field: String::new(), message });
            }
        }
        let main = self.meta().id.file_name(Lane::Main);
        for segment in std::iter::once(self).chain(self.nested_spaces().iter().map(|space| &*space.segment)) {
            for (number, field) in (segment.first_field()..).zip(segment.fields()) {
                if broken.iter().any(|(_, of)| *of == number) {
                    continue;
                }
                let result = segment.check_field(number, field, &mut report);
                report.note(&main, &field.shown_path(), result);
            }
        }
        let stored = [
            SectionKind::StoredBlocks,
            SectionKind::StoredIndex,
            SectionKind::StoredChecksums,
            SectionKind::StoredDictionary,
        ];
        if !broken.iter().any(|(kind, _)| stored.contains(kind)) {
            let result = self.check_stored(&mut report);
            report.note(&main, "", result);
        }
        report
    }

    fn check_stored(&self, report: &mut CheckReport) -> Result<()> {
        let Some(stored) = self.stored_documents()? else { return Ok(()) };
        stored.check()?;
        if stored.doc_count() != self.doc_count() {
            return Err(Error::corrupt("stored index", 1, "as many documents as the segment has"));
        }
        report.document_count += u64::from(stored.doc_count());
        Ok(())
    }

    fn check_field(&self, number: u32, field: &FieldInfo, report: &mut CheckReport) -> Result<()> {
        let expected = |section, there: bool, wanted: bool| {
            (there == wanted)
                .then_some(())
                .ok_or_else(|| Error::corrupt(section, 0, "sections as the field says"))
        };
        if field.representation == Representation::Number {
            let column = self.numbers(&field.path)?;
            if let Some(column) = &column {
                column.check(None)?;
                report.value_count += column.value_count();
            }
            if let Some(points) = self.raw_points(&field.path)? {
                points.check()?;
                report.point_count += points.value_count();
                if column.is_some_and(|column| column.value_count() != points.value_count()) {
                    return Err(Error::corrupt("points", 0, "as many values as the column has"));
                }
            }
            return expected("points", self.file().entry(SectionKind::Points, number).is_some(), field.index);
        }
        if field.representation == Representation::Shape {
            if let Some(shapes) = self.shapes(&field.path)? {
                shapes.check()?;
                report.value_count += shapes.value_count();
            }
            if let Some(points) = self.raw_points(&field.path)? {
                points.check()?;
                ShapeCells::new(points).check()?;
                report.point_count += points.value_count();
            }
            return expected("points", self.file().entry(SectionKind::Points, number).is_some(), field.index);
        }
        let norms = self.norms(&field.path)?.is_some();
        if norms != field.norms {
            expected("norms", norms, field.norms)?;
        }
        let term_count = self.check_terms(&field.path, report)?;
        if let Some(column) = self.ordinals(&field.path)? {
            column.check(Some(term_count))?;
            report.value_count += column.value_count();
        }
        Ok(())
    }

    /// Returns the filter of ids if this is the field of ids and has one.
    fn id_filter_of(&self, path: &str) -> Result<Option<IdFilter>> {
        match path == ID_PATH {
            true => IdFilter::of(self.file()),
            false => Ok(None),
        }
    }

    /// Walks the postings of a term and marks their documents in `seen`, a bit for each. Returns the number
    /// of documents and of occurrences. `positions` is a scratch buffer for the positions of one document.
    fn check_postings(
        &self,
        postings: &mut Postings,
        reads_positions: bool,
        positions: &mut Vec<u32>,
        seen: &mut [u64],
    ) -> Result<(u32, u64)> {
        let (mut docs, mut freqs, mut previous) = (0u32, 0u64, None);
        while postings.doc() != NO_MORE_DOCS {
            let doc = postings.doc();
            if doc >= self.doc_count() || previous.is_some_and(|previous| previous >= doc) {
                return Err(Error::corrupt("postings", u64::from(doc), "ascending documents of the segment"));
            }
            previous = Some(doc);
            seen[doc as usize / 64] |= 1 << (doc % 64);
            docs += 1;
            freqs += u64::from(postings.freq());
            if reads_positions {
                postings.positions(positions);
                if positions.len() != postings.freq() as usize || !positions.is_sorted() {
                    return Err(Error::corrupt(
                        "positions",
                        u64::from(doc),
                        "an ascending position per occurrence",
                    ));
                }
            }
            postings.next();
        }
        postings.status()?;
        Ok((docs, freqs))
    }

    /// Walks every term and posting; returns the number of terms.
    fn check_terms(&self, path: &str, report: &mut CheckReport) -> Result<u64> {
        let Some(terms) = self.terms(path)? else { return Ok(0) };
        let options = terms.options();
        let want = match (options.positions, options.frequencies) {
            (true, _) => Want::Positions,
            (false, true) => Want::Freqs,
            (false, false) => Want::Docs,
        };
        let filter = self.id_filter_of(path)?;
        let unfit = |what| Error::corrupt("terms", 0, what);
        let (mut last, mut positions) = (Vec::new(), Vec::new());
        let (mut count, mut doc_freqs, mut total_freqs) = (0u64, 0u64, 0u64);
        let mut seen = vec![0u64; self.doc_count().div_ceil(64) as usize];
        let mut cursor = terms.cursor();
        while let Some((term, info)) = cursor.next()? {
            if info.ord != count || (count > 0 && last.as_slice() >= term) {
                return Err(unfit("terms in ascending order"));
            }
            last.clear();
            last.extend_from_slice(term);
            if terms.get(term)? != Some(info) {
                return Err(unfit("the term index to find every term"));
            }
            if filter.as_ref().is_some_and(|filter| !filter.may_contain(term, id_hash(term))) {
                return Err(Error::corrupt("id filter", 0, "every id in the filter"));
            }
            let mut postings = self.postings(path, &info, want)?;
            let (docs, freqs) =
                self.check_postings(&mut postings, options.positions, &mut positions, &mut seen)?;
            let total = if options.frequencies { freqs } else { u64::from(docs) };
            if docs != info.doc_freq || total != info.total_term_freq {
                return Err(Error::corrupt(
                    "postings",
                    info.location.postings_offset,
                    "as many as the dictionary says",
                ));
            }
            count += 1;
            doc_freqs += u64::from(docs);
            total_freqs += total;
        }
        let with_field: u64 = seen.iter().map(|word| u64::from(word.count_ones())).sum();
        let sums = (terms.len(), terms.sum_doc_freq(), terms.sum_total_term_freq());
        if sums != (count, doc_freqs, total_freqs) || u64::from(terms.doc_count_with_field()) != with_field {
            return Err(Error::corrupt("term directory", 0, "the sums over all terms"));
        }
        report.term_count += count;
        report.posting_count += doc_freqs;
        Ok(count)
    }
}
