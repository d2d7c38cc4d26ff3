//! The compact form of a document: "which value is here, and what was changed?"
//!
//! A document is a vector of 32-byte nodes over two texts: the source as it was received, which never
//! changes, and an arena for everything that processors make. A node stores the position of its JSON text, so
//! that writing the document copies every range that was not edited.

/// Index of a node in its document.
pub type NodeId = u32;

/// Stands for no node.
pub const NONE: NodeId = u32::MAX;

/// The JSON type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `false`.
    False,
    /// `true`.
    True,
    /// A number, kept as its JSON text.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A range of text. Positions below the source's length are in the source, others in the arena.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte. Offsets from the source's length on are in the arena.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

/// The name of an object's member.
#[derive(Debug, Clone, Copy, Default)]
pub struct Key {
    /// The JSON text without the quotes. The byte before and after it is a quote.
    pub text: Span,
    /// [`key_tag`] of the name.
    pub tag: u32,
}

/// Hashes a name by its length and its ends. Different names of one object nearly always have different
/// hashes, so that the names themselves are seldom compared.
#[inline(always)]
pub fn key_tag(name: &[u8]) -> u32 {
    let ends = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => u32::from_le_bytes(*first) ^ u32::from_le_bytes(*last).rotate_left(9),
        _ => name.iter().fold(0, |ends, &byte| ends << 8 | u32::from(byte)),
    };
    ends ^ (name.len() as u32).rotate_right(6)
}

/// Flags of a node.
pub mod flag {
    /// The key's text contains escapes.
    pub const KEY_ESCAPED: u8 = 1;
    /// The string's text contains escapes.
    pub const TEXT_ESCAPED: u8 = 2;
    /// Something below this container changed: its text is out of date, and its children are authoritative.
    pub const EDITED: u8 = 4;
}

/// One value, with its key when its parent is an object.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// The JSON type of the value.
    pub kind: Kind,
    /// Flags of [`flag`].
    pub flags: u8,
    /// The member's name, when the parent is an object.
    pub key: Key,
    /// The whole JSON text, including quotes and brackets. Out of date when [`flag::EDITED`] is set.
    pub text: Span,
    /// First child of a container.
    pub first: NodeId,
    /// Next child of the same parent.
    pub next: NodeId,
}

impl Node {
    /// Makes a value without children or key.
    pub fn leaf(kind: Kind, text: Span) -> Node {
        Node { kind, flags: 0, key: Key::default(), text, first: NONE, next: NONE }
    }

    /// Makes an empty container.
    pub fn container(kind: Kind) -> Node {
        Node { flags: flag::EDITED, ..Node::leaf(kind, Span::default()) }
    }

    /// Whether the node has this flag of [`flag`].
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}
