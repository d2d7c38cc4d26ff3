//! `*` in names: "does this pattern match this field or index name?"

/// Whether `text` is a pattern rather than a name.
pub fn is_pattern(text: &str) -> bool {
    text.contains('*')
}

/// Whether `text` matches `pattern`, in which each `*` matches any string, including the empty one. Takes
/// linear space, and time at most proportional to `pattern * text` bytes.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
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
    use super::matches;

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
}
