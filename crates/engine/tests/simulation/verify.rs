//! Checks what must hold whenever the disk works and nothing is being written.

use std::collections::BTreeMap;

use limber_engine::*;

use crate::actors::{self, ALIAS, ASYNC, CHURN, MANY, ONE, ROLLED, STREAM};
use crate::archive::{RESTORED, verify_archive};
use crate::copies::{SOURCE, TARGET, verify_copies};
use crate::latch::verify_latch;
use crate::model::State;
use crate::registry::verify_registry;
use crate::world::World;

/// Checks that everything acknowledged exists once, as it was written, that nothing else exists, and that
/// every shard is open.
pub fn verify(world: &World) {
    verify_indices(world);
    verify_latch(world);
    verify_documents(world);
    verify_aliases(world);
    verify_archive(world);
    verify_copies(world);
    verify_registry(world);
    let health =
        world.ask(|node| node.cluster_health(&HealthRequest { timeout_ms: 0, ..HealthRequest::default() }));
    match health {
        Some(Ok(health)) => {
            world.check(health.status != HealthStatus::Red, || format!("the node is red: {health:?}"));
        }
        other => world.check(false, || format!("no health: {other:?}")),
    }
}

fn verify_indices(world: &World) {
    let allowed = world.model.with(|known| known.indices.get(CHURN).cloned().unwrap_or_else(|| vec![false]));
    let is_there =
        world.want("a question for an index", |node| node.index_exists(CHURN, IndicesOptions::METADATA));
    if let Some(is_there) = is_there {
        world.check(allowed.contains(&is_there), || {
            format!("{CHURN} is there: {is_there}, allowed: {allowed:?}")
        });
        if !is_there {
            world.model.set_index(CHURN, false, true);
        }
    }
}

fn verify_documents(world: &World) {
    let options = IndicesOptions::LENIENT;
    let indices = world.want("names", |node| node.resolve("*", options)).unwrap_or_default();
    let mut found = BTreeMap::new();
    for index in indices.iter().filter(|index| index.open && ![RESTORED, TARGET].contains(&&*index.name)) {
        let refreshed = world.want("a refresh", |node| node.refresh(&index.name, options));
        if let Some(refreshed) = refreshed {
            world.check(refreshed.failed == 0, || format!("not refreshed: {:?}", refreshed.failures));
        }
        for (key, state) in actors::search(world, &index.name).into_iter().flatten() {
            world.check(found.insert(key.clone(), state).is_none(), || format!("{key:?} was found twice"));
        }
    }
    let documents = world.model.with(|known| known.documents.clone());
    for (key, document) in &documents {
        let absent = State { source: None, written: None };
        let hit = found.remove(key).unwrap_or(absent.clone());
        let is_index_there = indices.iter().any(|index| *index.name == key.0);
        let got = if is_index_there {
            let got = world.want("a get", |node| node.get(&GetRequest::new(&key.0, &key.1)));
            let Some(got) = got else { continue };
            actors::state_of(got)
        } else {
            absent
        };
        world.check(hit.source == got.source, || format!("{key:?}: search has {hit:?}, get has {got:?}"));
        if let Some(why) = crate::model::objection(document, key, &got) {
            world.check(false, || why);
        }
    }
    for (key, state) in found {
        let text = state.source.as_ref().map(|source| source.to_string()).unwrap_or_default();
        let is_known = world.model.with(|known| known.anonymous.contains(&text));
        world.check(is_known, || format!("nobody wrote {key:?} {state:?}"));
    }
}

fn verify_aliases(world: &World) {
    let resolved =
        world.want("an alias", |node| node.resolve(ALIAS, IndicesOptions::METADATA)).unwrap_or_default();
    let names: Vec<String> = resolved.iter().map(|index| index.name.to_string()).collect();
    let allowed = world.model.with(|known| known.alias.clone());
    world.check(names.len() == 1 && allowed.contains(&names[0]), || {
        format!("the alias is on {names:?}, allowed is one of {allowed:?}")
    });
    for index in [ONE, MANY, ASYNC, ROLLED, STREAM, SOURCE] {
        let resolved = world.want(index, |node| node.resolve(index, IndicesOptions::METADATA));
        world.check(resolved.is_some_and(|resolved| !resolved.is_empty()), || format!("{index} is gone"));
    }
    let writers = world
        .want("a rolled alias", |node| node.get_index(ROLLED, IndicesOptions::METADATA))
        .unwrap_or_default();
    let writers = writers.iter().filter(|index| index.aliases[ROLLED]["is_write_index"] == true).count();
    world.check(writers == 1, || format!("{ROLLED} has {writers} indices to write to"));
}
