//! Tests resizes: a copy of an index is complete, or it does not exist.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_engine::*;
use limber_store::random::SplitMix64;
use serde_json::json;

use crate::actors::{rest, search, write_some};
use crate::archive::Expected;
use crate::model::{Key, State, objection};
use crate::world::World;

/// Has two shards and is written to between resizes.
pub const SOURCE: &str = "kept";
pub const TARGET: &str = "copied";

pub fn copy(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        copy_once(world, random);
        rest(random, 250);
    }
}

/// Writes some documents, copies the index to a new one, and allows writes again.
pub fn copy_once(world: &World, random: &mut SplitMix64) {
    write_some(world, random, SOURCE, "k");
    if !set_block(world, true) {
        return;
    }
    if delete_target(world) {
        resize(world, random);
    }
    set_block(world, false);
}

fn resize(world: &World, random: &mut SplitMix64) {
    let all = world.model.with(|known| known.documents.clone());
    let expected: Expected = all.into_iter().filter(|(key, _)| key.0 == SOURCE).collect();
    world.model.with(|known| known.copied = expected);
    let (kind, shards) =
        [(Resize::Clone, 2), (Resize::Shrink, 1), (Resize::Split, 4)][random.below(3) as usize];
    let body = json!({"settings": {"index.number_of_shards": shards, "index.blocks.write": null}});
    let cancelled = Arc::new(AtomicBool::new(false));
    let resized = world.want("a resize", |_| {
        world.node.resize(kind, (SOURCE, TARGET), &body, ActiveCopies::Number(1), cancelled.clone())
    });
    if resized.is_some() {
        world.model.with(|known| known.copies_done += 1);
        check_copied(world);
    }
}

fn set_block(world: &World, is_blocked: bool) -> bool {
    let body = json!({"index.blocks.write": is_blocked});
    let options = IndicesOptions::METADATA_OPEN_CLOSED;
    world.want("a block", |node| node.put_settings(SOURCE, options, &body, false)).is_some()
}

/// Deletes the target. Returns whether it is gone.
fn delete_target(world: &World) -> bool {
    match is_target_there(world) {
        Some(true) => {
            world.want("a deletion", |node| node.delete_index(TARGET, IndicesOptions::DELETE)).is_some()
        }
        is_there => is_there == Some(false),
    }
}

fn is_target_there(world: &World) -> Option<bool> {
    world.want("a question for an index", |node| node.index_exists(TARGET, IndicesOptions::METADATA))
}

/// Checks that the target contains what its source contained, and nothing else.
fn check_copied(world: &World) {
    let expected = world.model.with(|known| known.copied.clone());
    let Some(hits) = search(world, TARGET) else { return };
    let mut found: BTreeMap<Key, State> =
        hits.into_iter().map(|((_, id), state)| ((SOURCE.to_owned(), id), state)).collect();
    for (key, document) in &expected {
        let state = found.remove(key).unwrap_or(State { source: None, written: None });
        if let Some(why) = objection(document, key, &state) {
            world.check(false, || format!("copied: {why}"));
        }
    }
    world.check(found.is_empty(), || format!("copied from nowhere: {found:?}"));
}

/// Checks that the target is complete if it exists.
pub fn verify_copies(world: &World) {
    if is_target_there(world) == Some(true) {
        world.want("a refresh", |node| node.refresh(TARGET, IndicesOptions::BROADCAST));
        check_copied(world);
    }
}
