//! `path_hierarchy`: tokens are a path and its parent paths.
//!
//! Source: Lucene's `PathHierarchyTokenizer` and `ReversePathHierarchyTokenizer`. As since Lucene 10, each
//! token has a position of its own.

use std::sync::Arc;

use super::Tokenizer;
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::WORD;

#[derive(Debug)]
struct PathHierarchy {
    delimiter: char,
    replacement: char,
    skip: usize,
    is_reverse: bool,
}

/// Reads `delimiter` (`/`), `replacement`, `skip` and `reverse`.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    let one = |key: &str| match settings.text(key) {
        None => Ok(None),
        Some(text) if text.encode_utf16().count() == 1 => Ok(text.chars().next()),
        Some(_) => Err(RequestError::illegal_argument(format!("{key} must be a one char value"))),
    };
    let delimiter = one("delimiter")?.unwrap_or('/');
    let replacement = one("replacement")?.unwrap_or(delimiter);
    let skip = settings.count("skip", 0, 0, |_| "skip cannot be negative".into())?;
    settings.count("buffer_size", 1024, 0, |_| "bufferSize cannot be negative".into())?;
    let is_reverse = settings.bool("reverse", false)?;
    Ok(Arc::new(PathHierarchy { delimiter, replacement, skip, is_reverse }))
}

impl PathHierarchy {
    fn emit(&self, text: &str, range: (usize, usize), token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        token.cut(text, range.0, range.1, WORD);
        if self.replacement != self.delimiter {
            token.text = token.text.replace(self.delimiter, self.replacement.encode_utf8(&mut [0; 4]));
        }
        token.increment = 1;
        emit(token)
    }

    fn forward(&self, text: &str, token: &mut TokenBuf, emit: Emit<'_>) {
        // The positions at which parts begin; a part includes the delimiter before it.
        let inner = text.match_indices(self.delimiter).map(|(at, _)| at).filter(|at| *at > 0);
        let Some(start) = std::iter::once(0).chain(inner.clone()).nth(self.skip) else { return };
        if start >= text.len() {
            return;
        }
        for end in inner.filter(|at| *at > start).chain([text.len()]) {
            if !self.emit(text, (start, end), token, emit) {
                return;
            }
        }
    }

    fn backward(&self, text: &str, token: &mut TokenBuf, emit: Emit<'_>) {
        let width = self.delimiter.len_utf8();
        let mut places = vec![0];
        places.extend(text.match_indices(self.delimiter).map(|(at, _)| at + width));
        if places.last() != Some(&text.len()) {
            places.push(text.len());
        }
        let Some(last) = (places.len() - 1).checked_sub(self.skip) else { return };
        for &start in &places[..last] {
            if !self.emit(text, (start, places[last]), token, emit) {
                return;
            }
        }
    }
}

impl Tokenizer for PathHierarchy {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        match self.is_reverse {
            false => self.forward(text, token, emit),
            true => self.backward(text, token, emit),
        }
    }
}
