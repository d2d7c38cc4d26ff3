//! Remembers texts: "which tokens did this text have?"
//!
//! Log lines, paths, titles and labels repeat. Looking a whole text up costs a hash and a comparison, a
//! tenth of analysing it; http_logs indexes a seventh faster (its million requests are thirty thousand
//! texts). If texts do not repeat, the memo notices and stops.

use super::short_texts::{self, ShortTexts};
use super::table::{TermTable, Vacancy, same};

/// Longer texts rarely repeat.
const TEXT_BYTES_MAX: usize = 512;
/// Maximum memory of one field's memo: beyond the processor's caches a hit is no longer cheap.
const MEMORY_BYTES_MAX: usize = 8 << 20;
/// Number of texts after which the memo checks whether it pays.
const TRIAL_TEXTS: u32 = 1024;
/// It pays if at least one in this many texts is found.
const HIT_ONE_IN: u32 = 3;

/// Result of analysing a text for a document that has no token of the field yet.
#[derive(Debug, Clone, Copy)]
pub struct Analysed<T> {
    /// Term numbers and steps, as they are written to the log.
    pub tokens: T,
    /// Tokens that count towards the field's length.
    pub length: u32,
    /// Position of the last token; -1 if there are none.
    pub last_position: i32,
}

/// The position of a stored text; valid until the next text is remembered.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    Short(u32),
    Long(u32),
}

/// What the memo knows of a text.
pub enum Lookup<'m> {
    /// The position of the text, and the result of its analysis; tokens are little-endian.
    Found(Place, Analysed<&'m [[u8; 4]]>),
    /// The position of the text; it consists of one token at position 0 with this number.
    FoundOne(Place, u32),
    /// The text has to be analysed, then passed to [`Memo::remember`] unless it is refused.
    New(Unknown),
    /// The text has to be analysed and is not remembered.
    Unsuitable,
}

/// State that a lookup leaves for [`Memo::remember`].
pub struct Unknown {
    /// Key for `short`, if the text goes there when it is one token.
    key: Option<u64>,
    /// Vacant slot in `texts`, if the text was looked up there.
    vacancy: Option<Vacancy>,
}

/// Remembers the analysis of short texts, because many texts repeat.
#[derive(Default)]
pub struct Memo {
    /// Short texts of one token. Other short texts have [`NOT_ONE`] here and are in `texts`.
    short: ShortTexts,
    /// Each text is stored with the number of its twin ([`Self::twin`]) + 1, its length, its last position,
    /// its number of tokens and the tokens; each takes four bytes, little-endian. A hit reads nothing else.
    texts: TermTable,
    looked_up: u32,
    found: u32,
    given_up: bool,
}

/// A number that no term has.
const NOT_ONE: u32 = u32::MAX;

