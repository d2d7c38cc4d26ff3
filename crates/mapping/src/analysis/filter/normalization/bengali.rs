//! Letters of Bengali that have several spellings.
//!
//! Source: Lucene's `BengaliNormalizer`.

const HASANTA: char = '\u{9cd}';

/// Replaces alternative spellings in `s` by the one that Lucene uses.
pub fn normalize(s: &mut Vec<char>) {
    let mut at = 0;
    while at < s.len() {
        let is = |at: usize, c: char| s.get(at) == Some(&c);
        let after_hasanta = at > 0 && is(at - 1, HASANTA);
        match s[at] {
            '\u{981}' => {
                s.remove(at);
                continue;
            }
            '\u{9c0}' => s[at] = '\u{9bf}',
            '\u{9c2}' => s[at] = '\u{9c1}',
            '\u{995}' if is(at + 1, HASANTA) && is(at + 2, '\u{9bf}') => {
                if at == 0 {
                    s.drain(1..3);
                    s[0] = '\u{996}';
                } else {
                    s.remove(at + 2);
                    s[at + 1] = '\u{996}';
                }
            }
            '\u{999}' => s[at] = '\u{982}',
            '\u{9af}' if after_hasanta => {
                if at == 2 {
                    let has_vowel = is(3, '\u{9be}');
                    s[1] = '\u{9c7}';
                    s.drain(2..3 + usize::from(has_vowel));
                    continue;
                }
                s.drain(at - 1..=at);
                at -= 1;
                continue;
            }
            '\u{9ac}' if after_hasanta => {
                if at == 2 || at >= 5 && is(at - 3, HASANTA) {
                    s.drain(at - 1..=at);
                    at -= 1;
                    continue;
                }
                if at >= 2 {
                    s[at - 1] = s[at - 2];
                    s.remove(at);
                    continue;
                }
            }
            '\u{983}' => match s.get(at + 1) {
                Some(next) => s[at] = *next,
                None if s.len() <= 3 => s[at] = '\u{9b9}',
                None => {
                    s.remove(at);
                }
            },
            '\u{9b6}' | '\u{9b7}' => s[at] = '\u{9b8}',
            '\u{9a3}' => s[at] = '\u{9a8}',
            '\u{9dc}' | '\u{9dd}' => s[at] = '\u{9b0}',
            '\u{9ce}' => s[at] = '\u{9a4}',
            _ => {}
        }
        at += 1;
    }
}
