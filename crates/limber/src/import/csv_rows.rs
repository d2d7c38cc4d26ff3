//! Converts rows of a CSV file to documents. The first row has the field names. A column is numeric if it is
//! in the first rows.

use std::cell::Cell;
use std::io::{BufRead, Read};
use std::rc::Rc;

use anyhow::{Result, bail};
use csv::StringRecord;
use serde_json::{Map, Value};

use super::lines::{Input, RECORD_BYTES_MAX};

/// Maximum number of rows, and of their bytes, that determine the type of a column.
const SAMPLE_ROWS: usize = 1_000;
const SAMPLE_BYTES: usize = 8 << 20;

/// Follows the quotes of a file, so that one that is never closed is named by the line in which it opens. The
/// rules are those of the reader: a quote opens a value only as its first character, and two quotes within a
/// quoted value are one.
struct Quotes {
    delimiter: u8,
    place: Place,
    /// Number of bytes so far.
    count: u64,
    /// The current line and the one in which the last quoted value began, from 1.
    line: u64,
    opened: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    BeforeValue,
    InValue,
    InQuotes,
    /// After a quote within quotes, which ends the value unless another one follows.
    AfterQuote,
}

impl Quotes {
    fn new(delimiter: u8) -> Quotes {
        Quotes { delimiter, place: Place::BeforeValue, count: 0, line: 1, opened: 0 }
    }

    fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let is_byte_order_mark = self.count < 3 && matches!(byte, 0xef | 0xbb | 0xbf);
            self.place = match (self.place, byte) {
                (Place::InQuotes, b'"') => Place::AfterQuote,
                (Place::InQuotes, _) | (Place::AfterQuote, b'"') => Place::InQuotes,
                (Place::BeforeValue, b'"') => {
                    self.opened = self.line;
                    Place::InQuotes
                }
                (_, b'\n' | b'\r') => Place::BeforeValue,
                (_, byte) if *byte == self.delimiter || is_byte_order_mark => Place::BeforeValue,
                _ => Place::InValue,
            };
            self.count += 1;
            self.line += u64::from(*byte == b'\n');
        }
    }

    /// Returns what is wrong if the file ends here.
    fn left_open(&self) -> Option<String> {
        let is_open = self.place == Place::InQuotes;
        is_open.then(|| format!("the quote that opens in line {} is not closed", self.opened))
    }
}

/// Ends a file with a row that is too long to hold in memory, or with a quote that is never closed.
struct Guarded {
    inner: Input,
    since_row: Rc<Cell<usize>>,
    quotes: Quotes,
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.quotes.follow(&buffer[..count]);
        self.since_row.set(self.since_row.get() + count);
        let open = self.quotes.left_open();
        if self.since_row.get() > RECORD_BYTES_MAX {
            let reason = open.map_or(String::new(), |open| format!(": {open}"));
            return Err(std::io::Error::other(format!("a row is longer than 64 MB{reason}")));
        }
        match open {
            Some(open) if count == 0 && !buffer.is_empty() => Err(std::io::Error::other(open)),
            _ => Ok(count),
        }
    }
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Number,
    Boolean,
    Text,
}

impl Kind {
    /// Returns the type of a value. A number with a leading zero, such as a postal code, is a string.
    fn of(value: &str) -> Kind {
        let digits = value.strip_prefix('-').unwrap_or(value);
        let has_leading_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        match value {
            "true" | "false" => Kind::Boolean,
            _ if has_leading_zero => Kind::Text,
            _ if value.parse::<i64>().is_ok() && !value.starts_with('+') => Kind::Integer,
            _ if serde_json::from_str::<serde_json::Number>(value).is_ok() => Kind::Number,
            _ => Kind::Text,
        }
    }

    fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (a, b) if a == b => a,
            (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Kind::Number,
            _ => Kind::Text,
        }
    }

    /// Converts a value. If it does not have the column's type, it stays a string, and the server decides
    /// about it.
    fn value(self, text: &str) -> Value {
        let read = match self {
            Kind::Text => None,
            Kind::Integer | Kind::Number | Kind::Boolean => serde_json::from_str(text).ok(),
        };
        read.filter(|value: &Value| value.is_number() || value.is_boolean()).unwrap_or_else(|| text.into())
    }
}

/// Rows of a file with separated values, as JSON documents.
pub struct Rows {
    reader: csv::Reader<Guarded>,
    since_row: Rc<Cell<usize>>,
    names: Vec<String>,
    kinds: Vec<Kind>,
    /// Rows that were read to determine the types and have not been returned yet, in reverse order.
    sample: Vec<csv::Result<StringRecord>>,
    row: StringRecord,
    /// Number of rows returned, not counting the header.
    pub number: u64,
}

/// Returns the delimiter that occurs most often in the first line.
pub fn delimiter_of(line: &str) -> Option<u8> {
    let counted = [b',', b';', b'\t', b'|']
        .map(|delimiter| (line.bytes().filter(|byte| *byte == delimiter).count(), delimiter));
    counted.into_iter().max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 0).map(|(_, byte)| byte)
}

