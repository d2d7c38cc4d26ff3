//! Sets of documents with a constant score, which most queries are bound to.

use limber_mapping::Field;
use limber_segment::{DocId, Segment, SegmentView};

use super::bound_node::{BoundNode, CountedFrom, Part, WeightedPart, Whole, boosted, constant_scorer};
use super::cached::FREQUENCY_OF_COSTLY;
use super::extract::required_terms::RequiredTerms;
use crate::cache::KeyWriter;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::geo::Relation;
use crate::matcher::{self, BoxedMatcher, BoxedScorer};
use crate::primitives::{Docs, TermEnd};
use crate::score::Explanation;

/// A set of documents with a constant score.
#[derive(Debug)]
pub(crate) struct DocsNode {
    pub docs: Docs,
    pub boost: f32,
    /// The query in explanations.
    pub text: DocsName,
}

/// How Lucene prints the query of a set of documents in explanations.
#[derive(Debug, Clone)]
pub(crate) enum DocsName {
    Text(String),
    /// A list of values of this field. It can be long, so it is only formatted when it is needed.
    ValuesOf(String),
}

impl DocsName {
    /// Returns the query as Lucene prints it.
    pub fn of(&self, docs: &Docs) -> String {
        match (self, docs) {
            (DocsName::Text(text), _) => text.clone(),
            (name, Docs::Runtime { docs, .. }) => name.of(docs),
            (DocsName::ValuesOf(name), Docs::Numbers { field, numbers }) => {
                let shown: Vec<String> =
                    numbers.iter().map(|number| super::convert::shown_number(field, *number)).collect();
                format!("{name}:{{{}}}", shown.join(" "))
            }
            (DocsName::ValuesOf(name), Docs::Terms { field, terms }) => {
                let shown: Vec<String> = terms.iter().map(|term| field.decode_term(term)).collect();
                format!("{name}:({})", shown.join(" "))
            }
            (DocsName::ValuesOf(name), Docs::AnyOf(parts)) => {
                parts.last().map_or_else(String::new, |part| DocsName::ValuesOf(name.clone()).of(part))
            }
            (DocsName::ValuesOf(name), _) => format!("{name}:()"),
        }
    }
}

impl Docs {
    /// Returns how many bit sets a search needs at once.
    fn bit_set_count(&self) -> u64 {
        match self {
            Docs::AnyOf(parts) | Docs::AllOf(parts) => parts.iter().map(Docs::bit_set_count).sum(),
            Docs::Runtime { docs, .. } => docs.bit_set_count(),
            Docs::Places { .. } | Docs::Shapes { .. } => 2,
            _ => 1,
        }
    }

    /// Returns Lucene's class of the query; `name` is how the query is printed.
    fn class(&self, name: &DocsName) -> &'static str {
        if matches!(name, DocsName::Text(text) if text.starts_with("ConstantScore(")) {
            return "ConstantScoreQuery";
        }
        match self {
            Docs::Runtime { docs, .. } => docs.class(name),
            Docs::Terms { terms, .. } if terms.len() == 1 => "TermQuery",
            Docs::Terms { .. } | Docs::Ids(_) => "TermInSetQuery",
            Docs::TermRange { .. } | Docs::Pattern { .. } | Docs::Automaton { .. } => {
                "MultiTermQueryConstantScoreBlendedWrapper"
            }
            Docs::Numbers { .. } => "PointInSetQuery",
            Docs::NumberRange { field, .. } if field.index && field.doc_values => "IndexOrDocValuesQuery",
            Docs::NumberRange { field, .. } if field.index => "PointRangeQuery",
            Docs::NumberRange { .. } => "SortedNumericDocValuesRangeQuery",
            Docs::Places { field, .. } if field.is_cartesian_point() => "XYPointInGeometryQuery",
            Docs::Places { .. } => "LatLonPointQuery",
            Docs::Shapes { field, .. } if field.is_cartesian_shape() => "XYShapeQuery",
            Docs::Shapes { .. } => "LatLonShapeQuery",
            Docs::Exists { .. } => "FieldExistsQuery",
            Docs::Ranges(_) => "DocIdSliceQuery",
            Docs::IdSlice { .. } => "TermsSliceQuery",
            Docs::NumberSlice { .. } => "DocValuesSliceQuery",
            Docs::AllOf(_) | Docs::AnyOf(_) => "BooleanQuery",
        }
    }
}

