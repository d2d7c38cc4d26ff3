//! A block of terms that count: equal lengths, a common start, few characters that differ, a document each.
//! Such are the ids that the server generates.
//!
//! The characters that differ are a number ([`limber_codec::ordered64`]). Numbers and documents are written
//! as their distance from a straight line ([`limber_codec::line`]), so that ids in the order of documents
//! take less than a byte each, and any of them can be read without those before it.

use std::cmp::Ordering;

use limber_codec::line::{Fit, Line};
use limber_codec::{Corrupt, Reader, ordered64, varint};

use super::block::common_prefix;
use super::format::{BLOCK_TERMS, MODEL_DISTANCE_MAX, NUMBERS_FLAG};

/// Terms of the block that is being built, as numbers.
pub(super) struct NumberBlockBuilder {
    /// The last `digits` characters of each term.
    numbers: [u64; BLOCK_TERMS],
    /// How many characters at the end of the first term are digits, at most [`ordered64::CHARACTERS_MAX`]; 0
    /// once a term has another length or differs from the one before in more than these.
    digits: usize,
    /// The common start of an earlier block, and where that block is.
    model: Option<(u64, Vec<u8>)>,
}

impl Default for NumberBlockBuilder {
    fn default() -> NumberBlockBuilder {
        NumberBlockBuilder { numbers: [0; BLOCK_TERMS], digits: 0, model: None }
    }
}

impl NumberBlockBuilder {
    /// Adds the first term of a block.
    pub fn start(&mut self, term: &[u8]) {
        self.digits = ordered64::suffix_len(term).min(ordered64::CHARACTERS_MAX);
        let number = ordered64::decode(&term[term.len() - self.digits..]);
        if term.len() > usize::from(u8::MAX) {
            self.digits = 0;
        }
        self.numbers[0] = number.unwrap_or(0);
    }

    /// Adds the term `at` of a block, whose first `shared` bytes are those of the term before.
    #[inline]
    pub fn add(&mut self, at: usize, suffix: &[u8], has_first_length: bool) {
        if self.digits == 0 {
            return;
        }
        let bits = 6 * suffix.len().min(ordered64::CHARACTERS_MAX) as u32;
        match ordered64::decode(suffix) {
            Some(number) if has_first_length && suffix.len() <= self.digits => {
                self.numbers[at] = self.numbers[at - 1] >> bits << bits | number;
            }
            _ => self.digits = 0,
        }
    }

    /// Appends the block, which will be at `offset`, and returns `true`, if that takes less than
    /// `plain_bytes` for everything but the documents. `common` is the number of bytes that all terms begin
    /// with, `docs` their documents.
    pub fn write(
        &mut self,
        first: &[u8],
        common: usize,
        docs: &[u64],
        (offset, plain_bytes): (u64, usize),
        out: &mut Vec<u8>,
    ) -> bool {
        let tail_len = first.len() - common;
        if docs.len() < 2 || tail_len == 0 || tail_len > self.digits {
            return false;
        }
        let mask = (1u64 << (6 * tail_len)) - 1;
        let numbers = &mut self.numbers[..docs.len()];
        numbers.iter_mut().for_each(|number| *number &= mask);
        let fit = Fit::of(numbers);
        let start = &first[..common];
        let (distance, shared) = match &self.model {
            Some((at, text)) if offset - at <= MODEL_DISTANCE_MAX => {
                (offset - at, common_prefix(text, start))
            }
            _ => (0, 0),
        };
        // A block that shares little with the model becomes the next one.
        let distance = if shared * 2 < common { 0 } else { distance };
        let rest = if distance == 0 { start } else { &start[shared..] };
        if 6 + rest.len() + fit.bytes(docs.len()) >= plain_bytes {
            return false;
        }
        out.push(NUMBERS_FLAG | docs.len() as u8);
        varint::write_u64(out, distance);
        out.extend_from_slice(&[first.len() as u8, tail_len as u8]);
        if distance == 0 {
            self.model = Some((offset, start.to_vec()));
        } else {
            out.push(shared as u8);
        }
        out.extend_from_slice(rest);
        fit.write(numbers, out);
        Line::write(docs, out);
        true
    }
}

