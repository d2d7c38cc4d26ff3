//! Tests several data folders: shards are spread, a folder that fails or is missing takes only its own shards
//! with it, and nothing is lost wherever the power goes.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{config, environment, get, index, write};
use limber_engine::environment::{ManualClock, SeededRandomness};
use limber_engine::*;
use limber_store::{CrashDisk, Disk, Error, Fault};
use serde_json::json;

const SHARDS: u32 = 6;
const COUNT: usize = 60;

/// A main folder and two volumes.
struct World {
    disks: Vec<CrashDisk>,
    is_there: Vec<Arc<AtomicBool>>,
}

impl World {
    fn new(seed: u64) -> World {
        World {
            disks: (0..3).map(|number| CrashDisk::new(seed * 3 + number)).collect(),
            is_there: (0..3).map(|_| Arc::new(AtomicBool::new(true))).collect(),
        }
    }

    /// Opens the main folder and the volumes with these numbers.
    fn volumes(&self, seed: u64, numbers: &[usize]) -> limber_store::Result<Volumes> {
        let opener = |number: &usize| -> (PathBuf, Opener) {
            let (disk, is_there) = (self.disks[*number].clone(), self.is_there[*number].clone());
            let open = move || -> limber_store::Result<Arc<dyn Disk>> {
                match is_there.load(Ordering::Relaxed) {
                    true => Ok(Arc::new(disk.clone())),
                    false => Err(Error::io("open", "/gone", std::io::Error::other("no such device"))),
                }
            };
            (PathBuf::from(format!("/volume{number}")), Box::new(open))
        };
        let others = numbers.iter().map(opener).collect();
        Volumes::over(Arc::new(self.disks[0].clone()), others, Arc::new(SeededRandomness::new(seed)))
    }

    fn node(&self, seed: u64, numbers: &[usize]) -> Result<Arc<Node>> {
        let volumes = self
            .volumes(seed, numbers)
            .map_err(|error| limber_mapping::RequestError::internal("i_o_exception", error.to_string()))?;
        let clock = Arc::new(ManualClock::at(1_700_000_000_000));
        Node::open_with(config(Path::new("/crash")), environment(clock, Arc::new(volumes), seed))
    }

    fn crash(&self) {
        self.disks.iter().for_each(CrashDisk::crash);
    }
}

fn create(node: &Node, name: &str) -> Result<()> {
    let settings = json!({"settings": {"number_of_shards": SHARDS, "number_of_replicas": 0}});
    node.create_index(name, &settings).map(drop)
}

fn id(number: usize) -> String {
    format!("document{number}")
}

/// Writes all documents and returns those that were acknowledged.
fn fill(node: &Node, name: &str) -> Vec<usize> {
    let write_one = |number: &usize| {
        write(node, index(name, &id(*number), json!({"n": number}).to_string().as_bytes())).is_ok()
    };
    (0..COUNT).filter(write_one).collect()
}

/// Returns the documents that can be read, and those of shards that are unavailable.
fn readable(node: &Node, name: &str) -> (Vec<usize>, Vec<usize>) {
    let read = |number: &usize| node.get(&GetRequest::new(name, &id(*number)));
    let (answered, failed): (Vec<usize>, Vec<usize>) = (0..COUNT).partition(|number| read(number).is_ok());
    let is_found = |number: &usize| read(number).is_ok_and(|response| response.found.is_some());
    (answered.into_iter().filter(is_found).collect(), failed)
}

fn shards_of(disk: &CrashDisk) -> usize {
    let uuids = disk.folders("indices").expect("lists");
    uuids.iter().map(|uuid| disk.folders(&format!("indices/{uuid}")).expect("lists").len()).sum()
}

fn status(node: &Node) -> (HealthStatus, u32) {
    let health = node.cluster_health(&HealthRequest::default()).expect("answers");
    (health.status, health.active_shards)
}

#[test]
fn shards_are_spread_and_stay_where_they_are() {
    let world = World::new(1);
    let node = world.node(1, &[1, 2]).expect("opens");
    create(&node, "a").expect("created");
    assert_eq!(fill(&node, "a").len(), COUNT);
    assert_eq!((shards_of(&world.disks[1]), shards_of(&world.disks[2])), (2, 2));
    drop(node);
    world.crash();
    // The folders may be given in another order, and a further one may be added.
    let node = world.node(2, &[2, 1]).expect("opens");
    assert_eq!(readable(&node, "a").0.len(), COUNT);
    assert_eq!(status(&node), (HealthStatus::Green, SHARDS));
    create(&node, "b").expect("created");
    assert_eq!((shards_of(&world.disks[1]), shards_of(&world.disks[2])), (4, 4));
    node.delete_index("a,b", IndicesOptions::DELETE).expect("deleted");
    node.maintain();
    assert_eq!((shards_of(&world.disks[1]), shards_of(&world.disks[2])), (0, 0));
}

