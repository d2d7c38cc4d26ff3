use super::{CallKind, CrashDirectory, CrashDisk, Fault, FaultRule, Sites, When};
use crate::directory::write_atomically;
use crate::{Directory, Disk, Result};

fn write(directory: &CrashDirectory, name: &str, bytes: &[u8]) -> Result<()> {
    let mut writer = directory.create(name)?;
    writer.write_all(bytes)?;
    writer.finish()
}

#[test]
fn what_was_synced_survives_and_the_rest_may_not() {
    let (mut lost, mut torn, mut kept) = (0, 0, 0);
    for seed in 0..60 {
        let directory = CrashDirectory::new(seed);
        write(&directory, "a", b"durable").expect("writes");
        directory.sync("a").expect("syncs");
        directory.sync_names().expect("syncs");
        write(&directory, "b", b"not synced at all").expect("writes");
        directory.disk().crash();
        assert_eq!(&*directory.open("a").expect("is there"), b"durable", "seed {seed}");
        match directory.open("b") {
            Err(_) => lost += 1,
            Ok(bytes) if *bytes == *b"not synced at all" => kept += 1,
            Ok(_) => torn += 1,
        }
    }
    assert!(lost > 0 && torn > 0 && kept > 0, "{lost} lost, {torn} torn, {kept} kept");
}

#[test]
fn atomic_writes_are_atomic_at_every_failing_call_and_crash() {
    for seed in 0..40 {
        for call in 0..8 {
            for fault in [Fault::Io, Fault::NoSpace, Fault::SyncLost] {
                let directory = CrashDirectory::new(seed);
                write_atomically(&directory, "manifest", b"old").expect("writes");
                directory.disk().fail_call(call, fault);
                let result = write_atomically(&directory, "manifest", b"new and longer");
                directory.disk().crash();
                let found = directory.open("manifest").expect("always one of the two").to_vec();
                let is_new = found == b"new and longer";
                assert!(is_new || found == b"old", "{found:?}");
                assert!(
                    is_new || result.is_err(),
                    "acknowledged, then lost: seed {seed} call {call} {fault:?}"
                );
            }
        }
    }
}

#[test]
fn an_append_keeps_its_synced_prefix() {
    for seed in 0..40 {
        let directory = CrashDirectory::new(seed);
        let mut log = directory.append("log", 0).expect("opens");
        log.write_all(b"first,").expect("writes");
        log.sync().expect("syncs");
        directory.sync_names().expect("syncs");
        log.write_all(b"second").expect("writes");
        directory.disk().crash();
        assert!(directory.open("log").expect("is there").starts_with(b"first,"));
        assert!(log.write_all(b"x").is_err() || log.sync().is_err(), "a writer of the life before");
    }
}

#[test]
fn a_full_disk_and_folders() {
    let disk = CrashDisk::new(1);
    let directory = disk.directory("indices/a/0");
    disk.set_available_bytes(4);
    let error = write(&directory, "x", b"too long").expect_err("full");
    assert!(error.is_disk_full());
    assert_eq!(directory.len("x").expect("a part"), 4);
    assert_eq!(disk.folders("indices").expect("lists"), ["a"]);
    disk.set_available_bytes(u64::MAX);
    assert!(disk.flip_bit("indices/a/0", "x", 1, 0));
    assert_eq!(&*directory.open("x").expect("opens"), b"tno ");
    disk.remove_folder("indices/a").expect("removes");
    assert!(disk.folders("indices").expect("lists").is_empty() && !directory.exists("x").expect("known"));
}

#[test]
fn blocks_of_a_file_survive_in_any_order_and_torn_at_sectors() {
    let (mut later_alone, mut torn) = (0, 0);
    for seed in 0..200 {
        let directory = CrashDirectory::new(seed);
        write(&directory, "a", &[1; 3 * 4096]).expect("writes");
        directory.sync("a").expect("syncs");
        directory.sync_names().expect("syncs");
        let file = directory.open_in_place("a").expect("opens");
        file.write_at(0, &[2; 3 * 4096]).expect("writes");
        directory.disk().crash();
        let left = directory.open("a").expect("is there");
        assert_eq!(left.len(), 3 * 4096);
        let sectors: Vec<u8> = left.chunks(512).map(|sector| sector[0]).collect();
        assert!(
            left.chunks(512).all(|sector| sector.iter().all(|byte| *byte == sector[0])),
            "sectors are whole"
        );
        later_alone += u32::from(sectors[0] == 1 && sectors[23] == 2);
        torn += u32::from(sectors.chunks(8).any(|block| block.contains(&1) && block.contains(&2)));
    }
    assert!(later_alone > 5 && torn > 5, "{later_alone} {torn}");
}

