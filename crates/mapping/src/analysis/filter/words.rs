//! A set of words, compared with or without regard to case.

use hashbrown::HashSet;

use crate::RequestError;
use crate::analysis::context::Context;
use crate::analysis::lowercase_into;
use crate::analysis::settings::Settings;

#[derive(Debug, Clone)]
pub(in crate::analysis) struct Words {
    words: HashSet<String>,
    ignores_case: bool,
}

impl Words {
    /// Creates a set of `words`. With `ignores_case` they are compared in lower case.
    pub fn new(words: impl IntoIterator<Item = String>, ignores_case: bool) -> Words {
        let words = words.into_iter().map(|word| match ignores_case {
            true => lower(&word),
            false => word,
        });
        Words { words: words.collect(), ignores_case }
    }

    /// Reads the words under `key`; `None` if the setting is absent.
    pub fn read(
        settings: &Settings<'_>,
        context: &Context<'_>,
        key: &str,
        ignores_case: bool,
    ) -> Result<Option<Words>, RequestError> {
        Ok(context.list(settings, key)?.map(|words| Words::new(words, ignores_case)))
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether `word` is in the set. `scratch` is for its lower-case form.
    #[inline]
    pub fn has(&self, word: &str, scratch: &mut String) -> bool {
        if !self.ignores_case || !word.bytes().any(|byte| byte >= 0x80 || byte.is_ascii_uppercase()) {
            return self.words.contains(word);
        }
        scratch.clear();
        lowercase_into(word, scratch);
        self.words.contains(scratch.as_str())
    }
}

fn lower(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    lowercase_into(word, &mut out);
    out
}