/// A block as it is stored; parsing reads its head only.
#[derive(Debug, Clone, Copy)]
pub struct NumberBlock<'a> {
    count: usize,
    /// Both together are the bytes that all terms begin with.
    start: [&'a [u8]; 2],
    tail_len: usize,
    tails: Line<'a>,
    docs: Line<'a>,
}

impl<'a> NumberBlock<'a> {
    /// Parses the block of `count` terms that is `terms[at..end]`.
    pub fn parse(terms: &'a [u8], at: usize, end: usize, count: usize) -> Result<NumberBlock<'a>, Corrupt> {
        let mut reader = Reader::new(&terms[at..end]);
        let tag = reader.u8()?;
        reader.expect(
            usize::from(tag) == usize::from(NUMBERS_FLAG) | count,
            "the number of terms the directory implies",
        )?;
        let distance = reader.varint()?;
        let (len, tail_len) = (usize::from(reader.u8()?), usize::from(reader.u8()?));
        let has_digits = (1..=ordered64::CHARACTERS_MAX).contains(&tail_len) && tail_len <= len;
        reader.expect(has_digits, "characters that differ")?;
        let mut shared: &[u8] = &[];
        if distance > 0 {
            let shared_len = usize::from(reader.u8()?);
            let model = (at as u64).checked_sub(distance).map(|at| model(&terms[at as usize..end]));
            let text = model.transpose()?.and_then(|text| text.get(..shared_len));
            shared = text.ok_or_else(|| reader.corrupt("a block that has the start of the terms"))?;
        }
        reader.expect(shared.len() + tail_len <= len, "a start that is shorter than the terms")?;
        let rest = reader.bytes(len - tail_len - shared.len())?;
        let (tails, docs) = (Line::read(&mut reader, count)?, Line::read(&mut reader, count)?);
        Ok(NumberBlock { count, start: [shared, rest], tail_len, tails, docs })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the only document of term `index`.
    #[inline]
    pub fn doc(&self, index: usize) -> u64 {
        self.docs.get(index)
    }

    /// Returns `Ok(index)` if `target` is in the block, otherwise `Err(index)` of the first greater term.
    #[inline]
    pub fn find(&self, target: &[u8]) -> Result<usize, usize> {
        let mut target = target;
        for part in self.start {
            let (here, rest) = target.split_at(part.len().min(target.len()));
            match here.cmp(part) {
                Ordering::Less => return Err(0),
                Ordering::Greater => return Err(self.count),
                Ordering::Equal => target = rest,
            }
        }
        match ordered64::decode(target).filter(|_| target.len() == self.tail_len) {
            Some(number) => self.search(|index| self.tails.get(index).cmp(&number)),
            None => {
                let mut tail = Vec::with_capacity(self.tail_len);
                self.search(|index| {
                    tail.clear();
                    ordered64::encode(self.tails.get(index), self.tail_len, &mut tail);
                    (*tail).cmp(target)
                })
            }
        }
    }

    /// Finds the term for which `compare` returns `Equal`.
    #[inline]
    fn search(&self, mut compare: impl FnMut(usize) -> Ordering) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            match compare(middle) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Turns `term` into term `index`. If `has_start`, `term` is another term of this block.
    #[inline]
    pub fn write_term(&self, index: usize, has_start: bool, term: &mut Vec<u8>) {
        let [shared, rest] = self.start;
        if has_start {
            term.truncate(shared.len() + rest.len());
        } else {
            term.clear();
            term.extend_from_slice(shared);
            term.extend_from_slice(rest);
        }
        ordered64::encode(self.tails.get(index), self.tail_len, term);
    }
}

/// Returns the start of the terms of a block that has all of it. `block` may go on after it.
fn model(block: &[u8]) -> Result<&[u8], Corrupt> {
    let mut reader = Reader::new(block);
    let (tag, distance) = (reader.u8()?, reader.varint()?);
    reader
        .expect(tag & NUMBERS_FLAG != 0 && distance == 0, "a block that has the whole start of its terms")?;
    let (len, tail_len) = (reader.u8()?, reader.u8()?);
    let start_len =
        len.checked_sub(tail_len).ok_or_else(|| reader.corrupt("terms longer than what differs"))?;
    reader.bytes(usize::from(start_len))
}
