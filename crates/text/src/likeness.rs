//! Misspelt names: "which of the known names was meant?"
//!
//! Source: Elasticsearch's `SuggestingErrorOnUnknown` and Lucene's `LevenshteinDistance`.

use std::collections::HashMap;

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

/// Whether the [`similarity`] is at least `least`. Ends as soon as it cannot be any more.
pub fn is_similar(left: &str, right: &str, least: f64) -> bool {
    let longer = left.chars().count().max(right.chars().count()).max(1) as f64;
    let edits_max = ((1.0 - least) * longer).floor().max(0.0) as usize;
    let edits = edit_distance_within(left, right, edits_max);
    edits.map_or(0.0, |edits| 1.0 - edits as f64 / longer) >= least
}

/// Returns how many characters must be inserted, deleted or replaced to turn one name into the other;
/// `None` if one of them is too long.
pub fn edit_distance(left: &str, right: &str) -> Option<usize> {
    edit_distance_within(left, right, NAME_CHARS_MAX)
}

/// Does the same as [`edit_distance`], and returns `None` also if there are more than `edits_max` edits.
///
/// A column of the table is a few words of bits, each bit the difference to the row above: 64 rows are one
/// step. Source: Myers, "A fast bit-vector algorithm for approximate string matching", 1999, with blocks as
/// in Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003.
fn edit_distance_within(left: &str, right: &str, edits_max: usize) -> Option<usize> {
    let (rows, columns) = (length(left)?, length(right)?);
    if rows.abs_diff(columns) > edits_max {
        return None;
    }
    if rows == 0 {
        return Some(columns);
    }
    let places = Places::of(left);
    let (mut rises, mut falls) = ([u64::MAX; WORDS], [0u64; WORDS]);
    let (words, last_row) = (rows.div_ceil(64), 1u64 << ((rows - 1) % 64));
    let mut edits = rows;
    for (column, character) in right.chars().enumerate() {
        let equal = places.get(character);
        // The first row is the number of the column: it rises by one.
        let (mut rise_in, mut fall_in) = (1, 0);
        for word in 0..words {
            let (rise, fall) = (rises[word], falls[word]);
            let vertical = equal[word] | fall;
            let matched = equal[word] | fall_in;
            let horizontal = ((matched & rise).wrapping_add(rise) ^ rise) | matched;
            let (up, down) = (fall | !(horizontal | rise), rise & horizontal);
            if word + 1 == words {
                edits = edits + usize::from(up & last_row != 0) - usize::from(down & last_row != 0);
            }
            let (up_shifted, down_shifted) = (up << 1 | rise_in, down << 1 | fall_in);
            (rise_in, fall_in) = (up >> 63, down >> 63);
            rises[word] = down_shifted | !(vertical | up_shifted);
            falls[word] = up_shifted & vertical;
        }
        // Each further column removes at most one edit.
        if edits > edits_max + (columns - column - 1) {
            return None;
        }
    }
    Some(edits)
}

/// Words of 64 bits that hold one bit for each character of a name.
const WORDS: usize = NAME_CHARS_MAX / 64;

/// Returns the number of characters; `None` if the name is too long.
fn length(name: &str) -> Option<usize> {
    let count = name.chars().take(NAME_CHARS_MAX + 1).count();
    (count <= NAME_CHARS_MAX).then_some(count)
}

/// The places of each character in a name; each place is one bit.
struct Places {
    ascii: [[u64; WORDS]; 128],
    others: HashMap<char, [u64; WORDS]>,
}

impl Places {
    fn of(name: &str) -> Places {
        let mut places = Places { ascii: [[0; WORDS]; 128], others: HashMap::new() };
        for (at, character) in name.chars().enumerate() {
            let bits = match places.ascii.get_mut(character as usize) {
                Some(bits) => bits,
                None => places.others.entry(character).or_default(),
            };
            bits[at / 64] |= 1 << (at % 64);
        }
        places
    }

    fn get(&self, character: char) -> [u64; WORDS] {
        let ascii = self.ascii.get(character as usize);
        ascii.or_else(|| self.others.get(&character)).copied().unwrap_or_default()
    }
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

    /// The table that the bits stand for.
    fn edits(left: &str, right: &str) -> usize {
        let right: Vec<char> = right.chars().collect();
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
        row[right.len()]
    }

    #[test]
    fn bits_count_the_edits_of_the_table() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for longest in [5, 64, 65, 129, 256] {
            for _ in 0..60 {
                let mut word = || {
                    let count = next(longest + 1);
                    (0..count).map(|_| ['a', 'b', 'ä', '🦀'][next(4) as usize]).collect::<String>()
                };
                let (left, right) = (word(), word());
                let expected = edits(&left, &right);
                assert_eq!(edit_distance(&left, &right), Some(expected), "{left} {right}");
                for bound in [0, 1, expected.saturating_sub(1), expected, expected + 1] {
                    let within = (expected <= bound).then_some(expected);
                    assert_eq!(edit_distance_within(&left, &right, bound), within, "{left} {right} {bound}");
                }
                assert_eq!(
                    is_similar(&left, &right, 0.5),
                    similarity(&left, &right) >= 0.5,
                    "{left} {right}"
                );
            }
        }
        assert_eq!(edit_distance(&"a".repeat(257), "a"), None);
    }

    #[test]
    fn the_most_similar_names_come_first() {
        let known = ["bool", "boost", "match", "boot"];
        assert_eq!(did_you_mean("boos", known.into_iter()), " did you mean any of [boost, bool, boot]?");
        assert_eq!(did_you_mean("mtch", known.into_iter()), " did you mean [match]?");
        assert_eq!(did_you_mean("zzz", known.into_iter()), "");
    }
}
