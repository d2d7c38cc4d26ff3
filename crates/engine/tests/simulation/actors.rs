//! The threads of a simulation: writers, readers, and others that change things meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_search::{SearchRequest, UrlParameters};
use limber_store::sync::{self, Simulation};
use serde_json::{Value, json};

use crate::archive::archive;
use crate::changes::{flush, jump, map, roll, rounds, swap};
use crate::copies::{SOURCE, copy};
use crate::latch::{self, LATCH};
use crate::model::{Key, State, Written, objection};
use crate::registry::administer;
use crate::world::World;
use limber_store::random::SplitMix64;

pub const ONE: &str = "one";
pub const MANY: &str = "many";
pub const ASYNC: &str = "async";
pub const CHURN: &str = "churn";
pub const ALIAS: &str = "alias";
pub const ROLLED: &str = "rolled";
pub const STREAM: &str = "stream";

/// Creates what always exists.
pub fn set_up(node: &Node) -> Result<()> {
    let create = |name: &str, shards: u32, more: Value| {
        let settings = json!({"number_of_replicas": 0, "number_of_shards": shards, "index.merge.policy.segments_per_tier": 2});
        let mut body = json!({"settings": settings, "mappings": {"properties": {"n": {"type": "long"}}}});
        for (key, value) in more.as_object().into_iter().flatten() {
            body[key.as_str()] = value.clone();
        }
        node.create_index(name, &body).map(|_| ())
    };
    create(ONE, 1, Value::Null)?;
    create(MANY, 3, json!({"mappings": {"dynamic": true}}))?;
    create(ASYNC, 1, Value::Null)?;
    create(SOURCE, 2, Value::Null)?;
    create("x-a", 1, json!({"aliases": {ALIAS: {}}}))?;
    create("x-b", 1, Value::Null)?;
    create("rolled-000001", 1, json!({"aliases": {ROLLED: {"is_write_index": true}}}))?;
    let template = json!({"index_patterns": [format!("{STREAM}*")], "data_stream": {}, "template": {"settings": {"number_of_replicas": 0}}});
    node.put_index_template("t", &template, true)?;
    node.create_data_stream(STREAM)
}

/// A thread's name and its function.
type Role = (&'static str, fn(&World, &mut SplitMix64));

/// Starts the threads of one life of the node.
pub fn cast(simulation: &mut Simulation, world: &Arc<World>, seed: u64) {
    let mut random = SplitMix64::new(seed);
    let writers: [Role; 6] = [
        ("writer-1", |world, random| write(world, random, "w1")),
        ("writer-2", |world, random| write(world, random, "w2")),
        ("unsure", write_async),
        ("churn", churn),
        ("appender", append),
        ("latch-writer", latch::write),
    ];
    let others: [Role; 14] = [
        ("reader", read),
        ("refresh", |world, random| rounds(world, random, &[Round::Refresh, Round::Sync])),
        ("upkeep", |world, random| {
            rounds(
                world,
                random,
                &[
                    Round::Flush,
                    Round::Recovery,
                    Round::Metadata,
                    Round::Disk,
                    Round::Expiry,
                    Round::Buffers,
                    Round::Scrub,
                ],
            )
        }),
        ("merge", |world, random| rounds(world, random, &[Round::Merge, Round::Merge, Round::Lifecycle])),
        ("flusher", flush),
        ("swapper", swap),
        ("roller", roll),
        ("mapper", map),
        ("clock", jump),
        ("archivist", archive),
        ("copier", copy),
        ("administrator", administer),
        ("closer", latch::close_and_open),
        ("retrier", latch::retry),
    ];
    world.writers.store(writers.len(), Ordering::SeqCst);
    for (name, act) in writers {
        let (world, mut random) = (world.clone(), SplitMix64::new(random.draw()));
        simulation.thread(name, move || {
            let _ended = Ended(&world);
            act(&world, &mut random);
        });
    }
    for (name, act) in others {
        // Some threads are left out of some lives.
        let mut random = SplitMix64::new(random.draw());
        if random.one_in(4) {
            continue;
        }
        let world = world.clone();
        simulation.thread(name, move || act(&world, &mut random));
    }
}

struct Ended<'w>(&'w World);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.writers.fetch_sub(1, Ordering::SeqCst);
    }
}

