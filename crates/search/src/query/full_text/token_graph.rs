//! The graph of a text's tokens: finds the states that all paths go through, and the paths between these
//! states.
//!
//! Source: Lucene's `GraphTokenStreamFiniteStrings`. States are positions; a token is an arc from its
//! position over as many positions as it spans.

use limber_work as work;

use crate::error::Error;
use crate::query::parse::check_clauses;

/// A term of an analysed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::query) struct GraphTerm {
    pub term: Box<[u8]>,
    pub position: u32,
    /// The number of positions that it spans.
    pub length: u32,
}

/// A term of a path, and its position relative to the preceding term.
pub(in crate::query) type Step = (Box<[u8]>, u32);

/// The part of the graph between two states that all paths go through.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::query) enum Stretch {
    /// One term, or several synonyms.
    Terms(Vec<Box<[u8]>>),
    /// Paths of one or more terms.
    Ways(Vec<Vec<Step>>),
}

/// A token as an arc from one state to another.
struct Arc {
    from: usize,
    to: usize,
    term: Box<[u8]>,
    increment: u32,
}

/// Whether any term spans more than one position, so that there are several paths.
pub(in crate::query) fn is_graph(terms: &[GraphTerm]) -> bool {
    terms.iter().any(|term| term.length > 1)
}

struct Graph {
    arcs: Vec<Arc>,
    /// Indexes of the arcs that leave each state.
    leaving: Vec<Vec<usize>>,
    end: usize,
}

impl Graph {
    fn of(terms: &[GraphTerm]) -> Graph {
        let (mut arcs, mut end) = (Vec::with_capacity(terms.len()), 0);
        let (mut state, mut gap) = (-1i64, 0i64);
        let (mut before, mut increment_before) = (-1i64, 1);
        for term in terms {
            let position = i64::from(term.position);
            let mut increment = position - before;
            before = position;
            if increment == 0 {
                state -= gap;
                increment = increment_before;
            } else {
                state += 1;
                gap = increment - 1;
                increment_before = increment;
            }
            let to = state + i64::from(term.length) + gap;
            let arc = Arc {
                from: state.max(0) as usize,
                to: to.max(0) as usize,
                term: term.term.clone(),
                increment: increment as u32,
            };
            state += gap;
            end = end.max(arc.to);
            arcs.push(arc);
        }
        let mut graph = Graph { arcs, leaving: vec![Vec::new(); end + 1], end };
        graph.keep_ways();
        graph
    }

    /// Keeps the arcs that are on a path from the first state to the last.
    fn keep_ways(&mut self) {
        let (mut is_reached, mut leads_on) = (vec![false; self.end + 1], vec![false; self.end + 1]);
        (is_reached[0], leads_on[self.end]) = (true, true);
        self.arcs.sort_by_key(|arc| arc.from);
        for arc in &self.arcs {
            is_reached[arc.to] |= is_reached[arc.from];
        }
        for arc in self.arcs.iter().rev() {
            leads_on[arc.from] |= leads_on[arc.to];
        }
        self.arcs.retain(|arc| is_reached[arc.from] && leads_on[arc.to]);
        for (number, arc) in self.arcs.iter().enumerate() {
            self.leaving[arc.from].push(number);
        }
    }

    /// Returns the states that all paths go through, from the first to the last.
    fn articulation_states(&self) -> Vec<usize> {
        let mut furthest = 0;
        let mut places = Vec::new();
        for (state, leaving) in self.leaving.iter().enumerate() {
            if state >= furthest && (!leaving.is_empty() || state == self.end) {
                places.push(state);
            }
            furthest = leaving.iter().map(|arc| self.arcs[*arc].to).fold(furthest, usize::max);
        }
        places
    }

    /// Returns all paths from one state to another.
    ///
    /// # Errors
    /// Fails if there are more paths than a query may have clauses, or if there is no memory for their terms,
    /// of which each path has a copy.
    fn ways(&self, from: usize, to: usize) -> Result<Vec<Vec<Step>>, Error> {
        let mut found = Vec::new();
        let mut open: Vec<Vec<usize>> = self.leaving[from].iter().rev().map(|arc| vec![*arc]).collect();
        while let Some(way) = open.pop() {
            let state = way.last().map_or(to, |arc| self.arcs[*arc].to);
            if state == to {
                work::claim(way.iter().map(|arc| self.arcs[*arc].term.len() as u64).sum())?;
                let step = |arc: &usize| (self.arcs[*arc].term.clone(), self.arcs[*arc].increment);
                found.push(way.iter().map(step).collect());
            } else {
                open.extend(self.leaving[state].iter().rev().map(|arc| [&way[..], &[*arc]].concat()));
            }
            check_clauses(found.len() + open.len())?;
        }
        Ok(found)
    }
}

/// Returns the parts of a graph between the states that all paths go through, in order.
///
/// # Errors
/// Fails if a part has more paths than a query may have clauses, or if there is no memory for them.
pub(in crate::query) fn stretches(terms: &[GraphTerm]) -> Result<Vec<Stretch>, Error> {
    let graph = Graph::of(terms);
    let places = graph.articulation_states();
    let mut found = Vec::with_capacity(places.len());
    for pair in places.windows(2) {
        let leaving = &graph.leaving[pair[0]];
        found.push(match leaving.iter().all(|arc| graph.arcs[*arc].to == pair[1]) {
            true => Stretch::Terms(leaving.iter().map(|arc| graph.arcs[*arc].term.clone()).collect()),
            false => Stretch::Ways(graph.ways(pair[0], pair[1])?),
        });
    }
    Ok(found)
}

/// Returns all paths through the whole graph.
///
/// # Errors
/// Fails if there are more paths than a query may have clauses, or if there is no memory for them.
pub(in crate::query) fn all_ways(terms: &[GraphTerm]) -> Result<Vec<Vec<Step>>, Error> {
    let graph = Graph::of(terms);
    graph.ways(0, graph.end)
}

#[cfg(test)]
mod tests {
    use super::{GraphTerm, Stretch, stretches};

    fn graph(terms: &[(&str, u32, u32)]) -> Vec<Stretch> {
        let terms: Vec<GraphTerm> = (terms.iter())
            .map(|(term, position, length)| GraphTerm {
                term: term.as_bytes().into(),
                position: *position,
                length: *length,
            })
            .collect();
        stretches(&terms).unwrap()
    }

    #[test]
    fn ways_part_and_meet() {
        let found = graph(&[
            ("in", 0, 1),
            ("new", 1, 1),
            ("ny", 1, 2),
            ("york", 2, 1),
            ("fast", 3, 1),
            ("quick", 3, 1),
        ]);
        let term = |text: &str| -> Box<[u8]> { text.as_bytes().into() };
        assert_eq!(
            found,
            [
                Stretch::Terms(vec![term("in")]),
                Stretch::Ways(vec![vec![(term("new"), 1), (term("york"), 1)], vec![(term("ny"), 1)]]),
                Stretch::Terms(vec![term("fast"), term("quick")]),
            ]
        );
    }

    #[test]
    fn holes_belong_to_the_term_after_them() {
        let found = graph(&[("a", 0, 1), ("wi", 2, 1), ("wifi", 2, 2), ("fi", 3, 1), ("z", 5, 1)]);
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
