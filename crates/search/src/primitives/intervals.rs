//! The interval sources of a query, simplified as Lucene does.
//!
//! Intervals are minimal, so of `a` and `a b` only `a` is ever found. Where gaps count, alternatives of
//! different lengths are therefore moved outwards: `(a or "a b") c` becomes `"a c" or "a b c"`. Source:
//! Lucene's `Disjunctions` and the `build` of its sources.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::{Field, RequestError};

use super::interval_choices::{Distinct, choose, only};
use super::pattern_terms::PatternTerms;
use crate::script::BoundScript;

/// The relation to another source's intervals that a filter requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Containing,
    ContainedBy,
    Overlapping,
    NotContaining,
    NotContainedBy,
    NotOverlapping,
}

impl Relation {
    /// Whether it accepts intervals that have no interval of the other source near them.
    pub fn is_negative(self) -> bool {
        matches!(self, Relation::NotContaining | Relation::NotContainedBy | Relation::NotOverlapping)
    }

    fn name(self) -> &'static str {
        match self {
            Relation::Containing => "CONTAINING",
            Relation::ContainedBy => "CONTAINED_BY",
            Relation::Overlapping => "OVERLAPPING",
            Relation::NotContaining => "NOT_CONTAINING",
            Relation::NotContainedBy => "NOT_CONTAINED_BY",
            Relation::NotOverlapping => "NON_OVERLAPPING",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// A source of intervals. Cloning is cheap except for its lists.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A string without terms: no intervals.
    Nothing,
    Term {
        field: Arc<Field>,
        term: Arc<[u8]>,
    },
    Terms(Arc<PatternTerms>),
    Any(Vec<Source>),
    /// Two or more sources, one after the other.
    Ordered(Vec<Source>),
    Unordered(Vec<Source>),
    /// In order, without gaps.
    Block(Vec<Source>),
    /// `count` successive intervals. `name`: set where they are all that a combination consists of.
    Repeated {
        source: Box<Source>,
        count: usize,
        name: Option<&'static str>,
    },
    GapsMax {
        source: Box<Source>,
        most: i32,
    },
    Script {
        source: Box<Source>,
        script: Arc<BoundScript>,
    },
    /// Intervals that begin `before` positions earlier and end `after` positions later.
    Extended {
        source: Box<Source>,
        before: u32,
        after: u32,
    },
    /// The position before or after the intervals.
    Beside {
        source: Box<Source>,
        side: Side,
    },
    /// `use_field`. The inner terms know their field.
    InField {
        path: Arc<str>,
        source: Box<Source>,
    },
    Related {
        relation: Relation,
        source: Box<Source>,
        reference: Box<Source>,
    },
}

/// Lucene's `Integer.MAX_VALUE`, which it uses for "unbounded".
const EXTENT_MAX: i64 = i32::MAX as i64;

impl Source {
    /// Returns the least length of its intervals, in positions.
    pub fn extent_min(&self) -> i64 {
        match self {
            Source::Nothing => 0,
            Source::Term { .. } | Source::Terms(_) | Source::Beside { .. } => 1,
            Source::Any(sources) => sources.iter().map(Source::extent_min).min().unwrap_or(EXTENT_MAX),
            Source::Ordered(sources) | Source::Unordered(sources) | Source::Block(sources) => {
                sources.iter().map(Source::extent_min).sum::<i64>().min(EXTENT_MAX)
            }
            Source::Repeated { source, .. }
            | Source::GapsMax { source, .. }
            | Source::Script { source, .. }
            | Source::InField { source, .. }
            | Source::Related { source, .. } => source.extent_min(),
            Source::Extended { source, before, after } => {
                (i64::from(*before) + source.extent_min() + i64::from(*after)).min(EXTENT_MAX)
            }
        }
    }

    /// Returns the sources that it consists of.
    fn parts(&self) -> impl Iterator<Item = &Source> {
        let (many, one, other): (&[Source], Option<&Source>, Option<&Source>) = match self {
            Source::Nothing | Source::Term { .. } | Source::Terms(_) => (&[], None, None),
            Source::Any(sources)
            | Source::Ordered(sources)
            | Source::Unordered(sources)
            | Source::Block(sources) => (sources, None, None),
            Source::Related { source, reference, .. } => (&[], Some(source), Some(reference)),
            Source::Repeated { source, .. }
            | Source::GapsMax { source, .. }
            | Source::Script { source, .. }
            | Source::Extended { source, .. }
            | Source::Beside { source, .. }
            | Source::InField { source, .. } => (&[], Some(source), None),
        };
        many.iter().chain(one).chain(other)
    }

