//! Tests of the parts of a start that need no server, and of a start with a script instead of the server.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::server::engine::Engine;

fn home(script: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for folder in ["bin", "config/scripts", "modules/x-pack-security"] {
        std::fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    let binary = home.path().join("bin/elasticsearch");
    std::fs::write(&binary, script).unwrap();
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(
        home.path().join("config/jvm.options"),
        "# why\n14-:-XX:+UseG1GC\n-XX:HeapDumpPath=data\n-Xlog:gc:file=logs/gc.log\n",
    )
    .unwrap();
    std::fs::write(home.path().join("config/scripts/a.painless"), "1").unwrap();
    home
}

fn spec(home: &Path) -> EngineSpec {
    EngineSpec {
        engine: Engine::Folder(home.to_owned()),
        settings: vec![
            ("http.port".into(), "9999".into()),
            ("indices.memory.index_buffer_size".into(), "20%".into()),
        ],
        heap: Some("512m".into()),
        jvm_options: vec!["-XX:+UseParallelGC".into()],
        ..EngineSpec::default()
    }
}

#[test]
fn the_configuration_is_a_copy_of_its_own() {
    let home = home("");
    let files = tempfile::tempdir().unwrap();
    prepare(home.path(), files.path(), &spec(home.path())).unwrap();
    let options = std::fs::read_to_string(files.path().join("config/jvm.options")).unwrap();
    let place = files.path().display();
    assert_eq!(options, format!("-XX:HeapDumpPath={place}/data\n-Xlog:gc:file={place}/logs/gc.log\n"));
    assert!(files.path().join("config/scripts/a.painless").is_file());
    let as_it_comes = jvm_options("14-:-XX:+UseG1GC\n", files.path(), &EngineSpec::default());
    assert_eq!(as_it_comes, "14-:-XX:+UseG1GC\n");
}

#[test]
fn settings_of_the_user_win() {
    let home = home("");
    let arguments = arguments(&PRODUCTS[0], home.path(), Path::new("/f"), (1, 2), &spec(home.path()));
    let starting =
        |start: &str| arguments.iter().filter(|argument| argument.starts_with(start)).collect::<Vec<_>>();
    assert_eq!(starting("-Ehttp.port="), ["-Ehttp.port=9999"]);
    assert_eq!(starting("-Epath."), ["-Epath.data=/f/data", "-Epath.logs=/f/logs"]);
    assert_eq!(starting("-Expack"), ["-Expack.security.enabled=false"]);
    assert_eq!(arguments.last().unwrap(), "-Eindices.memory.index_buffer_size=20%");
}

#[test]
fn heap_and_options_go_into_the_environment() {
    let mut spec = spec(Path::new("/home"));
    let variables = environment(&PRODUCTS[1], Path::new("/f"), &spec).unwrap();
    let expected = [
        ("OPENSEARCH_PATH_CONF", "/f/config"),
        ("OPENSEARCH_TMPDIR", "/f/tmp"),
        ("OPENSEARCH_JAVA_OPTS", "-Xms512m -Xmx512m -XX:+UseParallelGC"),
    ];
    assert_eq!(variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    spec.jvm_options.push("-Da -Db".into());
    assert!(
        environment(&PRODUCTS[0], Path::new("/f"), &spec)
            .unwrap_err()
            .to_string()
            .contains("may hold no space")
    );
}

#[test]
fn what_does_not_start_is_told() {
    let empty = tempfile::tempdir().unwrap();
    let error = start(empty.path(), &spec(empty.path())).err().unwrap().to_string();
    assert!(error.contains("neither bin/elasticsearch nor bin/opensearch"), "{error}");
    let home = home("#!/bin/sh\necho no java here >&2\nexit 3\n");
    let error = start(home.path(), &spec(home.path())).err().unwrap().to_string();
    // SAFETY: as above.
    match unsafe { libc::geteuid() } {
        0 => assert!(error.contains("unshare --user --map-user=1000"), "{error}"),
        _ => assert!(error.contains("ended at once") && error.contains("no java here"), "{error}"),
    }
}

/// The script runs the server as a child process, as the start scripts of Elasticsearch 8 do.
#[test]
fn a_server_is_ended_by_its_own_id() {
    let files = tempfile::tempdir().unwrap();
    let folder = files.path().to_owned();
    let pid_file = folder.join("pid");
    let script = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
    let launcher = Command::new("sh").args(["-c", &script]).spawn().unwrap();
    while !std::fs::read_to_string(&pid_file).is_ok_and(|text| text.ends_with('\n')) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let guard = Guard { launcher, files: Some(files) };
    let (server, launcher) = (guard.process_id(), guard.launcher.id());
    assert!(process::is_alive(server) && server != launcher);
    drop(guard);
    assert!(!process::is_alive(server) && !process::is_alive(launcher));
    assert!(!folder.exists());
}