pub fn rest(random: &mut SplitMix64, ms_max: u64) {
    sync::sleep(Duration::from_micros(1 + random.below(ms_max * 1000)));
}

fn written(outcome: &WriteOutcome) -> Written {
    (outcome.identity.seq_no, outcome.identity.version, outcome.identity.primary_term)
}

/// A write with a known id.
pub struct Planned {
    key: Key,
    kind: OperationKind,
    source: Option<Value>,
    body: String,
    external: Option<u64>,
}

impl Planned {
    pub fn draw(world: &World, random: &mut SplitMix64, index: &str, id: String) -> Planned {
        let number = world.model.next_number();
        let mut source = json!({"n": number});
        if (index == MANY && random.one_in(8)) || (index == LATCH && random.one_in(2)) {
            source[format!("f{}", random.below(30))] = json!(number);
        }
        let key = (index.to_owned(), id);
        let exists = world.model.document(&key).allowed.iter().any(|state| state.source.is_some());
        let (kind, body, source) = match random.below(10) {
            0 | 1 => (OperationKind::Delete, String::new(), None),
            2 if !exists => (OperationKind::Create, source.to_string(), Some(source)),
            // An update of a single field replaces the whole document, which has no other fields.
            3 | 4 if index == ONE => {
                let body = json!({"doc": {"n": number}, "doc_as_upsert": true}).to_string();
                (OperationKind::Update, body, Some(source))
            }
            _ => (OperationKind::Index, source.to_string(), Some(source)),
        };
        Planned { key, kind, source, body, external: None }
    }

    fn operation(&self) -> BulkOperation<'_> {
        let mut operation = BulkOperation::new(self.kind, self.key.0.as_str(), self.body.as_bytes());
        operation.id = Some(self.key.1.as_str().into());
        if let Some(version) = self.external {
            operation.version = Some(version);
            operation.version_type = VersionType::External;
        }
        operation
    }
}

/// Sends a bulk and records what was acknowledged. Returns whether all of it was.
pub fn send(world: &World, planned: &[Planned], is_promised: bool) -> bool {
    for one in planned {
        world.model.begin(&one.key, one.source.clone());
    }
    let operations: Vec<BulkOperation<'_>> = planned.iter().map(Planned::operation).collect();
    let outcomes: Option<Vec<Result<WriteOutcome>>> = world.want("a bulk", |node| {
        let request = BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
        Ok(node.bulk(request)?.items.into_iter().map(|item| item.outcome).collect())
    });
    let mut all = true;
    for (one, outcome) in planned.iter().zip(outcomes.into_iter().flatten()) {
        match outcome {
            Ok(outcome) => {
                sync::note(|| format!("acknowledged {:?} {:?} {:?}", one.key, one.source, written(&outcome)));
                let has_one_shard = ![MANY, SOURCE].contains(&&*one.key.0);
                let noted = world.model.acknowledge(
                    &one.key,
                    one.source.clone(),
                    written(&outcome),
                    is_promised,
                    has_one_shard,
                );
                if let Err(why) = noted {
                    world.check(false, || why);
                }
            }
            Err(error) => {
                all = false;
                // A conflict or a refused document is a valid response. Any other error needs a fault, or an
                // index that is being closed.
                let may_fail = world.may_fail() || one.key.0 == LATCH;
                world.check(error.class.is_refusal() || may_fail, || {
                    format!("{:?} failed without a fault: {error}", one.key)
                });
                world.check(
                    !matches!(one.kind, OperationKind::Index)
                        || one.external.is_some()
                        || error.class != ErrorClass::Conflict,
                    || format!("a conflict without a condition: {error}"),
                );
            }
        }
    }
    all
}

/// Gets a document and checks it.
fn check_get(world: &World, key: &Key) {
    let found = world.want("a get", |node| node.get(&GetRequest::new(&key.0, &key.1)));
    if let Some(found) = found {
        let state = state_of(found);
        if let Some(why) = world.model.objection(key, &state) {
            world.check(false, || format!("a get right after the write: {why}"));
        }
    }
}

pub fn state_of(response: GetResponse) -> State {
    match response.found {
        Some(found) => State {
            source: serde_json::from_slice(&found.source).ok(),
            written: Some((found.identity.seq_no, found.identity.version, found.identity.primary_term)),
        },
        None => State { source: None, written: None },
    }
}

