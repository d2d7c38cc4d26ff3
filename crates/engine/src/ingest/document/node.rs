//! The compact document: "what is at this place, and what was changed?"
//!
//! A document is a vector of 32-byte nodes over two texts: the source as it came, untouched, and an arena for
//! everything a processor makes. A node remembers where its JSON text is, so that writing the document copies
//! every range that was not edited.

/// Index into a tree's nodes.
pub type NodeId = u32;

/// No node.
pub const NONE: NodeId = u32::MAX;

/// What a value is in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `false`.
    False,
    /// `true`.
    True,
    /// A number, as its text.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// A range of text: positions below the source's length are in the source, others in the arena.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// The offset of its first byte. Offsets from the length of the source on count in the arena.
    pub start: u32,
    /// Bytes.
    pub len: u32,
}

/// The name of an object's member.
#[derive(Debug, Clone, Copy, Default)]
pub struct Key {
    /// The JSON text without the quotes, which stand around it.
    pub text: Span,
    /// [`key_tag`] of the name.
    pub tag: u32,
}

/// Computes a number from the length and the ends of a name. Different names of one object nearly always have
/// different numbers, so that the names themselves are seldom compared.
#[inline(always)]
pub fn key_tag(name: &[u8]) -> u32 {
    let ends = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => u32::from_le_bytes(*first) ^ u32::from_le_bytes(*last).rotate_left(9),
        _ => name.iter().fold(0, |ends, &byte| ends << 8 | u32::from(byte)),
    };
    ends ^ (name.len() as u32).rotate_right(6)
}

/// What is true of a node beyond its kind.
pub mod flag {
    /// The key's text holds escapes.
    pub const KEY_ESCAPED: u8 = 1;
    /// The string's text holds escapes.
    pub const TEXT_ESCAPED: u8 = 2;
    /// Something below this container changed: its text is out of date, its children hold the truth.
    pub const EDITED: u8 = 4;
}

/// One value, and its key when its parent is an object.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// What the value is.
    pub kind: Kind,
    /// Flags of [`flag`].
    pub flags: u8,
    /// Its name where it is an object's member.
    pub key: Key,
    /// The whole JSON text, quotes and brackets included. Out of date when [`flag::EDITED`].
    pub text: Span,
    /// First child of a container.
    pub first: NodeId,
    /// Next child of the same parent.
    pub next: NodeId,
}

impl Node {
    /// A value without children or key.
    pub fn leaf(kind: Kind, text: Span) -> Node {
        Node { kind, flags: 0, key: Key::default(), text, first: NONE, next: NONE }
    }

    /// An empty container to be filled with children.
    pub fn container(kind: Kind) -> Node {
        Node { flags: flag::EDITED, ..Node::leaf(kind, Span::default()) }
    }

    /// Whether the node has this flag of [`flag`].
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}
