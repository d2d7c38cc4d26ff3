//! Changes that threads make while others write: background rounds, flushes, aliases, rollovers, mappings,
//! the wall clock.

use std::sync::atomic::Ordering;

use limber_engine::*;
use limber_store::random::SplitMix64;
use serde_json::json;

use crate::actors::{ALIAS, ASYNC, MANY, ONE, ROLLED, STREAM, rest};
use crate::archive::archive_once;
use crate::registry::administer_once;
use crate::world::World;

pub fn rounds(world: &World, random: &mut SplitMix64, rounds: &[Round]) {
    while world.goes_on() {
        let round = rounds[random.below(rounds.len() as u64) as usize];
        let outcome = world.ask(|node| {
            node.run_round(round);
            Ok(())
        });
        world.check(outcome.is_some() || world.may_fail(), || format!("{round:?} panicked"));
        rest(random, 100);
    }
}

/// Makes one of the changes that threads repeat.
pub fn change(world: &World, random: &mut SplitMix64) {
    for _ in 0..3 {
        flush_once(world, random);
    }
    swap_once(world);
    map_once(world, random);
    archive_once(world, random);
    administer_once(world, random);
    for target in [ROLLED, STREAM] {
        if let Ok(request) = RolloverRequest::parse(&json!({})) {
            world.want("a rollover", |node| node.rollover(target, &request));
        }
    }
}

pub fn flush(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        flush_once(world, random);
        rest(random, 150);
    }
}

fn flush_once(world: &World, random: &mut SplitMix64) {
    let index = [ONE, MANY, ASYNC, "*"][random.below(4) as usize];
    let merge = ForceMergeRequest { max_num_segments: Some(1), ..Default::default() };
    // The index may have been deleted meanwhile.
    let options = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::BROADCAST };
    let _ = match random.below(4) {
        0 => world.ask(|node| node.force_merge(index, options, &merge)),
        _ => world.ask(|node| node.flush(index, options, random.one_in(2))),
    };
}

/// Moves an alias back and forth. Every reader must see it on exactly one index.
pub fn swap(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        swap_once(world);
        rest(random, 100);
    }
}

fn swap_once(world: &World) {
    let resolved =
        world.want("a question for an alias", |node| node.resolve(ALIAS, IndicesOptions::METADATA));
    if let Some(resolved) = resolved {
        world.check(resolved.len() == 1, || format!("the alias is on {resolved:?}"));
        let from = resolved.first().map_or("x-a", |index| &*index.name).to_owned();
        let to = if from == "x-a" { "x-b" } else { "x-a" };
        world.check(world.model.with(|known| known.alias.contains(&from)), || {
            format!("the alias is on {from}")
        });
        world.model.with(|known| known.alias = vec![from.clone(), to.to_owned()]);
        let remove = json!({"remove": {"index": from, "alias": ALIAS}});
        let add = json!({"add": {"index": to, "alias": ALIAS}});
        let body = json!({"actions": [remove, add]});
        if world.want("an alias swap", |node| node.update_aliases(&body)).is_some() {
            world.model.with(|known| known.alias = vec![to.to_owned()]);
        }
    }
}

pub fn roll(world: &World, random: &mut SplitMix64) {
    for _ in 0..1 + random.below(3) {
        if !world.goes_on() {
            return;
        }
        rest(random, 200);
        let target = [ROLLED, STREAM][random.below(2) as usize];
        let Ok(request) = RolloverRequest::parse(&json!({})) else { return };
        world.want("a rollover", |node| node.rollover(target, &request));
    }
}

/// Maps fields that existing documents already have, and makes the mapping stricter and more lenient.
pub fn map(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        map_once(world, random);
        rest(random, 150);
    }
}

fn map_once(world: &World, random: &mut SplitMix64) {
    let mapping = match random.below(3) {
        0 => json!({"properties": {format!("f{}", random.below(30)): {"type": "long"}}}),
        1 => json!({"dynamic": "false"}),
        _ => json!({"dynamic": "true"}),
    };
    let _ = world.ask(|node| node.put_mapping(MANY, IndicesOptions::METADATA_OPEN_CLOSED, false, &mapping));
}

/// Sets the wall clock hours forward and back.
pub fn jump(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        let hours = random.below(9) as i64 - 4;
        world.clock.wall_shift_ms.store(hours * 3_600_000, Ordering::Relaxed);
        rest(random, 300);
    }
}
