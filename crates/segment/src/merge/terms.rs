//! Merges the terms and postings of one field: a k-way merge of dictionaries.

use crate::file::{SectionKind, SegmentWriter};
use crate::id_filter::IdFilterBuilder;
use crate::identity::ID_PATH;
use crate::norms;
use crate::postings::{FieldSinks, FieldWriter, IndexOptions, Postings, PostingsReader, Want};
use crate::terms::{TermCursor, TermInfo};
use crate::{DocId, FieldInfo, NO_MORE_DOCS, Result, SegmentView, Sink};

use super::conduct::Documents;
use super::doc_map::{DocIdMap, outside};

/// The new ordinal of each old one, by segment; empty for segments without the field. Old ordinals whose
/// documents were all deleted are [`DROPPED`].
pub(super) type OrdinalMaps = Vec<Vec<u32>>;
pub(super) const DROPPED: u32 = u32::MAX;

/// One segment's terms during the merge.
struct Source<'a> {
    segment: usize,
    cursor: TermCursor<'a>,
    postings: &'a PostingsReader,
}

/// Merges norms, terms and postings of a field; returns the ordinal maps if `info.column` is set.
pub(super) fn merge_terms<'d>(
    documents: &Documents<'_>,
    info: &FieldInfo,
    number: u32,
    writer: &mut SegmentWriter<'d>,
) -> Result<OrdinalMaps> {
    let Documents { views, map, .. } = *documents;
    let mut ordinals: OrdinalMaps = vec![Vec::new(); views.len()];
    let (sources, mut doc_count_with_field) = sources_of(views, info, &mut ordinals)?;
    let norms = merge_norms(views, map, info)?;
    if let Some(norms) = &norms {
        let mut section = writer.begin(SectionKind::Norms, number);
        norms::write(norms, &mut section)?;
        writer.end(section);
    }
    let options = IndexOptions { frequencies: info.frequencies, positions: info.positions };
    let mut terms = writer.begin(SectionKind::Terms, number);
    let mut index = writer.begin(SectionKind::TermIndex, number);
    let mut postings = writer.begin(SectionKind::Postings, number);
    let mut positions = options.positions.then(|| writer.begin(SectionKind::Positions, number));
    let mut no_positions: Vec<u8> = Vec::new();
    let sinks = FieldSinks {
        terms: &mut terms,
        index: &mut index,
        postings: &mut postings,
        positions: match &mut positions {
            Some(section) => section as &mut dyn Sink,
            None => &mut no_positions,
        },
    };
    let mut field = FieldWriter::new(options, norms.as_deref(), sinks);
    let mut copier = PostingsCopier::new(map, options);
    let deletes = (0..views.len()).any(|segment| map.shift(segment).is_none());
    if deletes {
        copier.seen = Some(vec![0; map.doc_count().div_ceil(64) as usize]);
    }
    // An id is in one live document, so there are as many ids as documents.
    let mut id_filter = (*info.path == *ID_PATH).then(|| IdFilterBuilder::new(map.doc_count() as usize));
    let mut heap = TermHeap::new(sources);
    while let Some((term, sources)) = heap.next_term() {
        let ord = field.term_count();
        let is_kept = copier.copy_term(term, sources, documents.order.is_some(), &mut field)?;
        if is_kept {
            if let Some(filter) = &mut id_filter {
                filter.insert(sources[0].cursor.term());
            }
            if info.column {
                for source in sources {
                    ordinals[source.segment][source.cursor.ord() as usize] = ord as u32;
                }
            }
        }
        heap.advance()?;
    }
    if let Some(seen) = &copier.seen {
        doc_count_with_field = seen.iter().map(|word| u64::from(word.count_ones())).sum();
    }
    let directory = field.finish(doc_count_with_field as u32)?;
    writer.end(terms);
    writer.end(index);
    writer.end(postings);
    if let Some(positions) = positions {
        writer.end(positions);
    }
    writer.put(SectionKind::TermDirectory, number, &directory)?;
    if let Some(filter) = id_filter {
        filter.write(number, writer)?;
    }
    Ok(ordinals)
}

/// Returns the terms of each segment that has any, and the number of documents with the field, deleted ones
/// included. Reserves space in `ordinals` if `info.column` is set.
fn sources_of<'a>(
    views: &'a [SegmentView],
    info: &FieldInfo,
    ordinals: &mut OrdinalMaps,
) -> Result<(Vec<Source<'a>>, u64)> {
    let mut sources = Vec::new();
    let mut doc_count = 0u64;
    for (segment, view) in views.iter().enumerate() {
        let path = &info.path;
        let (Some(terms), Some(postings)) = (view.segment.terms(path)?, view.segment.postings_reader(path)?)
        else {
            continue;
        };
        doc_count += u64::from(terms.doc_count_with_field());
        if info.column {
            ordinals[segment] = vec![DROPPED; terms.len() as usize];
        }
        let mut cursor = terms.cursor();
        if cursor.advance()? {
            sources.push(Source { segment, cursor, postings });
        }
    }
    Ok((sources, doc_count))
}

