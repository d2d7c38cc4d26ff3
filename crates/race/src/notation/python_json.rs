//! Writes JSON as Python does, because scripts written for Rally read races and rendered tracks.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};

use crate::notation::number::repr;

/// How non-ASCII characters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Characters {
    /// `ensure_ascii=False`.
    AsTheyAre,
    /// Python's default: `\u00e9`, and two surrogates beyond the basic plane.
    Ascii,
}

/// Returns `json.dumps(value, indent=indent)`, with numbers as Python prints them. `value` must not fail to
/// serialize (its maps have string keys).
pub(crate) fn pretty(value: &impl Serialize, indent: usize, characters: Characters) -> Vec<u8> {
    let mut text = Vec::new();
    let spaces = vec![b' '; indent];
    let formatter = Python { pretty: PrettyFormatter::with_indent(&spaces), characters };
    value
        .serialize(&mut serde_json::Serializer::with_formatter(&mut text, formatter))
        .expect("what is printed holds only texts, numbers, lists and objects with texts as keys");
    text
}

struct Python<'a> {
    pretty: PrettyFormatter<'a>,
    characters: Characters,
}

macro_rules! as_pretty {
    ($($name:ident($($argument:ident: $kind:ty),*)),+ $(,)?) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.pretty.$name(writer $(, $argument)*)
        })+
    };
}

impl Formatter for Python<'_> {
    as_pretty!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        begin_object_value(),
        end_object_value(),
    );

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(repr(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if self.characters == Characters::AsTheyAre {
            return writer.write_all(fragment.as_bytes());
        }
        for char in fragment.chars() {
            if (' '..='~').contains(&char) {
                writer.write_all(&[char as u8])?;
                continue;
            }
            for unit in char.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The expected strings are those of `json.dumps` of Python 3.11.
    #[test]
    fn numbers_and_characters_are_pythons() {
        let value =
            json!({"a": [], "b": {}, "n": [1.0, 5e-5, 1e16, 0.1, -3], "t": "é😀\u{7f}\n\u{1}\"", "x": null});
        let text = |characters| String::from_utf8(pretty(&value, 1, characters)).unwrap();
        let numbers = " \"a\": [],\n \"b\": {},\n \"n\": [\n  1.0,\n  5e-05,\n  1e+16,\n  0.1,\n  -3\n ],\n";
        let expected = |t: &str| format!("{{\n{numbers} \"t\": \"{t}\",\n \"x\": null\n}}");
        assert_eq!(text(Characters::AsTheyAre), expected("é😀\u{7f}\\n\\u0001\\\""));
        assert_eq!(text(Characters::Ascii), expected("\\u00e9\\ud83d\\ude00\\u007f\\n\\u0001\\\""));
    }
}
