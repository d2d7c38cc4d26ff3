//! The span queries of a shard.

use std::sync::Arc;

use limber_mapping::Field;

/// A span query on a shard.
#[derive(Debug)]
pub(crate) enum SpanTree {
    /// No spans. `text` is how Lucene prints it.
    Nothing {
        path: Option<Arc<str>>,
        text: String,
    },
    Term {
        field: Arc<Field>,
        term: Box<[u8]>,
    },
    /// A gap, only within an ordered [`SpanTree::Near`].
    Gap {
        path: Arc<str>,
        width: i32,
    },
    Any(Vec<SpanTree>),
    /// Those terms of a pattern that the shard has.
    Terms {
        field: Arc<Field>,
        terms: Vec<Box<[u8]>>,
    },
    /// Two or more, at least one of which is not a gap.
    Near {
        spans: Vec<SpanTree>,
        slop: i32,
        in_order: bool,
    },
    Not {
        include: Box<SpanTree>,
        exclude: Box<SpanTree>,
        before: i32,
        after: i32,
    },
    First {
        span: Box<SpanTree>,
        end_max: i32,
    },
    Contained {
        big: Box<SpanTree>,
        little: Box<SpanTree>,
        /// Whether the result are the containing spans rather than the contained ones.
        gives_big: bool,
    },
    /// Spans of one field that are treated as spans of another.
    Masked {
        span: Box<SpanTree>,
        path: Arc<str>,
    },
}

impl SpanTree {
    /// Returns a term of one field that is treated as a term of another.
    pub fn masked_term(own: &Arc<Field>, term: &[u8], other: &Arc<Field>) -> SpanTree {
        let span = SpanTree::Term { field: own.clone(), term: term.into() };
        SpanTree::Masked { span: Box::new(span), path: other.path.clone() }
    }