    /// Returns [`Source::parts`] without sources that only exclude.
    pub fn sought_parts(&self) -> impl Iterator<Item = &Source> {
        let excludes = matches!(self, Source::Related { relation, .. } if relation.is_negative());
        self.parts().take(if excludes { 1 } else { usize::MAX })
    }

    /// Returns the number of its terms, repeated ones included.
    pub fn term_count(&self) -> usize {
        match self {
            Source::Term { .. } | Source::Terms(_) => 1,
            _ => self.parts().map(Source::term_count).sum(),
        }
    }

    /// Collects the terms that it searches for, without those that only exclude and those of patterns.
    pub fn terms<'s>(&'s self, out: &mut Vec<&'s [u8]>) {
        match self {
            Source::Term { term, .. } => out.push(term),
            _ => self.sought_parts().for_each(|part| part.terms(out)),
        }
    }

    /// Returns the number of its patterns, for each of which a set of documents may be built.
    pub fn pattern_count(&self) -> u64 {
        match self {
            Source::Terms(_) => 1,
            _ => self.parts().map(Source::pattern_count).sum(),
        }
    }

    /// Returns the union of several sources without repetitions.
    pub fn any(sources: Vec<Source>) -> Source {
        let mut distinct = Distinct::default();
        for source in sources {
            match source {
                Source::Any(inner) => inner.into_iter().for_each(|source| distinct.add(source)),
                source => distinct.add(source),
            }
        }
        only(distinct.sources).unwrap_or_else(Source::Any)
    }

    /// Returns the source of intervals of all sources, one after the other.
    pub fn ordered(sources: Vec<Source>) -> Source {
        let mut runs: Vec<(Source, Vec<u8>, usize)> = Vec::new();
        for source in sources {
            let key = source.key();
            match runs.last_mut() {
                Some((_, last, count)) if *last == key => *count += 1,
                _ => runs.push((source, key, 1)),
            }
        }
        let name = (runs.len() == 1).then_some("ORDERED");
        let parts = runs.into_iter().map(|(source, _, count)| Source::repeated(source, count, name));
        only(parts.collect()).unwrap_or_else(Source::Ordered)
    }

