//! A query bound to a shard: fields resolved, values converted, statistics collected. The same tree serves every segment.

use std::ops::Range;
use std::sync::Arc;

use limber_mapping::{Field, Mapping};
use limber_segment::{Segment, SegmentId};
use limber_text::automaton::TermAutomaton;

use super::combined_fields::CombinedNode;
use super::distance_feature::FeatureNode;
use super::function::BoundFunction;
use super::function_score::{BoostMode, ScoreMode};
use super::intervals::IntervalsNode;
use super::more_like_this::Likeness;
use super::nested::NestedNode;
use super::percolate::PercolateNode;
use super::spans::SpansNode;
use super::terms_set::TermsSetNode;
use super::wildcard::TermPattern;
use crate::cache::FilterUse;
use crate::geo::{Relation, Shape, ShapeRelation, Target};
use crate::runtime::RuntimeField;
use crate::score::Bm25;
use crate::script::BoundScript;

/// One end of a range of terms, and whether it belongs to it.
pub(crate) type TermEnd = Option<(Vec<u8>, bool)>;

/// A bound query. Made by [`super::bind`].
#[derive(Debug)]
pub struct BoundQuery {
    pub(crate) node: Node,
    /// `_name`.
    pub(crate) name: Option<Arc<str>>,
    /// What it was made from, where that is a likeness: its terms are chosen anew where they are marked.
    pub(crate) likeness: Option<Arc<Likeness>>,
}

#[derive(Debug)]
pub(crate) enum Node {
    /// No document; the reason is shown by explain.
    Nothing {
        reason: String,
    },
    /// Every document.
    Everything {
        boost: f32,
    },
    /// Documents with a term, scored by BM25.
    Term(TermNode),
    /// Documents of a set that all score alike; `text` is Lucene's name for it in explanations.
    Docs {
        docs: Docs,
        boost: f32,
        text: DocsName,
    },
    /// Documents that match `inner`; all score alike.
    Constant {
        inner: Box<BoundQuery>,
        boost: f32,
    },
    Phrase(PhraseNode),
    Intervals(Box<IntervalsNode>),
    Spans(Box<SpansNode>),
    /// Documents with a value, scored by how far it is from an origin.
    Feature(FeatureNode),
    Bool(BoolNode),
    DisMax(DisMaxNode),
    Combined(Box<CombinedNode>),
    TermsSet(Box<TermsSetNode>),
    FunctionScore(FunctionScoreNode),
    Boosting(BoostingNode),
    ScriptScore(ScriptScoreNode),
    Script(ScriptNode),
    Nested(NestedNode),
    Percolate(Box<PercolateNode>),
    /// A filter that goes through the query cache.
    Cached(CachedNode),
}

#[derive(Debug)]
pub(crate) struct CachedNode {
    pub inner: Box<BoundQuery>,
    pub filter: FilterUse,
}

#[derive(Debug)]
pub(crate) struct TermNode {
    pub field: Arc<Field>,
    pub term: Box<[u8]>,
    pub scorer: Bm25,
}

#[derive(Debug)]
pub(crate) struct PhraseNode {
    pub field: Arc<Field>,
    /// (position from 0, the terms that may stand there), positions ascending.
    pub slots: Vec<(u32, Vec<Box<[u8]>>)>,
    pub slop: u32,
    pub scorer: Bm25,
    /// Of a field without positions: the mapping by which sources are read again.
    pub confirms_by: Option<Arc<Mapping>>,
}

impl PhraseNode {
    /// For each slot: equal numbers for slots that share a term, `None` for the others. Equal terms must not share an occurrence.
    pub fn groups(&self) -> Vec<Option<u32>> {
        let shares = |left: &[Box<[u8]>], right: &[Box<[u8]>]| left.iter().any(|term| right.contains(term));
        let group = |(_, terms): &(u32, Vec<Box<[u8]>>)| {
            let mut sharing = (0u32..).zip(&self.slots).filter(|(_, (_, other))| shares(terms, other));
            let first = sharing.next().map(|(at, _)| at);
            first.filter(|_| sharing.next().is_some())
        };
        self.slots.iter().map(group).collect()
    }
}

/// Two clauses or more.
#[derive(Debug)]
pub(crate) struct DisMaxNode {
    pub queries: Vec<BoundQuery>,
    pub tie_breaker: f32,
}

#[derive(Debug, Default)]
pub(crate) struct BoolNode {
    pub must: Vec<BoundQuery>,
    pub should: Vec<BoundQuery>,
    pub filter: Vec<BoundQuery>,
    pub must_not: Vec<BoundQuery>,
    /// At least this many of `should`; 0 when they only add to the score.
    pub min_should_match: usize,
}

