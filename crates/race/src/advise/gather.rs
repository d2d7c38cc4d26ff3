//! Reads everything that the rules look at.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::finding::Unread;
use super::gc::{self, GcFigures, GcLogError};
use super::machine::{Machine, is_own_address};
use super::seen::Seen;
use super::server::Server;
use crate::http::cluster::Cluster;

/// What to read.
pub(super) struct Source<'a> {
    /// The server and the address it was found at; `None` to read GC logs alone.
    pub server: Option<(&'a mut Cluster, IpAddr, String)>,
    pub watch: Duration,
    pub gc_logs: &'a [PathBuf],
    /// The server's process on this machine, for a server that cannot be found by the process id it reports.
    pub pid: Option<u32>,
}

/// Reads everything, with a pause of `watch` between two readings of the counters.
///
/// Errors: the server does not answer at all ([`Unread`]), or a GC log that the user named cannot be read.
pub(super) fn gather(source: Source<'_>) -> Result<Result<Seen, Unread>, GcLogError> {
    let Source { server, watch, gc_logs, pid } = source;
    let named = (!gc_logs.is_empty()).then(|| gc::read(gc_logs)).transpose()?;
    let Some((cluster, address, host)) = server else {
        let no_server = || Unread::new("the server", "only GC logs were given: give its --host too");
        return Ok(Ok(Seen {
            host: String::new(),
            server: Server::of(&Value::Null, Default::default()),
            window_s: 0.0,
            machine: Err(no_server()),
            gc: figures(named.unwrap_or_default()),
        }));
    };
    let mut server = match Server::ask(cluster) {
        Ok(server) => server,
        Err(unread) => return Ok(Err(unread)),
    };
    let mut machine = find_machine(&server, address, &host, pid);
    let begin = Instant::now();
    std::thread::sleep(watch);
    server.ask_again(cluster);
    let window_s = begin.elapsed().as_secs_f64();
    if let Ok(machine) = &mut machine {
        machine.sample_again();
    }
    let gc = match named {
        Some(events) => figures(events),
        None => own_log(&server, machine.as_ref().ok()),
    };
    Ok(Ok(Seen { host, server, window_s, machine, gc }))
}

fn figures(events: gc::GcEvents) -> Result<GcFigures, Unread> {
    GcFigures::of(&events).ok_or_else(|| Unread::new("GC log", "its lines cover no time"))
}

/// Returns the machine of the server's process, if it is this one.
fn find_machine(server: &Server, address: IpAddr, host: &str, pid: Option<u32>) -> Result<Machine, Unread> {
    let root = Path::new("/");
    if let Some(pid) = pid {
        return Machine::of_process(root, pid);
    }
    let what = "the server's machine";
    if !is_own_address(address) {
        return Err(Unread::new(what, format!("[{host}] is another machine: run `limber advise` there")));
    }
    let word = server.product.engine();
    let found = server.nodes()?.iter().find_map(|node| {
        let pid = node.info("process.id").ok()?;
        Machine::of_process(root, pid as u32).ok().filter(|machine| machine.runs(word))
    });
    found.ok_or_else(|| {
        Unread::new(what, format!("no process here has the number the server gives and runs {word}: is it in a container, or behind a tunnel? Give its --pid"))
    })
}

/// Reads the log that the JVM was told to write, if that is a file of this machine.
fn own_log(server: &Server, machine: Option<&Machine>) -> Result<GcFigures, Unread> {
    let what = "GC log";
    let machine = machine
        .ok_or_else(|| Unread::new(what, "none was given (--gc-log) and the server's machine is not read"))?;
    let arguments: Vec<&str> = server
        .nodes()?
        .iter()
        .filter_map(|node| node.info_list("jvm.input_arguments").ok())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let file = arguments.iter().rev().find_map(|argument| log_file_of(argument));
    let file = file.ok_or_else(|| Unread::new(what, "none was given (--gc-log) and the JVM writes none"))?;
    let file = file.replace("%p", &machine.pid.to_string());
    let file = machine.working_folder().unwrap_or_default().join(file);
    let events = gc::read(&[file]).map_err(|error| Unread::new(what, error))?;
    figures(events)
}

/// Returns the file named in an option such as `-Xlog:gc*,safepoint:file=logs/gc.log:utctime:filecount=8` or
/// `-Xverbosegclog:gc.xml,5,100`.
fn log_file_of(argument: &str) -> Option<&str> {
    if let Some(rest) = argument.strip_prefix("-Xverbosegclog:") {
        return rest.split(',').next().filter(|file| !file.is_empty());
    }
    let (what, output) = argument.strip_prefix("-Xlog:")?.split_once(':')?;
    if !what.split([',', '+', '*', '=']).any(|tag| tag == "gc") {
        return None;
    }
    let output = output.strip_prefix("file=")?;
    match output.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => output.split(':').next(),
    }
    .filter(|file| !file.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jvm_says_where_its_log_is() {
        #[track_caller]
        fn check(argument: &str, expected: Option<&str>) {
            assert_eq!(log_file_of(argument), expected);
        }
        check(
            "-Xlog:gc*,gc+age=trace,safepoint:file=logs/gc.log:utctime,level:filecount=32",
            Some("logs/gc.log"),
        );
        check("-Xlog:gc:file=\"C:\\logs\\gc.log\":time", Some("C:\\logs\\gc.log"));
        check("-Xlog:gc", None);
        check("-Xlog:gc*:stderr", None);
        check("-Xlog:class+load:file=x.log", None);
        check("-Xverbosegclog:gc.xml,5,1000", Some("gc.xml"));
        check("-Xmx1g", None);
    }

    #[test]
    fn gc_logs_can_be_read_without_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gc.log");
        std::fs::write(
            &file,
            "[0.1s][info][gc] Using G1\n[9.1s][info][gc] GC(0) Pause Young (Normal) 9M->1M(9M) 90.0ms\n",
        )
        .unwrap();
        let source = Source { server: None, watch: Duration::ZERO, gc_logs: &[file], pid: None };
        let seen = gather(source).unwrap().unwrap();
        assert_eq!(seen.gc.unwrap().pause_percent, 1.0);
        assert_eq!(seen.machine.unwrap_err().what, "the server");
        let missing = [folder.path().join("nothing.log")];
        let source = Source { server: None, watch: Duration::ZERO, gc_logs: &missing, pid: None };
        assert!(gather(source).err().unwrap().to_string().contains("nothing.log"));
    }
}