impl BoundNode for DocsNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        matcher::set(&self.docs, segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        constant_scorer(self, self.boost, segment, is_known)
    }

    fn common_score(&self) -> Option<f32> {
        Some(self.boost)
    }

    fn is_quick(&self) -> bool {
        self.docs.is_quick()
    }

    fn explain(&self, _: &Segment, _: DocId) -> Result<Explanation> {
        Ok(Explanation::leaf(self.boost, boosted(&self.text(), self.boost)))
    }

    fn class(&self) -> &'static str {
        self.docs.class(&self.text)
    }

    fn text(&self) -> String {
        self.text.of(&self.docs)
    }

    fn bit_set_count(&self) -> u64 {
        self.docs.bit_set_count()
    }

    /// Source: Elasticsearch's `SearchService#canMatch`, which only examines ranges of dates.
    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        let Docs::NumberRange { field, min, max } = &self.docs else { return Ok(true) };
        if !field.index || field.date().is_none() {
            return Ok(true);
        }
        let mut is_possible = false;
        for view in &shard.segments {
            if let Some(column) = view.segment.numbers(&field.path)? {
                let ends = column.min().zip(column.max());
                is_possible |= ends.is_some_and(|(least, greatest)| least <= *max && *min <= greatest);
            } else if let Some(points) = view.segment.points(&field.path)? {
                is_possible |= points.count_at_most(*min..=*max) > 0;
            }
        }
        Ok(is_possible)
    }

    fn counted_from(&self) -> Option<CountedFrom> {
        matches!(self.docs, Docs::Exists { .. }).then_some(CountedFrom::Documents)
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        let segment = &view.segment;
        Ok(match &self.docs {
            _ if view.deleted_count() > 0 => None,
            Docs::Exists { path } => match segment.presence(path)? {
                Some(presence) => Some(u64::from(presence.count()?)),
                None => Some(0),
            },
            Docs::NumberRange { field, min, max } => match segment.points(&field.path)? {
                Some(points) if points.is_single_valued() => Some(points.count(*min..=*max)?),
                _ => None,
            },
            _ => None,
        })
    }

    fn required_terms(&self) -> RequiredTerms {
        match &self.docs {
            // The terms of a flattened field's key are indexed in another field, with the key as a prefix.
            Docs::Terms { field, terms } if field.index && field.flattened.is_none() => {
                RequiredTerms::exactly(terms.iter().map(|term| (field.path.clone(), term.clone())).collect())
            }
            _ => RequiredTerms::Unknown,
        }
    }

    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        let mut found = Vec::new();
        word_parts(&self.docs, self.boost, &mut found);
        found
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        write_key(&self.docs, key)
    }

    fn uses_before_kept(&self) -> Option<u32> {
        match &self.docs {
            Docs::Exists { .. } | Docs::Ranges(_) => None,
            Docs::Terms { terms, .. } if terms.len() == 1 => None,
            _ => Some(FREQUENCY_OF_COSTLY),
        }
    }

    fn whole(&self) -> Option<Whole<'_>> {
        match &self.docs {
            Docs::NumberRange { field, min, max } => Some(Whole::NumberRange(&field.path, *min..=*max)),
            Docs::Places { field, shape, relation: Relation::Intersects } => {
                Some(Whole::Places(&field.path, shape))
            }
            _ => None,
        }
    }

    fn as_docs_mut(&mut self) -> Option<&mut DocsNode> {
        Some(self)
    }
}

