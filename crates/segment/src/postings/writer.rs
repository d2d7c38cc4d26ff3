//! Writes the documents of one term after the other to the sections `Postings` and `Positions`.

use limber_codec::{bits, block128, varint};

use super::format::{
    BIT_SET_WORDS_MAX, BLOCK_DOCS, GROUP_BLOCKS, POSITION_VARINTS_MAX, POSITIONS_BASE_FLAG, SKIP_WIDTHS_MARK,
    TAG_BIT_SET, TAIL_IMPACTS_MIN,
};
use super::impact::{self, ImpactCollector};
use crate::index_options::IndexOptions;
use crate::terms::{TermInfo, TermLocation};
use crate::{DocId, Error, Result, Sink};

/// Bytes collected before they go to a sink.
const PENDING_BYTES: usize = 64 << 10;
/// Maximum number of position gaps of a block's documents that are held before they are packed.
const POSITION_GAPS_MAX: usize = 64 << 10;

/// Writes the postings of a field, term by term: any number of [`PostingsWriter::push`], then
/// [`PostingsWriter::end_term`].
pub struct PostingsWriter<'s> {
    options: IndexOptions,
    /// Indexed by document; 0 where the field is absent. `None`: a field without norms.
    norms: Option<&'s [u8]>,
    postings: Output<'s>,
    positions: Output<'s>,
    /// Documents that are not written yet; fewer than a block between calls.
    docs: [u32; BLOCK_DOCS],
    freqs: [u32; BLOCK_DOCS],
    len: usize,
    /// Position gaps of those documents.
    position_gaps: Vec<u32>,
    /// Last document of the blocks written.
    previous_doc: Option<DocId>,
    doc_freq: u32,
    total_term_freq: u64,
    skip: SkipBuilder,
    impacts: ImpactCollector,
}

/// A buffered sink that knows where the current term started.
struct Output<'s> {
    sink: &'s mut dyn Sink,
    pending: Vec<u8>,
    flushed_bytes: u64,
    term_start: u64,
}

impl<'s> Output<'s> {
    fn new(sink: &'s mut dyn Sink) -> Output<'s> {
        Output { sink, pending: Vec::new(), flushed_bytes: 0, term_start: 0 }
    }

    fn position(&self) -> u64 {
        self.flushed_bytes + self.pending.len() as u64
    }

    /// Returns the bytes of the current term so far.
    fn term_bytes(&self) -> u64 {
        self.position() - self.term_start
    }

    /// Returns the same as the skip data store it.
    fn term_bytes_u32(&self) -> Result<u32> {
        let limit = u32::MAX as u64;
        u32::try_from(self.term_bytes())
            .map_err(|_| Error::LimitExceeded { what: "bytes of one term's postings", limit })
    }

    fn flush_above(&mut self, pending_bytes: usize) -> Result<()> {
        if self.pending.len() > pending_bytes {
            self.sink.append(&self.pending)?;
            self.flushed_bytes += self.pending.len() as u64;
            self.pending.clear();
        }
        Ok(())
    }
}

/// Skip data of the current term, row by row.
#[derive(Default)]
struct SkipBuilder {
    last_docs: Vec<u32>,
    ends: Vec<u32>,
    position_ends: Vec<u32>,
    impact_ends: Vec<u32>,
    impacts: Vec<u8>,
    group_impact_ends: Vec<u32>,
    group_impacts: Vec<u8>,
    group: ImpactCollector,
}

impl<'s> PostingsWriter<'s> {
    /// Creates a writer. `norms` is by document, 0 where the field is absent; `None` for a field without
    /// norms.
    pub fn new(
        options: IndexOptions,
        norms: Option<&'s [u8]>,
        postings: &'s mut dyn Sink,
        positions: &'s mut dyn Sink,
    ) -> PostingsWriter<'s> {
        PostingsWriter {
            options,
            norms,
            postings: Output::new(postings),
            positions: Output::new(positions),
            docs: [0; BLOCK_DOCS],
            freqs: [1; BLOCK_DOCS],
            len: 0,
            position_gaps: Vec::new(),
            previous_doc: None,
            doc_freq: 0,
            total_term_freq: 0,
            skip: SkipBuilder::default(),
            impacts: ImpactCollector::default(),
        }
    }