#[test]
fn a_folder_is_added_and_removed() {
    let world = World::new(2);
    let node = world.node(1, &[]).expect("opens");
    create(&node, "old").expect("created");
    fill(&node, "old");
    drop(node);
    let node = world.node(2, &[1]).expect("opens");
    assert_eq!(readable(&node, "old").0.len(), COUNT);
    create(&node, "new").expect("created");
    fill(&node, "new");
    assert_eq!(shards_of(&world.disks[1]), 3);
    drop(node);
    // Without the folder, its shards are unavailable; the others serve, and nothing is created in its place.
    let node = world.node(3, &[]).expect("opens");
    assert_eq!(readable(&node, "old").0.len(), COUNT);
    let (found, failed) = readable(&node, "new");
    assert!(!found.is_empty() && !failed.is_empty() && found.len() + failed.len() == COUNT);
    assert_eq!(status(&node), (HealthStatus::Red, 2 * SHARDS - 3));
    let refused = write(&node, index("new", &id(failed[0]), b"{}")).expect_err("unavailable");
    assert!(format!("{refused:?}").contains("is not there"), "{refused:?}");
    create(&node, "more").expect("created");
    drop(node);
    let node = world.node(4, &[1]).expect("opens");
    assert_eq!(readable(&node, "new").0.len(), COUNT);
    assert_eq!(status(&node), (HealthStatus::Green, 3 * SHARDS));
}

#[test]
fn a_volume_that_is_missing_at_the_start_comes_back() {
    let world = World::new(3);
    let node = world.node(1, &[1, 2]).expect("opens");
    create(&node, "a").expect("created");
    create(&node, "deleted").expect("created");
    fill(&node, "a");
    drop(node);
    world.is_there[1].store(false, Ordering::Relaxed);
    let node = world.node(2, &[1, 2]).expect("opens");
    let (found, failed) = readable(&node, "a");
    assert!(found.len() + failed.len() == COUNT && !failed.is_empty() && found.len() > failed.len());
    node.recovery_round();
    assert_eq!(status(&node), (HealthStatus::Red, 2 * (SHARDS - 2)));
    // The files of an index that is deleted meanwhile are left on the volume that is missing.
    node.delete_index("deleted", IndicesOptions::DELETE).expect("deleted");
    create(&node, "b").expect("created elsewhere");
    world.is_there[1].store(true, Ordering::Relaxed);
    node.retry_failed_shards();
    assert_eq!(readable(&node, "a").0.len(), COUNT);
    assert_eq!(status(&node), (HealthStatus::Green, 2 * SHARDS));
    assert_eq!(shards_of(&world.disks[1]), 4);
}

#[test]
fn a_volume_that_fails_takes_only_its_shards_with_it() {
    let world = World::new(4);
    let node = world.node(1, &[1, 2]).expect("opens");
    create(&node, "a").expect("created");
    let first = fill(&node, "a");
    world.disks[2].fail_from(0, Fault::Io);
    let written = fill(&node, "a");
    assert!(!written.is_empty() && written.len() < COUNT, "{}", written.len());
    // New indices avoid the volume.
    create(&node, "b").expect("created elsewhere");
    assert_eq!(fill(&node, "b").len(), COUNT);
    world.disks[2].heal();
    node.retry_failed_shards();
    assert_eq!(fill(&node, "a").len(), COUNT);
    assert_eq!(readable(&node, "a").0, first);
    drop(node);
    world.crash();
    let node = world.node(2, &[1, 2]).expect("opens");
    assert_eq!((readable(&node, "a").0.len(), readable(&node, "b").0.len()), (COUNT, COUNT));
}

#[test]
fn nothing_is_lost_wherever_the_power_goes() {
    let scenario = |world: &World| {
        let node = world.node(1, &[1, 2])?;
        create(&node, "a")?;
        let acknowledged = fill(&node, "a");
        let _ = node.delete_index("gone", IndicesOptions::DELETE);
        Ok::<_, limber_mapping::RequestError>(acknowledged)
    };
    for off in 0..3 {
        let calls = {
            let world = World::new(5);
            scenario(&world).expect("works");
            world.disks[off].all_call_count()
        };
        for call in 0..calls {
            let what = format!("folder {off}, call {call} of {calls}");
            let world = World::new(5 + call);
            world.disks[off].power_off_at(call);
            let acknowledged = scenario(&world).unwrap_or_default();
            world.crash();
            let node = world.node(2, &[1, 2]).unwrap_or_else(|error| panic!("{what}: {error}"));
            if !acknowledged.is_empty() {
                let found = readable(&node, "a").0;
                assert!(acknowledged.iter().all(|number| found.contains(number)), "{what}: {found:?}");
            }
            assert_ne!(status(&node).0, HealthStatus::Red, "{what}");
            create(&node, "b").unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(fill(&node, "b").len(), COUNT, "{what}");
        }
    }
}

