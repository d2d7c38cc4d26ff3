//! "Which of the names that there are was meant?" Source: Elasticsearch's `SuggestingErrorOnUnknown`.

/// What an error about an unknown name ends with: the known ones that are like it, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<(f32, &str)> =
        known.map(|known| (similarity(name, known), known)).filter(|(score, _)| *score > 0.5).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup();
    let names: Vec<&str> = near.into_iter().map(|(_, known)| known).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => format!(" did you mean [{only}]?"),
        several => format!(" did you mean any of [{}]?", several.join(", ")),
    }
}

/// `1 - edits / longer length`, as Lucene's `LevenshteinDistance`.
fn similarity(left: &str, right: &str) -> f32 {
    let left: Vec<char> = left.chars().take(64).collect();
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, a) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    1.0 - row[right.len()] as f32 / left.len().max(right.len()).max(1) as f32
}