    /// Adds documents of the current term, ascending and above all before. `freqs` has one entry per
    /// document and is empty if the field has no frequencies. `positions` has `sum(freqs)` entries,
    /// ascending within a document, and is empty if the field has no positions.
    pub fn push(&mut self, docs: &[DocId], freqs: &[u32], positions: &[u32]) -> Result<()> {
        let (mut docs, mut freqs, mut positions) = (docs, freqs, positions);
        while !docs.is_empty() {
            let take = docs.len().min(BLOCK_DOCS - self.len);
            let range = self.len..self.len + take;
            self.docs[range.clone()].copy_from_slice(&docs[..take]);
            docs = &docs[take..];
            if self.options.frequencies {
                self.freqs[range.clone()].copy_from_slice(&freqs[..take]);
                freqs = &freqs[take..];
                for at in range {
                    let freq = self.freqs[at];
                    self.total_term_freq += freq as u64;
                    if self.options.positions {
                        let (of_doc, rest) = positions.split_at(freq as usize);
                        let mut previous = 0;
                        for &position in of_doc {
                            self.position_gaps.push(position - previous);
                            previous = position;
                        }
                        positions = rest;
                        self.bound_position_gaps()?;
                    }
                }
            }
            self.doc_freq += take as u32;
            self.len += take;
            if self.len == BLOCK_DOCS {
                self.write_block()?;
            }
        }
        Ok(())
    }

    /// Adds occurrences of the current term, each `document << 32 | position`, ascending and of documents
    /// above all before. Drops what the field's options leave out.
    pub fn push_occurrences(&mut self, mut occurrences: &[u64]) -> Result<()> {
        self.total_term_freq += occurrences.len() as u64;
        while let Some(&first) = occurrences.first() {
            if self.len == 0
                && let Some((block, rest)) = occurrences.split_first_chunk::<BLOCK_DOCS>()
            {
                self.docs = block.map(doc_of);
                let goes_on = rest.first().is_some_and(|&next| doc_of(next) == self.docs[BLOCK_DOCS - 1]);
                if !goes_on && self.docs.windows(2).fold(true, |all, pair| all & (pair[0] != pair[1])) {
                    self.write_block_of_ones(block)?;
                    occurrences = rest;
                    continue;
                }
            }
            let taken = self.take_occurrences(first, occurrences)?;
            occurrences = &occurrences[taken..];
            if self.len == BLOCK_DOCS {
                self.write_block()?;
            }
        }
        Ok(())
    }

    /// Fills the block document by document, up to the last occurrence in its last document; returns the
    /// number of occurrences taken. `first` is `occurrences[0]`.
    fn take_occurrences(&mut self, first: u64, occurrences: &[u64]) -> Result<usize> {
        let (mut doc, mut freq, mut previous) = (doc_of(first), 0, 0);
        let mut taken = occurrences.len();
        let start = self.len;
        for (at, &occurrence) in occurrences.iter().enumerate() {
            let position = occurrence as u32;
            if doc_of(occurrence) != doc {
                (self.docs[self.len], self.freqs[self.len]) = (doc, freq);
                self.len += 1;
                (doc, freq, previous) = (doc_of(occurrence), 0, 0);
                self.bound_position_gaps()?;
                if self.len == BLOCK_DOCS {
                    taken = at;
                    break;
                }
            }
            freq += 1;
            if self.options.positions {
                self.position_gaps.push(position - previous);
                previous = position;
            }
        }
        if freq > 0 {
            (self.docs[self.len], self.freqs[self.len]) = (doc, freq);
            self.len += 1;
        }
        self.doc_freq += (self.len - start) as u32;
        Ok(taken)
    }

    /// Writes a block of documents, `docs`, in each of which the term occurs once, at `occurrences`. Most
    /// blocks of frequent terms are like this.
    fn write_block_of_ones(&mut self, occurrences: &[u64; BLOCK_DOCS]) -> Result<()> {
        self.doc_freq += BLOCK_DOCS as u32;
        let out = &mut self.postings.pending;
        write_docs(self.previous_doc, &self.docs, out);
        if self.options.frequencies {
            block128::pack_patched(&[0; BLOCK_DOCS], out);
            self.impacts.add(1, self.norms.map_or(1, |norms| smallest_norm(norms, &self.docs)));
            self.skip.add_impacts(&mut self.impacts);
        }
        if self.options.positions {
            block128::pack_patched_above(
                &occurrences.map(|occurrence| occurrence as u32),
                &mut self.positions.pending,
            );
        }
        self.end_block()
    }