/// Sends a few writes to one index; ids begin with `prefix`.
pub fn write_some(world: &World, random: &mut SplitMix64, index: &str, prefix: &str) {
    for _ in 0..random.below(4) {
        if world.disk.is_off() {
            return;
        }
        let id = format!("{prefix}-{}", random.below(6));
        let planned = Planned::draw(world, random, index, id);
        let key = planned.key.clone();
        send(world, &[planned], true);
        check_get(world, &key);
    }
}

/// Sends bulks to several indices and shards. Each id is written by only one thread.
pub fn write(world: &World, random: &mut SplitMix64, prefix: &str) {
    for round in 0..6 + random.below(10) {
        if world.disk.is_off() {
            return;
        }
        let mut planned: Vec<Planned> = Vec::new();
        for _ in 0..1 + random.below(7) {
            let index = [ONE, MANY, "x-a"][random.below(3) as usize];
            let id = format!("{prefix}-{}", random.below(9));
            if planned.iter().any(|other| other.key == (index.to_owned(), id.clone())) {
                continue;
            }
            planned.push(Planned::draw(world, random, index, id));
        }
        if random.one_in(3) {
            let mut one = Planned::draw(world, random, ONE, format!("{prefix}-external"));
            one.kind = OperationKind::Index;
            let number = world.model.next_number();
            one.source = Some(json!({"n": number}));
            one.body = json!({"n": number}).to_string();
            one.external = Some(number);
            planned.push(one);
        }
        send(world, &planned, true);
        if round % 2 == 0 {
            planned.iter().for_each(|one| check_get(world, &one.key));
        }
        rest(random, 40);
    }
}

/// Writes to an index whose durability alternates between `async` and `request`. After a change to `request`,
/// everything written must be durable.
pub fn write_async(world: &World, random: &mut SplitMix64) {
    for _ in 0..3 + random.below(4) {
        for durability in ["async", "request"] {
            if world.disk.is_off() {
                return;
            }
            let body = json!({"index.translog.durability": durability});
            let changed = world.want("a change of settings", |node| {
                node.put_settings(ASYNC, IndicesOptions::METADATA_OPEN_CLOSED, &body, false)
            });
            let is_promised = changed.is_some() && durability == "request";
            // If the shard failed meanwhile, it may have lost what was not durable yet.
            if is_promised && !world.has_faults {
                world.model.settle(ASYNC);
            }
            for _ in 0..random.below(4) {
                let id = format!("a-{}", random.below(5));
                let planned = Planned::draw(world, random, ASYNC, id);
                let key = planned.key.clone();
                send(world, &[planned], is_promised);
                check_get(world, &key);
            }
            rest(random, 150);
        }
    }
}

/// Creates, fills, deletes and recreates an index under one name.
pub fn churn(world: &World, random: &mut SplitMix64) {
    for _ in 0..2 + random.below(4) {
        if world.disk.is_off() {
            return;
        }
        let is_there =
            world.want("a question for an index", |node| node.index_exists(CHURN, IndicesOptions::METADATA));
        match is_there {
            Some(false) => {
                world.model.set_index(CHURN, true, false);
                let body = json!({"settings": {"number_of_replicas": 0}});
                if world.want("a creation", |node| node.create_index(CHURN, &body)).is_some() {
                    world.model.set_index(CHURN, true, true);
                }
            }
            Some(true) => {
                for _ in 0..random.below(4) {
                    let id = format!("c-{}", random.below(4));
                    let planned = Planned::draw(world, random, CHURN, id);
                    let key = planned.key.clone();
                    send(world, &[planned], true);
                    check_get(world, &key);
                }
                if world.disk.is_off() {
                    return;
                }
                world.model.set_index(CHURN, false, false);
                if world.want("a deletion", |node| node.delete_index(CHURN, IndicesOptions::DELETE)).is_some()
                {
                    world.model.set_index(CHURN, false, true);
                }
            }
            None => {}
        }
        rest(random, 80);
    }
}

