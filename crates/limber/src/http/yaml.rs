//! YAML as Elasticsearch prints it: every string in double quotes, names of members plain where YAML allows
//! it.
//!
//! Source: Jackson's `YAMLGenerator` and `StringQuotingChecker`, SnakeYAML's `Emitter`.

use std::io::{Result, Write};

use serde_json::{Map, Value};

/// A line of a quoted string is broken at the first space after this column.
const WIDTH: usize = 80;
/// Names that are longer than this get a line of their own.
const NAME_BYTES_MAX: usize = 128;

/// Writes `value` as a document, which begins with `---`.
pub(super) fn write(out: &mut impl Write, value: &Value) -> Result<()> {
    out.write_all(b"---")?;
    let mut document = Document { out };
    match value {
        Value::Object(members) if !members.is_empty() => {
            document.out.write_all(b"\n")?;
            document.members(members, 0)?;
        }
        Value::Array(items) if !items.is_empty() => {
            document.out.write_all(b"\n")?;
            document.items(items, 0)?;
        }
        value => {
            document.out.write_all(b" ")?;
            document.scalar(value, 2, 4)?;
        }
    }
    Ok(())
}

struct Document<'w, W: Write> {
    out: &'w mut W,
}

impl<W: Write> Document<'_, W> {
    fn indent(&mut self, depth: usize) -> Result<()> {
        write!(self.out, "{:depth$}", "")
    }

    /// Writes members from the current position on, which is at the column `depth`. Later members get lines
    /// of their own.
    fn members(&mut self, members: &Map<String, Value>, depth: usize) -> Result<()> {
        for (number, (name, value)) in members.iter().enumerate() {
            if number > 0 {
                self.indent(depth)?;
            }
            let column = self.name(name, depth)?;
            match value {
                Value::Object(members) if !members.is_empty() => {
                    self.out.write_all(b"\n")?;
                    self.indent(depth + 2)?;
                    self.members(members, depth + 2)?;
                }
                // The dashes of a list are below the name.
                Value::Array(items) if !items.is_empty() => {
                    self.out.write_all(b"\n")?;
                    self.indent(depth)?;
                    self.items(items, depth)?;
                }
                value => {
                    self.out.write_all(b" ")?;
                    self.scalar(value, depth + 2, column + 1)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the items of a list, with their dashes at the column `depth`.
    fn items(&mut self, items: &[Value], depth: usize) -> Result<()> {
        for (number, item) in items.iter().enumerate() {
            if number > 0 {
                self.indent(depth)?;
            }
            self.out.write_all(b"- ")?;
            match item {
                Value::Object(members) if !members.is_empty() => self.members(members, depth + 2)?,
                Value::Array(items) if !items.is_empty() => self.items(items, depth + 2)?,
                value => self.scalar(value, depth + 2, depth + 2)?,
            }
        }
        Ok(())
    }

    /// Writes a name and its colon. Returns the column after them.
    fn name(&mut self, name: &str, depth: usize) -> Result<usize> {
        let shown = match Style::of(name) {
            Style::Plain => name.to_owned(),
            Style::Single => format!("'{}'", name.replace('\'', "''")),
            Style::Double => quoted(name, depth + 2, 0, usize::MAX),
        };
        if name.is_empty() || name.contains('\n') || name.len() > NAME_BYTES_MAX {
            write!(self.out, "? {shown}\n{:depth$}:", "")?;
            return Ok(depth + 1);
        }
        write!(self.out, "{shown}:")?;
        Ok(depth + shown.chars().count() + 1)
    }

    /// Writes a value of one line, or a string, whose further lines are indented by `depth`.
    fn scalar(&mut self, value: &Value, depth: usize, column: usize) -> Result<()> {
        match value {
            Value::String(text) => self.out.write_all(quoted(text, depth, column, WIDTH).as_bytes())?,
            value => serde_json::to_writer(&mut *self.out, value)?,
        }
        self.out.write_all(b"\n")
    }
}

/// How a name is written.
#[derive(Debug, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
}

/// Words that YAML 1.1 reads as booleans or null.
const RESERVED: [&str; 22] = [
    "false", "False", "FALSE", "n", "N", "no", "No", "NO", "null", "Null", "NULL", "on", "On", "ON", "off",
    "Off", "OFF", "true", "True", "TRUE", "y", "Y",
];

impl Style {
    fn of(name: &str) -> Style {
        let is_word = RESERVED.contains(&name) || ["yes", "Yes", "YES"].contains(&name);
        let first = name.bytes().next();
        let may_be_number = first.is_none_or(|byte| matches!(byte, b'~' | b'.' | b'-' | b'+' | b'0'..=b'9'));
        if is_word || may_be_number || name.chars().any(|one| !is_printable(one)) {
            return Style::Double;
        }
        let begins_a_part = name.starts_with(|one| "#,[]{}&*!|>'\"%@`".contains(one))
            || matches!(name, "?" | ":")
            || name.starts_with("? ");
        let has_blanks = name.starts_with(' ') || name.ends_with(' ');
        let ends_a_name = name.ends_with(':') || name.contains(": ") || name.contains(" #");
        if begins_a_part || has_blanks || ends_a_name { Style::Single } else { Style::Plain }
    }
}

fn is_printable(one: char) -> bool {
    !one.is_control() && !matches!(one, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Returns `text` in double quotes. Lines that start at `column` are broken after `width`, and continue at
/// the column `depth`.
fn quoted(text: &str, depth: usize, mut column: usize, width: usize) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    column += 1;
    for (at, one) in text.char_indices() {
        if one == ' ' && at > 0 && at + 1 < text.len() && column > width {
            out.push_str("\\\n");
            out.extend(std::iter::repeat_n(' ', depth));
            out.push('\\');
            column = depth + 1;
        }
        let before = out.len();
        push_escaped(&mut out, one);
        column += if one.is_ascii() { out.len() - before } else { 1 };
    }
    out.push('"');
    out
}

fn push_escaped(out: &mut String, one: char) {
    let short = match one {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        one if is_printable(one) => return out.push(one),
        one => {
            let code = u32::from(one);
            return out.push_str(&match code {
                0..=0xff => format!("\\x{code:02x}"),
                _ => format!("\\u{code:04x}"),
            });
        }
    };
    out.extend(['\\', short]);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Value, expected: &str) {
        let mut out = Vec::new();
        write(&mut out, value).expect("memory");
        assert_eq!(String::from_utf8(out).expect("text"), expected);
        let read: Value = serde_yaml_ng::from_str(expected).expect("valid YAML");
        assert_eq!(&read, value);
    }

    #[test]
    fn the_form_is_elasticsearchs() {
        let value = json!({"took": 1, "hits": {"max": 1.0, "hits": [{"_id": "1", "n": [[1, [2]], [{}]]}, {"_id": "2"}]},
            "e": {}, "l": [], "nu": null, "b": true});
        let expected = "---\ntook: 1\nhits:\n  max: 1.0\n  hits:\n  - _id: \"1\"\n    \"n\":\n    - - 1\n      - - 2\n    - - {}\n  - _id: \"2\"\ne: {}\nl: []\nnu: null\nb: true\n";
        check(&value, expected);
        check(&json!([{"a": "x"}]), "---\n- a: \"x\"\n");
        check(&json!({}), "--- {}\n");
        check(&json!("a"), "--- \"a\"\n");
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        for (name, shown) in [
            ("a b", "a b"),
            ("x:y", "x:y"),
            ("?x", "?x"),
            (":a", ":a"),
            ("a#", "a#"),
            ("x]", "x]"),
            ("é", "é"),
            ("a:", "'a:'"),
            ("a: b", "'a: b'"),
            ("@t", "'@t'"),
            ("'a", "'''a'"),
            (" a", "' a'"),
            ("-x", "\"-x\""),
            ("1", "\"1\""),
            ("yes", "\"yes\""),
            ("~", "\"~\""),
        ] {
            check(&json!({ name: 1 }), &format!("---\n{shown}: 1\n"));
        }
        check(&json!({"": "e", "a\nb": 1}), "---\n? \"\"\n: \"e\"\n? \"a\\nb\"\n: 1\n");
    }

    #[test]
    fn strings_are_quoted_and_long_ones_broken() {
        check(
            &json!({"t": "tab\tx\nnl \"q\" \\ é \u{1} \u{2028} 😀"}),
            "---\nt: \"tab\\tx\\nnl \\\"q\\\" \\\\ é \\x01 \\L 😀\"\n",
        );
        let long = "long ".repeat(40);
        let expected = "---\n_source:\n  s: \"long long long long long long long long long long long long long long long long\\\n    \\ long long long long long long long long long long long long long long long long\\\n    \\ long long long long long long long long \"\n";
        check(&json!({"_source": {"s": long}}), expected);
    }
}
