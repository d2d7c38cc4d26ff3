//! `*` in names: "does this pattern match this field or index name?"

/// Whether `text` is a pattern rather than a name.
pub fn is_pattern(text: &str) -> bool {
    text.contains('*')
}

/// Short patterns and texts whose lengths multiply to no more are compared byte by byte.
const SHORT: usize = 1 << 12;

/// Whether `text` matches `pattern`, in which each `*` matches any string, including the empty one. Takes no
/// memory, and time proportional to the bytes of both.
pub fn matches(pattern: &str, text: &str) -> bool {
    if pattern.len().saturating_mul(text.len()) <= SHORT {
        return matches_short(pattern.as_bytes(), text.as_bytes());
    }
    let (Some(first), Some(last)) = (pattern.find('*'), pattern.rfind('*')) else { return pattern == text };
    let rest = text.strip_prefix(&pattern[..first]).and_then(|rest| rest.strip_suffix(&pattern[last + 1..]));
    let Some(mut rest) = rest else { return false };
    // Between stars, the first occurrence of each part leaves the most for the others.
    let parts = pattern.get(first + 1..last).unwrap_or_default().split('*').filter(|part| !part.is_empty());
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

fn matches_short(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // After a `*`: the pattern's index after it, and the end of the text that it matches so far.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            // Successive stars count as one; many are skipped at once.
            p += stars(&pattern[p..]);
            star = Some((p, t));
        } else if p < pattern.len() && pattern[p] == text[t] {
            p += 1;
            t += 1;
        } else if let Some((after, end)) = star {
            star = Some((after, end + 1));
            p = after;
            t = end + 1;
        } else {
            return false;
        }
    }
    stars(&pattern[p..]) == pattern.len() - p
}

/// Returns how many stars `pattern` begins with.
fn stars(pattern: &[u8]) -> usize {
    const MANY: usize = 32;
    let many = pattern.chunks_exact(MANY).take_while(|chunk| **chunk == [b'*'; MANY]).count() * MANY;
    many + pattern[many..].iter().take_while(|byte| **byte == b'*').count()
}

#[cfg(test)]
mod tests {
    use super::{SHORT, matches, matches_short};

    #[test]
    fn table() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        };
        check("*", "", true);
        check("", "", true);
        check("", "a", false);
        check("a*", "abc", true);
        check("*c", "abc", true);
        check("a*c*e", "abcde", true);
        check("a*c*f", "abcde", false);
        check("**", "x", true);
        check(&"*".repeat(1000), "x", true);
        check(&format!("{}b{}", "*".repeat(77), "*".repeat(99)), "abc", true);
        check(&format!("{}b{}d", "*".repeat(77), "*".repeat(99)), "abc", false);
        check("*.raw", "a.b.raw", true);
        check("a.b", "a.bc", false);
        check("*ab", "aab", true);
    }

    #[test]
    fn long_texts_match_like_short_ones() {
        let long = "ab".repeat(SHORT);
        let check = |pattern: &str, text: &str| {
            let expected = matches_short(pattern.as_bytes(), text.as_bytes());
            assert_eq!(matches(pattern, text), expected, "{pattern}");
        };
        for pattern in ["*", "a*b", "a*a", "*ba*", "*bb*", "**ab**", "ab*ab*ab", "b*", "*c", "abab", "é*"] {
            check(pattern, &long);
            check(&format!("{long}{pattern}"), &long);
            check(&format!("{pattern}{long}"), &long);
            check(&format!("{pattern}{}*x", "ab".repeat(50)), &format!("{long}xyzé{long}x"));
        }
        check("aba*bab", "abab");
    }

    /// Compared byte by byte, this would take minutes.
    #[test]
    fn repetitive_texts_take_linear_time() {
        assert!(!matches(&format!("*{}b*", "a".repeat(1 << 20)), &"a".repeat(2 << 20)));
        assert!(matches(&"*a".repeat(1 << 20), &"a".repeat(1 << 20)));
    }
}
