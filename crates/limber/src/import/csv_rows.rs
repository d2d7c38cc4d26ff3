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

/// Ends a row that is too long to hold in memory, for example after a quote that is never closed.
struct Guarded {
    inner: Input,
    since_row: Rc<Cell<usize>>,
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.since_row.set(self.since_row.get() + count);
        match self.since_row.get() > RECORD_BYTES_MAX {
            true => Err(std::io::Error::other("a row is longer than 64 MB: is a quote not closed?")),
            false => Ok(count),
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
    sample: Vec<StringRecord>,
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
        let guarded = Guarded { inner: input, since_row: since_row.clone() };
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
        // A row that cannot be read is reported when its turn comes.
        while self.sample.len() < SAMPLE_ROWS && bytes < SAMPLE_BYTES {
            let mut row = StringRecord::new();
            if !matches!(self.reader.read_record(&mut row), Ok(true)) {
                break;
            }
            self.since_row.set(0);
            bytes += row.as_slice().len();
            for (kind, value) in kinds.iter_mut().zip(&row).filter(|(_, value)| !value.is_empty()) {
                *kind = Some(kind.map_or(Kind::of(value), |kind| kind.with(Kind::of(value))));
            }
            self.sample.push(row);
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
        match self.sample.pop() {
            Some(row) => self.row = row,
            None => match self.reader.read_record(&mut self.row) {
                Ok(true) => self.since_row.set(0),
                Ok(false) => return Ok(None),
                Err(error) if error.is_io_error() => return Err(error.into()),
                Err(error) => return Ok(Some(Err(error.to_string()))),
            },
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
}
