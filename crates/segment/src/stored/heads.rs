//! Heads of blocks that have a dictionary: "which lengths, ids and routings do the documents of this block
//! have?" Layout: [`super::format`].
//!
//! Ids of one length are written column by column, because generated ids share most of their characters and
//! count in the others. Ids that are base64 are first decoded, since their digits count in bytes. Ids that
//! count from document to document are a line of numbers.

use limber_codec::line::{Fit, Line};
use limber_codec::{Corrupt, Reader, ordered64, varint};

use super::format::{
    BLOCK_DOCS_MAX, COLUMN_CONSTANT, COLUMN_PLAIN, COLUMN_STEPS, COLUMNS_MAX, IDS_BASE64, IDS_CHARACTERS,
    IDS_NUMBERS, IDS_PLAIN, TERMINATED,
};
use super::reader::DocSpan;
use super::terminators;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Inverse of [`BASE64`]; [`NO_DIGIT`] for other characters.
static DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut at = 0;
    while at < BASE64.len() {
        digits[BASE64[at] as usize] = at as u8;
        at += 1;
    }
    digits
};
const NO_DIGIT: u8 = 0xff;

/// Two characters for each value of twelve bits.
static PAIRS: [[u8; 2]; 1 << 12] = {
    let mut pairs = [[0; 2]; 1 << 12];
    let mut at = 0;
    while at < pairs.len() {
        pairs[at] = [BASE64[at >> 6], BASE64[at & 63]];
        at += 1;
    }
    pairs
};

/// Appends the head of a block to `out`. `lengths`, `ids` and `routings` are the parts of a head without
/// columns ([`super::format`]), as [`super::StoredWriter`] collects them. A terminator follows each of the
/// `sources`; if they have others, it is removed and the head gets their lengths.
pub(super) fn encode(
    (lengths, ids, routings): (&[u8], &[u8], &[u8]),
    sources: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), Corrupt> {
    let (mut source_lens, mut of_ids, mut id_len, mut is_one_len) = (Vec::new(), Vec::new(), None, true);
    let mut reader = Reader::new(lengths);
    while reader.remaining() > 0 {
        source_lens.push(reader.varint()?);
        let tagged = reader.varint()?;
        varint::write_u64(&mut of_ids, tagged);
        if tagged & 1 != 0 {
            varint::write_u64(&mut of_ids, reader.varint()?);
        }
        is_one_len &= tagged & 1 == 0 && *id_len.get_or_insert(tagged >> 1) == tagged >> 1;
    }
    if terminators::are_unique(sources, source_lens.len()) {
        varint::write_u64(out, TERMINATED);
    } else {
        terminators::remove(sources, &source_lens);
        let least = source_lens.iter().copied().min().unwrap_or(0);
        varint::write_u64(out, least);
        source_lens.iter().for_each(|len| varint::write_u64(out, len - least));
    }
    let width = id_len.unwrap_or(0) as usize;
    if !is_one_len || !(1..=COLUMNS_MAX).contains(&width) {
        out.push(IDS_PLAIN);
        out.append(&mut of_ids);
        out.extend_from_slice(ids);
        out.extend_from_slice(routings);
        return Ok(());
    }
    if encode_numbers(ids, width, out) {
        return Ok(());
    }
    let bytes = decode_base64(ids, width);
    let decoded = bytes.as_deref().map(|bytes| Columns::of(bytes, width / 4 * 3));
    // Hexadecimal digits are base64 as well, but mean nothing in bytes.
    let (form, columns) = match decoded.filter(Columns::are_regular) {
        Some(columns) => (IDS_BASE64, columns),
        None => (IDS_CHARACTERS, Columns::of(ids, width)),
    };
    out.push(form);
    out.push(columns.modes.len() as u8);
    out.extend_from_slice(&columns.modes);
    out.extend_from_slice(&columns.bytes);
    Ok(())
}

/// Bits of an id up to which the ids of a block are written as numbers; columns of ids that are less regular
/// compress better.
const NUMBER_BITS_MAX: u8 = 10;

