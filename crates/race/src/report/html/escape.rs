//! Escapes text for HTML.

use std::fmt::{self, Display, Write};

/// A string in element content or in a quoted attribute.
///
/// Control characters are replaced by the replacement character, including bidirectional overrides: HTML does
/// not allow them, or they reorder or hide the text around them.
pub(crate) struct Text<'a>(pub &'a str);

impl Display for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\n' | '\t' => out.write_char(' ')?,
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.write_char('\u{fffd}')?,
                char if char.is_control() => out.write_char('\u{fffd}')?,
                char => out.write_char(char)?,
            }
        }
        Ok(())
    }
}

/// Formats into a `String`, which cannot fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {
        std::fmt::Write::write_fmt($out, format_args!($($argument)*)).expect("a String takes everything")
    };
}
pub(super) use put;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let text = Text("<b title=\"x\" id='y'>&amp;\u{0}\u{202e}\r\nü").to_string();
        assert_eq!(text, "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;\u{fffd}\u{fffd}\u{fffd} ü");
    }
}
