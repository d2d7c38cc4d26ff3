//! What the node stores besides its indices: users with their roles, pipelines, stored scripts.

use limber_access::{RoleDescriptor, User};
use limber_engine::*;
use limber_mapping::RequestError;
use limber_store::random::SplitMix64;
use serde_json::{Map, json};

use crate::actors::rest;
use crate::world::World;

/// A kind of entry. A user and the role with the same name are changed in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Account,
    Pipeline,
    Script,
}

const PARTS: [Part; 3] = [Part::Account, Part::Pipeline, Part::Script];
const NAMES: [&str; 2] = ["one", "two"];

/// An entry of the registry.
pub type Entry = (Part, &'static str);

/// Puts and deletes entries. Before each change, checks that the previous one is still in effect.
pub fn administer(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        administer_once(world, random);
        rest(random, 200);
    }
}

/// Makes one change.
pub fn administer_once(world: &World, random: &mut SplitMix64) {
    let entry = (PARTS[random.below(3) as usize], NAMES[random.below(2) as usize]);
    let is_there = verify_entry(world, entry);
    let number = match is_there {
        Some(true) if random.one_in(3) => None,
        _ => Some(world.model.next_number()),
    };
    world.model.with(|known| known.registry.entry(entry).or_insert_with(|| vec![None]).push(number));
    let changed = world.want("a change of the registry", |node| change(node, entry, number));
    if changed.is_some() {
        world.model.with(|known| known.registry.insert(entry, vec![number]));
    }
}

/// Checks that every entry is as it was last put, or is missing since it was last deleted.
pub fn verify_registry(world: &World) {
    for part in PARTS {
        for name in NAMES {
            verify_entry(world, (part, name));
        }
    }
}

/// Checks an entry. Returns whether it exists.
fn verify_entry(world: &World, entry: Entry) -> Option<bool> {
    let seen = match world.ask(|node| look(node, entry))? {
        Ok(seen) => seen,
        Err(error) => {
            world.check(world.may_fail(), || format!("{entry:?} cannot be seen: {error}"));
            return None;
        }
    };
    let allowed = world.model.with(|known| known.registry.get(&entry).cloned().unwrap_or_else(|| vec![None]));
    world.check(allowed.contains(&seen), || format!("{entry:?} is {seen:?}, allowed is one of {allowed:?}"));
    Some(seen.is_some())
}

/// Puts the entry with a number, or deletes it.
fn change(node: &Node, (part, name): Entry, number: Option<u64>) -> Result<()> {
    match (part, number) {
        (Part::Account, Some(number)) => {
            let role = RoleDescriptor::parse(name, &json!({"description": number.to_string()}))?;
            let user = User {
                roles: vec![name.to_owned()],
                full_name: Some(number.to_string()),
                email: None,
                metadata: Map::new(),
                enabled: true,
                password_hash: None,
            };
            node.change_security(|store| {
                store.users.insert(name, user);
                store.roles.insert(name, role);
                Ok(())
            })
        }
        (Part::Account, None) => node.change_security(|store| {
            store.users.remove(name);
            store.roles.remove(name);
            Ok(())
        }),
        (Part::Pipeline, Some(number)) => {
            node.put_pipeline(name, &json!({"description": number.to_string(), "processors": []}))
        }
        (Part::Pipeline, None) => node.delete_pipeline(name),
        (Part::Script, Some(number)) => node.put_script(
            name,
            None,
            &json!({"script": {"lang": "painless", "source": number.to_string()}}),
        ),
        (Part::Script, None) => node.delete_script(name),
    }
}

/// Returns the number that the entry has. A user without its role is an error.
fn look(node: &Node, (part, name): Entry) -> Result<Option<u64>> {
    let text = match part {
        Part::Account => {
            let store = node.security();
            let user = store.users.get(name).and_then(|user| user.full_name.clone());
            let role = store.roles.get(name).and_then(|role| role.description.clone());
            if user != role {
                let reason = format!("the user is [{user:?}], its role [{role:?}]");
                return Err(RequestError::internal("half_of_a_change", reason));
            }
            user
        }
        Part::Pipeline => {
            let pipelines = node.get_pipelines("")?;
            pipelines.get(name).and_then(|body| body["description"].as_str()).map(str::to_owned)
        }
        Part::Script => node.get_script(name).map(|script| script.source),
    };
    Ok(text.and_then(|text| text.parse().ok()))
}