    /// Returns the source of intervals of all sources, in any order; they may overlap.
    pub fn unordered(sources: Vec<Source>) -> Source {
        let mut counts: Vec<(Source, usize)> = Vec::new();
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for source in sources {
            let place = *places.entry(source.key()).or_insert(counts.len());
            match counts.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => counts.push((source, 1)),
            }
        }
        let name = (counts.len() == 1).then_some("UNORDERED");
        let parts = counts.into_iter().map(|(source, count)| Source::repeated(source, count, name));
        only(parts.collect()).unwrap_or_else(Source::Unordered)
    }

    fn repeated(source: Source, count: usize, name: Option<&'static str>) -> Source {
        match count {
            1 => source,
            count => Source::Repeated { source: Box::new(source), count, name },
        }
    }

    /// Returns the source of intervals of all sources, in order and without gaps.
    ///
    /// # Errors
    /// Too many ways to choose among its parts.
    pub fn block(sources: Vec<Source>) -> Result<Source, RequestError> {
        if sources.len() < 2 {
            return Ok(sources.into_iter().next().unwrap_or(Source::Nothing));
        }
        let choices = choose(&sources)?;
        Ok(Source::any(choices.into_iter().map(Source::flat_block).collect()))
    }

    fn flat_block(sources: Vec<Source>) -> Source {
        let flat = sources.into_iter().flat_map(|source| match source {
            Source::Block(inner) => inner,
            source => vec![source],
        });
        Source::Block(flat.collect())
    }

    /// Limits the gaps of a source.
    ///
    /// # Errors
    /// Too many ways to choose among its parts.
    pub fn gaps_max(source: Source, most: i32) -> Result<Source, RequestError> {
        let choices = source.choices()?;
        let limit = |source| Source::GapsMax { source: Box::new(source), most };
        Ok(Source::any(choices.into_iter().map(limit).collect()))
    }

    /// Filters the intervals of `source` by their relation to those of `reference`.
    ///
    /// # Errors
    /// Too many ways to choose among its parts.
    pub fn related(source: Source, relation: Relation, reference: Source) -> Result<Source, RequestError> {
        let make = |source: &Source, reference: &Source| Source::Related {
            relation,
            source: Box::new(source.clone()),
            reference: Box::new(reference.clone()),
        };
        Ok(match relation {
            Relation::Containing | Relation::NotContaining => {
                let choices = source.split()?;
                Source::any(choices.iter().map(|source| make(source, &reference)).collect())
            }
            Relation::ContainedBy | Relation::NotContainedBy => {
                let choices = reference.split()?;
                Source::any(choices.iter().map(|reference| make(&source, reference)).collect())
            }
            Relation::Overlapping | Relation::NotOverlapping => make(&source, &reference),
        })
    }

    /// Returns the intervals of `source` that are before or after those of `reference`.
    ///
    /// # Errors
    /// Too many ways to choose among its parts.
    pub fn beside(source: Source, side: Side, reference: Source) -> Result<Source, RequestError> {
        let (before, after) = match side {
            Side::Before => (i32::MAX as u32, 0),
            Side::After => (0, i32::MAX as u32),
        };
        let one = Source::Beside { source: Box::new(reference), side };
        let rest = Source::Extended { source: Box::new(one), before, after };
        Source::related(source, Relation::ContainedBy, rest)
    }

    /// Returns intervals that begin `before` positions earlier than those of `source`.
    pub fn extended(source: Source, before: u32) -> Source {
        match before {
            0 => source,
            before => Source::Extended { source: Box::new(source), before, after: 0 },
        }
    }

    /// Returns its alternatives, if the choice can be moved outside of it (`pullUpDisjunctions`).
    fn choices(&self) -> Result<Vec<Source>, RequestError> {
        let each = |source: &Source, make: &dyn Fn(Source) -> Source| -> Result<Vec<Source>, RequestError> {
            Ok(source.choices()?.into_iter().map(make).collect())
        };
        Ok(match self {
            Source::Nothing => Vec::new(),
            Source::Any(sources) => sources.clone(),
            Source::Ordered(sources) => choose(sources)?.into_iter().map(Source::Ordered).collect(),
            Source::Unordered(sources) => choose(sources)?.into_iter().map(Source::Unordered).collect(),
            Source::Extended { source, before, after } => {
                let extend =
                    |source| Source::Extended { source: Box::new(source), before: *before, after: *after };
                let inner = each(source, &extend)?;
                if inner.is_empty() { vec![self.clone()] } else { inner }
            }
            Source::InField { source, path } => {
                let within = |source| Source::InField { source: Box::new(source), path: path.clone() };
                each(source, &within)?
            }
            Source::Related { relation, source, reference } => match relation {
                Relation::Containing => {
                    let make = |source: Source| Source::Related {
                        relation: *relation,
                        source: Box::new(source),
                        reference: reference.clone(),
                    };
                    source.split()?.into_iter().map(make).collect()
                }
                Relation::ContainedBy => {
                    let make = |reference: Source| Source::Related {
                        relation: *relation,
                        source: source.clone(),
                        reference: Box::new(reference),
                    };
                    reference.split()?.into_iter().map(make).collect()
                }
                Relation::Overlapping => {
                    let pairs = choose(&[(**source).clone(), (**reference).clone()])?;
                    let make = |pair: Vec<Source>| {
                        let mut pair = pair.into_iter().map(Box::new);
                        Some(Source::Related {
                            relation: *relation,
                            source: pair.next()?,
                            reference: pair.next()?,
                        })
                    };
                    pairs.into_iter().filter_map(make).collect()
                }
                _ => vec![self.clone()],
            },
            _ => vec![self.clone()],
        })
    }

    /// Returns [`Source::choices`] with all alternatives of one position combined: they cannot hide one
    /// another.
    pub(super) fn split(&self) -> Result<Vec<Source>, RequestError> {
        let (ones, others): (Vec<Source>, Vec<Source>) =
            self.choices()?.into_iter().partition(|source| source.extent_min() == 1);
        let ones = (!ones.is_empty()).then(|| Source::any(ones));
        Ok(ones.into_iter().chain(others).collect())
    }

    /// Returns bytes that are equal only for equal sources.
    pub fn key(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Whether its intervals depend only on the documents, so that they may be cached under its key.
    pub fn is_lasting(&self) -> bool {
        match self {
            Source::Nothing | Source::Term { .. } | Source::Terms(_) => true,
            Source::Script { .. } => false,
            Source::Any(sources)
            | Source::Ordered(sources)
            | Source::Unordered(sources)
            | Source::Block(sources) => sources.iter().all(Source::is_lasting),
            Source::Repeated { source, .. }
            | Source::GapsMax { source, .. }
            | Source::Extended { source, .. }
            | Source::Beside { source, .. }
            | Source::InField { source, .. } => source.is_lasting(),
            Source::Related { source, reference, .. } => source.is_lasting() && reference.is_lasting(),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let number = |number: i64, out: &mut Vec<u8>| out.extend_from_slice(&number.to_le_bytes());
        let bytes = |bytes: &[u8], out: &mut Vec<u8>| {
            number(bytes.len() as i64, out);
            out.extend_from_slice(bytes);
        };
        let mut list = |tag: u8, sources: &[Source]| {
            out.push(tag);
            number(sources.len() as i64, out);
            sources.iter().for_each(|source| source.write(out));
        };
        match self {
            Source::Any(sources) => list(b'|', sources),
            Source::Ordered(sources) => list(b'o', sources),
            Source::Unordered(sources) => list(b'u', sources),
            Source::Block(sources) => list(b'b', sources),
            Source::Nothing => out.push(b'0'),
            Source::Term { field, term } => {
                out.push(b't');
                bytes(field.path.as_bytes(), out);
                bytes(term, out);
            }
            Source::Terms(terms) => {
                out.push(b'T');
                bytes(terms.field.path.as_bytes(), out);
                bytes(terms.key.as_bytes(), out);
            }
            Source::Repeated { source, count, .. } => {
                out.push(b'r');
                number(*count as i64, out);
                source.write(out);
            }
            Source::GapsMax { source, most } => {
                out.push(b'g');
                number(i64::from(*most), out);
                source.write(out);
            }
            Source::Script { source, script } => {
                out.push(b's');
                bytes(script.source().as_bytes(), out);
                source.write(out);
            }
            Source::Extended { source, before, after } => {
                out.push(b'e');
                number(i64::from(*before), out);
                number(i64::from(*after), out);
                source.write(out);
            }
            Source::Beside { source, side } => {
                out.push(if *side == Side::Before { b'<' } else { b'>' });
                source.write(out);
            }
            Source::InField { path, source } => {
                out.push(b'f');
                bytes(path.as_bytes(), out);
                source.write(out);
            }
            Source::Related { relation, source, reference } => {
                out.push(b'R');
                bytes(relation.name().as_bytes(), out);
                source.write(out);
                reference.write(out);
            }
        }
    }

    /// Prints it as Lucene does.
    pub fn text(&self) -> String {
        let list = |sources: &[Source]| sources.iter().map(Source::text).collect::<Vec<_>>().join(",");
        match self {
            Source::Nothing => "no_match".to_owned(),
            Source::Term { term, .. } => String::from_utf8_lossy(term).into_owned(),
            Source::Terms(terms) => format!("MultiTerm({})", terms.text),
            Source::Any(sources) => {
                let mut parts: Vec<String> = sources.iter().map(Source::text).collect();
                parts.sort();
                format!("or({})", parts.join(","))
            }
            Source::Ordered(sources) => format!("ORDERED({})", list(sources)),
            Source::Unordered(sources) => format!("UNORDERED({})", list(sources)),
            Source::Block(sources) => format!("BLOCK({})", list(sources)),
            Source::Repeated { source, count, name } => {
                let parts = vec![source.text(); *count].join(",");
                match name {
                    Some(name) => format!("{name}({parts})"),
                    None => parts,
                }
            }
            Source::GapsMax { source, most } => format!("MAXGAPS/{most}({})", source.text()),
            Source::Script { source, script } => format!("FILTER({})({})", script.source(), source.text()),
            Source::Extended { source, before, after } => {
                format!("EXTEND({},{before},{after})", source.text())
            }
            Source::Beside { source, side: Side::Before } => format!("PRECEDING({})", source.text()),
            Source::Beside { source, side: Side::After } => format!("FOLLOWING({})", source.text()),
            Source::InField { path, source } => format!("FIELD({path},{})", source.text()),
            Source::Related { relation, source, reference } => {
                format!("{}({},{})", relation.name(), source.text(), reference.text())
            }
        }
    }
}