#[test]
fn names_survive_in_order_or_not_and_a_removed_folder_comes_back_in_part() {
    let (mut second_alone, mut partly) = (0, 0);
    for seed in 0..200 {
        let disk = CrashDisk::new(seed);
        let directory = disk.directory("f");
        for name in ["a", "b"] {
            write(&directory, name, b"x").expect("writes");
        }
        let doomed = disk.directory("d");
        for name in ["a", "b"] {
            write(&doomed, name, b"x").expect("writes");
        }
        doomed.sync_names().expect("syncs");
        disk.remove_folder("d").expect("removes");
        disk.crash();
        let left = |directory: &CrashDirectory| directory.list().expect("lists");
        second_alone += u32::from(left(&directory) == ["b"]);
        partly += u32::from(left(&disk.directory("d")).len() == 1);
    }
    assert!(second_alone > 5 && partly > 5, "{second_alone} {partly}");
}

#[test]
fn calls_that_only_read_fail_too_for_a_while_or_by_chance() {
    let disk = CrashDisk::new(1);
    let directory = disk.folder("f").expect("opens");
    write(&disk.directory("f"), "a", b"bytes").expect("writes");
    let outage = FaultRule::new(Fault::NoDescriptors, When::Window(1, 3));
    disk.set_faults(vec![outage.only([CallKind::Map, CallKind::Stat, CallKind::List])]);
    assert!(directory.open("a").is_ok() && directory.open("a").is_err());
    // A stat opens nothing, so this fault cannot hit it; it is counted nevertheless.
    assert!(directory.exists("a").is_ok() && directory.list().is_ok());
    disk.set_faults(vec![FaultRule::new(Fault::Io, When::Often { millionths: 500_000 })]);
    let outcomes: Vec<bool> = (0..40).map(|_| directory.exists("a").is_ok()).collect();
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
    disk.set_faults(Vec::new());
    assert!(directory.read("a", 0, 5).is_ok() && disk.space().is_ok() && disk.fault_count() > 5);
}

#[test]
fn nothing_changes_once_the_power_is_gone() {
    for (seed, call) in (0..12).flat_map(|seed| (0..9).map(move |call| (seed, call))) {
        let directory = CrashDirectory::new(seed);
        write_atomically(&directory, "manifest", b"old").expect("writes");
        directory.disk().power_off_at(call);
        let outcome = write_atomically(&directory, "manifest", b"new and longer");
        assert_eq!(outcome.is_err(), directory.disk().is_off());
        assert!(outcome.is_ok() || directory.exists("manifest").is_err());
        directory.disk().crash();
        let found = directory.open("manifest").expect("always one of the two").to_vec();
        assert!(found == b"new and longer" || (found == b"old" && outcome.is_err()), "{found:?}");
    }
}

#[test]
fn a_call_panics_and_the_disk_lives_on() {
    let directory = CrashDirectory::new(1);
    directory.disk().fail_call(0, Fault::Panic);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| write(&directory, "a", b"x")));
    assert!(outcome.is_err());
    write(&directory, "a", b"x").expect("writes");
}

/// Bytes synced through the direct writer survive together with the file's head; bytes written later may
/// survive in blocks.
#[test]
fn the_direct_writer_keeps_its_synced_bytes() {
    for seed in 0..200 {
        let directory = CrashDirectory::new(seed);
        let mut log = directory.create_log("log", b"head").expect("creates");
        let mut synced = b"head".to_vec();
        for round in 0..6u8 {
            let piece = vec![round + 1; 700 * usize::from(round) + seed as usize % 97];
            log.write_all(&piece).expect("writes");
            if round < 4 {
                log.sync().expect("syncs");
                synced.extend_from_slice(&piece);
            } else {
                log.flush().expect("writes");
            }
        }
        drop(log);
        directory.disk().crash();
        let left = directory.open("log").expect("is there");
        // The unfinished block is written again. A crash may then tear the part of it that was synced
        // before, but only between sectors, and never to other bytes.
        let whole = synced.len() / 512 * 512;
        assert!(left.len() >= whole && left[..whole] == synced[..whole], "seed {seed}");
        assert!(left.starts_with(&synced), "seed {seed}");
        assert!(!directory.exists("log.tmp").expect("known"));
    }
}

#[test]
fn calls_are_known_by_the_line_they_come_from() {
    let sites = Sites::default();
    let disk = CrashDisk::new(1).noting(&sites);
    disk.set_faults(vec![FaultRule::new(Fault::Io, When::At(1))]);
    for _ in 0..3 {
        let _ = disk.space();
    }
    // All frames of this test are in this crate.
    let all = sites.all();
    assert_eq!(all.len(), 1, "{all:?}");
    let calls: Vec<(u64, bool)> = all.values().flatten().map(|call| (call.number, call.fails)).collect();
    assert_eq!(calls, [(0, false), (1, true), (2, false)]);
}
