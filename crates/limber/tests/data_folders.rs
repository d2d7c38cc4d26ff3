//! Several data folders: where shards lie is shown, and a volume that is full or missing takes only its own
//! shards with it.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::small_disk::SmallDisk;
use support::{Client, ServerProcess, program};

fn start(main: &Path, volume: &Path) -> ServerProcess {
    ServerProcess::start(main, &["--data", volume.to_str().expect("text")])
}

fn create(client: &mut Client, name: &str, shards: u32) {
    let settings = json!({"number_of_shards": shards, "number_of_replicas": 0});
    client.expect(200, "PUT", &format!("/{name}"), json!({"settings": settings}));
}

/// Returns the status of a write of each document.
fn write(client: &mut Client, index: &str, count: usize, text: &str) -> Vec<u16> {
    let body = json!({"text": text}).to_string();
    (0..count).map(|number| client.send("PUT", &format!("/{index}/_doc/{number}"), &body).status).collect()
}

#[test]
fn shards_are_spread_and_it_is_shown_where_they_lie() {
    let (main, volume) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut server = start(main.path(), volume.path());
    let mut client = server.client();
    create(&mut client, "a", 4);
    assert!(write(&mut client, "a", 20, "word").iter().all(|status| *status == 201));
    let shards = client.expect(200, "GET", "/_cat/shards?h=shard,state,path.data&format=json", Value::Null);
    let places: BTreeSet<bool> = shards
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            row["path.data"].as_str().expect("a path").starts_with(volume.path().to_str().expect("text"))
        })
        .collect();
    assert_eq!(places.len(), 2, "{shards}");
    let paths = [main.path(), volume.path()].map(|path| path.to_str().expect("text").to_owned());
    let stats = client.expect(200, "GET", "/_nodes/stats/fs", Value::Null);
    let node = stats["nodes"].as_object().and_then(|nodes| nodes.values().next()).expect("a node");
    let shown: Vec<&str> = node["fs"]["data"]
        .as_array()
        .expect("folders")
        .iter()
        .filter_map(|data| data["path"].as_str())
        .collect();
    assert_eq!(shown, paths);
    let one = &node["fs"]["data"][0]["total_in_bytes"];
    assert_eq!(node["fs"]["total"]["total_in_bytes"], *one, "both folders are on one device");
    let info = client.expect(200, "GET", "/_nodes/settings?flat_settings", Value::Null);
    let node = info["nodes"].as_object().and_then(|nodes| nodes.values().next()).expect("a node");
    assert_eq!(node["settings"]["path.data"], json!(paths));

    // Without the volume, its shards alone are missing. With it, at another path, they are back.
    server.kill();
    let mut server = ServerProcess::start(main.path(), &[]);
    let mut client = server.client();
    assert_eq!(client.expect(200, "GET", "/_cluster/health", Value::Null)["status"], "red");
    let found = client.expect(200, "GET", "/a/_search", Value::Null);
    assert_eq!(found["_shards"]["failed"], 2, "{found}");
    let reasons =
        client.expect(200, "GET", "/_cat/shards?h=state,unassigned.details&format=json", Value::Null);
    assert!(reasons.to_string().contains("is not there"), "{reasons}");
    server.kill();
    // A folder that is listed and not there is told by the health report.
    // No folder can be made there.
    let nowhere = Path::new("/proc/limber-volume");
    let mut server = start(main.path(), nowhere);
    let report = server.client().expect(200, "GET", "/_health_report/disk", Value::Null);
    let disk = &report["indicators"]["disk"];
    assert_eq!(disk["status"], "red", "{disk}");
    assert_eq!(disk["details"]["missing_data_folders"][0]["path"], nowhere.to_str().expect("text"));
    server.kill();
    let moved = main.path().join("moved");
    std::fs::create_dir(&moved).expect("a folder");
    for entry in std::fs::read_dir(volume.path()).expect("lists") {
        let entry = entry.expect("an entry");
        std::fs::rename(entry.path(), moved.join(entry.file_name())).expect("the same file system");
    }
    let server = start(main.path(), &moved);
    let mut client = server.client();
    assert_eq!(client.expect(200, "GET", "/_cluster/health", Value::Null)["status"], "green");
    for number in 0..20 {
        client.expect(200, "GET", &format!("/a/_doc/{number}"), Value::Null);
    }
}

