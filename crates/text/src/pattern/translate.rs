//! Patterns of Java and Oniguruma in the syntax of Rust's engines.

/// Whose syntax a pattern has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Java,
    Ruby,
}

type Chars<'p> = std::iter::Peekable<std::str::Chars<'p>>;

/// White space of `\s`. A space is written as a number, because the flag `x` ignores spaces.
const WHITE: &str = r"\x20\t\n\x0B\x0C\r";
/// Java's horizontal white space, `\h`.
const HORIZONTAL: &str = r"\x20\t\xA0\u{1680}\u{180e}\u{2000}-\u{200a}\u{202f}\u{205f}\u{3000}";
/// Java's vertical white space, `\v`.
const VERTICAL: &str = r"\n\x0B\x0C\r\u{85}\u{2028}\u{2029}";

/// Java's classes that have other members in Rust's engines, or do not exist there: `\p{name}`.
///
/// Source: the documentation of `java.util.regex.Pattern`.
const CLASSES: &[(&str, &str)] = &[
    ("Lower", "a-z"),
    ("Upper", "A-Z"),
    ("ASCII", r"\x00-\x7F"),
    ("Alpha", "A-Za-z"),
    ("Digit", "0-9"),
    ("Alnum", "0-9A-Za-z"),
    ("Punct", r"!-/:-@\[-`{-\x7E"),
    ("Graph", r"!-\x7E"),
    ("Print", r"\x20-\x7E"),
    ("Blank", r"\x20\t"),
    ("Cntrl", r"\x00-\x1F\x7F"),
    ("XDigit", "0-9A-Fa-f"),
    ("Space", WHITE),
    ("javaAlphabetic", r"\p{Alphabetic}"),
    ("javaDigit", r"\p{Nd}"),
    ("javaLetter", r"\p{L}"),
    ("javaLetterOrDigit", r"\p{L}\p{Nd}"),
    ("javaLowerCase", r"\p{Lowercase}"),
    ("javaSpaceChar", r"\p{Z}"),
    ("javaTitleCase", r"\p{Lt}"),
    ("javaUpperCase", r"\p{Uppercase}"),
    (
        "javaWhitespace",
        r"\t-\r\x1C-\x20\u{1680}\u{2000}-\u{2006}\u{2008}-\u{200a}\u{2028}\u{2029}\u{205f}\u{3000}",
    ),
];

/// Blocks of Unicode, `\p{InName}`. Java ignores case, spaces, `-` and `_` of their names.
const BLOCKS: &[(&str, &str)] = &[
    ("BasicLatin", r"\x00-\x7F"),
    ("Latin1Supplement", r"\u{80}-\u{ff}"),
    ("LatinExtendedA", r"\u{100}-\u{17f}"),
    ("LatinExtendedB", r"\u{180}-\u{24f}"),
    ("CombiningDiacriticalMarks", r"\u{300}-\u{36f}"),
    ("Greek", r"\u{370}-\u{3ff}"),
    ("GreekAndCoptic", r"\u{370}-\u{3ff}"),
    ("Cyrillic", r"\u{400}-\u{4ff}"),
    ("Armenian", r"\u{530}-\u{58f}"),
    ("Hebrew", r"\u{590}-\u{5ff}"),
    ("Arabic", r"\u{600}-\u{6ff}"),
    ("Devanagari", r"\u{900}-\u{97f}"),
    ("Bengali", r"\u{980}-\u{9ff}"),
    ("Tamil", r"\u{b80}-\u{bff}"),
    ("Thai", r"\u{e00}-\u{e7f}"),
    ("HangulJamo", r"\u{1100}-\u{11ff}"),
    ("GeneralPunctuation", r"\u{2000}-\u{206f}"),
    ("CurrencySymbols", r"\u{20a0}-\u{20cf}"),
    ("CJKSymbolsAndPunctuation", r"\u{3000}-\u{303f}"),
    ("Hiragana", r"\u{3040}-\u{309f}"),
    ("Katakana", r"\u{30a0}-\u{30ff}"),
    ("CJKUnifiedIdeographs", r"\u{4e00}-\u{9fff}"),
    ("HangulSyllables", r"\u{ac00}-\u{d7af}"),
    ("HalfwidthAndFullwidthForms", r"\u{ff00}-\u{ffef}"),
    ("Emoticons", r"\u{1f600}-\u{1f64f}"),
];

/// Longest name of a class in bytes; longer ones are not looked up.
const NAME_BYTES_MAX: usize = 64;