/// Appends documents with generated ids to a data stream and to an alias that is rolled over.
pub fn append(world: &World, random: &mut SplitMix64) {
    for _ in 0..5 + random.below(8) {
        if world.disk.is_off() {
            return;
        }
        let bodies: Vec<(&str, Value)> = (0..1 + random.below(4))
            .map(|_| {
                let number = world.model.next_number();
                match random.below(2) {
                    0 => (ROLLED, json!({"n": number})),
                    _ => (STREAM, json!({"n": number, "@timestamp": "2024-01-01T00:00:00Z"})),
                }
            })
            .collect();
        let texts: Vec<String> = bodies.iter().map(|(_, body)| body.to_string()).collect();
        world.model.with(|known| known.anonymous.extend(texts.iter().cloned()));
        let operations: Vec<BulkOperation<'_>> = bodies
            .iter()
            .zip(&texts)
            .map(|((target, _), text)| BulkOperation::new(OperationKind::Create, *target, text.as_bytes()))
            .collect();
        let items = world.want("an append", |node| {
            let request =
                BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
            let response = node.bulk(request)?;
            let item = |item: BulkItem<'_>| {
                let key = (response.indices[item.index].to_string(), item.id.to_string());
                (key, item.outcome)
            };
            Ok(response.items.into_iter().map(item).collect::<Vec<_>>())
        });
        for ((key, outcome), (_, body)) in items.into_iter().flatten().zip(&bodies) {
            match outcome {
                Ok(outcome) => {
                    let noted =
                        world.model.acknowledge(&key, Some(body.clone()), written(&outcome), true, true);
                    if let Err(why) = noted {
                        world.check(false, || why);
                    }
                    check_get(world, &key);
                }
                Err(error) => {
                    world.check(world.may_fail(), || format!("an append failed without a fault: {error}"))
                }
            }
        }
        rest(random, 60);
    }
}

/// Refreshes and searches. Each acknowledged document must be found once, as it was written.
fn read(world: &World, random: &mut SplitMix64) {
    while world.goes_on() {
        let index = [ONE, MANY, "x-a"][random.below(3) as usize];
        let before = world.model.with(|known| known.documents.clone());
        let is_fresh = world
            .want("a refresh", |node| node.refresh(index, IndicesOptions::BROADCAST))
            .is_some_and(|answer| answer.failed == 0);
        if let Some(hits) = search(world, index) {
            let after = world.model.with(|known| known.documents.clone());
            let mut seen = std::collections::BTreeMap::new();
            for (key, state) in hits {
                world.check(seen.insert(key.clone(), state).is_none(), || format!("{key:?} was found twice"));
            }
            for (key, document) in before.iter().filter(|(key, _)| is_fresh && key.0 == index) {
                if after.get(key).is_none_or(|later| later.changes != document.changes) {
                    continue;
                }
                let found = seen.get(key).cloned().unwrap_or(State { source: None, written: None });
                if let Some(why) = objection(document, key, &found) {
                    world.check(false, || format!("a search after a refresh: {why}"));
                }
            }
        }
        rest(random, 120);
    }
}

/// Returns all documents of the index; `None` when a shard failed, which needs a fault.
pub fn search(world: &World, index: &str) -> Option<Vec<(Key, State)>> {
    let body =
        json!({"query": {"match_all": {}}, "size": 10_000, "seq_no_primary_term": true, "version": true});
    let request = SearchRequest::parse(&body, &UrlParameters::default()).ok()?;
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (response, _) = world.want("a search", |node| {
        node.search(index, IndicesOptions::SEARCH, Placement::default(), &request, None, stop)
            .map_err(|error| error.to_request_error())
    })?;
    if !response.shards.failures.is_empty() {
        world.check(world.may_fail(), || {
            format!("shards failed without a fault: {:?}", response.shards.failures)
        });
        return None;
    }
    let state = |hit: &limber_search::SearchHit| {
        let source = hit.source.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
        ((hit.index.to_string(), hit.id.clone().unwrap_or_default()), State { source, written: None })
    };
    Some(response.hits.iter().map(state).collect())
}

/// Sends one write to each index that always exists.
pub fn write_after(world: &World) {
    for index in [ONE, MANY, ASYNC, "x-a"] {
        let number = world.model.next_number();
        let source = json!({"n": number});
        let planned = Planned {
            key: (index.to_owned(), "after".to_owned()),
            kind: OperationKind::Index,
            body: source.to_string(),
            source: Some(source),
            external: None,
        };
        let all = send(world, &[planned], index != ASYNC);
        world.check(all, || format!("{index} does not take a write after the faults"));
    }
}
