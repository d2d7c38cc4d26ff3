//! A complete dictionary, read once for all analyzers that use it.

use std::sync::{Arc, LazyLock, Mutex, Weak};

use hashbrown::HashMap;

use super::affix::Affixes;
use super::words::Entries;

/// A dictionary: affixes and words.
#[derive(Debug)]
pub(in crate::analysis) struct Dictionary {
    pub(super) affixes: Affixes,
    pub(super) entries: Entries,
    pub(super) ignores_case: bool,
}

/// Dictionaries that are in use by an analyzer, by hashes of their contents.
static KNOWN: LazyLock<Mutex<HashMap<Vec<u64>, Weak<Dictionary>>>> = LazyLock::new(Mutex::default);

impl Dictionary {
    /// Parses the bytes of an affix file and of word files, or returns the same dictionary if it is in use.
    /// Fails with the reason.
    pub fn read(affixes: &[u8], words: &[Vec<u8>], ignores_case: bool) -> Result<Arc<Dictionary>, String> {
        let hash = |bytes: &[u8]| {
            use std::hash::BuildHasher;
            foldhash::quality::FixedState::with_seed(7).hash_one(bytes)
        };
        let mut key = vec![u64::from(ignores_case), affixes.len() as u64, hash(affixes)];
        key.extend(words.iter().flat_map(|words| [words.len() as u64, hash(words)]));
        let lock = || KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = lock().get(&key).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let affixes = Affixes::parse(affixes, ignores_case)?;
        let mut entries = Entries::default();
        for words in words {
            entries.add(words, &affixes, ignores_case)?;
        }
        let dictionary = Arc::new(Dictionary { affixes, entries, ignores_case });
        let mut known = lock();
        known.retain(|_, dictionary| dictionary.strong_count() > 0);
        known.insert(key, Arc::downgrade(&dictionary));
        Ok(dictionary)
    }
}

/// Decodes a file in the encoding that the affix file names.
pub(super) fn decoded(bytes: &[u8], encoding: &str) -> Result<String, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match encoding.to_ascii_uppercase().replace('-', "").as_str() {
        "UTF8" => String::from_utf8(bytes.to_vec()).map_err(|_| "the file is not in UTF-8".to_owned()),
        "ISO88591" | "ASCII" | "USASCII" => Ok(bytes.iter().map(|byte| char::from(*byte)).collect()),
        _ => Err(format!("encoding [{encoding}] of hunspell dictionaries is not supported by Limber yet")),
    }
}

#[cfg(test)]
mod tests {
    use super::Dictionary;

    const AFFIXES: &str = "SET UTF-8\nFLAG long\nNEEDAFFIX Nx\nONLYINCOMPOUND Oc\n\
        SFX Aa Y 3\nSFX Aa 0 s .\nSFX Aa y ies [^aeiou]y\nSFX Aa 0 ed/Bb [^y]\n\
        SFX Bb Y 1\nSFX Bb 0 ly .\nPFX Re Y 1\nPFX Re 0 re .\n";
    const WORDS: &str = "6\nwalk/AaRe\ncity/Aa\nroot/NxAa\nIBM/Aa\ngeese\tst:goose\npart/Oc\n";

    #[test]
    fn forms_lead_to_words() {
        let dictionary = Dictionary::read(AFFIXES.as_bytes(), &[WORDS.as_bytes().to_vec()], false).unwrap();
        let stems = |word: &str| dictionary.stems(word);
        assert_eq!(stems("walks"), ["walk"]);
        assert_eq!(stems("rewalked"), ["walk"]);
        assert_eq!(stems("walkedly"), ["walk"]);
        assert_eq!(stems("cities"), ["city"]);
        assert_eq!(stems("citys"), ["city"]);
        assert_eq!(stems("WALKS"), ["walk"]);
        assert_eq!(stems("root"), [""; 0]);
        assert_eq!(stems("roots"), ["root"]);
        assert_eq!(stems("geese"), ["goose"]);
        assert_eq!(stems("part"), [""; 0]);
        assert_eq!(stems("unknown"), [""; 0]);
    }
}
