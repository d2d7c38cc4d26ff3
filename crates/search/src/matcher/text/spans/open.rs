//! Opens a span query.

use limber_segment::Segment;
use limber_segment::postings::Want;

use super::contained::Contained;
use super::either::Either;
use super::iterator::{BoxedSpans, Gap};
use super::ordered::Ordered;
use super::positioned::First;
use super::unordered::Unordered;
use super::without::Without;
use crate::error::Result;
use crate::matcher::BoxedMatcher;
use crate::matcher::boolean::BoolDocs;
use crate::matcher::open::{AnyPostings, open_postings, term};
use crate::matcher::simple::{NoDocs, Union};
use crate::matcher::text::positions::Leaves;
use crate::primitives::SpanTree;

/// Opens a span query; `None` if there is certainly no span.
pub(crate) fn open<'a>(span: &'a SpanTree, leaves: &mut dyn Leaves) -> Result<Option<BoxedSpans<'a>>> {
    Ok(match span {
        SpanTree::Nothing { .. } => None,
        SpanTree::Term { field, term } => {
            leaves.term(field, term)?.map(|leaf| Box::new(leaf) as BoxedSpans<'a>)
        }
        SpanTree::Terms { field, terms } => {
            let mut parts: Vec<BoxedSpans<'a>> = Vec::new();
            for term in terms {
                if let Some(leaf) = leaves.term(field, term)? {
                    parts.push(Box::new(leaf));
                }
            }
            if parts.len() < 2 { parts.pop() } else { Some(Box::new(Either::new(parts))) }
        }
        SpanTree::Gap { width, .. } => Some(Box::new(Gap { at: -1, width: i64::from(*width) })),
        SpanTree::Any(spans) => {
            let mut parts = Vec::with_capacity(spans.len());
            for span in spans {
                parts.extend(open(span, leaves)?);
            }
            if parts.len() < 2 { parts.pop() } else { Some(Box::new(Either::new(parts))) }
        }
        SpanTree::Near { spans, slop, in_order } => {
            let mut parts = Vec::with_capacity(spans.len());
            for span in spans {
                let Some(part) = open(span, leaves)? else { return Ok(None) };
                parts.push(part);
            }
            let slop = i64::from(*slop);
            Some(match in_order {
                true => Box::new(Ordered::new(parts, slop)),
                false => Box::new(Unordered::new(parts, slop)),
            })
        }
        SpanTree::Not { include, exclude, before, after } => {
            match (open(include, leaves)?, open(exclude, leaves)?) {
                (Some(include), Some(exclude)) => {
                    let (before, after) = (i64::from(*before), i64::from(*after));
                    Some(Box::new(Without { include, exclude, before, after, excludes: false }))
                }
                (include, _) => include,
            }
        }
        SpanTree::First { span, end_max } => open(span, leaves)?.map(|part| {
            Box::new(First { part, end_max: i64::from(*end_max), is_over: false }) as BoxedSpans<'a>
        }),
        SpanTree::Contained { big, little, gives_big } => match (open(big, leaves)?, open(little, leaves)?) {
            (Some(big), Some(little)) => {
                Some(Box::new(Contained { big, little, gives_big: *gives_big, is_over: false }))
            }
            _ => None,
        },
        SpanTree::Masked { span, .. } => open(span, leaves)?,
    })
}

/// Matches candidates, which include all documents that have a span; `None` if these can be any documents.
pub(super) fn candidates<'a>(span: &'a SpanTree, segment: &'a Segment) -> Result<Option<BoxedMatcher<'a>>> {
    let all_of = |spans: &mut dyn Iterator<Item = &'a SpanTree>| -> Result<Option<BoxedMatcher<'a>>> {
        let mut required = Vec::new();
        for span in spans {
            required.extend(candidates(span, segment)?);
        }
        Ok(match required.is_empty() {
            true => None,
            false => Some(Box::new(BoolDocs::new(required, Vec::new(), 0, Vec::new(), segment.doc_count()))),
        })
    };
    Ok(match span {
        SpanTree::Nothing { .. } => Some(Box::new(NoDocs)),
        SpanTree::Term { field, term: text } => Some(term(segment, field, text)?),
        SpanTree::Gap { .. } => None,
        SpanTree::Terms { field, terms } => {
            let mut any = AnyPostings::new(segment.doc_count());
            for term in terms {
                if let Some(postings) = open_postings(segment, field, term, Want::Docs)? {
                    any.add(postings)?;
                }
            }
            Some(any.finish())
        }
        SpanTree::Any(spans) => {
            let mut parts: Vec<BoxedMatcher<'a>> = Vec::with_capacity(spans.len());
            for span in spans {
                match candidates(span, segment)? {
                    Some(part) => parts.push(part),
                    None => return Ok(None),
                }
            }
            Some(Box::new(Union { parts }))
        }
        SpanTree::Near { spans, .. } => all_of(&mut spans.iter())?,
        SpanTree::Contained { big, little, .. } => all_of(&mut [&**big, &**little].into_iter())?,
        SpanTree::Not { include: span, .. }
        | SpanTree::First { span, .. }
        | SpanTree::Masked { span, .. } => candidates(span, segment)?,
    })
}
