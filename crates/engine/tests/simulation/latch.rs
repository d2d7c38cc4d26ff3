//! An index that is closed and opened again while others write to it, change its mapping and retry its shards.

use limber_engine::*;
use limber_store::random::SplitMix64;
use serde_json::json;

use crate::actors::{Planned, rest, send};
use crate::world::World;

/// Created by the first write to it.
pub const LATCH: &str = "latch";

/// Writes documents, many of which need new fields. They are refused while the index is closed.
pub fn write(world: &World, random: &mut SplitMix64) {
    for _ in 0..8 + random.below(8) {
        if world.disk.is_off() {
            return;
        }
        let id = format!("l-{}", random.below(6));
        let planned = Planned::draw(world, random, LATCH, id);
        send(world, &[planned], true);
        rest(random, 40);
    }
}

/// Closes the index, changes the mapping meanwhile, and opens it again.
pub fn close_and_open(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        rest(random, 80);
        let closed = world.ask(|node| node.close_index(LATCH, IndicesOptions::LENIENT));
        world.check(closed.is_some() || world.may_fail(), || "a closing panicked".to_owned());
        if random.one_in(2) {
            map(world);
        }
        rest(random, 20);
        let opened = world.ask(|node| node.open_index(LATCH, IndicesOptions::LENIENT));
        world.check(opened.is_some() || world.may_fail(), || "an opening panicked".to_owned());
    }
}

/// Maps a field that no document has. Once acknowledged, it must never vanish.
fn map(world: &World) {
    let field = format!("m{}", world.model.next_number());
    let mapping = json!({"properties": {field.as_str(): {"type": "long"}}});
    let options = IndicesOptions::METADATA_OPEN_CLOSED;
    if let Some(Ok(_)) = world.ask(|node| node.put_mapping(LATCH, options, false, &mapping)) {
        world.model.with(|known| known.latch_fields.insert(field));
    }
}

/// Retries shards that failed or whose index was closed.
pub fn retry(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        let retried = world.ask(|node| {
            node.retry_failed_shards();
            Ok(())
        });
        world.check(retried.is_some() || world.may_fail(), || "a retry panicked".to_owned());
        rest(random, 60);
    }
}

/// Opens the index, so that its documents can be compared, and checks that it has all mapped fields.
pub fn verify_latch(world: &World) {
    let exists =
        world.want("a question for an index", |node| node.index_exists(LATCH, IndicesOptions::METADATA));
    if exists != Some(true) {
        let fields = world.model.with(|known| known.latch_fields.clone());
        world.check(fields.is_empty(), || format!("{LATCH} is gone, and with it {fields:?}"));
        return;
    }
    world.want("an opening", |node| node.open_index(LATCH, IndicesOptions::METADATA_OPEN_CLOSED));
    let found = world.want("a mapping", |node| node.get_index(LATCH, IndicesOptions::METADATA));
    for index in found.iter().flatten() {
        for field in world.model.with(|known| known.latch_fields.clone()) {
            let is_there = index.mappings["properties"].get(&field).is_some();
            world.check(is_there, || format!("the field [{field}] of {LATCH} is gone"));
        }
    }
}