#[test]
fn a_full_volume_refuses_writes_to_its_own_shards_only() {
    let Some(disk) = SmallDisk::mount("24m") else {
        eprintln!("skipped: this machine does not let the test mount a tmpfs");
        return;
    };
    let main = tempfile::tempdir().expect("a folder");
    let volume = disk.path().join("limber");
    let server = ServerProcess::start(
        main.path(),
        &[
            "--data",
            volume.to_str().expect("text"),
            "-E",
            "cluster.routing.allocation.disk.threshold_enabled=true",
            "-E",
            "cluster.routing.allocation.disk.watermark.flood_stage=2mb",
            "-E",
            "cluster.info.update.interval=10s",
        ],
    );
    let mut client = server.client();
    create(&mut client, "spread", 2);
    // The main folder has more space.
    create(&mut client, "main_only", 1);
    assert_eq!(write(&mut client, "spread", 20, "word"), vec![201; 20]);
    let filler = disk.path().join("filler");
    let _full = std::fs::write(&filler, vec![0u8; 24 << 20]);
    let text = "words that take room ".repeat(2_000);
    let statuses = write(&mut client, "spread", 200, &text);
    let refused = statuses.iter().filter(|status| **status >= 400).count();
    assert!(refused > 0 && refused < statuses.len(), "{refused} of {} refused", statuses.len());
    assert!(write(&mut client, "main_only", 50, &text).iter().all(|status| *status == 201));
    create(&mut client, "new", 1);
    assert!(write(&mut client, "new", 20, "word").iter().all(|status| *status == 201));

    std::fs::remove_file(&filler).expect("removed");
    let goes_on =
        |client: &mut Client| write(client, "spread", 40, "word").iter().all(|status| *status < 300);
    let mut recovered = false;
    for _ in 0..100 {
        recovered = goes_on(&mut client);
        if recovered {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    assert!(recovered, "writes go on when there is room again");
}

/// Runs a command that ends by itself. Returns its exit code and all that it prints.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(program()).args(arguments).output().expect("limber runs");
    let [out, told] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (output.status.code(), out + &told)
}

#[test]
fn a_server_that_cannot_start_says_why_and_creates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (data, file) = (path("data"), path("file"));
    std::fs::write(&file, "text").expect("written");
    std::fs::create_dir_all(path("full/photos")).expect("created");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let busy = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let check = |data: &str, http: &str, part: &str| {
        let (code, told) =
            run(&["serve", "--secure", "--memory-limit", "256mb", "--data", data, "--http", http]);
        assert!(code == Some(1) && told.contains(part), "{told}");
        let (code, told) = run(&["doctor", "--data", data, "--http", http]);
        assert!(code == Some(2) && told.contains(part), "doctor: {told}");
    };
    check(&data, &busy, "Another program listens there");
    check(&data, "http://127.0.0.1:9200", "must be HOST:PORT, such as [127.0.0.1:9200]");
    check(&file, "127.0.0.1:0", "is a file, but data is kept in a folder");
    for further in [file.clone(), path("file/below")] {
        let further = ["--data", &further, "--http", "127.0.0.1:0"];
        let serve = ["serve", "--memory-limit", "256mb", "--data", &data];
        let (code, told) = run(&[&serve[..], &further].concat());
        assert!(code == Some(1) && told.contains("is a file, but data is kept in a folder"), "{told}");
        let (code, told) = run(&[&["doctor", "--data", &data][..], &further].concat());
        assert!(
            code == Some(2) && told.contains("is a file, but data is kept in a folder"),
            "doctor: {told}"
        );
    }
    check(&path("full"), "127.0.0.1:0", "must be empty or belong to this node, but contains [photos]");
    let entries = |path: &str| std::fs::read_dir(path).expect("lists").count();
    assert_eq!((entries(&path("")), entries(&path("full"))), (2, 1));
}

#[test]
fn the_doctor_knows_the_running_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let (data, address) = (folder.path().to_string_lossy().into_owned(), server.address.to_string());
    let (code, told) = run(&["doctor", "--data", &data, "--http", &address]);
    assert!(code != Some(2) && !told.contains("FATAL"), "{told}");
    let (code, told) = run(&["doctor", "--data", &data, "--http", "127.0.0.1:0"]);
    assert!(code == Some(2) && told.contains("another process uses the data folder"), "{told}");
    let (code, told) = run(&["serve", "--secure", "--memory-limit", "256mb", "--data", &data, "--http", "0"]);
    assert!(code == Some(1) && told.contains("is in use by another process"), "{told}");
    assert!(!folder.path().join("certs").exists(), "no certificate is made in the folder of another node");
}