#[test]
fn a_deletion_is_completed_wherever_the_power_goes() {
    let prepared = |world: &World| {
        let node = world.node(1, &[1, 2]).expect("opens");
        create(&node, "a").expect("created");
        node
    };
    let delete = |node: &Node| {
        let outcome = node.delete_index("a", IndicesOptions::DELETE).map(drop);
        node.maintain();
        outcome
    };
    for off in 0..3 {
        let calls = {
            let world = World::new(7);
            let node = prepared(&world);
            let before = world.disks[off].all_call_count();
            delete(&node).expect("deleted");
            world.disks[off].all_call_count() - before
        };
        for call in 0..calls {
            let what = format!("folder {off}, call {call} of {calls}");
            let world = World::new(7 + call);
            let node = prepared(&world);
            world.disks[off].power_off_at(call);
            let outcome = delete(&node);
            drop(node);
            world.crash();
            let node = world.node(2, &[1, 2]).unwrap_or_else(|error| panic!("{what}: {error}"));
            node.maintain();
            let is_there = node.get_index("a", IndicesOptions::METADATA).is_ok();
            assert!(outcome.is_err() || !is_there, "{what}");
            if is_there {
                assert_eq!(status(&node), (HealthStatus::Green, SHARDS), "{what}");
            } else {
                assert_eq!((shards_of(&world.disks[1]), shards_of(&world.disks[2])), (0, 0), "{what}");
            }
        }
    }
}

#[test]
fn a_damaged_pointer_makes_one_shard_unavailable() {
    let world = World::new(8);
    let node = world.node(1, &[1]).expect("opens");
    create(&node, "a").expect("created");
    fill(&node, "a");
    let uuid = world.disks[1].folders("indices").expect("lists").remove(0);
    let number = world.disks[1].folders(&format!("indices/{uuid}")).expect("lists").remove(0);
    drop(node);
    assert!(world.disks[0].flip_bit(&format!("indices/{uuid}/{number}"), "volume", 40, 3));
    let node = world.node(2, &[1]).expect("opens");
    assert_eq!(status(&node), (HealthStatus::Red, SHARDS - 1));
    node.recovery_round();
    let (found, failed) = readable(&node, "a");
    assert!(!failed.is_empty() && found.len() + failed.len() == COUNT);
}

fn on_folders(paths: &[&Path]) -> Result<Arc<Node>> {
    let paths = paths.iter().map(|path| path.to_path_buf()).collect();
    Node::open(NodeConfig { data_paths: paths, ..config(Path::new("")) })
}

#[test]
fn folders_that_cannot_be_volumes_are_refused_by_name() {
    let (temporary, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (main, volume) = (temporary.path().join("main"), temporary.path().join("volume"));
    let refused = |paths: &[&Path], part: &str| {
        let error = on_folders(paths).err().expect("refused");
        assert!(error.reason.contains(part), "{} lacks {part}", error.reason);
    };
    drop(on_folders(&[&main, &volume]).expect("opens"));
    // A volume of another node.
    refused(&[other.path(), &volume], "a volume of another node");
    // A main folder of another node.
    let stranger = temporary.path().join("stranger");
    drop(on_folders(&[&stranger]).expect("opens"));
    refused(&[&main, &stranger], "must be empty or belong to this node");
    // A volume without its main folder.
    refused(&[&volume], "shards of a node whose main folder is another one");
    // A folder in use.
    let running = on_folders(&[&main, &volume]).expect("opens");
    refused(&[&stranger, &volume], "in use by another process");
    drop(running);
    on_folders(&[&main, &volume]).expect("opens again");
}

#[test]
fn a_volume_that_is_not_mounted_is_not_replaced_by_an_empty_one() {
    let temporary = tempfile::tempdir().expect("a folder");
    let [main, volume, aside] = ["main", "volume", "aside"].map(|name| temporary.path().join(name));
    let node = on_folders(&[&main, &volume]).expect("opens");
    create(&node, "a").expect("created");
    fill(&node, "a");
    drop(node);
    std::fs::rename(&volume, &aside).expect("moved");
    let node = on_folders(&[&main, &volume]).expect("opens");
    assert_eq!(status(&node), (HealthStatus::Red, SHARDS / 2));
    let fs = node.fs_stats();
    assert!(fs["data"][1]["missing"].as_str().expect("a reason").contains("is it mounted?"), "{fs}");
    let problems = {
        drop(node);
        check_data_folder(&main).expect("reads")
    };
    assert!(problems.problem_count >= SHARDS as usize / 2, "{:?}", problems.lines);
    std::fs::remove_dir_all(&volume).expect("only a lock");
    std::fs::rename(&aside, &volume).expect("moved");
    // The check finds the volumes of a main folder by itself.
    let report = check_data_folder(&main).expect("reads");
    assert_eq!(report.problem_count, 0, "{:?}", report.lines);
    let node = on_folders(&[&main, &volume]).expect("opens");
    assert_eq!(status(&node), (HealthStatus::Green, SHARDS));
    for number in 0..COUNT {
        assert!(get(&node, "a", &id(number)).is_some());
    }
}
