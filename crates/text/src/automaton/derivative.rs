//! Expressions and their derivatives: "what must follow this character?"

use std::collections::HashMap;

use limber_work as work;

use super::syntax::{LAST, Tree};
use crate::Result;

/// Index of a node.
pub(super) type Id = u32;

/// The expression that matches no string.
pub(super) const NOTHING: Id = 0;
/// The expression that matches only the empty string.
const EPSILON: Id = 1;

/// An expression. Equal expressions are one node, if they are also written alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Node {
    Nothing,
    Epsilon,
    /// Ranges of characters: sorted, disjoint.
    Class(Box<[(u32, u32)]>),
    Concat(Id, Id),
    /// Sorted, distinct.
    Or(Box<[Id]>),
    And(Box<[Id]>),
    Not(Id),
    Repeat(Id, u32, Option<u32>),
}

/// Parts of expressions that are joined between two checks for cancellation and memory.
const PARTS_PER_CHECK: usize = 1 << 16;

/// The expressions that a pattern consists of, and their derivatives. When the request must end, whatever is
/// derived is [`NOTHING`], and [`Nodes::check`] fails.
pub(super) struct Nodes {
    list: Vec<Node>,
    nullable: Vec<bool>,
    ids: HashMap<Node, Id>,
    derived: HashMap<(Id, u32), Id>,
    /// Number of parts of expressions that were visited.
    pub(super) work: u64,
    /// The number of parts that were joined since the last check.
    joined: usize,
    stopped: Option<work::Stop>,
}

impl Nodes {
    pub(super) fn new() -> Nodes {
        let mut nodes = Nodes {
            list: Vec::new(),
            nullable: Vec::new(),
            ids: HashMap::new(),
            derived: HashMap::new(),
            work: 0,
            joined: 0,
            stopped: None,
        };
        nodes.intern(Node::Nothing);
        nodes.intern(Node::Epsilon);
        nodes
    }

    /// Fails if the request must end.
    ///
    /// # Errors
    /// [`crate::Error::Stopped`].
    pub(super) fn check(&mut self) -> Result<()> {
        match self.stopped.take() {
            Some(stop) => Err(stop.into()),
            None => Ok(()),
        }
    }

    /// Counts parts that are joined.
    fn count_joined(&mut self, parts: usize) {
        self.joined += parts;
        if self.joined >= PARTS_PER_CHECK {
            self.joined = 0;
            self.stopped = self.stopped.take().or_else(|| work::check().err());
        }
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        let nullable = match &node {
            Node::Nothing | Node::Class(_) => false,
            Node::Epsilon => true,
            Node::Concat(left, right) => self.nullable(*left) && self.nullable(*right),
            Node::Or(parts) => parts.iter().any(|part| self.nullable(*part)),
            Node::And(parts) => parts.iter().all(|part| self.nullable(*part)),
            Node::Not(inner) => !self.nullable(*inner),
            Node::Repeat(inner, least, _) => *least == 0 || self.nullable(*inner),
        };
        let id = self.list.len() as Id;
        self.list.push(node.clone());
        self.nullable.push(nullable);
        self.ids.insert(node, id);
        id
    }

    /// Whether the expression matches the empty string.
    pub(super) fn nullable(&self, id: Id) -> bool {
        self.nullable[id as usize]
    }

    /// Adds a parsed expression; returns its node.
    pub(super) fn add(&mut self, tree: &Tree) -> Id {
        match tree {
            Tree::Nothing => NOTHING,
            Tree::Epsilon => EPSILON,
            Tree::Class(ranges) => self.class(ranges.clone()),
            Tree::Concat(parts) => {
                let parts: Vec<Id> = parts.iter().map(|part| self.add(part)).collect();
                parts.into_iter().rev().fold(EPSILON, |rest, part| self.concat(part, rest))
            }
            Tree::Or(parts) => {
                let parts = parts.iter().map(|part| self.add(part)).collect();
                self.or(parts)
            }
            Tree::And(parts) => {
                let parts = parts.iter().map(|part| self.add(part)).collect();
                self.and(parts)
            }
            Tree::Not(inner) => {
                let inner = self.add(inner);
                self.not(inner)
            }
            Tree::Repeat(inner, least, most) => {
                let inner = self.add(inner);
                self.repeat(inner, *least, *most)
            }
        }
    }

