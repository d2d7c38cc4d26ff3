//! Fragments: what is shown of a field, with tags around the matches.
//!
//! Source: Elasticsearch's `CustomPassageFormatter`, `CustomFieldHighlighter`.

use std::sync::Arc;

use limber_mapping::Field;
use limber_work as work;

use super::breaks::word_end;
use super::parts::Part;
use super::passages::{Passage, best, passages_of};
use super::units::Units;
use crate::error::Result;
use crate::request::HighlightField;

/// How the values of one field are highlighted.
pub(crate) struct FieldHighlight<'h> {
    pub options: &'h HighlightField,
    /// `encoder: html`.
    pub escapes: bool,
    pub field: &'h Field,
    /// No token that starts after this UTF-16 unit is used; `None` if all are.
    pub start_max: Option<usize>,
    /// Fields whose matches are marked in this one, by the unified highlighter.
    pub others: Vec<OtherField<'h>>,
}

/// Another field, as whose text the values are read too.
pub(crate) struct OtherField<'h> {
    pub field: Arc<Field>,
    pub parts: Vec<Part<'h>>,
}

impl FieldHighlight<'_> {
    /// Returns the fragments of the values of a document that `parts` match. If empty, the field is left
    /// out.
    pub fn fragments(&self, values: &[String], parts: &[Part<'_>]) -> Result<Vec<String>> {
        let passages = best(passages_of(self, values, parts)?, self.options.fragments_max);
        if passages.is_empty() {
            return Ok(self.summary(values)?.into_iter().collect());
        }
        let mut fragments: Vec<(f32, String)> = Vec::with_capacity(passages.len());
        for of_value in passages.chunk_by(|left, right| left.value == right.value) {
            let mut text = Units::of(&values[of_value[0].value]);
            for passage in of_value {
                fragments.push((passage.score, self.format(passage, &mut text)?));
            }
        }
        if self.options.by_score {
            // The sort is stable: equal fragments stay in the order of the text.
            fragments.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        }
        Ok(fragments.into_iter().map(|(_, text)| text).collect())
    }

    /// Returns the beginning of the first value, for a field without matches.
    fn summary(&self, values: &[String]) -> Result<Option<String>> {
        let size = self.options.no_match_size;
        let first = values.iter().find(|value| !value.is_empty()).filter(|_| size > 0);
        let Some(value) = first else { return Ok(None) };
        let passage =
            Passage { value: 0, start: 0, end: word_end(value, size), matches: Vec::new(), score: 0.0 };
        self.format(&passage, &mut Units::of(value)).map(Some)
    }

    fn format(&self, passage: &Passage, text: &mut Units<'_>) -> Result<String> {
        let tag_bytes = self.options.pre_tag().len() + self.options.post_tag().len();
        let bytes = passage.matches.len() * tag_bytes + (passage.end - passage.start);
        work::check_growth(0, 0, bytes)?;
        let mut out = String::new();
        let mut add = |from: usize, to: usize, out: &mut String| match self.escapes {
            true => escape(text.slice(from, to), out),
            false => out.push_str(text.slice(from, to)),
        };
        let mut at = passage.start;
        let mut matches = passage.matches.iter().peekable();
        while let Some(one) = matches.next() {
            if one.start > at {
                add(at, one.start, &mut out);
            }
            // Overlapping matches are marked together.
            let mut end = one.end;
            while let Some(next) = matches.next_if(|next| next.start < end) {
                end = end.max(next.end);
            }
            let end = end.min(passage.end);
            if end > at {
                out.push_str(self.options.pre_tag());
                add(at.max(one.start), end, &mut out);
                out.push_str(self.options.post_tag());
                at = end;
            }
        }
        add(at, passage.end, &mut out);
        if self.options.fragments_max == 0 {
            return Ok(out);
        }
        // Java's `trim` removes all characters up to the space.
        Ok(out.trim_matches(|unit: char| unit <= ' ').to_owned())
    }
}

/// Escapes like Lucene's `SimpleHTMLEncoder`.
pub(super) fn escape(text: &str, out: &mut String) {
    for unit in text.chars() {
        match unit {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#x27;"),
            '/' => out.push_str("&#x2F;"),
            other => out.push(other),
        }
    }
}