    /// Ends the term; returns where its postings are, or `None` if it has no documents. The dictionary
    /// assigns the ordinal.
    pub fn end_term(&mut self) -> Result<Option<TermInfo>> {
        let doc_freq = self.doc_freq;
        if doc_freq == 0 {
            return Ok(None);
        }
        let single_doc = if doc_freq == 1 { self.docs[0] } else { 0 };
        self.write_positions()?;
        if doc_freq > 1 {
            self.write_tail();
        }
        if doc_freq as usize >= BLOCK_DOCS {
            self.skip.write(self.options, &mut self.postings.pending);
        }
        let location = TermLocation {
            single_doc,
            postings_offset: self.postings.term_start,
            postings_len: self.postings.term_bytes(),
            positions_offset: self.positions.term_start,
            positions_len: self.positions.term_bytes(),
        };
        let total_term_freq = if self.options.frequencies { self.total_term_freq } else { doc_freq as u64 };
        self.postings.flush_above(PENDING_BYTES)?;
        self.positions.flush_above(PENDING_BYTES)?;
        self.postings.term_start = self.postings.position();
        self.positions.term_start = self.positions.position();
        self.len = 0;
        self.previous_doc = None;
        self.doc_freq = 0;
        self.total_term_freq = 0;
        Ok(Some(TermInfo { ord: 0, doc_freq, total_term_freq, location }))
    }

    /// Writes the remaining bytes to the sinks.
    pub fn finish(mut self) -> Result<()> {
        self.postings.flush_above(0)?;
        self.positions.flush_above(0)
    }

    fn write_block(&mut self) -> Result<()> {
        let out = &mut self.postings.pending;
        write_docs(self.previous_doc, &self.docs, out);
        if self.options.frequencies {
            let mut extra = self.freqs;
            for freq in &mut extra {
                *freq -= 1;
            }
            block128::pack_patched(&extra, out);
            self.collect_impacts();
            self.skip.add_impacts(&mut self.impacts);
        }
        self.write_positions()?;
        self.end_block()
    }

    /// Records the end of the block in the skip data.
    fn end_block(&mut self) -> Result<()> {
        let last = self.docs[BLOCK_DOCS - 1];
        self.skip.last_docs.push(last);
        self.skip.ends.push(self.postings.term_bytes_u32()?);
        self.skip.position_ends.push(self.positions.term_bytes_u32()?);
        self.postings.flush_above(PENDING_BYTES)?;
        self.positions.flush_above(PENDING_BYTES)?;
        self.previous_doc = Some(last);
        self.len = 0;
        Ok(())
    }

    fn collect_impacts(&mut self) {
        let docs = &self.docs[..self.len];
        match self.norms {
            Some(norms) => {
                for (&doc, &freq) in docs.iter().zip(&self.freqs) {
                    self.impacts.add(freq, norms[doc as usize]);
                }
            }
            None => self.impacts.add(self.freqs[..self.len].iter().copied().max().unwrap_or(1), 1),
        }
    }

    fn write_tail(&mut self) {
        if self.options.frequencies && self.len >= TAIL_IMPACTS_MIN {
            self.collect_impacts();
            impact::write(self.impacts.take_front(), &mut self.postings.pending);
        }
        let out = &mut self.postings.pending;
        let mut next = self.previous_doc.map_or(0, |doc| doc as u64 + 1);
        for (&doc, &freq) in self.docs[..self.len].iter().zip(&self.freqs) {
            let gap = doc as u64 - next;
            next = doc as u64 + 1;
            if !self.options.frequencies {
                varint::write_u64(out, gap);
            } else if freq == 1 {
                varint::write_u64(out, gap << 1 | 1);
            } else {
                varint::write_u64(out, gap << 1);
                varint::write_u32(out, freq);
            }
        }
    }

    /// Writes the full blocks of the run so far once it is long, because the documents of one run may have
    /// millions of positions each.
    fn bound_position_gaps(&mut self) -> Result<()> {
        if self.position_gaps.len() < POSITION_GAPS_MAX {
            return Ok(());
        }
        let (blocks, rest) = self.position_gaps.as_chunks::<BLOCK_DOCS>();
        for block in blocks {
            block128::pack_patched_above(block, &mut self.positions.pending);
        }
        let whole = self.position_gaps.len() - rest.len();
        self.position_gaps.drain(..whole);
        self.positions.flush_above(PENDING_BYTES)
    }

