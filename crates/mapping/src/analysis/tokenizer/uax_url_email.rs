//! `uax_url_email`: tokens are the words of UAX #29, but URLs and e-mail addresses stay whole.
//!
//! Source: Lucene's `UAX29URLEmailTokenizer`. A host name without a scheme is recognized if it ends in a
//! public suffix.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::Tokenizer;
use super::cut::{length_max, lower_and_pad, word_pieces};
use crate::RequestError;
use crate::analysis::ascii;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::UNSETTLED;

/// An address: an e-mail address (group 1), a URL with a scheme (group 2), or one without a scheme (group 3,
/// its host name in group 4).
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    let host = r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?|[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
    let dotted = r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?";
    let ip = r"\[[0-9a-f:.]+\]";
    let rest = r"(?::[0-9]{1,5})?(?:/[a-z0-9._~!$&'()*+,;=:@%/-]*)?(?:\?[a-z0-9._~!$&'()*+,;=:@%/?-]*)?(?:#[a-z0-9._~!$&'()*+,;=:@%/?-]*)?";
    let local = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*";
    let pattern = format!(
        r"(?i-u)({local}@(?:{dotted}|{ip}))|((?:https?|ftp|file)://(?:[a-z0-9._~!$&'()*+,;=:%-]+@)?(?:{host}|{ip}){rest})|(({dotted}){rest})"
    );
    Regex::new(&pattern).expect("a pattern that is written here")
});

#[derive(Debug)]
struct UrlEmail {
    length_max: usize,
}

/// Reads `max_token_length` (255 by default).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(UrlEmail { length_max: length_max(settings)? }))
}

impl UrlEmail {
    fn fits(&self, token: &str) -> bool {
        token.len() <= self.length_max || token.encode_utf16().count() <= self.length_max
    }

    fn cut(
        &self,
        text: &str,
        (start, end): (usize, usize),
        kind: &'static str,
        token: &mut TokenBuf,
        emit: Emit<'_>,
    ) -> bool {
        let mut goes_on = true;
        if self.fits(&text[start..end]) {
            token.cut(text, start, end, kind);
            return emit(token);
        }
        word_pieces(text, start, end, self.length_max, |start, end| {
            token.cut(text, start, end, kind);
            goes_on = goes_on && emit(token);
        });
        goes_on
    }

    /// Emits an address. One that is too long is read as words.
    fn address(
        &self,
        text: &str,
        (start, end): (usize, usize),
        kind: &'static str,
        scratch: &mut String,
        token: &mut TokenBuf,
        emit: Emit<'_>,
    ) -> bool {
        match self.fits(&text[start..end]) {
            true => self.cut(text, (start, end), kind, token, emit),
            false => self.words(text, (start, end), scratch, token, emit),
        }
    }

    fn words(
        &self,
        text: &str,
        (start, end): (usize, usize),
        scratch: &mut String,
        token: &mut TokenBuf,
        emit: Emit<'_>,
    ) -> bool {
        lower_and_pad(&text[start..end], scratch);
        let mut goes_on = true;
        ascii::words(&text[start..end], scratch.as_bytes(), |from, to, _| {
            goes_on = goes_on && self.cut(text, (start + from, start + to), UNSETTLED, token, emit);
        });
        goes_on
    }
}

/// Whether a host name ends in a public suffix.
fn is_public(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    psl::suffix(host.as_bytes()).is_some_and(|suffix| suffix.is_known())
}

impl Tokenizer for UrlEmail {
    fn split(&self, text: &str, scratch: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        let mut read = 0;
        for found in ADDRESS.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            let before = text[..whole.start()].chars().next_back();
            let joins = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let is_host = found.get(4).is_some_and(|host| !is_public(host.as_str()));
            if joins || is_host {
                continue;
            }
            let kind = if found.get(1).is_some() { "<EMAIL>" } else { "<URL>" };
            if !self.words(text, (read, whole.start()), scratch, token, emit)
                || !self.address(text, (whole.start(), whole.end()), kind, scratch, token, emit)
            {
                return;
            }
            read = whole.end();
        }
        self.words(text, (read, text.len()), scratch, token, emit);
    }
}