    /// Returns Lucene's class of such a query.
    pub fn class(&self) -> &'static str {
        match self {
            SpanTree::Nothing { .. } => "SpanMatchNoDocsQuery",
            SpanTree::Term { .. } => "SpanTermQuery",
            SpanTree::Gap { .. } => "SpanGapQuery",
            SpanTree::Any(_) | SpanTree::Terms { .. } => "SpanOrQuery",
            SpanTree::Near { .. } => "SpanNearQuery",
            SpanTree::Not { .. } => "SpanNotQuery",
            SpanTree::First { .. } => "SpanFirstQuery",
            SpanTree::Contained { gives_big: true, .. } => "SpanContainingQuery",
            SpanTree::Contained { .. } => "SpanWithinQuery",
            SpanTree::Masked { .. } => "FieldMaskingSpanQuery",
        }
    }

    /// Returns the path of the field that it is treated as; `None` if it fits any field.
    pub fn path(&self) -> Option<&Arc<str>> {
        match self {
            SpanTree::Nothing { path, .. } => path.as_ref(),
            SpanTree::Term { field, .. } | SpanTree::Terms { field, .. } => Some(&field.path),
            SpanTree::Gap { path, .. } | SpanTree::Masked { path, .. } => Some(path),
            SpanTree::Any(spans) | SpanTree::Near { spans, .. } => spans.iter().find_map(SpanTree::path),
            SpanTree::Not { include: span, .. } | SpanTree::First { span, .. } => span.path(),
            SpanTree::Contained { big, .. } => big.path(),
        }
    }

    /// Collects its terms, each with its field.
    pub fn terms<'s>(&'s self, out: &mut Vec<(&'s Arc<Field>, &'s [u8])>) {
        match self {
            SpanTree::Nothing { .. } | SpanTree::Gap { .. } => {}
            SpanTree::Term { field, term } => out.push((field, term)),
            SpanTree::Terms { field, terms } => out.extend(terms.iter().map(|term| (field, &**term))),
            SpanTree::Any(spans) | SpanTree::Near { spans, .. } => {
                spans.iter().for_each(|span| span.terms(out))
            }
            // Excluded spans do not contribute to a score.
            SpanTree::Not { include: span, .. }
            | SpanTree::First { span, .. }
            | SpanTree::Masked { span, .. } => {
                span.terms(out);
            }
            SpanTree::Contained { big, little, .. } => {
                big.terms(out);
                little.terms(out);
            }
        }
    }

    /// Returns the number of its sets of terms, for each of which a set of documents may be built.
    pub fn pattern_count(&self) -> u64 {
        match self {
            SpanTree::Terms { .. } => 1,
            SpanTree::Nothing { .. } | SpanTree::Term { .. } | SpanTree::Gap { .. } => 0,
            SpanTree::Any(spans) | SpanTree::Near { spans, .. } => {
                spans.iter().map(SpanTree::pattern_count).sum()
            }
            SpanTree::Contained { big, little, .. } => big.pattern_count() + little.pattern_count(),
            SpanTree::Not { include: span, .. }
            | SpanTree::First { span, .. }
            | SpanTree::Masked { span, .. } => span.pattern_count(),
        }
    }

    /// Whether it searches for something that Lucene's highlighter cannot enumerate: positions without
    /// terms, or terms that are treated as those of another field.
    pub fn is_opaque(&self) -> bool {
        match self {
            SpanTree::Gap { .. } | SpanTree::Masked { .. } => true,
            SpanTree::Any(spans) | SpanTree::Near { spans, .. } => spans.iter().any(SpanTree::is_opaque),
            SpanTree::Contained { big, little, .. } => big.is_opaque() || little.is_opaque(),
            SpanTree::Not { include, exclude, .. } => {
                include.is_opaque() || matches!(**exclude, SpanTree::Masked { .. })
            }
            SpanTree::First { span, .. } => span.is_opaque(),
            SpanTree::Nothing { .. } | SpanTree::Term { .. } | SpanTree::Terms { .. } => false,
        }
    }

    /// Whether it has no terms at all, so that it matches everywhere.
    pub fn is_gap(&self) -> bool {
        match self {
            SpanTree::Gap { .. } => true,
            SpanTree::Near { spans, .. } => spans.iter().all(SpanTree::is_gap),
            _ => false,
        }
    }

    /// Prints it as Lucene does; the string also distinguishes it from other spans.
    pub fn text(&self) -> String {
        let list = |spans: &[SpanTree]| spans.iter().map(SpanTree::text).collect::<Vec<_>>().join(", ");
        match self {
            SpanTree::Nothing { text, .. } => text.clone(),
            SpanTree::Term { field, term } => format!("{}:{}", field.path, String::from_utf8_lossy(term)),
            SpanTree::Terms { field, terms } => {
                let shown: Vec<String> = terms
                    .iter()
                    .map(|term| format!("{}:{}", field.path, String::from_utf8_lossy(term)))
                    .collect();
                format!("spanOr([{}])", shown.join(", "))
            }
            SpanTree::Gap { width, .. } => format!("SpanGap(:{width})"),
            SpanTree::Any(spans) => format!("spanOr([{}])", list(spans)),
            SpanTree::Near { spans, slop, in_order } => {
                format!("spanNear([{}], {slop}, {in_order})", list(spans))
            }
            SpanTree::Not { include, exclude, before, after } => {
                format!("spanNot({}, {}, {before}, {after})", include.text(), exclude.text())
            }
            SpanTree::First { span, end_max } => format!("spanFirst({}, {end_max})", span.text()),
            SpanTree::Contained { big, little, gives_big } => {
                let name = if *gives_big { "SpanContaining" } else { "SpanWithin" };
                format!("{name}({}, {})", big.text(), little.text())
            }
            SpanTree::Masked { span, path } => format!("mask({}) as {path}", span.text()),
        }
    }

    /// Writes bytes that distinguish it from all other spans.
    pub fn write(&self, out: &mut Vec<u8>) {
        let number = |number: i64, out: &mut Vec<u8>| out.extend_from_slice(&number.to_le_bytes());
        let bytes = |bytes: &[u8], out: &mut Vec<u8>| {
            number(bytes.len() as i64, out);
            out.extend_from_slice(bytes);
        };
        let list = |spans: &[SpanTree], out: &mut Vec<u8>| {
            number(spans.len() as i64, out);
            spans.iter().for_each(|span| span.write(out));
        };
        match self {
            SpanTree::Nothing { .. } => out.push(b'0'),
            SpanTree::Term { field, term } => {
                out.push(b't');
                bytes(field.path.as_bytes(), out);
                bytes(term, out);
            }
            SpanTree::Terms { field, terms } => {
                out.push(b'T');
                bytes(field.path.as_bytes(), out);
                number(terms.len() as i64, out);
                terms.iter().for_each(|term| bytes(term, out));
            }
            SpanTree::Gap { width, .. } => {
                out.push(b'g');
                number(i64::from(*width), out);
            }
            SpanTree::Any(spans) => {
                out.push(b'|');
                list(spans, out);
            }
            SpanTree::Near { spans, slop, in_order } => {
                out.push(if *in_order { b'o' } else { b'u' });
                number(i64::from(*slop), out);
                list(spans, out);
            }
            SpanTree::Not { include, exclude, before, after } => {
                out.push(b'-');
                number(i64::from(*before), out);
                number(i64::from(*after), out);
                include.write(out);
                exclude.write(out);
            }
            SpanTree::First { span, end_max } => {
                out.push(b'f');
                number(i64::from(*end_max), out);
                span.write(out);
            }
            SpanTree::Contained { big, little, gives_big } => {
                out.push(if *gives_big { b'c' } else { b'w' });
                big.write(out);
                little.write(out);
            }
            // The field that it is treated as only matters for its score.
            SpanTree::Masked { span, .. } => span.write(out),
        }
    }
}