/// Appends ids of `width` characters as numbers and returns `true` if they are close to a line.
fn encode_numbers(ids: &[u8], width: usize, out: &mut Vec<u8>) -> bool {
    let tail_len = width.min(ordered64::CHARACTERS_MAX);
    let start = &ids[..width - tail_len];
    let number = |id: &[u8]| id.strip_prefix(start).and_then(ordered64::decode);
    let Some(mut numbers) = ids.chunks_exact(width).map(number).collect::<Option<Vec<u64>>>() else {
        return false;
    };
    let differing = numbers.iter().fold(0, |bits, number| bits | (number ^ numbers[0]));
    let tail_len = (limber_codec::bits::width(differing).max(1) as usize).div_ceil(6);
    numbers.iter_mut().for_each(|number| *number &= (1 << (6 * tail_len)) - 1);
    let fit = Fit::of(&numbers);
    if fit.width > NUMBER_BITS_MAX {
        return false;
    }
    out.extend_from_slice(&[IDS_NUMBERS, width as u8, tail_len as u8]);
    out.extend_from_slice(&ids[..width - tail_len]);
    fit.write(&numbers, out);
    true
}

/// Reverses [`encode_numbers`] without the form; returns the length of the ids.
fn decode_numbers(reader: &mut Reader<'_>, count: usize, texts: &mut Vec<u8>) -> Result<usize, Corrupt> {
    let (width, tail_len) = (usize::from(reader.u8()?), usize::from(reader.u8()?));
    let has_digits = (1..=ordered64::CHARACTERS_MAX).contains(&tail_len) && tail_len <= width;
    reader.expect(has_digits, "ids that count")?;
    let start = reader.bytes(width - tail_len)?;
    let numbers = Line::read(reader, count)?;
    // At most 255 bytes for each document, of which a block has few.
    texts.reserve_exact(width * count);
    for index in 0..count {
        texts.extend_from_slice(start);
        ordered64::encode(numbers.get(index), tail_len, texts);
    }
    Ok(width)
}