fn word_parts<'q>(docs: &'q Docs, boost: f32, found: &mut Vec<WeightedPart<'q>>) {
    match docs {
        Docs::Terms { field, .. }
        | Docs::TermRange { field, .. }
        | Docs::Pattern { field, .. }
        | Docs::Automaton { field, .. } => {
            found.push(WeightedPart { part: Part::Terms(docs), boost, field });
        }
        Docs::AnyOf(parts) | Docs::AllOf(parts) => {
            parts.iter().for_each(|part| word_parts(part, boost, found));
        }
        Docs::Runtime { docs, .. } => word_parts(docs, boost, found),
        _ => {}
    }
}

/// See [`BoundNode::write_key`].
pub(super) fn write_key(docs: &Docs, key: &mut KeyWriter) -> bool {
    match docs {
        // Scripts can depend on more than the documents, and fields change with the mapping.
        Docs::Runtime { .. } => return false,
        // An automaton cannot be written as a key.
        Docs::Automaton { .. } => return false,
        Docs::Terms { field, terms } => {
            begin_key(b'T', field, key);
            key.number(terms.len() as u64);
            terms.iter().for_each(|term| key.text(term));
        }
        Docs::TermRange { field, lower, upper } => {
            begin_key(b'R', field, key);
            write_end(lower, key);
            write_end(upper, key);
        }
        Docs::Pattern { field, lower, upper, pattern } => {
            begin_key(b'P', field, key);
            write_end(lower, key);
            write_end(upper, key);
            key.text(format!("{pattern:?}").as_bytes());
        }
        Docs::Numbers { field, numbers } => {
            begin_key(b'N', field, key);
            key.number(numbers.len() as u64);
            numbers.iter().for_each(|value| key.number(*value as u64));
        }
        Docs::NumberRange { field, min, max } => {
            begin_key(b'n', field, key);
            key.number(*min as u64);
            key.number(*max as u64);
        }
        Docs::Places { field, shape, relation } => {
            begin_key(b'G', field, key);
            key.text(format!("{relation:?} {shape:?}").as_bytes());
        }
        Docs::Shapes { field, target, relation } => {
            begin_key(b'H', field, key);
            key.text(format!("{relation:?} {target:?}").as_bytes());
        }
        Docs::AllOf(parts) | Docs::AnyOf(parts) => {
            key.tag(if matches!(docs, Docs::AllOf(_)) { b'A' } else { b'O' });
            key.number(parts.len() as u64);
            return parts.iter().all(|part| write_key(part, key));
        }
        Docs::Exists { path } => {
            key.tag(b'E');
            key.text(path.as_bytes());
        }
        Docs::Ids(ids) => {
            key.tag(b'I');
            key.number(ids.len() as u64);
            ids.iter().for_each(|id| key.text(id.as_bytes()));
        }
        Docs::Ranges(ranges) => {
            key.tag(b'D');
            key.text(format!("{ranges:?}").as_bytes());
        }
        Docs::IdSlice { part, parts } => {
            key.tag(b'i');
            write_slice(*part, *parts, key);
        }
        Docs::NumberSlice { field, part, parts } => {
            begin_key(b's', field, key);
            write_slice(*part, *parts, key);
        }
    }
    true
}

/// Writes the tag and the field's path, with which such a key begins.
fn begin_key(tag: u8, field: &Field, key: &mut KeyWriter) {
    key.tag(tag);
    key.text(field.path.as_bytes());
}

fn write_end(end: &TermEnd, key: &mut KeyWriter) {
    match end {
        None => key.tag(0),
        Some((term, is_included)) => {
            key.tag(1 + u8::from(*is_included));
            key.text(term);
        }
    }
}

fn write_slice(part: u32, parts: u32, key: &mut KeyWriter) {
    key.number(part.into());
    key.number(parts.into());
}
