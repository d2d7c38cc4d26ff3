//! The commands that README and `docs/` show do what the reader expects: each `curl` is sent to a server, and
//! each `limber` command that ends by itself is run. Commands that a test cannot run are skipped for a reason
//! that is stated here. `src/documented_commands.rs` parses all command lines and dry-runs races.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::ServerProcess;

/// Parts of command lines that cannot be run here, and the reasons.
const SKIPPED: &[(&str, &str)] = &[
    ("/usr/local", "writes into the system"),
    ("/etc/", "writes into the system"),
    ("~/", "a folder of the reader's"),
    ("path/to", "a folder of the reader's"),
    (" ID", "an id that the reader has"),
    ("$", "a variable of the reader's"),
    ("…", "a part that the reader fills in"),
    ("...", "a part that the reader fills in"),
    ("aws", "needs S3"),
    ("s3", "needs S3"),
    ("https://", "needs a server with TLS"),
];
/// Commands that end by themselves without a race.
const RUN: &[&str] = &["import", "man", "completion", "list", "info", "export-track", "render-track", "curl"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository's root")
}

/// Returns the lines of shell code blocks; continued lines are joined.
fn shell_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_shell = false;
    for line in text.replace("\\\n", " ").lines() {
        match line.trim_start().strip_prefix("```") {
            Some(kind) => is_shell = !is_shell && kind.trim() == "sh",
            None if is_shell => lines.push(line.trim().to_owned()),
            None => {}
        }
    }
    lines
}

/// Writes the files that the documentation's commands read.
fn write_samples(folder: &Path) {
    use std::io::Write as _;
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    let log = "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326\n";
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(log.as_bytes()).expect("packed");
    std::fs::write(folder.join("access.log.gz"), packed.finish().expect("packed")).expect("written");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"{\"title\": \"Dune\"}\n").expect("packed");
    std::fs::write(folder.join("books.ndjson.gz"), packed.finish().expect("packed")).expect("written");
    put("books.csv", "isbn,title\n1,Dune\n");
    let bulk = b"{\"index\": {\"_index\": \"dumped\", \"_id\": \"1\"}}\n{\"a\": 1}\n";
    std::fs::write(folder.join("dump.bulk.zst"), zstd::encode_all(&bulk[..], 1).expect("packed"))
        .expect("written");
}

/// Replaces the documented address by the first server's, and other addresses by the second's.
fn with_addresses(line: &str, servers: [&ServerProcess; 2]) -> String {
    let [here, there] = servers.map(|server| server.address.to_string());
    let line = line.replace("old-elasticsearch:9200", &there);
    ["localhost:9200", "127.0.0.1:9200", "127.0.0.1:9201"]
        .iter()
        .fold(line, |line, known| line.replace(known, &here))
}

#[test]
fn documented_commands_run() {
    let root = repository();
    let mut files = vec![root.join("README.md")];
    let entries = std::fs::read_dir(root.join("docs")).expect("docs");
    files.extend(entries.map(|entry| entry.expect("an entry").path()));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort_by_key(|file| (!file.ends_with("README.md"), file.clone()));

    let folder = tempfile::tempdir().expect("a temporary folder");
    let start = |name: &str| ServerProcess::start(&folder.path().join(name), &[]);
    let (here, there) = (start("here"), start("there"));
    let book = r#"{"index": {"_id": "1"}}
{"title": "Dune"}
"#;
    for index in ["books", "logs-1"] {
        let answer = there.client().send("POST", &format!("/{index}/_bulk?refresh"), book);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    write_samples(folder.path());
    let mut wrong = Vec::new();
    let mut run = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        for line in shell_lines(&text) {
            let name = match line.strip_prefix("limber ") {
                Some(rest) => rest.split(' ').next().unwrap_or_default(),
                None => line.split(' ').next().unwrap_or_default(),
            };
            if !RUN.contains(&name) || SKIPPED.iter().any(|(part, _)| line.contains(part)) {
                continue;
            }
            run += 1;
            let mut shell = with_addresses(&line, [&here, &there]);
            if name == "curl" {
                shell = shell.replacen("curl", "curl -sS --fail-with-body", 1);
            } else if name == "import" && !shell.contains("--target-host") {
                let comment = shell.find(" #").unwrap_or(shell.len());
                shell.insert_str(comment, &format!(" --target-host {}", here.address));
            }
            let shell = format!("limber() {{ \"$LIMBER_UNDER_TEST\" \"$@\"; }}; {shell}");
            let output = Command::new("bash")
                .args(["-c", &shell])
                .current_dir(folder.path())
                .env("LIMBER_UNDER_TEST", support::program())
                .env("LIMBER_HOME", folder.path())
                .output()
                .expect("a shell");
            if !output.status.success() {
                let told = [output.stdout, output.stderr].concat();
                wrong.push(format!("{}\n  {line}\n  {}", file.display(), String::from_utf8_lossy(&told)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run >= 8, "only {run} commands were found");
    let found = here.client().send("GET", "/books/_count", "").json();
    assert!(found["count"].as_u64() > Some(1), "books were indexed and imported: {found}");
    let found = here.client().send("GET", "/web-logs/_search?q=url.original:%22/a%22", "").json();
    assert_eq!(found["hits"]["total"]["value"], 1, "{found}");
}
