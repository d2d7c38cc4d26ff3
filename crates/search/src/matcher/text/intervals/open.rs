//! Opens a source of intervals.

use limber_segment::Segment;

use super::block::Block;
use super::disjunction::Disjunction;
use super::extended::{Beside, Extended};
use super::iterator::BoxedIntervals;
use super::ordered::Ordered;
use super::related::Related;
use super::repeated::Repeated;
use super::selected::{Selected, Test};
use super::unordered::Unordered;
use crate::error::Result;
use crate::matcher::BoxedMatcher;
use crate::matcher::boolean::BoolDocs;
use crate::matcher::open::{set, term};
use crate::matcher::simple::{NoDocs, Union};
use crate::matcher::text::positions::Leaves;
use crate::primitives::Source;

/// Opens a source; `None` if there is certainly no interval. `notes_tokens`: the tokens of intervals will be
/// needed.
pub(crate) fn open<'a>(
    source: &'a Source,
    leaves: &mut dyn Leaves,
    notes_tokens: bool,
) -> Result<Option<BoxedIntervals<'a>>> {
    let mut one = |source: &'a Source| open(source, leaves, notes_tokens);
    Ok(match source {
        Source::Nothing => None,
        Source::Term { field, term } => {
            leaves.term(field, term)?.map(|leaf| Box::new(leaf) as BoxedIntervals<'a>)
        }
        Source::Terms(terms) => leaves.terms(terms)?.map(|leaf| Box::new(leaf) as BoxedIntervals<'a>),
        Source::Any(sources) => {
            let mut parts = Vec::with_capacity(sources.len());
            for source in sources {
                parts.extend(one(source)?);
            }
            if parts.len() < 2 { parts.pop() } else { Some(Box::new(Disjunction::new(parts))) }
        }
        Source::Ordered(sources) | Source::Unordered(sources) | Source::Block(sources) => {
            let mut parts = Vec::with_capacity(sources.len());
            for part in sources {
                let Some(part) = one(part)? else { return Ok(None) };
                parts.push(part);
            }
            Some(match source {
                Source::Ordered(_) => Box::new(Ordered::new(parts, notes_tokens)),
                Source::Unordered(_) => Box::new(Unordered::new(parts, notes_tokens)),
                _ => Box::new(Block::new(parts)),
            })
        }
        Source::Repeated { source, count, .. } => {
            one(source)?.map(|part| Box::new(Repeated::new(part, *count)) as BoxedIntervals<'a>)
        }
        Source::GapsMax { source, most } => one(source)?.map(|part| {
            Box::new(Selected { part, test: Test::GapsMax(i64::from(*most)) }) as BoxedIntervals<'a>
        }),
        Source::Script { source, script } => one(source)?.map(|part| {
            Box::new(Selected { part, test: Test::Script(Box::new(script.start())) }) as BoxedIntervals<'a>
        }),
        Source::Extended { source, before, after } => one(source)?.map(|part| {
            Box::new(Extended { part, before: *before, after: *after, is_placed: false })
                as BoxedIntervals<'a>
        }),
        Source::Beside { source, side } => {
            one(source)?.map(|part| Box::new(Beside { part, side: *side }) as BoxedIntervals<'a>)
        }
        Source::InField { source, .. } => one(source)?,
        Source::Related { relation, source, reference } => match (one(source)?, one(reference)?) {
            (Some(part), Some(reference)) => {
                Some(Box::new(Related { relation: *relation, part, reference, has_reference: false }))
            }
            (part, None) if relation.is_negative() => part,
            _ => None,
        },
    })
}

/// Matches candidates, which include all documents that have an interval.
pub(super) fn candidates<'a>(source: &'a Source, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    match source {
        Source::Nothing => Ok(Box::new(NoDocs)),
        Source::Term { field, term: text } => term(segment, field, text),
        Source::Terms(terms) => set(&terms.docs, segment),
        Source::Any(sources) => {
            let parts = sources.iter().map(|source| candidates(source, segment)).collect::<Result<_>>()?;
            Ok(Box::new(Union { parts }))
        }
        _ => {
            let mut parts =
                source.sought_parts().map(|part| candidates(part, segment)).collect::<Result<Vec<_>>>()?;
            match parts.len() {
                1 => Ok(parts.remove(0)),
                _ => Ok(Box::new(BoolDocs::new(parts, Vec::new(), 0, Vec::new(), segment.doc_count()))),
            }
        }
    }
}
