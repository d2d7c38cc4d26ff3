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
        if self.looked_up == TRIAL_TEXTS {
            self.judge();
        }
        // A text that was looked up but never remembered (its document was refused in between) leaves the numbers apart.
        let number = self.texts.intern(text.as_bytes()) as usize;
        match self.entries.get(number) {
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
            return self.give_up();
        }
        let Analysed { tokens, length, last_position } = analysed;
        let (tokens_start, token_count) = (self.tokens.len() as u32, tokens.len() as u32);
        self.tokens.extend_from_slice(tokens);
        self.entries.push(Entry { tokens_start, token_count, length, last_position });
    }

    #[cold]
    fn judge(&mut self) {
        if self.found * HIT_ONE_IN < self.looked_up || self.memory_bytes() > MEMORY_BYTES_MAX {
            self.give_up();
        }
        (self.looked_up, self.found) = (0, 0);
    }

    #[cold]
    fn give_up(&mut self) {
        *self = Memo { given_up: true, ..Memo::default() };
    }

    pub fn memory_bytes(&self) -> usize {
        self.texts.memory_bytes() + self.entries.capacity() * size_of::<Entry>() + self.tokens.capacity() * 4
    }
}
