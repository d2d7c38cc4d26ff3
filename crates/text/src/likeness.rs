//! Misspelt names: "which of the known names was meant?"
//!
//! Source: Elasticsearch's `SuggestingErrorOnUnknown` and Lucene's `LevenshteinDistance`.

/// Longer names are similar to no other: the table of an edit distance grows with both lengths.
const NAME_CHARS_MAX: usize = 256;

/// Returns the end of an error about an unknown name: the similar known names, or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    hint(&similar(name, known))
}

/// Returns the known names that are similar enough to be suggested, the most similar first.
pub fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    nearest(name, known, 0.5)
}

/// Returns ` did you mean [a]?`, ` did you mean any of [a, b]?`, or nothing.
pub fn hint(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => format!(" did you mean [{only}]?"),
        several => format!(" did you mean any of [{}]?", several.join(", ")),
    }
}

/// Returns the known names whose [`similarity`] to `name` is greater than `more_than`, the most similar
/// first, then alphabetically.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>, more_than: f64) -> Vec<&'a str> {
    let mut near: Vec<(f64, &str)> =
        known.map(|known| (similarity(name, known), known)).filter(|(score, _)| *score > more_than).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup();
    near.into_iter().map(|(_, known)| known).collect()
}

/// Returns `1 - edits / longer length`, from 0 to 1.
pub fn similarity(left: &str, right: &str) -> f64 {
    let longer = left.chars().count().max(right.chars().count()).max(1);
    edit_distance(left, right).map_or(0.0, |edits| 1.0 - edits as f64 / longer as f64)
}

/// Returns how many characters must be inserted, deleted or replaced to turn one name into the other;
/// `None` if one of them is too long.
pub fn edit_distance(left: &str, right: &str) -> Option<usize> {
    let right: Vec<char> = right.chars().take(NAME_CHARS_MAX + 1).collect();
    if left.chars().nth(NAME_CHARS_MAX).is_some() || right.len() > NAME_CHARS_MAX {
        return None;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    Some(row[right.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_one_minus_the_share_of_edits() {
        assert_eq!(similarity("kitten", "kitten"), 1.0);
        assert!((similarity("kitten", "sitting") - (1.0 - 3.0 / 7.0)).abs() < 1e-9);
        assert_eq!(similarity("", "abc"), 0.0);
        assert_eq!(similarity(&"x".repeat(300), &"x".repeat(300)), 0.0);
    }

    #[test]
    fn the_most_similar_names_come_first() {
        let known = ["bool", "boost", "match", "boot"];
        assert_eq!(did_you_mean("boos", known.into_iter()), " did you mean any of [boost, bool, boot]?");
        assert_eq!(did_you_mean("mtch", known.into_iter()), " did you mean [match]?");
        assert_eq!(did_you_mean("zzz", known.into_iter()), "");
    }
}
