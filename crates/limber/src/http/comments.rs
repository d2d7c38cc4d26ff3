//! Comments in JSON, which Elasticsearch accepts: "what does this body say without them?"

/// Returns the text with blanks in place of its comments (`/* … */` and `// …`), so that positions stay;
/// `None` if it has none, or one that does not end.
pub fn without_comments(text: &[u8]) -> Option<Vec<u8>> {
    // Most texts have none, and need not be copied.
    memchr::memchr_iter(b'/', text).find(|at| matches!(text.get(at + 1), Some(b'*' | b'/')))?;
    let mut out = text.to_vec();
    let (mut at, mut found) = (0, false);
    while let Some(&byte) = text.get(at) {
        let comment = match (byte, text.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(text, at);
                continue;
            }
            // A comment that does not end is an error anyway. Looking on would be quadratic in such comments.
            (b'/', Some(b'*')) => Some(text[at + 2..].windows(2).position(|pair| pair == b"*/")? + 4),
            (b'/', Some(b'/')) => {
                let line = &text[at..];
                Some(line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len()))
            }
            _ => None,
        };
        let Some(length) = comment else {
            at += 1;
            continue;
        };
        let blanks = out[at..at + length].iter_mut().filter(|byte| **byte != b'\n');
        blanks.for_each(|byte| *byte = b' ');
        (at, found) = (at + length, true);
    }
    found.then_some(out)
}

/// Returns where the string that begins at `start` ends: after its closing quote, or at the end of the text.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_blanks() {
        let check = |text: &str, expected: Option<&str>| {
            let found = without_comments(text.as_bytes());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{text}");
        };
        check(r#"{"a": "/* no */ // \" //"}"#, None);
        check("{/* x\ny */}", Some("{    \n    }"));
        check("{} // end", Some("{}       "));
        check("{} //\n/", Some("{}   \n/"));
        check("/* open", None);
        check("{} // end\n/* open", None);
        assert_eq!(without_comments(&b"/*".repeat(1 << 20)), None);
        check("\"open // \\", None);
    }
}
