//! Backslashes in Lucene's query language: `\*` is a plain star, and `\u00e9` a character by its number.

/// Removes the backslashes of a text.
pub(in crate::query) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.as_str().strip_prefix('u').and_then(unicode) {
                Some(escaped) => {
                    plain.push(escaped);
                    characters = characters.as_str()[5..].chars();
                }
                None => plain.extend(characters.next()),
            },
            other => plain.push(other),
        }
    }
    plain
}

/// Escapes each special character of the text with a backslash. Source: Lucene's `QueryParserBase#escape`.
pub(in crate::query) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if r#"\+-!():^[]"{}~*?|&/"#.contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Returns the character of four hexadecimal digits (`\u00e9`).
fn unicode(digits: &str) -> Option<char> {
    let digits = digits.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Checks that four hexadecimal digits follow every `\u`, as `QueryParserBase#discardEscapeChar` does.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            continue;
        }
        if let Some(digits) = characters.as_str().strip_prefix('u')
            && unicode(digits).is_none()
        {
            return Err("Truncated unicode escape sequence.".to_owned());
        }
        characters.next();
    }
    Ok(())
}

/// Whether the text contains an unescaped `*` or `?`.
pub(super) fn has_wildcard(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|character| {
        let found = !escaped && matches!(character, '*' | '?');
        escaped = !escaped && character == '\\';
        found
    })
}
