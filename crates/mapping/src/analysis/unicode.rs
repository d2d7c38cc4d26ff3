//! General categories of characters, like Java's `Character.getType`.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Ascending ranges of characters.
struct Set(Vec<(char, char)>);

impl Set {
    /// Returns the characters that a class of a regular expression matches.
    fn of(class: &str) -> Set {
        let hir = regex_syntax::parse(class).expect("a class that is written here");
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                Set(class.iter().map(|range| (range.start(), range.end())).collect())
            }
            _ => Set(Vec::new()),
        }
    }

    fn has(&self, c: char) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= c);
        after.checked_sub(1).is_some_and(|at| c <= self.0[at].1)
    }
}

macro_rules! category {
    ($name:ident, $set:ident, $class:literal, $doc:literal) => {
        static $set: LazyLock<Set> = LazyLock::new(|| Set::of($class));

        #[doc = $doc]
        pub(super) fn $name(c: char) -> bool {
            $set.has(c)
        }
    };
}

category!(is_digit, DIGITS, r"\p{Nd}", "Java's `Character.isDigit`.");
category!(is_number, NUMBERS, r"\p{N}", "Digits and other numbers.");
category!(is_punctuation, PUNCTUATION, r"\p{P}", "Any punctuation.");
category!(is_symbol, SYMBOLS, r"\p{S}", "Any symbol.");
category!(is_mark, MARKS, r"\p{M}", "Any mark.");
category!(is_letter, LETTERS, r"\p{L}", "Java's `Character.isLetter`.");
category!(is_old_letter, OLD_LETTERS, r"[\p{L}&&\p{age:3.0}]", "A letter that Unicode 3.0 had.");
category!(is_old_digit, OLD_DIGITS, r"[\p{Nd}&&\p{age:3.0}]", "A decimal digit that Unicode 3.0 had.");
category!(is_upper, UPPERS, r"\p{Lu}", "A capital letter.");
category!(is_lower, LOWERS, r"\p{Ll}", "A small letter.");

/// Returns the value of a decimal digit of any script.
pub(super) fn digit_value(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let set = &DIGITS.0;
    let after = set.partition_point(|(start, _)| *start <= c);
    let (start, end) = after.checked_sub(1).map(|at| set[at])?;
    // A script's ten digits are consecutive, and some scripts' digits directly follow another's.
    (c <= end).then(|| (c as u32 - start as u32) % 10)
}
