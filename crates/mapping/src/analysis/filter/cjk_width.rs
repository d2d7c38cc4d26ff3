//! `cjk_width`: converts full-width ASCII to ASCII and half-width katakana to katakana.
//!
//! Source: Lucene's `CJKWidthFilter`.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct CjkWidth;

/// The full-width forms of the half-width characters from U+FF65 on.
const KATAKANA: &str = "・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\u{3099}\u{309a}";

/// Makes `cjk_width`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(CjkWidth).normalizing())
}

impl Each for CjkWidth {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        if !token.text.contains(|c| ('\u{ff01}'..='\u{ff9f}').contains(&c)) {
            return true;
        }
        scratch.clear();
        for c in token.text.chars() {
            match c {
                '\u{ff01}'..='\u{ff5e}' => scratch.extend(char::from_u32(c as u32 - 0xfee0)),
                '\u{ff9e}' | '\u{ff9f}' if voiced(scratch, c == '\u{ff9f}') => {}
                '\u{ff65}'..='\u{ff9f}' => {
                    scratch.extend(KATAKANA.chars().nth(c as usize - 0xff65));
                }
                other => scratch.push(other),
            }
        }
        std::mem::swap(&mut token.text, scratch);
        true
    }
}

/// Adds a voicing mark to the last character, if it may have one. Returns whether it did.
fn voiced(text: &mut String, is_half: bool) -> bool {
    let Some(last) = text.pop() else { return false };
    let next = |by: u32| char::from_u32(last as u32 + by).unwrap_or(last);
    let with_mark = match (last, is_half) {
        ('ハ' | 'ヒ' | 'フ' | 'ヘ' | 'ホ', true) => next(2),
        ('ウ', false) => 'ヴ',
        ('ワ', false) => 'ヷ',
        ('ヲ', false) => 'ヺ',
        ('ヽ', false) => 'ヾ',
        (
            'カ' | 'キ' | 'ク' | 'ケ' | 'コ' | 'サ' | 'シ' | 'ス' | 'セ' | 'ソ' | 'タ' | 'チ' | 'ツ' | 'テ'
            | 'ト',
            false,
        )
        | ('ハ' | 'ヒ' | 'フ' | 'ヘ' | 'ホ', false) => next(1),
        _ => last,
    };
    text.push(with_mark);
    with_mark != last
}