/// Returns the bytes that ids of `width` characters encode; `None` unless they are base64 without padding.
fn decode_base64(ids: &[u8], width: usize) -> Option<Vec<u8>> {
    if !width.is_multiple_of(4) || ids.iter().any(|&byte| DIGITS[usize::from(byte)] == NO_DIGIT) {
        return None;
    }
    let mut bytes = Vec::with_capacity(ids.len() / 4 * 3);
    for four in ids.as_chunks::<4>().0 {
        let word = four.iter().fold(0, |word, &byte| word << 6 | u32::from(DIGITS[usize::from(byte)]));
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    Some(bytes)
}

/// Rows of equal length, written column by column.
struct Columns {
    modes: Vec<u8>,
    bytes: Vec<u8>,
}

impl Columns {
    fn of(rows: &[u8], width: usize) -> Columns {
        let (mut modes, mut bytes, mut column) = (Vec::with_capacity(width), Vec::new(), Vec::new());
        for at in 0..width {
            column.clear();
            column.extend(rows[at..].iter().step_by(width).copied());
            let step_at = |i: usize| column[i].wrapping_sub(column[i - 1]);
            if column.iter().all(|&byte| byte == column[0]) {
                modes.push(COLUMN_CONSTANT);
                bytes.push(column[0]);
            } else if (2..column.len()).filter(|&i| step_at(i) == step_at(i - 1)).count() * 2 > column.len() {
                modes.push(COLUMN_STEPS);
                bytes.push(column[0]);
                bytes.extend((1..column.len()).map(step_at));
            } else {
                modes.push(COLUMN_PLAIN);
                bytes.extend_from_slice(&column);
            }
        }
        Columns { modes, bytes }
    }

    /// Whether most columns are constant or mostly repeat a step.
    fn are_regular(&self) -> bool {
        self.modes.iter().filter(|&&mode| mode == COLUMN_PLAIN).count() * 3 <= self.modes.len()
    }
}

/// Replaces `docs` by the places of each document's source in the body, whose length is `body_len`, and of
/// its id and routing in `texts`, which are written there. Returns true if the sources are terminated: then
/// the places in the body are found there ([`terminators::Place`]).
pub(super) fn decode(
    head: &[u8],
    doc_count: u32,
    body_len: u64,
    docs: &mut Vec<DocSpan>,
    texts: &mut Vec<u8>,
) -> Result<bool, Corrupt> {
    let mut reader = Reader::new(head);
    docs.clear();
    texts.clear();
    let count = doc_count as usize;
    let least = reader.varint()?;
    let are_terminated = least == TERMINATED;
    if are_terminated {
        reader.expect(count <= BLOCK_DOCS_MAX && doc_count as u64 <= body_len, "a byte for each document")?;
        docs.resize(count, DocSpan::default());
    } else {
        reader.expect(count <= BLOCK_DOCS_MAX.min(reader.remaining()), "a byte for each document")?;
        let mut source_at = 0u64;
        for _ in 0..count {
            let len = least.checked_add(reader.varint()?);
            let end = len.and_then(|len| source_at.checked_add(len)).filter(|end| *end <= body_len);
            let end = end.ok_or_else(|| reader.corrupt("sources inside the block"))?;
            docs.push(DocSpan { id: 0..0, routing: None, source: source_at as usize..end as usize });
            source_at = end;
        }
        reader.expect(source_at == body_len, "sources that fill the block")?;
    }
    decode_ids(&mut reader, count, docs, texts)?;
    Ok(are_terminated)
}

/// Reads ids and routings, up to the end of the head.
fn decode_ids(
    reader: &mut Reader<'_>,
    count: usize,
    docs: &mut [DocSpan],
    texts: &mut Vec<u8>,
) -> Result<(), Corrupt> {
    match reader.u8()? {
        IDS_PLAIN => decode_plain(reader, docs, texts),
        form @ (IDS_CHARACTERS | IDS_BASE64) => {
            let width = usize::from(reader.u8()?);
            reader.expect(width > 0, "ids that are not empty")?;
            let rows = decode_columns(reader, width, count)?;
            reader.expect(reader.remaining() == 0, "columns that fill the head")?;
            let mut id_len = width;
            if form == IDS_CHARACTERS {
                *texts = rows;
            } else {
                reader.expect(width.is_multiple_of(3), "bytes of whole groups of base64")?;
                encode_base64(&rows, texts);
                id_len = width / 3 * 4;
            }
            docs.iter_mut().enumerate().for_each(|(n, span)| span.id = n * id_len..(n + 1) * id_len);
            Ok(())
        }
        IDS_NUMBERS => {
            let id_len = decode_numbers(reader, count, texts)?;
            docs.iter_mut().enumerate().for_each(|(n, span)| span.id = n * id_len..(n + 1) * id_len);
            reader.expect(reader.remaining() == 0, "ids that fill the head")
        }
        _ => Err(reader.corrupt("a form of ids")),
    }
}

fn decode_plain(reader: &mut Reader<'_>, docs: &mut [DocSpan], texts: &mut Vec<u8>) -> Result<(), Corrupt> {
    let mut ids_len = 0u64;
    for span in docs.iter_mut() {
        let tagged = reader.varint()?;
        let end = ids_len.checked_add(tagged >> 1).filter(|end| *end <= reader.remaining() as u64);
        let end = end.ok_or_else(|| reader.corrupt("ids inside the block"))?;
        span.id = ids_len as usize..end as usize;
        ids_len = end;
        if tagged & 1 != 0 {
            let len = reader.varint()?;
            reader.expect(len <= reader.remaining() as u64, "routings inside the block")?;
            span.routing = Some(0..len as usize);
        }
    }
    texts.extend_from_slice(reader.rest());
    let mut routing_at = ids_len as usize;
    for routing in docs.iter_mut().filter_map(|span| span.routing.as_mut()) {
        *routing = routing_at..routing_at + routing.end;
        routing_at = routing.end;
    }
    let last_id_end = docs.last().map_or(0, |span| span.id.end);
    reader.expect(routing_at == texts.len() && last_id_end <= texts.len(), "texts that fill the block")
}

fn decode_columns(reader: &mut Reader<'_>, width: usize, count: usize) -> Result<Vec<u8>, Corrupt> {
    let modes = reader.bytes(width)?;
    // Constant columns expand one byte to `count`, which is at most that of a block's documents.
    let mut rows = vec![0; width * count];
    for (at, mode) in modes.iter().enumerate() {
        match *mode {
            COLUMN_CONSTANT => {
                let byte = reader.u8()?;
                rows[at..].iter_mut().step_by(width).for_each(|place| *place = byte);
            }
            COLUMN_STEPS => {
                let steps = reader.bytes(count)?;
                let mut byte = 0u8;
                for (place, step) in rows[at..].iter_mut().step_by(width).zip(steps) {
                    byte = byte.wrapping_add(*step);
                    *place = byte;
                }
            }
            COLUMN_PLAIN => {
                let bytes = reader.bytes(count)?;
                rows[at..].iter_mut().step_by(width).zip(bytes).for_each(|(place, byte)| *place = *byte);
            }
            _ => return Err(reader.corrupt("a kind of column")),
        }
    }
    Ok(rows)
}

fn encode_base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve_exact(bytes.len() / 3 * 4);
    for three in bytes.as_chunks::<3>().0 {
        let word = usize::from(three[0]) << 16 | usize::from(three[1]) << 8 | usize::from(three[2]);
        let ([a, b], [c, d]) = (PAIRS[word >> 12], PAIRS[word & 0xfff]);
        out.extend_from_slice(&[a, b, c, d]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes ids with sources of increasing lengths, which have line feeds, and returns the head after it
    /// was read back.
    #[track_caller]
    fn check(ids: &[&str], routings: &[Option<&str>]) -> Vec<u8> {
        let (mut lengths, mut id_bytes, mut routing_bytes, mut body_len) = (vec![], vec![], vec![], 0);
        for (n, id) in ids.iter().enumerate() {
            let routing = routings.get(n).copied().flatten();
            varint::write_u64(&mut lengths, 100 + n as u64);
            body_len += 100 + n as u64;
            varint::write_u64(&mut lengths, (id.len() as u64) << 1 | u64::from(routing.is_some()));
            id_bytes.extend_from_slice(id.as_bytes());
            if let Some(routing) = routing {
                varint::write_u64(&mut lengths, routing.len() as u64);
                routing_bytes.extend_from_slice(routing.as_bytes());
            }
        }
        let mut head = Vec::new();
        let mut sources: Vec<u8> = (0..ids.len()).flat_map(|n| vec![b'\n'; 101 + n]).collect();
        encode((&lengths, &id_bytes, &routing_bytes), &mut sources, &mut head).expect("sound lengths");
        assert_eq!(sources.len() as u64, body_len);
        let (mut docs, mut texts) = (Vec::new(), Vec::new());
        decode(&head, ids.len() as u32, body_len, &mut docs, &mut texts).expect("reads");
        let mut source_at = 0;
        for (n, (id, span)) in ids.iter().zip(&docs).enumerate() {
            assert_eq!(&texts[span.id.clone()], id.as_bytes());
            let routing = span.routing.clone().map(|range| &texts[range]);
            assert_eq!(routing, routings.get(n).copied().flatten().map(str::as_bytes));
            assert_eq!(span.source, source_at..source_at + 100 + n);
            source_at = span.source.end;
        }
        // Whatever is cut off or flipped is refused or read as something else of the same size.
        for len in 0..head.len() {
            let _ = decode(&head[..len], ids.len() as u32, body_len, &mut docs, &mut texts);
        }
        for bit in 0..head.len() * 8 {
            let mut flipped = head.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(&flipped, ids.len() as u32, body_len, &mut docs, &mut texts);
        }
        head
    }

    #[test]
    fn ids_come_back() {
        check(&[], &[]);
        check(&["a"], &[]);
        check(&["a", "bcd", ""], &[None, Some("r"), None]);
        check(&["a", "b"], &[Some(""), Some("routing")]);
        check(&["", ""], &[]);
        let numbers: Vec<String> = (0..300).map(|n| format!("document-{n:05}")).collect();
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        check(&numbers, &[]);
        let long = "x".repeat(300);
        check(&[&long, &long], &[]);
    }

    #[test]
    fn ids_that_count_are_numbers() {
        let check_form = |number: &dyn Fn(u64) -> u64, is_short: bool| {
            let id = |n| {
                let mut id = b"OHwnx7RcQe1-b4J".to_vec();
                ordered64::encode(number(n), 5, &mut id);
                String::from_utf8(id).expect("ASCII")
            };
            let ids: Vec<String> = (0..120).map(id).collect();
            let head = check(&ids.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
            assert_eq!((head[121] == IDS_NUMBERS, head.len() < 300), (is_short, is_short), "{}", head.len());
        };
        check_form(&|_| 12_345, true);
        check_form(&|n| 12_345 + n, true);
        check_form(&|n| 12_345 + 9 * n + n * n % 5, true);
        check_form(&|n| (1 << 22) * n, true);
        check_form(&|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34, false);
        assert_eq!(check(&["ab", "ac"], &[]), b"\x64\0\x01\x03\x02\x01a\0\x02\x4e");
    }

    #[test]
    fn sources_of_one_line_have_no_lengths() {
        let read = |head: &[u8], body: &[u8], count| {
            let (mut docs, mut texts) = (Vec::new(), Vec::new());
            decode(head, count, body.len() as u64, &mut docs, &mut texts).map(|_| docs.len())
        };
        let (mut body, mut head) = (b"{}\n\n[1]\n".to_vec(), Vec::new());
        encode((&[2, 2, 0, 2, 3, 2], b"abc", b""), &mut body, &mut head).expect("sound lengths");
        assert_eq!(body, b"{}\n\n[1]\n");
        assert_eq!(head, b"\x80\x80\x80\x80\x08\x03\x01\x01\0\x02\x4c");
        assert_eq!(read(&head, &body, 3), Ok(3));
        assert!(read(&head, b"\n\n", 3).is_err() && read(&head, &[b'\n'; 5000], 5000).is_err());
        // With a line feed in one of the sources, all have lengths.
        let (mut body, mut head) = (b"{\n}\n[1]\n".to_vec(), Vec::new());
        encode((&[3, 2, 3, 2], b"ab", b""), &mut body, &mut head).expect("sound lengths");
        assert_eq!((&*body, &head[..3]), (&b"{\n}[1]"[..], &b"\x03\0\0"[..]));
    }

    /// The layout's bytes, and that generated ids take less than a byte each.
    #[test]
    fn bytes_of_ids() {
        assert_eq!(check(&["é", "ab"], &[]), b"\x64\0\x01\x01\x02\x02\x02\xc3a\xa9b");
        assert_eq!(check(&["AAAA", "AAAA"], &[]), b"\x64\0\x01\x03\x04\x01AAA\0\0\x16");
        assert_eq!(check(&["a", "bc"], &[]), b"\x64\0\x01\0\x02\x04abc");
        let mut ids = Vec::new();
        encode_base64(&(0..100).flat_map(|n| [n, 7, 7]).collect::<Vec<u8>>(), &mut ids);
        let ids: Vec<&str> = ids.chunks(4).map(|id| std::str::from_utf8(id).expect("ASCII")).collect();
        let head = check(&ids, &[]);
        // A step is one for all but the first.
        assert_eq!(head[101..109], [IDS_BASE64, 3, COLUMN_STEPS, COLUMN_CONSTANT, COLUMN_CONSTANT, 0, 1, 1]);
        assert_eq!(head.len(), 208);
    }
}
