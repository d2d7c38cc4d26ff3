//! Comments in JSON, which Elasticsearch accepts: "what does this body say without them?"

/// Returns the text with blanks in place of its comments (`/* … */` and `// …`), so that positions stay;
/// `None` if it has none, or one that does not end.
pub fn without_comments(text: &[u8]) -> Option<Vec<u8>> {
    // Most texts have none, and need not be copied.
    memchr::memchr_iter(b'/', text).find(|at| begins_comment(text, *at))?;
    let mut out = text.to_vec();
    let (mut at, mut found) = (0, false);
    while let Some(&byte) = text.get(at) {
        if byte == b'"' {
            at = string_end(text, at).unwrap_or(text.len());
            continue;
        }
        if !begins_comment(text, at) {
            at += 1;
            continue;
        }
        // A comment that does not end is an error anyway. Looking on would be quadratic in such comments.
        let end = comment_end(text, at)?;
        let blanks = out[at..end].iter_mut().filter(|byte| **byte != b'\n');
        blanks.for_each(|byte| *byte = b' ');
        (at, found) = (end, true);
    }
    found.then_some(out)
}

/// Whether a comment begins at `at`, which is outside strings.
pub(super) fn begins_comment(text: &[u8], at: usize) -> bool {
    text.get(at) == Some(&b'/') && matches!(text.get(at + 1), Some(b'*' | b'/'))
}

/// Returns the index after the comment that begins at `start`; `None` if it does not end. A line's comment
/// ends before the end of the line.
pub(super) fn comment_end(text: &[u8], start: usize) -> Option<usize> {
    let inside = &text[start + 2..];
    let length = match text[start + 1] {
        b'*' => inside.windows(2).position(|pair| pair == b"*/")? + 2,
        _ => inside.iter().position(|byte| *byte == b'\n').unwrap_or(inside.len()),
    };
    Some(start + 2 + length)
}

/// Returns the index after the string that begins at `start`; `None` if it does not end.
pub(super) fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
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
