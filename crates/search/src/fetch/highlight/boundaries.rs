//! Moves the ends of the fast vector highlighter's fragments to nearby boundaries.
//!
//! Source: Lucene's `SimpleBoundaryScanner` and `BreakIteratorBoundaryScanner`.

use super::breaks::{first_break, last_break};
use crate::request::{HighlightField, Scanner};

fn is_boundary(options: &HighlightField, unit: u16) -> bool {
    options.boundary_chars.encode_utf16().any(|boundary| boundary == unit)
}

/// Returns where a fragment that would begin at `at` begins.
pub(super) fn find_start(options: &HighlightField, text: &[u16], at: usize) -> usize {
    if at < 1 || at > text.len() {
        return at;
    }
    match options.scanner {
        Scanner::Chars => {
            let first = at.saturating_sub(options.boundary_max_scan);
            match (first..at).rev().find(|place| is_boundary(options, text[*place])) {
                Some(place) => place + 1,
                // The beginning of the text is a boundary too.
                None if first == 0 && at <= options.boundary_max_scan => 0,
                None => at,
            }
        }
        Scanner::Breaks(boundaries) => last_break(&String::from_utf16_lossy(&text[..at]), boundaries),
    }
}

/// Returns where a fragment that would end at `at` ends.
pub(super) fn find_end(options: &HighlightField, text: &[u16], at: usize) -> usize {
    if at > text.len() {
        return at;
    }
    match options.scanner {
        Scanner::Chars => {
            let last = text.len().min(at.saturating_add(options.boundary_max_scan));
            (at..last).find(|place| is_boundary(options, text[*place])).unwrap_or(at)
        }
        Scanner::Breaks(boundaries) => at + first_break(&String::from_utf16_lossy(&text[at..]), boundaries),
    }
}
