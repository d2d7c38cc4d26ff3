//! Pairs of [`crate::together`] in which documents are written and read beside another request.

use std::sync::Arc;

use limber_engine::*;
use crate::common::{get, index, write};
use crate::together::{Pair, both, missing};

fn write_and_refresh(node: &Arc<Node>) -> Result<()> {
    for _ in 0..4 {
        write(node, index("w", "1", b"{}"))?;
        node.refresh("w", IndicesOptions::BROADCAST)?;
    }
    Ok(())
}

fn get_again(node: &Arc<Node>) -> Result<()> {
    (0..8).try_for_each(|_| get(node, "w", "1").map(drop).ok_or_else(|| missing("the document")))
}

pub fn pairs() -> Vec<Pair> {
    vec![
        Pair {
            name: "a document that is read and written",
            set_up: |node| {
                write(node, index("w", "1", b"{}"))?;
                node.refresh("w", IndicesOptions::BROADCAST).map(drop)
            },
            acts: [get_again, write_and_refresh],
            wrong: |_, outcomes| both(outcomes, true),
        },
    ]
}