/// A query and the functions that change its scores.
#[derive(Debug)]
pub(crate) struct FunctionScoreNode {
    pub query: Box<BoundQuery>,
    pub functions: Vec<ScoredFunction>,
    pub score_mode: ScoreMode,
    pub boost_mode: BoostMode,
    /// No factor above this one counts.
    pub max_boost: f32,
    /// Documents that score less do not match.
    pub min_score: Option<f32>,
}

impl FunctionScoreNode {
    /// Whether the one function is the factor, without a mode.
    pub fn is_single(&self) -> bool {
        matches!(self.functions.as_slice(), [only] if only.filter.is_none())
    }
}

#[derive(Debug)]
pub(crate) struct ScoredFunction {
    /// `None`: every document.
    pub filter: Option<BoundQuery>,
    pub weight: Option<f32>,
    /// `None`: the weight alone.
    pub function: Option<Box<dyn BoundFunction>>,
}

#[derive(Debug)]
pub(crate) struct BoostingNode {
    pub positive: Box<BoundQuery>,
    pub negative: Box<BoundQuery>,
    pub negative_boost: f32,
    pub boost: f32,
}

/// The documents of a query, scored by a script.
#[derive(Debug)]
pub(crate) struct ScriptScoreNode {
    pub query: Box<BoundQuery>,
    pub script: BoundScript,
    pub boost: f32,
    /// Documents that score less do not match.
    pub min_score: Option<f32>,
}

/// Documents for which a script says `true`; all score alike.
#[derive(Debug)]
pub(crate) struct ScriptNode {
    pub script: BoundScript,
    pub boost: f32,
}

/// Sets of documents, by what they hold.
#[derive(Debug)]
pub(crate) enum Docs {
    /// Of documents whose runtime field has a value that these select.
    Runtime {
        field: Arc<RuntimeField>,
        docs: Box<Docs>,
    },
    /// Any of these terms (sorted, distinct).
    Terms {
        field: Arc<Field>,
        terms: Arc<[Box<[u8]>]>,
    },
    TermRange {
        field: Arc<Field>,
        lower: TermEnd,
        upper: TermEnd,
    },
    Pattern {
        field: Arc<Field>,
        lower: TermEnd,
        upper: TermEnd,
        pattern: Arc<TermPattern>,
    },
    /// Terms that an automaton accepts.
    Automaton {
        field: Arc<Field>,
        automaton: Arc<dyn TermAutomaton>,
    },
    /// Any of these numbers (sorted, distinct).
    Numbers {
        field: Arc<Field>,
        numbers: Vec<i64>,
    },
    /// Both ends included.
    NumberRange {
        field: Arc<Field>,
        min: i64,
        max: i64,
    },
    /// Places by what they have to do with a shape.
    Places {
        field: Arc<Field>,
        shape: Arc<Shape>,
        relation: Relation,
    },
    /// Shapes by what they have to do with another.
    Shapes {
        field: Arc<Field>,
        target: Arc<Target>,
        relation: ShapeRelation,
    },
    /// In all of several.
    AllOf(Vec<Docs>),
    Exists {
        path: Arc<str>,
    },
    /// By `_id` (sorted, distinct).
    Ids(Vec<String>),
    AnyOf(Vec<Docs>),
    /// By segment; none of those that are not there.
    Ranges(Vec<(SegmentId, Range<u32>)>),
    /// Part `part` of `parts` by the hash of `_id`.
    IdSlice {
        part: u32,
        parts: u32,
    },
    /// Part `part` of `parts` by the hash of a number.
    NumberSlice {
        field: Arc<Field>,
        part: u32,
        parts: u32,
    },
}

impl Docs {
    pub fn term_range(field: &Arc<Field>, lower: TermEnd, upper: TermEnd) -> Docs {
        Docs::TermRange { field: field.clone(), lower, upper }
    }
}

impl From<Node> for BoundQuery {
    fn from(node: Node) -> BoundQuery {
        BoundQuery { node, name: None, likeness: None }
    }
}

/// Lucene's name for a set of documents, in explanations.
#[derive(Debug, Clone)]
pub(crate) enum DocsName {
    Text(String),
    /// That of a list of values of this field, which may be long: made from the values when it is asked for.
    ValuesOf(String),
}

impl DocsName {
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

impl BoundQuery {
    pub(crate) fn nothing(reason: impl Into<String>) -> BoundQuery {
        Node::Nothing { reason: reason.into() }.into()
    }

    pub(crate) fn constant(docs: Docs, boost: f32, text: String) -> BoundQuery {
        BoundQuery::constant_as(docs, boost, DocsName::Text(text))
    }

    pub(crate) fn constant_as(docs: Docs, boost: f32, text: DocsName) -> BoundQuery {
        Node::Docs { docs, boost, text }.into()
    }

    /// Whether it is known that no document matches.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.node, Node::Nothing { .. })
    }

