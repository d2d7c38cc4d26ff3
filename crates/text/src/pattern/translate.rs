//! Patterns of Java and Oniguruma in the syntax of Rust's engines.

/// Whose syntax a pattern has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Java,
    Ruby,
}

/// Rewrites what Java or Oniguruma and Rust's engines read differently: classes such as `\d` are ASCII,
/// `\h` is horizontal space (Java) or a hexadecimal digit (Ruby), `\Z` ends before a last line break,
/// `\Q..\E` quotes, and an opening bracket in a class is literal in Ruby.
pub(super) fn translate(pattern: &str, dialect: Dialect) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut class_depth = 0usize;
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let Some(escaped) = chars.next() else {
                    out.push('\\');
                    break;
                };
                let in_class = class_depth > 0;
                let class = match (escaped, dialect) {
                    ('d', _) => Some(("0-9", false)),
                    ('D', _) => Some(("0-9", true)),
                    ('w', _) => Some(("0-9A-Za-z_", false)),
                    ('W', _) => Some(("0-9A-Za-z_", true)),
                    ('s', _) => Some((r" \t\n\x0B\x0C\r", false)),
                    ('S', _) => Some((r" \t\n\x0B\x0C\r", true)),
                    ('h', Dialect::Ruby) => Some(("0-9A-Fa-f", false)),
                    ('H', Dialect::Ruby) => Some(("0-9A-Fa-f", true)),
                    ('h', Dialect::Java) => {
                        Some((r" \t\xA0\u{1680}\u{180e}\u{2000}-\u{200a}\u{202f}\u{205f}\u{3000}", false))
                    }
                    _ => None,
                };
                match (class, escaped) {
                    (Some((set, negated)), _) => push_class(&mut out, set, negated, in_class),
                    (None, 'Z') => out.push_str(r"(?:\n?\z)"),
                    (None, 'Q') if dialect == Dialect::Java => push_quoted(&mut out, &mut chars),
                    (None, 'e') => out.push_str(r"\x1B"),
                    (None, other) if other.is_ascii_alphanumeric() || is_meta(other) => {
                        out.push('\\');
                        out.push(other);
                    }
                    // Unneeded escapes, such as `\/` or `\"`.
                    (None, other) => out.push(other),
                }
            }
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

fn push_class(out: &mut String, set: &str, negated: bool, in_class: bool) {
    match (in_class, negated) {
        (true, false) => out.push_str(set),
        (_, true) => {
            out.push_str("[^");
            out.push_str(set);
            out.push(']');
        }
        (false, false) => {
            out.push('[');
            out.push_str(set);
            out.push(']');
        }
    }
}

fn push_quoted(out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
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