impl Memo {
    #[inline]
    pub(crate) fn look_up(&mut self, text: &str) -> Lookup<'_> {
        if self.given_up || text.len() > TEXT_BYTES_MAX {
            return Lookup::Unsuitable;
        }
        self.looked_up += 1;
        if self.looked_up == TRIAL_TEXTS && !self.pays() {
            self.give_up();
            return Lookup::Unsuitable;
        }
        let mut key = short_texts::key_of(text.as_bytes());
        if let Some(some) = key {
            match self.short.get(some) {
                Some((place, slot)) if slot.number != NOT_ONE => {
                    self.found += 1;
                    return Lookup::FoundOne(Place::Short(place), slot.number);
                }
                Some(_) => key = None,
                None => return Lookup::New(Unknown { key, vacancy: None }),
            }
        }
        match self.texts.find(text.as_bytes()) {
            Ok(entry) => {
                self.found += 1;
                let (words, _) = self.texts.at(entry.place).1.as_chunks::<4>();
                let (&[_, length, last_position, token_count], tokens) =
                    words.split_first_chunk().expect("what was remembered");
                let tokens = &tokens[..u32::from_le_bytes(token_count) as usize];
                let length = u32::from_le_bytes(length);
                let last_position = i32::from_le_bytes(last_position);
                Lookup::Found(Place::Long(entry.place), Analysed { tokens, length, last_position })
            }
            Err(vacancy) => Lookup::New(Unknown { key, vacancy: Some(vacancy) }),
        }
    }

    /// Stores the result of the analysis of `text`, for which the last [`Memo::look_up`] returned
    /// [`Lookup::New`]; returns where the text is.
    pub fn remember(&mut self, unknown: Unknown, text: &str, analysed: Analysed<&[u32]>) -> Place {
        let Analysed { tokens, length, last_position } = analysed;
        if let Some(key) = unknown.key {
            if let (&[number], 1, 0) = (tokens, length, last_position) {
                return Place::Short(self.short.add(key, number));
            }
            self.short.add(key, NOT_ONE);
        }
        let vacancy = match unknown.vacancy {
            Some(vacancy) => vacancy,
            None => match self.texts.find(text.as_bytes()) {
                Ok(entry) => return Place::Long(entry.place),
                Err(vacancy) => vacancy,
            },
        };
        let add = self.texts.add(vacancy, text.as_bytes(), |beside| {
            for word in [0, length, last_position as u32, tokens.len() as u32].iter().chain(tokens) {
                beside.extend_from_slice(&word.to_le_bytes());
            }
        });
        Place::Long(add.place)
    }

    /// Returns the number of the twin of the text at `place`: the term of a keyword field that has the same
    /// bytes as the whole text. Returns `Some(None)` if the number is not known yet, and `None` if the text
    /// is not `value`.
    #[inline]
    pub fn twin(&self, place: Place, value: &[u8]) -> Option<Option<u32>> {
        match place {
            Place::Short(place) => self.short.at(place, value).map(|slot| slot.twin()),
            Place::Long(place) => {
                let (text, beside) = self.texts.at(place);
                let twin = || beside.first_chunk().map_or(0, |twin| u32::from_le_bytes(*twin)).checked_sub(1);
                same(text, value).then(twin)
            }
        }
    }

    /// Stores the number of the twin of the text at `place`.
    pub fn set_twin(&mut self, place: Place, number: u32) {
        match place {
            Place::Short(place) => self.short.set_twin(place, number),
            Place::Long(place) => {
                if let Some(twin) = self.texts.beside_mut(place).first_chunk_mut() {
                    *twin = (number + 1).to_le_bytes();
                }
            }
        }
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

    pub(crate) fn memory_bytes(&self) -> usize {
        self.texts.memory_bytes() + self.short.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analysed(tokens: &[u32]) -> Analysed<&[u32]> {
        Analysed { tokens, length: tokens.len() as u32, last_position: tokens.len() as i32 - 1 }
    }

    /// Looks `text` up and remembers `tokens` for it if it is new. Returns the tokens that were found, if
    /// any.
    fn meet(memo: &mut Memo, text: &str, tokens: &[u32]) -> Option<Vec<u32>> {
        let place = match memo.look_up(text) {
            Lookup::Found(place, found) => {
                let (length, last_position) = (found.length, found.last_position);
                let tokens: Vec<u32> = found.tokens.iter().map(|token| u32::from_le_bytes(*token)).collect();
                assert_eq!((length, last_position), (tokens.len() as u32, tokens.len() as i32 - 1));
                assert!(
                    memo.twin(place, text.as_bytes()).is_some() && memo.twin(place, b"another").is_none()
                );
                return Some(tokens);
            }
            Lookup::FoundOne(place, number) => {
                assert!(
                    memo.twin(place, text.as_bytes()).is_some() && memo.twin(place, b"another").is_none()
                );
                return Some(vec![number]);
            }
            Lookup::New(unknown) => memo.remember(unknown, text, analysed(tokens)),
            Lookup::Unsuitable => return None,
        };
        assert_eq!(memo.twin(place, text.as_bytes()), Some(None));
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
    fn a_twin_is_kept_with_its_text() {
        let mut memo = Memo::default();
        let place_of = |memo: &mut Memo, text: &str| match memo.look_up(text) {
            Lookup::Found(place, _) | Lookup::FoundOne(place, _) => place,
            Lookup::New(unknown) => memo.remember(unknown, text, analysed(&[3, 4][text.len() / 2..])),
            Lookup::Unsuitable => unreachable!("short texts, few lookups"),
        };
        let texts = ["a b", "c", "", "cc"];
        for (text, twin) in texts.iter().zip([None, Some(0), Some(70_000), Some(3)]) {
            let place = place_of(&mut memo, text);
            if let Some(twin) = twin {
                memo.set_twin(place, twin);
            }
        }
        let twins = texts.map(|text| {
            let place = place_of(&mut memo, text);
            memo.twin(place, text.as_bytes())
        });
        assert_eq!(twins, [Some(None), Some(Some(0)), Some(Some(70_000)), Some(Some(3))]);
        assert_eq!(meet(&mut memo, "c", &[]), Some(vec![3, 4]));
        assert_eq!(meet(&mut memo, "cc", &[]), Some(vec![4]));
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
    fn a_text_that_was_not_remembered_is_new_again() {
        let mut memo = Memo::default();
        assert!(matches!(memo.look_up("refused"), Lookup::New(_)));
        assert_eq!(meet(&mut memo, "next", &[7]), None);
        assert_eq!(meet(&mut memo, "refused", &[8]), None);
        assert_eq!(meet(&mut memo, "next", &[]), Some(vec![7]));
        assert_eq!(meet(&mut memo, "refused", &[]), Some(vec![8]));
    }
}