    /// Simplifies what cannot match. Names are kept: a clause is dropped only when nothing can be reported about it.
    pub(crate) fn from_bool(node: BoolNode) -> BoundQuery {
        let impossible = node.must.iter().chain(&node.filter).any(BoundQuery::is_nothing)
            || node.min_should_match > node.should.len();
        if impossible {
            return BoundQuery::nothing("Failure to meet condition(s) of required/prohibited clause(s)");
        }
        let possible = node.should.iter().filter(|clause| !clause.is_nothing()).count();
        if node.min_should_match > possible {
            return BoundQuery::nothing("no matching clauses");
        }
        Node::Bool(node).into()
    }

    /// Bytes of the sets of documents that may be built as a bit a document while the query runs on a segment.
    pub(crate) fn bit_set_bytes(&self, segment: &Segment) -> u64 {
        let own = self.bit_set_count() * u64::from(segment.doc_count()).div_ceil(8);
        let mut nested = Vec::new();
        self.nested(&mut nested);
        // Opened for the documents and for their scores.
        let inside = |node: &&NestedNode| {
            segment.nested(&node.path).map_or(0, |space| 2 * node.query.bit_set_bytes(&space.segment))
        };
        own + nested.iter().map(inside).sum::<u64>()
    }

    /// The queries on nested documents in it, but not those inside of others.
    fn nested<'a>(&'a self, out: &mut Vec<&'a NestedNode>) {
        match &self.node {
            Node::Nested(node) => out.push(node),
            Node::Bool(node) => node.must_not.iter().for_each(|clause| clause.nested(out)),
            _ => {}
        }
        self.parts().into_iter().for_each(|part| part.nested(out));
    }

    /// Sets of documents of the segment itself that may be built.
    fn bit_set_count(&self) -> u64 {
        let sum = |queries: &[BoundQuery]| queries.iter().map(BoundQuery::bit_set_count).sum::<u64>();
        match &self.node {
            Node::Nothing { .. }
            | Node::Everything { .. }
            | Node::Term(_)
            | Node::Combined(_)
            | Node::Phrase(_)
            | Node::Feature(_)
            | Node::Script(_)
            | Node::Nested(_) => 0,
            Node::Intervals(node) => node.source.pattern_count(),
            Node::Spans(node) => node.span.pattern_count(),
            Node::Percolate(_) => 1,
            Node::ScriptScore(node) => 2 * node.query.bit_set_count(),
            Node::Docs { docs: Docs::AnyOf(parts) | Docs::AllOf(parts), .. } => parts.len() as u64,
            Node::Docs { docs: Docs::Places { .. } | Docs::Shapes { .. }, .. } => 2,
            Node::Docs { .. } => 1,
            Node::Constant { inner, .. } => inner.bit_set_count(),
            Node::Cached(node) => 1 + node.inner.bit_set_count(),
            Node::DisMax(node) => 2 * sum(&node.queries),
            Node::TermsSet(node) => 2 * sum(&node.queries),
            Node::FunctionScore(node) => {
                // A least score opens everything once more.
                let filters = node.functions.iter().filter_map(|function| function.filter.as_ref());
                let own = node.query.bit_set_count() + filters.map(BoundQuery::bit_set_count).sum::<u64>();
                if node.min_score.is_some() { 3 * own } else { 2 * own }
            }
            Node::Boosting(node) => 2 * node.positive.bit_set_count() + node.negative.bit_set_count(),
            // Optional clauses are opened once more where their scores are asked for.
            Node::Bool(node) => {
                sum(&node.must) + 2 * sum(&node.should) + sum(&node.filter) + sum(&node.must_not)
            }
        }
    }

    /// Names of this query and of those inside it.
    pub(crate) fn named<'a>(&'a self, out: &mut Vec<(&'a str, &'a BoundQuery)>) {
        if let Some(name) = &self.name {
            out.push((name, self));
        }
        self.parts().into_iter().for_each(|part| part.named(out));
    }

    /// The queries inside of it that may match a hit, those on nested documents aside.
    pub(crate) fn parts(&self) -> Vec<&BoundQuery> {
        match &self.node {
            Node::Constant { inner, .. } => vec![inner],
            // Named itself if the filter inside is.
            Node::Cached(node) if self.name.is_none() => vec![&node.inner],
            Node::DisMax(node) => node.queries.iter().collect(),
            Node::TermsSet(node) => node.queries.iter().collect(),
            Node::FunctionScore(node) => {
                let filters = node.functions.iter().filter_map(|function| function.filter.as_ref());
                std::iter::once(&*node.query).chain(filters).collect()
            }
            Node::ScriptScore(node) => vec![&node.query],
            Node::Boosting(node) => vec![&node.positive, &node.negative],
            // `must_not` clauses never match a hit.
            Node::Bool(node) => node.must.iter().chain(&node.should).chain(&node.filter).collect(),
            _ => Vec::new(),
        }
    }
}