/// Rewrites what Java or Oniguruma and Rust's engines read differently: classes such as `\d` are ASCII,
/// `\h` is horizontal space (Java) or a hexadecimal digit (Ruby), `\Z` ends before a last line break,
/// `\Q..\E` quotes, a `-` after a class within a class is itself (`[\w-.]`), and an opening bracket in a
/// class is literal in Ruby.
pub(super) fn translate(pattern: &str, dialect: Dialect) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut class_depth = 0usize;
    while let Some(char) = chars.next() {
        match char {
            '\\' => escape(&mut out, &mut chars, dialect, class_depth > 0),
            '[' if class_depth > 0 && chars.peek() != Some(&':') && dialect == Dialect::Ruby => {
                out.push_str("\\[")
            }
            '[' => {
                class_depth += 1;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.push('^');
                    chars.next();
                }
                // A closing bracket right after the opening one is literal in both.
                if chars.peek() == Some(&']') {
                    out.push_str("\\]");
                    chars.next();
                }
            }
            ']' if class_depth > 0 => {
                class_depth -= 1;
                out.push(']');
            }
            // Set operators of Rust's engine that are plain characters here.
            '~' | '&' if class_depth > 0 && dialect == Dialect::Ruby => {
                out.push('\\');
                out.push(char);
            }
            other => out.push(other),
        }
    }
    out
}

/// Translates an escape, whose backslash has been read.
fn escape(out: &mut String, chars: &mut Chars<'_>, dialect: Dialect, in_class: bool) {
    let Some(escaped) = chars.next() else {
        out.push('\\');
        return;
    };
    let is_class = match class(escaped, dialect) {
        Some((set, negated)) => {
            push_class(out, set, negated);
            true
        }
        None => dialect == Dialect::Java && matches!(escaped, 'p' | 'P') && property(out, chars, escaped),
    };
    if is_class {
        if in_class && chars.next_if_eq(&'-').is_some() {
            out.push_str("\\-");
        }
        return;
    }
    match escaped {
        'Z' => out.push_str(r"(?:\n?\z)"),
        'Q' if dialect == Dialect::Java => push_quoted(out, chars),
        'R' if dialect == Dialect::Java => {
            out.push_str(r"(?:\r\n|");
            push_class(out, VERTICAL, false);
            out.push(')');
        }
        'e' => out.push_str(r"\x1B"),
        other if other.is_ascii_alphanumeric() || is_meta(other) => {
            out.push('\\');
            out.push(other);
        }
        // Unneeded escapes, such as `\/` or `\"`.
        other => out.push(other),
    }
}

/// Returns the members of the class that an escaped letter stands for, and whether it means all others.
fn class(escaped: char, dialect: Dialect) -> Option<(&'static str, bool)> {
    Some(match (escaped, dialect) {
        ('d', _) => ("0-9", false),
        ('D', _) => ("0-9", true),
        ('w', _) => ("0-9A-Za-z_", false),
        ('W', _) => ("0-9A-Za-z_", true),
        ('s', _) => (WHITE, false),
        ('S', _) => (WHITE, true),
        ('h', Dialect::Ruby) => ("0-9A-Fa-f", false),
        ('H', Dialect::Ruby) => ("0-9A-Fa-f", true),
        ('h', Dialect::Java) => (HORIZONTAL, false),
        ('H', Dialect::Java) => (HORIZONTAL, true),
        ('v', Dialect::Java) => (VERTICAL, false),
        ('V', Dialect::Java) => (VERTICAL, true),
        _ => return None,
    })
}

/// Translates Java's `\p{name}` or `\P{name}`, of which `letter` has been read. Returns false and does
/// nothing if no name in braces follows.
fn property(out: &mut String, chars: &mut Chars<'_>, letter: char) -> bool {
    let mut ahead = chars.clone();
    if ahead.next() != Some('{') {
        return false;
    }
    let mut name = String::new();
    loop {
        match ahead.next() {
            Some('}') => break,
            Some(char) if name.len() < NAME_BYTES_MAX => name.push(char),
            _ => return false,
        }
    }
    *chars = ahead;
    match java_class(&name) {
        Some(set) => push_class(out, set, letter == 'P'),
        None => {
            out.push('\\');
            out.push(letter);
            out.push('{');
            out.push_str(&name);
            out.push('}');
        }
    }
    true
}

/// Returns the members of one of Java's own classes or of a block.
fn java_class(name: &str) -> Option<&'static str> {
    let found = match name.strip_prefix("In") {
        Some(block) => {
            let block: String = block.chars().filter(|char| !matches!(char, ' ' | '_' | '-')).collect();
            BLOCKS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&block))
        }
        None => CLASSES.iter().find(|(known, _)| *known == name),
    };
    found.map(|(_, set)| *set)
}

fn push_class(out: &mut String, set: &str, negated: bool) {
    out.push_str(if negated { "[^" } else { "[" });
    out.push_str(set);
    out.push(']');
}

fn push_quoted(out: &mut String, chars: &mut Chars<'_>) {
    while let Some(char) = chars.next() {
        if char == '\\' && chars.peek() == Some(&'E') {
            chars.next();
            return;
        }
        if is_meta(char) {
            out.push('\\');
        }
        out.push(char);
    }
}

fn is_meta(char: char) -> bool {
    matches!(
        char,
        '\\' | '.'
            | '+'
            | '*'
            | '?'
            | '('
            | ')'
            | '|'
            | '['
            | ']'
            | '{'
            | '}'
            | '^'
            | '$'
            | '#'
            | '&'
            | '-'
            | '~'
    )
}