/// Returns the norms by new document; `None` if the field has none.
fn merge_norms(views: &[SegmentView], map: &DocIdMap, info: &FieldInfo) -> Result<Option<Vec<u8>>> {
    if !info.norms {
        return Ok(None);
    }
    let mut merged = vec![0; map.doc_count() as usize];
    for (segment, view) in views.iter().enumerate() {
        let Some(norms) = view.segment.norms(&info.path)? else { continue };
        let count = norms.doc_count() as usize;
        let is_copied =
            map.shift(segment).is_some_and(|base| norms.copy_all(&mut merged[base as usize..][..count]));
        if !is_copied {
            norms.for_each(|doc, norm| {
                if let Some(new) = map.get(segment, doc) {
                    merged[new as usize] = norm;
                }
            });
        }
    }
    Ok(Some(merged))
}

/// Sources ordered by their current term; the sources of the smallest term are together at the end.
struct TermHeap<'a> {
    /// Descending by (term, segment), except for the last `group` sources, which share the smallest term
    /// and ascend by segment.
    sources: Vec<Source<'a>>,
    group: usize,
}

impl<'a> TermHeap<'a> {
    fn new(mut sources: Vec<Source<'a>>) -> TermHeap<'a> {
        sources.sort_by(|a, b| (b.cursor.term(), b.segment).cmp(&(a.cursor.term(), a.segment)));
        TermHeap { sources, group: 0 }
    }

    /// Returns the smallest term and the sources that have it, by segment. Call [`TermHeap::advance`]
    /// before the next call.
    fn next_term(&mut self) -> Option<(&[u8], &[Source<'a>])> {
        let smallest = self.sources.last()?.cursor.term();
        let others = self.sources.iter().rev().position(|source| source.cursor.term() != smallest);
        self.group = others.unwrap_or(self.sources.len());
        let start = self.sources.len() - self.group;
        self.sources[start..].reverse();
        let group = &self.sources[start..];
        Some((group[0].cursor.term(), group))
    }

    /// Advances the sources of the smallest term and restores the order.
    fn advance(&mut self) -> Result<()> {
        let start = self.sources.len() - self.group;
        let mut rest = start;
        for at in start..self.sources.len() {
            if !self.sources[at].cursor.advance()? {
                continue;
            }
            // Inserts from the small end: merges have few segments, and often the same one has the next
            // term too.
            self.sources.swap(rest, at);
            let mut place = rest;
            while place > 0 && {
                let (here, before) = (&self.sources[place], &self.sources[place - 1]);
                (here.cursor.term(), here.segment) > (before.cursor.term(), before.segment)
            } {
                self.sources.swap(place, place - 1);
                place -= 1;
            }
            rest += 1;
        }
        self.sources.truncate(rest);
        self.group = 0;
        Ok(())
    }
}

/// Copies the postings of one source's current term with new document numbers and without deleted
/// documents. Reuses its buffers for all terms.
struct PostingsCopier<'m> {
    map: &'m DocIdMap,
    options: IndexOptions,
    want: Want,
    docs: Vec<DocId>,
    freqs: Vec<u32>,
    positions: Vec<u32>,
    of_doc: Vec<u32>,
    /// New documents seen; only used if some were deleted.
    seen: Option<Vec<u64>>,
}

/// Documents with positions that are passed on at once.
const POSITIONS_BATCH_DOCS: usize = 128;
/// Maximum number of positions that are collected before the documents are passed on: a document may have
/// millions.
const POSITIONS_BATCH: usize = 64 << 10;

impl<'m> PostingsCopier<'m> {
    fn new(map: &'m DocIdMap, options: IndexOptions) -> PostingsCopier<'m> {
        let want = match (options.positions, options.frequencies) {
            (true, _) => Want::Positions,
            (false, true) => Want::Freqs,
            (false, false) => Want::Docs,
        };
        let (docs, freqs, positions, of_doc) = Default::default();
        PostingsCopier { map, options, want, docs, freqs, positions, of_doc, seen: None }
    }

    /// Whether the source's current term occurs once, in one document, and the field has no positions.
    fn is_single(&self, source: &Source<'_>) -> Result<bool> {
        let info = source.cursor.info()?;
        Ok(info.doc_freq == 1 && info.total_term_freq == 1 && !self.options.positions)
    }

    /// Copies a term of the sources that have it; returns `false` if all its documents were deleted.
    /// `is_sorted` means that the merged documents are not in the order of the sources.
    fn copy_term(
        &mut self,
        term: &[u8],
        sources: &[Source<'_>],
        is_sorted: bool,
        field: &mut FieldWriter<'_>,
    ) -> Result<bool> {
        match sources {
            [source] if self.is_single(source)? => self.copy_single_term(source, field),
            [_, _, ..] if is_sorted => {
                field.begin_term(term);
                self.interleave(sources, field)?;
                field.end_term()
            }
            _ => {
                field.begin_term(term);
                for source in sources {
                    self.copy(source, field)?;
                }
                field.end_term()
            }
        }
    }

    /// Copies a term like most of `_id`, without using the postings writer; returns `false` if the document
    /// was deleted.
    fn copy_single_term(&mut self, source: &Source<'_>, field: &mut FieldWriter<'_>) -> Result<bool> {
        let doc = source.cursor.info()?.location.single_doc;
        let Some(new) = self.map.get(source.segment, doc) else { return Ok(false) };
        if let Some(seen) = &mut self.seen {
            *seen.get_mut(new as usize / 64).ok_or_else(outside)? |= 1 << (new % 64);
        }
        field.add_single(source.cursor.term(), new)?;
        Ok(true)
    }

    fn copy(&mut self, source: &Source<'_>, field: &mut FieldWriter<'_>) -> Result<()> {
        let info = source.cursor.info()?;
        if info.doc_freq == 1 && !self.options.positions {
            return self.copy_single(source.segment, &info, field);
        }
        let mut postings = source.postings.postings(&info, self.want)?;
        if self.options.positions {
            while postings.doc() != NO_MORE_DOCS {
                let Some(new) = self.map.get(source.segment, postings.doc()) else {
                    postings.next();
                    continue;
                };
                postings.positions(&mut self.of_doc);
                self.docs.push(new);
                self.freqs.push(self.of_doc.len() as u32);
                self.positions.append(&mut self.of_doc);
                if self.is_batch() {
                    self.hand_over(field)?;
                }
                postings.next();
            }
            self.hand_over(field)?;
        } else {
            while postings.doc() != NO_MORE_DOCS {
                self.docs.extend_from_slice(postings.block_docs());
                if self.options.frequencies {
                    self.freqs.extend_from_slice(postings.block_freqs());
                }
                self.map.map(source.segment, &mut self.docs, &mut self.freqs)?;
                self.hand_over(field)?;
                postings.next_block();
            }
        }
        postings.status()
    }

    /// Merges the postings of one term in several segments whose documents interleave.
    fn interleave(&mut self, sources: &[Source<'_>], field: &mut FieldWriter<'_>) -> Result<()> {
        let mut streams = Vec::with_capacity(sources.len());
        for source in sources {
            let postings = source.postings.postings(&source.cursor.info()?, self.want)?;
            let mut stream = MappedPostings { segment: source.segment, postings, doc: 0 };
            if stream.settle(self.map)? {
                streams.push(stream);
            }
        }
        while let Some((at, limit)) = nearest(&streams) {
            let stream = &mut streams[at];
            loop {
                self.docs.push(stream.doc);
                if self.options.positions {
                    stream.postings.positions(&mut self.of_doc);
                    self.freqs.push(self.of_doc.len() as u32);
                    self.positions.append(&mut self.of_doc);
                } else if self.options.frequencies {
                    self.freqs.push(stream.postings.freq());
                }
                if self.is_batch() {
                    self.hand_over(field)?;
                }
                stream.postings.next();
                if !stream.settle(self.map)? {
                    streams.swap_remove(at);
                    break;
                }
                if stream.doc > limit {
                    break;
                }
            }
        }
        self.hand_over(field)
    }

    fn copy_single(&mut self, segment: usize, info: &TermInfo, field: &mut FieldWriter<'_>) -> Result<()> {
        if let Some(new) = self.map.get(segment, info.location.single_doc) {
            self.docs.push(new);
            if self.options.frequencies {
                self.freqs.push(info.total_term_freq.min(u64::from(u32::MAX)) as u32);
            }
            self.hand_over(field)?;
        }
        Ok(())
    }

    fn is_batch(&self) -> bool {
        self.docs.len() == POSITIONS_BATCH_DOCS || self.positions.len() >= POSITIONS_BATCH
    }

    fn hand_over(&mut self, field: &mut FieldWriter<'_>) -> Result<()> {
        if let Some(seen) = &mut self.seen {
            for doc in &self.docs {
                *seen.get_mut(*doc as usize / 64).ok_or_else(outside)? |= 1 << (doc % 64);
            }
        }
        field.push(&self.docs, &self.freqs, &self.positions)?;
        self.docs.clear();
        self.freqs.clear();
        self.positions.clear();
        Ok(())
    }
}

/// Postings of one segment, positioned at a document that is kept.
struct MappedPostings {
    segment: usize,
    postings: Postings,
    /// New number of the document.
    doc: DocId,
}

impl MappedPostings {
    /// Skips deleted documents; returns `false` at the end.
    fn settle(&mut self, map: &DocIdMap) -> Result<bool> {
        while self.postings.doc() != NO_MORE_DOCS {
            if let Some(doc) = map.get(self.segment, self.postings.doc()) {
                self.doc = doc;
                return Ok(true);
            }
            self.postings.next();
        }
        self.postings.status()?;
        Ok(false)
    }
}

/// Returns the stream with the first document, and the first document of the other streams. There are few
/// streams.
fn nearest(streams: &[MappedPostings]) -> Option<(usize, DocId)> {
    let (at, _) = streams.iter().enumerate().min_by_key(|(_, stream)| stream.doc)?;
    let others = streams.iter().enumerate().filter(|(other, _)| *other != at);
    Some((at, others.map(|(_, stream)| stream.doc).min().unwrap_or(NO_MORE_DOCS)))
}