impl Rows {
    /// Reads the header and determines the types.
    ///
    /// # Errors
    /// The file has no header, or a name occurs twice in it.
    pub fn new(mut input: Input, delimiter: Option<u8>) -> Result<Rows> {
        let delimiter = match delimiter {
            Some(delimiter) => delimiter,
            None => {
                let start = input.fill_buf()?;
                let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
                delimiter_of(&String::from_utf8_lossy(line)).unwrap_or(b',')
            }
        };
        let since_row = Rc::new(Cell::new(0));
        let guarded = Guarded { inner: input, since_row: since_row.clone(), quotes: Quotes::new(delimiter) };
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(guarded);
        let names: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
        if let Some(name) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            bail!("the first row names the column [{}] twice", name.1);
        }
        if names.iter().all(String::is_empty) {
            bail!("the first row must name the columns");
        }
        let mut rows = Rows {
            reader,
            since_row,
            names,
            kinds: Vec::new(),
            sample: Vec::new(),
            row: StringRecord::new(),
            number: 0,
        };
        rows.take_sample();
        Ok(rows)
    }

    fn take_sample(&mut self) {
        let mut kinds: Vec<Option<Kind>> = vec![None; self.names.len()];
        let mut bytes = 0;
        while self.sample.len() < SAMPLE_ROWS && bytes < SAMPLE_BYTES {
            let mut row = StringRecord::new();
            let read = self.reader.read_record(&mut row);
            match read {
                Ok(true) => {}
                Ok(false) => break,
                // The reader would not report it again. It is reported when its turn comes.
                Err(error) => {
                    let is_end = error.is_io_error();
                    self.sample.push(Err(error));
                    if is_end {
                        break;
                    }
                    self.since_row.set(0);
                    continue;
                }
            }
            self.since_row.set(0);
            bytes += row.as_slice().len();
            for (kind, value) in kinds.iter_mut().zip(&row).filter(|(_, value)| !value.is_empty()) {
                *kind = Some(kind.map_or(Kind::of(value), |kind| kind.with(Kind::of(value))));
            }
            self.sample.push(Ok(row));
        }
        self.sample.reverse();
        self.kinds = kinds.into_iter().map(|kind| kind.unwrap_or(Kind::Text)).collect();
    }

    /// Returns the document of the next row, or the reason why it has none; `None` at the end. Empty values
    /// are left out.
    ///
    /// # Errors
    /// The file cannot be read any further.
    pub fn next_row(&mut self) -> Result<Option<Result<Map<String, Value>, String>>> {
        self.number += 1;
        let read = match self.sample.pop() {
            Some(read) => read.map(|row| {
                self.row = row;
                true
            }),
            None => self.reader.read_record(&mut self.row),
        };
        match read {
            Ok(true) => self.since_row.set(0),
            Ok(false) => return Ok(None),
            Err(error) if error.is_io_error() => return Err(error.into()),
            Err(error) => {
                self.since_row.set(0);
                return Ok(Some(Err(error.to_string())));
            }
        }
        if self.row.len() > self.names.len() {
            let reason = format!("{} values for {} columns", self.row.len(), self.names.len());
            return Ok(Some(Err(reason)));
        }
        let values = self.names.iter().zip(&self.kinds).zip(&self.row);
        let members = values
            .filter(|((name, _), value)| !value.is_empty() && !name.is_empty())
            .map(|((name, kind), value)| (name.clone(), kind.value(value)));
        Ok(Some(Ok(members.collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_become_documents_by_the_kind_of_their_columns() {
        let text = "name;zip;n;share;on\n\"a;\"\"b\"\"\";01234;1;0.5;true\nc;56789;-2;3;false\nd;;;;\nx;1;2;3;true;6\n";
        let input: Input = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        let mut rows = Rows::new(input, None).expect("a first row");
        let mut seen = Vec::new();
        while let Some(row) = rows.next_row().expect("read") {
            seen.push(row.map(Value::Object));
        }
        assert_eq!(
            seen,
            [
                Ok(json!({"name": "a;\"b\"", "zip": "01234", "n": 1, "share": 0.5, "on": true})),
                Ok(json!({"name": "c", "zip": "56789", "n": -2, "share": 3, "on": false})),
                Ok(json!({"name": "d"})),
                Err("6 values for 5 columns".to_owned()),
            ]
        );
        let twice: Input = Box::new(std::io::Cursor::new(b"a,a\n1,2\n".to_vec()));
        assert!(Rows::new(twice, None).is_err());
    }

    fn rows_of(bytes: &[u8]) -> Rows {
        let input: Input = Box::new(std::io::Cursor::new(bytes.to_vec()));
        Rows::new(input, Some(b',')).expect("a first row")
    }

    #[test]
    fn a_quote_that_is_never_closed_is_named_by_its_line() {
        let end = |text: &str| {
            let mut rows = rows_of(text.as_bytes());
            loop {
                match rows.next_row() {
                    Ok(Some(row)) => drop(row.expect("a document")),
                    Ok(None) => return (rows.number - 1, None),
                    Err(error) => return (rows.number - 1, Some(error.to_string())),
                }
            }
        };
        let open = |line: u64| Some(format!("the quote that opens in line {line} is not closed"));
        assert_eq!(end("a,b\n1,\"x\ny\"\n2,\"z\n3,4\n"), (1, open(4)));
        assert_eq!(end("a,b\n1,\"x\"\"\n2,3"), (0, open(2)));
        // Quotes within a value are characters, and a file may end with its closing quote.
        assert_eq!(end("\u{feff}\"a\",b\r\n5\" disk,\"x\"\r\n6,\"\"\"y\""), (2, None));
        assert_eq!(
            Rows::new(Box::new(std::io::Cursor::new(b"a,\"b\n1,2\n".to_vec())), None)
                .err()
                .map(|e| e.to_string()),
            open(1)
        );
    }

    #[test]
    fn a_row_among_the_first_that_cannot_be_read_is_reported() {
        let mut rows = rows_of(b"a,b\n1,x\n2,caf\xe9\n3,z\n");
        let mut seen = Vec::new();
        while let Some(row) = rows.next_row().expect("read") {
            seen.push(row.map_err(|error| error.contains("UTF-8")).map(|row| row["a"].clone()));
        }
        assert_eq!(seen, [Ok(json!(1)), Err(true), Ok(json!(3))]);
    }
}
