//! The words that KStem knows.

use std::sync::LazyLock;

use hashbrown::HashMap;

/// What the list says about a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its stem, if that is another word.
    pub root: Option<&'static str>,
    /// The word ends with `e`, but its forms with `-ed` and `-ing` are more often those of the word without
    /// the `e`.
    pub is_exception: bool,
}

static WORDS: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    let mut words = HashMap::with_capacity(28_000);
    for line in include_str!("words.txt").lines() {
        let (kind, list) = line.split_once('\t').unwrap_or_default();
        for word in list.split(' ') {
            let (word, entry) = match (kind, word.split_once('=')) {
                ("exceptions", _) => (word, Entry { root: Some(word), is_exception: true }),
                (_, Some((word, root))) => (word, Entry { root: Some(root), is_exception: false }),
                _ => (word, Entry::default()),
            };
            words.entry(word).or_insert(entry);
        }
    }
    words
});

/// Returns the entry of a word; `None` if it is not in the list.
pub fn find(word: &[u8]) -> Option<Entry> {
    WORDS.get(std::str::from_utf8(word).ok()?).copied()
}
