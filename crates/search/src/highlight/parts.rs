//! Which parts of a query match which documents: "what of it may be found in this document's texts?"
//!
//! A clause of a query that does not match a document matches nowhere in it, whatever its words. Documents of a segment are asked for together,
//! so that each clause is opened once for all of them.

use std::collections::HashSet;

use limber_mapping::Field;
use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::matcher::matching_docs;
use crate::query::{BoundQuery, Docs, Likeness, Node, PhraseNode, Source, SpanTree};

/// A part of a query that words match.
#[derive(Clone, Copy)]
pub(crate) enum Part<'q> {
    Term(&'q [u8]),
    Terms(&'q Docs),
    Phrase(&'q PhraseNode),
    Intervals(&'q Source),
    Spans(&'q SpanTree),
    /// Which of its terms is told by the text that they are looked for in.
    Likeness(&'q Likeness),
}

/// How the terms of a likeness are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// As the shard chose them, by which the document was found.
    OfShard,
    /// By the text that is shown, as if it were the shard.
    OfText,
    /// Not at all.
    Nothing,
}

impl Part<'_> {
    /// Whether it is one of terms that stand to one another in some way, in whichever values.
    pub fn is_placed(&self) -> bool {
        matches!(self, Part::Intervals(_) | Part::Spans(_))
    }
}

/// A part of a query, whatever documents it matches.
#[derive(Clone, Copy)]
pub(crate) struct WeightedPart<'q> {
    pub part: Part<'q>,
    /// The product of all boosts down to it.
    pub boost: f32,
    pub field: &'q Field,
}

struct FieldPart<'q> {
    field: &'q Field,
    part: Part<'q>,
    boost: f32,
    /// Those of the documents that were asked for in which it matches, ascending.
    docs: Vec<DocId>,
    /// Of a likeness: with which choice it belongs to the query; `None`: always.
    choice: Option<Choice>,
}

/// The parts of a query, and in which of some documents they match.
pub(crate) struct QueryParts<'q>(Vec<FieldPart<'q>>);

impl<'q> QueryParts<'q> {
    /// `docs`: of `segment`, ascending.
    pub fn of(query: &'q BoundQuery, segment: &Segment, docs: &[DocId]) -> Result<QueryParts<'q>> {
        let mut parts = QueryParts(Vec::new());
        parts.add(query, Some(segment), docs)?;
        Ok(parts)
    }

    /// Without a segment, what the query matches in is not looked at.
    fn add(&mut self, query: &'q BoundQuery, segment: Option<&Segment>, docs: &[DocId]) -> Result<()> {
        if let Some(likeness) = &query.likeness {
            let first = self.0.len();
            self.add_node(query, segment, docs)?;
            self.0[first..].iter_mut().for_each(|part| part.choice = Some(Choice::OfShard));
            self.add_likeness(likeness, docs);
            return Ok(());
        }
        self.add_node(query, segment, docs)
    }

    fn add_node(&mut self, query: &'q BoundQuery, segment: Option<&Segment>, docs: &[DocId]) -> Result<()> {
        let docs = match segment {
            Some(segment) => matching_docs(query, segment, docs)?,
            None => docs.to_vec(),
        };
        match &query.node {
            Node::Term(node) => self.0.push(FieldPart {
                field: &node.field,
                part: Part::Term(&node.term),
                boost: node.scorer.boost(),
                docs,
                choice: None,
            }),
            Node::Phrase(node) => self.0.push(FieldPart {
                field: &node.field,
                part: Part::Phrase(node),
                boost: node.scorer.boost(),
                docs,
                choice: None,
            }),
            Node::Intervals(node) => {
                self.0.push(FieldPart {
                    field: &node.field,
                    part: Part::Intervals(&node.source),
                    boost: node.boost,
                    docs,
                    choice: None,
                });
            }
            Node::Spans(node) => {
                let part = Part::Spans(&node.span);
                self.0.extend(node.field.as_deref().map(|field| FieldPart {
                    field,
                    part,
                    boost: node.boost,
                    docs,
                    choice: None,
                }));
            }
            Node::Combined(node) => self.0.extend(node.fields.iter().map(|(field, _)| FieldPart {
                field,
                part: Part::Term(&node.term),
                boost: node.scorer.boost(),
                docs: docs.clone(),
                choice: None,
            })),
            Node::Docs { docs: wanted, boost, .. } => self.add_terms(wanted, *boost, &docs),
            // Of the documents inside, which are not looked at one by one.
            Node::Nested(node) => self.add(&node.query, None, &docs)?,
            Node::Boosting(node) => self.add(&node.positive, segment, &docs)?,
            Node::Cached(node) => self.add(&node.inner, segment, &docs)?,
            _ => {
                for part in query.parts() {
                    self.add(part, segment, &docs)?;
                }
            }
        }
        Ok(())
    }

    /// One part a field. It matches in a text that has one of its terms, whatever the shard chose.
    fn add_likeness(&mut self, likeness: &'q Likeness, docs: &[DocId]) {
        let mut paths = HashSet::new();
        let distinct = likeness.fields().filter(|field| paths.insert(&*field.path));
        self.0.extend(distinct.map(|field| FieldPart {
            field,
            part: Part::Likeness(likeness),
            boost: likeness.boost(),
            docs: docs.to_vec(),
            choice: Some(Choice::OfText),
        }));
    }

    fn add_terms(&mut self, wanted: &'q Docs, boost: f32, docs: &[DocId]) {
        match wanted {
            Docs::Terms { field, .. }
            | Docs::TermRange { field, .. }
            | Docs::Pattern { field, .. }
            | Docs::Automaton { field, .. } => {
                self.0.push(FieldPart {
                    field,
                    part: Part::Terms(wanted),
                    boost,
                    docs: docs.to_vec(),
                    choice: None,
                });
            }
            Docs::AnyOf(parts) | Docs::AllOf(parts) => {
                parts.iter().for_each(|part| self.add_terms(part, boost, docs));
            }
            Docs::Runtime { docs: wanted, .. } => self.add_terms(wanted, boost, docs),
            _ => {}
        }
    }

    /// Whether a part is about `field`, or about any field, whatever it matches in.
    pub fn has_any(&self, field: Option<&Field>) -> bool {
        self.about(field).next().is_some()
    }

    /// The parts that match `doc` and are about `field`, or about any field.
    pub fn matching(&self, doc: DocId, field: Option<&Field>, choice: Choice) -> Vec<Part<'q>> {
        let matching = self.chosen(field, choice).filter(|part| part.docs.binary_search(&doc).is_ok());
        matching.map(|part| part.part).collect()
    }

    /// The parts that are about `field`, or about any field, in the order of the query, whatever documents they match.
    pub fn all(&self, field: Option<&Field>, choice: Choice) -> Vec<WeightedPart<'q>> {
        self.chosen(field, choice)
            .map(|part| WeightedPart { part: part.part, boost: part.boost, field: part.field })
            .collect()
    }

    fn chosen(&self, field: Option<&Field>, choice: Choice) -> impl Iterator<Item = &FieldPart<'q>> {
        self.about(field).filter(move |part| part.choice.is_none_or(|wanted| wanted == choice))
    }

    /// Fields are told apart by their paths: the keys of a flattened field share an id.
    fn about(&self, field: Option<&Field>) -> impl Iterator<Item = &FieldPart<'q>> {
        self.0.iter().filter(move |part| field.is_none_or(|field| field.path == part.field.path))
    }
}
