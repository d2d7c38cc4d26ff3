//! Texts seen before: "which tokens did this very text have?"
//!
//! Log lines, paths, titles and labels repeat. Looking a whole text up costs a hash and a comparison, a tenth of analysing it;
//! http_logs indexes a seventh faster (its million requests are thirty thousand texts). Where texts do not repeat, the memo
//! notices and is given up.

use super::table::TermTable;

/// Longer texts hardly repeat.
const TEXT_BYTES_MAX: usize = 512;
/// Memory of one field's memo: beyond the processor's caches a hit is no longer cheap.
const MEMORY_BYTES_MAX: usize = 8 << 20;
/// Texts between two looks at whether the memo pays.
const TRIAL_TEXTS: u32 = 1024;
/// It pays when at least one text in this many is found.
const HIT_ONE_IN: u32 = 3;

/// What analysing a text adds to a document that has no token of the field yet.
pub struct Analysed<'m> {
    /// Term numbers and steps, as they go to the log.
    pub tokens: &'m [u32],
    /// Tokens that count as length.
    pub length: u32,
    /// Position of the last token, -1 without tokens.
    pub last_position: i64,
}

pub enum Lookup<'m> {
    Found(Analysed<'m>),
    /// Analyse it, then [`Memo::remember`].
    New,
    /// Analyse it; it is not for the memo.
    Unsuitable,
}

#[derive(Default)]
pub struct Memo {
    texts: TermTable,
    entries: Vec<Entry>,
    tokens: Vec<u32>,
    looked_up: u32,
    found: u32,
    given_up: bool,
}

struct Entry {
    tokens_start: u32,
    token_count: u32,
    length: u32,
    last_position: i64,
}

impl Memo {
    #[inline]
    pub fn look_up(&mut self, text: &str) -> Lookup<'_> {
        if self.given_up || text.len() > TEXT_BYTES_MAX {
            return Lookup::Unsuitable;
        }
        self.looked_up += 1;
        if self.looked_up == TRIAL_TEXTS && !self.pays() {
            self.give_up();
            return Lookup::Unsuitable;
        }
        let number = self.texts.intern(text.as_bytes());
        match self.entries.get(number as usize) {
            Some(entry) => {
                self.found += 1;
                let start = entry.tokens_start as usize;
                let tokens = &self.tokens[start..start + entry.token_count as usize];
                let Entry { length, last_position, .. } = *entry;
                Lookup::Found(Analysed { tokens, length, last_position })
            }
            None => Lookup::New,
        }
    }

    /// Keeps what came out for the text of the last [`Memo::look_up`], which answered [`Lookup::New`].
    pub fn remember(&mut self, analysed: Analysed<'_>) {
        if self.entries.len() + 1 != self.texts.len() {
            // A text before was new and never remembered, as its document was refused: entries and texts are apart.
            return self.give_up();
        }
        let Analysed { tokens, length, last_position } = analysed;
        let (tokens_start, token_count) = (self.tokens.len() as u32, tokens.len() as u32);
        self.tokens.extend_from_slice(tokens);
        self.entries.push(Entry { tokens_start, token_count, length, last_position });
    }

    /// Whether enough of the last texts were found; starts the next trial.
    #[cold]
    fn pays(&mut self) -> bool {
        let pays = self.found * HIT_ONE_IN >= self.looked_up && self.memory_bytes() <= MEMORY_BYTES_MAX;
        (self.looked_up, self.found) = (0, 0);
        pays
    }

    #[cold]
    fn give_up(&mut self) {
        *self = Memo { given_up: true, ..Memo::default() };
    }

    pub fn memory_bytes(&self) -> usize {
        self.texts.memory_bytes() + self.entries.capacity() * size_of::<Entry>() + self.tokens.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks `text` up; remembers `tokens` for it when it is new. The tokens found, if any.
    fn meet(memo: &mut Memo, text: &str, tokens: &[u32]) -> Option<Vec<u32>> {
        match memo.look_up(text) {
            Lookup::Found(found) => {
                assert_eq!((found.length, found.last_position), (found.tokens.len() as u32, 3));
                return Some(found.tokens.to_vec());
            }
            Lookup::New => {}
            Lookup::Unsuitable => return None,
        }
        memo.remember(Analysed { tokens, length: tokens.len() as u32, last_position: 3 });
        None
    }

    #[test]
    fn finds_texts_again() {
        let mut memo = Memo::default();
        assert_eq!(meet(&mut memo, "a b", &[0, 1]), None);
        assert_eq!(meet(&mut memo, "b", &[1]), None);
        assert_eq!(meet(&mut memo, "a b", &[]), Some(vec![0, 1]));
        assert_eq!(meet(&mut memo, &"x".repeat(TEXT_BYTES_MAX + 1), &[5]), None);
        assert_eq!(meet(&mut memo, "b", &[]), Some(vec![1]));
        assert!(!memo.given_up);
    }

    #[test]
    fn is_given_up_where_texts_do_not_repeat() {
        let mut memo = Memo::default();
        for i in 0..TRIAL_TEXTS {
            meet(&mut memo, &format!("text {i}"), &[i]);
        }
        assert!(memo.given_up && memo.memory_bytes() < 100);
        assert_eq!(meet(&mut memo, "text 0", &[]), None);
    }

    #[test]
    fn a_text_that_was_not_remembered_is_never_mistaken() {
        let mut memo = Memo::default();
        assert!(matches!(memo.look_up("refused"), Lookup::New));
        assert_eq!(meet(&mut memo, "next", &[7]), None);
        assert_eq!(meet(&mut memo, "refused", &[8]), None);
        assert_eq!(meet(&mut memo, "next", &[7]), None);
    }
}