    /// Writes the position gaps of the pending documents as a run.
    fn write_positions(&mut self) -> Result<()> {
        let out = &mut self.positions.pending;
        let (blocks, rest) = self.position_gaps.as_chunks::<BLOCK_DOCS>();
        for block in blocks {
            block128::pack_patched_above(block, out);
        }
        if rest.len() <= POSITION_VARINTS_MAX {
            rest.iter().for_each(|&gap| varint::write_u32(out, gap));
        } else {
            let base = rest.iter().fold(u32::from(u8::MAX), |least, gap| least.min(*gap));
            let width = bits::width(rest.iter().fold(0, |all, gap| all | u64::from(gap - base)));
            match base {
                0 => out.push(width),
                _ => out.extend_from_slice(&[width | POSITIONS_BASE_FLAG, base as u8]),
            }
            bits::pack(rest.iter().map(|gap| u64::from(gap - base)), width, out);
        }
        self.position_gaps.clear();
        self.positions.flush_above(PENDING_BYTES)
    }
}

/// Returns the document of an occurrence.
#[inline]
fn doc_of(occurrence: u64) -> DocId {
    (occurrence >> 32) as DocId
}

fn smallest_norm(norms: &[u8], docs: &[DocId; BLOCK_DOCS]) -> u8 {
    let (first, last) = (docs[0] as usize, docs[BLOCK_DOCS - 1] as usize);
    if last - first == BLOCK_DOCS - 1 {
        norms[first..=last].iter().fold(u8::MAX, |smallest, &norm| smallest.min(norm))
    } else {
        docs.iter().fold(u8::MAX, |smallest, &doc| smallest.min(norms[doc as usize]))
    }
}

/// Writes a full block in the shorter of the two forms.
fn write_docs(previous: Option<DocId>, docs: &[u32; BLOCK_DOCS], out: &mut Vec<u8>) {
    let width = block128::ascending_width(previous, docs);
    let base = previous.map_or(0, |doc| doc + 1);
    let word_count = ((docs[BLOCK_DOCS - 1] - base) / 64 + 1) as usize;
    if word_count <= BIT_SET_WORDS_MAX && 1 + word_count * 8 < block128::packed_bytes(width) {
        let mut words = [0u64; BIT_SET_WORDS_MAX];
        for &doc in docs {
            let bit = doc - base;
            words[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        out.extend_from_slice(&[TAG_BIT_SET, word_count as u8]);
        out.extend(words[..word_count].iter().flat_map(|word| word.to_le_bytes()));
    } else {
        out.push(width);
        block128::pack_ascending(previous, docs, width, out);
    }
}

/// Writes ascending numbers in as many bytes each as the last one needs; returns that number less 1.
fn write_row(numbers: &[u32], out: &mut Vec<u8>) -> u8 {
    let last = numbers.last().copied().unwrap_or(0);
    let width = (bits::width(u64::from(last)).max(1) as usize).div_ceil(8);
    out.reserve(numbers.len() * width);
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()[..width]));
    width as u8 - 1
}

impl SkipBuilder {
    /// Adds the impacts of the next block; every [`GROUP_BLOCKS`] blocks also add the impacts of their group.
    fn add_impacts(&mut self, block: &mut ImpactCollector) {
        let front = block.take_front();
        impact::write(front, &mut self.impacts);
        self.impact_ends.push(self.impacts.len() as u32);
        front.iter().for_each(|impact| self.group.add(impact.freq, impact.norm));
        if self.impact_ends.len().is_multiple_of(GROUP_BLOCKS) {
            self.end_group();
        }
    }

    fn end_group(&mut self) {
        impact::write(self.group.take_front(), &mut self.group_impacts);
        self.group_impact_ends.push(self.group_impacts.len() as u32);
    }

    /// Appends the skip data and resets the builder for the next term.
    fn write(&mut self, options: IndexOptions, out: &mut Vec<u8>) {
        let start = out.len();
        let mut widths = write_row(&self.last_docs, out) | write_row(&self.ends, out) << 2;
        if options.positions {
            widths |= write_row(&self.position_ends, out) << 4;
        }
        if options.frequencies {
            if !self.impact_ends.len().is_multiple_of(GROUP_BLOCKS) {
                self.end_group();
            }
            let blocks_len = self.impacts.len() as u32;
            self.impact_ends.extend(self.group_impact_ends.iter().map(|end| end + blocks_len));
            widths |= write_row(&self.impact_ends, out) << 6;
            out.extend_from_slice(&self.impacts);
            out.extend_from_slice(&self.group_impacts);
        }
        let len = (out.len() - start) as u32;
        out.extend_from_slice(&len.to_le_bytes());
        out.push(widths);
        out.extend_from_slice(&SKIP_WIDTHS_MARK);
        self.last_docs.clear();
        self.ends.clear();
        self.position_ends.clear();
        self.impact_ends.clear();
        self.impacts.clear();
        self.group_impact_ends.clear();
        self.group_impacts.clear();
    }
}