    fn class(&mut self, mut ranges: Vec<(u32, u32)>) -> Id {
        ranges.sort_unstable();
        let mut apart: Vec<(u32, u32)> = Vec::new();
        for (first, last) in ranges {
            match apart.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                _ => apart.push((first, last)),
            }
        }
        if apart.is_empty() { NOTHING } else { self.intern(Node::Class(apart.into())) }
    }

    /// Returns the concatenation, which leans to the right, however long the left one is.
    fn concat(&mut self, left: Id, right: Id) -> Id {
        match (left, right) {
            (NOTHING, _) | (_, NOTHING) => return NOTHING,
            (EPSILON, other) | (other, EPSILON) => return other,
            _ => {}
        }
        let (mut firsts, mut last) = (Vec::new(), left);
        while let Node::Concat(first, rest) = self.list[last as usize] {
            firsts.push(first);
            last = rest;
        }
        self.count_joined(firsts.len());
        let end = self.intern(Node::Concat(last, right));
        firsts.into_iter().rev().fold(end, |rest, first| self.intern(Node::Concat(first, rest)))
    }

    fn or(&mut self, parts: Vec<Id>) -> Id {
        let mut flat = Vec::new();
        let mut ranges = Vec::new();
        let everything = self.not(NOTHING);
        for part in parts {
            match &self.list[part as usize] {
                Node::Nothing => {}
                Node::Or(inner) => flat.extend_from_slice(inner),
                Node::Class(own) => ranges.extend_from_slice(own),
                _ => flat.push(part),
            }
        }
        // Alternatives that are all classes form a class.
        flat.retain(|part| match &self.list[*part as usize] {
            Node::Class(own) => {
                ranges.extend_from_slice(own);
                false
            }
            _ => true,
        });
        if !ranges.is_empty() {
            flat.push(self.class(ranges));
        }
        self.count_joined(flat.len());
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&everything) {
            return everything;
        }
        match flat.as_slice() {
            [] => NOTHING,
            [only] => *only,
            _ => self.intern(Node::Or(flat.into())),
        }
    }

    fn and(&mut self, parts: Vec<Id>) -> Id {
        let mut flat = Vec::new();
        let everything = self.not(NOTHING);
        for part in parts {
            match &self.list[part as usize] {
                Node::Nothing => return NOTHING,
                Node::And(inner) => flat.extend_from_slice(inner),
                _ if part == everything => {}
                _ => flat.push(part),
            }
        }
        self.count_joined(flat.len());
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => everything,
            [only] => *only,
            _ => self.intern(Node::And(flat.into())),
        }
    }

    fn not(&mut self, inner: Id) -> Id {
        match self.list[inner as usize] {
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(inner)),
        }
    }

    fn repeat(&mut self, inner: Id, least: u32, most: Option<u32>) -> Id {
        // If the inner expression may be empty, empty strings can satisfy the minimum.
        let least = if self.nullable(inner) { 0 } else { least };
        match (inner, least, most) {
            (_, _, Some(0)) => EPSILON,
            (NOTHING, 0, _) | (EPSILON, _, _) => EPSILON,
            (NOTHING, _, _) => NOTHING,
            (_, 1, Some(1)) => inner,
            _ => self.intern(Node::Repeat(inner, least, most)),
        }
    }

    /// Returns the starts of ranges of characters that the node treats alike; ascending, the first is 0.
    pub(super) fn boundaries(&self, id: Id) -> Vec<u32> {
        let mut starts = vec![0];
        let mut open = vec![id];
        let mut seen = std::collections::HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &self.list[id as usize] {
                Node::Nothing | Node::Epsilon => {}
                Node::Class(ranges) => {
                    starts.extend(ranges.iter().flat_map(|(first, last)| [*first, *last + 1]));
                }
                Node::Concat(left, right) => {
                    open.push(*left);
                    if self.nullable(*left) {
                        open.push(*right);
                    }
                }
                Node::Or(parts) | Node::And(parts) => open.extend_from_slice(parts),
                Node::Not(inner) | Node::Repeat(inner, ..) => open.push(*inner),
            }
        }
        starts.retain(|start| *start <= LAST);
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Returns the expression for what must follow `char`. The parts of a concatenation are derived one after
    /// the other, from the last one that `char` may belong to: there may be as many as the pattern is long.
    pub(super) fn derive(&mut self, id: Id, char: u32) -> Id {
        let (mut optional, mut last) = (Vec::new(), id);
        while let Node::Concat(left, right) = self.list[last as usize]
            && self.nullable(left)
            && !self.derived.contains_key(&(last, char))
        {
            optional.push((last, left, right));
            last = right;
        }
        self.work += optional.len() as u64;
        let mut derived = self.derive_one(last, char);
        for (id, left, right) in optional.into_iter().rev() {
            if self.stopped.is_some() {
                return NOTHING;
            }
            let first = self.derive(left, char);
            let first = self.concat(first, right);
            derived = self.or(vec![first, derived]);
            self.derived.insert((id, char), derived);
        }
        derived
    }

    /// Does what [`Nodes::derive`] does, for anything but a concatenation that begins with what may be empty.
    fn derive_one(&mut self, id: Id, char: u32) -> Id {
        if let Some(known) = self.derived.get(&(id, char)) {
            return *known;
        }
        if self.stopped.is_some() {
            return NOTHING;
        }
        self.work += match &self.list[id as usize] {
            Node::Or(parts) | Node::And(parts) => parts.len() as u64,
            _ => 1,
        };
        let derived = match self.list[id as usize].clone() {
            Node::Nothing | Node::Epsilon => NOTHING,
            Node::Class(ranges) => {
                let is_inside = ranges.iter().any(|(first, last)| (*first..=*last).contains(&char));
                if is_inside { EPSILON } else { NOTHING }
            }
            Node::Concat(left, right) => {
                let first = self.derive(left, char);
                self.concat(first, right)
            }
            Node::Or(parts) => {
                let parts = parts.iter().map(|part| self.derive(*part, char)).collect();
                self.or(parts)
            }
            Node::And(parts) => {
                let parts = parts.iter().map(|part| self.derive(*part, char)).collect();
                self.and(parts)
            }
            Node::Not(inner) => {
                let inner = self.derive(inner, char);
                self.not(inner)
            }
            Node::Repeat(inner, least, most) => {
                let first = self.derive(inner, char);
                let rest = self.repeat(inner, least.saturating_sub(1), most.map(|most| most - 1));
                self.concat(first, rest)
            }
        };
        self.derived.insert((id, char), derived);
        derived
    }
}
