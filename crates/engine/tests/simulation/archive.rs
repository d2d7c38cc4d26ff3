//! Takes and restores snapshots while others write. The repository is not on the disk that loses power.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_engine::*;
use limber_store::random::SplitMix64;
use serde_json::{Value, json};

use crate::actors::{ONE, rest, search};
use crate::model::{Document, Key, State, objection};
use crate::world::World;

const REPOSITORY: &str = "r";
/// The name under which [`ONE`] is restored.
pub const RESTORED: &str = "back_one";
/// How many snapshots are kept; older ones are deleted.
const KEPT_MAX: usize = 2;

/// Documents that were not written to while a snapshot was taken, with what the snapshot must contain of
/// them.
pub type Expected = BTreeMap<Key, Document>;

pub fn archive(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        archive_once(world, random);
        rest(random, 250);
    }
}

/// Takes a snapshot, restores one, and deletes the oldest.
pub fn archive_once(world: &World, random: &mut SplitMix64) {
    if !register(world) {
        return;
    }
    take(world);
    if random.one_in(2) {
        restore(world, random);
    }
    drop_oldest(world);
}

fn register(world: &World) -> bool {
    let blobs = world.model.with(|known| known.blobs.clone());
    world.want("a repository", |node| node.put_repository_on(REPOSITORY, Arc::new(blobs))).is_some()
}

fn take(world: &World) {
    let name = format!("s{}", world.model.next_number());
    let before = documents(world);
    let body = json!({"indices": ONE});
    let taken = world.want("a snapshot", |node| node.create_snapshot(REPOSITORY, &name, &body, true));
    let Some(taken) = taken else { return };
    let is_whole = taken["snapshot"]["state"] == "SUCCESS";
    world.check(is_whole || world.may_fail(), || format!("a snapshot without a fault: {taken}"));
    if is_whole {
        let after = documents(world);
        let is_quiet = |key: &Key, document: &Document| {
            after.get(key).is_some_and(|later| later.changes == document.changes)
        };
        let expected = before.into_iter().filter(|(key, document)| is_quiet(key, document)).collect();
        world.model.with(|known| {
            known.snapshots_taken += 1;
            known.snapshots.push((name, expected));
        });
    }
}

fn documents(world: &World) -> Expected {
    let all = world.model.with(|known| known.documents.clone());
    all.into_iter().filter(|(key, _)| key.0 == ONE).collect()
}

fn restore(world: &World, random: &mut SplitMix64) {
    let chosen = world.model.with(|known| {
        let count = known.snapshots.len() as u64;
        (count > 0).then(|| known.snapshots[random.below(count) as usize].clone())
    });
    let Some((name, expected)) = chosen else { return };
    if !delete_restored(world) {
        return;
    }
    world.model.with(|known| known.restored = expected);
    let body = json!({"indices": ONE, "rename_pattern": ONE, "rename_replacement": RESTORED});
    let restored = world.want("a restore", |node| node.restore_snapshot(REPOSITORY, &name, &body, true));
    if restored.is_some() {
        world.model.with(|known| known.restores_done += 1);
        check_restored(world);
    }
}

/// Deletes the restored index. Returns whether it is gone.
fn delete_restored(world: &World) -> bool {
    match world.want("a question for an index", |node| node.index_exists(RESTORED, IndicesOptions::METADATA))
    {
        Some(true) => {
            world.want("a deletion", |node| node.delete_index(RESTORED, IndicesOptions::DELETE)).is_some()
        }
        is_there => is_there == Some(false),
    }
}

/// Checks that the restored index contains what its snapshot must contain.
fn check_restored(world: &World) {
    let expected = world.model.with(|known| known.restored.clone());
    let Some(hits) = search(world, RESTORED) else { return };
    let found: BTreeMap<Key, State> =
        hits.into_iter().map(|((_, id), state)| ((ONE.to_owned(), id), state)).collect();
    for (key, document) in &expected {
        let absent = State { source: None, written: None };
        if let Some(why) = objection(document, key, found.get(key).unwrap_or(&absent)) {
            world.check(false, || format!("restored: {why}"));
        }
    }
}

fn drop_oldest(world: &World) {
    let oldest =
        world.model.with(|known| (known.snapshots.len() > KEPT_MAX).then(|| known.snapshots.remove(0).0));
    if let Some(name) = oldest {
        world.want("a deletion of a snapshot", |node| node.delete_snapshots(REPOSITORY, &name, true));
    }
}

/// Checks that every acknowledged snapshot is listed as complete, and that a restored index is complete or
/// missing.
pub fn verify_archive(world: &World) {
    if !register(world) {
        return;
    }
    let all = SnapshotQuery { snapshots: "_all".into(), ..SnapshotQuery::default() };
    let listed = world.want("the snapshots", |node| node.get_snapshots(REPOSITORY, &all)).unwrap_or_default();
    let is_listed = |name: &str| {
        let mut snapshots = listed["snapshots"].as_array().into_iter().flatten();
        snapshots.any(|one: &Value| one["snapshot"] == name && one["state"] == "SUCCESS")
    };
    for (name, _) in world.model.with(|known| known.snapshots.clone()) {
        world.check(is_listed(&name), || format!("snapshot {name} is gone: {listed}"));
    }
    let is_there =
        world.want("a question for an index", |node| node.index_exists(RESTORED, IndicesOptions::METADATA));
    if is_there == Some(true) {
        world.want("a refresh", |node| node.refresh(RESTORED, IndicesOptions::BROADCAST));
        check_restored(world);
    }
}
