//! Converts characters to similar ASCII characters: "what does `é` look like without its accent?"
//!
//! The table `folding.txt` was recorded from Elasticsearch's filter `asciifolding` (9.4.3, `_analyze`), for
//! every character of the basic plane that it changes. A line is the ASCII text, a blank, and the characters
//! that become it.

use std::sync::LazyLock;

/// Characters with their replacements, ascending.
static TABLE: LazyLock<Vec<(char, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("folding.txt").lines().filter_map(|line| line.split_once(' '));
    let mut table: Vec<_> =
        lines.flat_map(|(ascii, characters)| characters.chars().map(move |c| (c, ascii))).collect();
    table.sort_unstable();
    table
});

/// Appends `text` with the characters of the table replaced.
pub(super) fn fold_into(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        match TABLE.binary_search_by_key(&c, |(from, _)| *from) {
            Ok(at) => out.push_str(TABLE[at].1),
            Err(_) => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_what_the_table_has() {
        for (text, expected) in
            [("Été", "Ete"), ("ǅ ß İ", "Dz ss I"), ("«x»", "\"x\""), ("日本 ж", "日本 ж"), ("①⒛ﬃ", "120.ffi")]
        {
            let mut folded = String::new();
            fold_into(text, &mut folded);
            assert_eq!(folded, expected);
        }
        assert_eq!(TABLE.len(), 1242);
    }
}
