//! With a full disk, writes fail with errors, reads continue, and the server recovers when there is space
//! again. Needs the right to mount a tmpfs.

mod support;

use serde_json::{Value, json};
use support::ServerProcess;
use support::small_disk::SmallDisk;

#[test]
fn a_full_disk_is_survived() {
    let Some(disk) = SmallDisk::mount("16m") else {
        eprintln!("skipped: this machine does not let the test mount a tmpfs");
        return;
    };
    let data = disk.path().join("data");
    let filler = disk.path().join("filler");
    std::fs::write(&filler, vec![0u8; 4 << 20]).expect("the disk has room at first");

    let mut server = ServerProcess::start(&data, &[]);
    let mut client = server.client();
    client.expect(200, "PUT", "/full", json!({"settings": {"number_of_replicas": 0}}));
    let text = "some words that take room ".repeat(400);
    let (mut acknowledged, mut refused) = (Vec::new(), 0);
    for number in 0..4000 {
        let body = json!({"number": number, "text": format!("{number} {text}")}).to_string();
        let answer = client.send("PUT", &format!("/full/_doc/{number}"), body);
        match answer.status {
            201 => acknowledged.push(number),
            status => {
                assert!((400..600).contains(&status), "{}", answer.text());
                assert!(answer.json()["error"]["type"].is_string());
                refused += 1;
                if refused == 5 {
                    break;
                }
            }
        }
    }
    assert!(refused > 0, "16 MB must not hold 4,000 documents of 10 kB each");
    assert!(!acknowledged.is_empty());
    assert!(server.is_running(), "the node stays up");
    let last = acknowledged.last().expect("some were acknowledged");
    client.expect(200, "GET", &format!("/full/_doc/{last}"), Value::Null);
    client.expect(200, "GET", "/full/_search", Value::Null);

    std::fs::remove_file(&filler).expect("the filler can be removed");
    let mut recovered = false;
    for _ in 0..50 {
        if client.send("PUT", "/full/_doc/after", "{\"number\":-1}").status == 201 {
            recovered = true;
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert!(recovered, "writes go on when there is room again");

    server.kill();
    let server = ServerProcess::start(&data, &[]);
    let mut client = server.client();
    client.expect(200, "POST", "/full/_refresh", Value::Null);
    for number in &acknowledged {
        client.expect(200, "GET", &format!("/full/_doc/{number}"), Value::Null);
    }
}
