//! Devices that need options at a JVM's start, or access to its machine (`JitCompiler`, `Gc`,
//! `FlightRecorder`, `Heapdump`).
//!
//! They work on an Elasticsearch or OpenSearch that the race starts (`--engine DIR`): [`options`] are added
//! to its start, and the results are in the race's folder. If a server is already running they are refused,
//! and the error says what its owner can do instead.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use super::sampler::WatchPlan;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::model::bare_text;

pub(super) const JIT: Device = Device {
    name: "jit",
    help: "JIT compiler logs of a JVM that the race starts (--engine DIR)",
    params: &[],
    is_default: false,
    is_on_serverless: false,
    plan: |_, surroundings| {
        let instead = "start the server with -XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation";
        log(surroundings, "jit.log", instead)
    },
};

pub(super) const GC: Device = Device {
    name: "gc",
    help: "GC logs of a JVM that the race starts (--engine DIR)",
    params: &["gc-log-config"],
    is_default: false,
    is_on_serverless: false,
    plan: |_, surroundings| {
        let instead = "start the server with -Xlog:gc*=info,safepoint=info,age*=trace:file=gc.log:utctime,uptimemillis,level,tags:filecount=0";
        log(surroundings, "gc.log", instead)
    },
};

pub(super) const FLIGHT_RECORDER: Device = Device {
    name: "jfr",
    help: "Java Flight Recorder of a JVM that the race starts (--engine DIR)",
    params: &["recording-template", "jfr-delay", "jfr-duration"],
    is_default: false,
    is_on_serverless: false,
    plan: |_, surroundings| {
        log(surroundings, "profile.jfr", "start a recording of the running JVM with [jcmd PID JFR.start]")
    },
};

pub(super) const HEAP_DUMP: Device = Device {
    name: "heapdump",
    help: "Heap dump, at the end, of a JVM that the race starts (--engine DIR)",
    params: &[],
    is_default: false,
    is_on_serverless: false,
    plan: |_, surroundings| {
        let process = started(surroundings, "dump the running JVM's heap with [jcmd PID GC.heap_dump FILE]")?;
        let file = surroundings.folder.join(format!("heap_at_exit_{process}.hprof"));
        Ok(vec![Planned { cluster: 0, interval: None, recorder: Box::new(HeapDump { process, file }) }])
    },
};

/// Returns the options of the JVM that is started. Its logs go to `folder`.
pub(crate) fn options(plan: &WatchPlan, folder: &Path) -> Result<Vec<String>, Error> {
    let wrong = Error::at(folder);
    // The server has a different working folder, so make the path absolute.
    let folder = &std::path::absolute(folder).map_err(&wrong)?;
    let params = Parameters(&plan.params);
    let text = |name: &str| params.get(name).map(bare_text);
    let file = |name: &str| folder.join(name).display().to_string();
    let mut options = Vec::new();
    for device in &plan.devices {
        match device.as_str() {
            "jit" => {
                options.extend(
                    ["-XX:+UnlockDiagnosticVMOptions", "-Xlog:class+load=info", "-XX:+LogCompilation"]
                        .map(String::from),
                );
                options.push(format!("-XX:LogFile={}", file("jit.log")));
                options.push("-XX:+PrintAssembly".into());
            }
            "gc" => {
                let config =
                    text("gc-log-config").unwrap_or_else(|| "gc*=info,safepoint=info,age*=trace".into());
                options.push(format!(
                    "-Xlog:{config}:file={}:utctime,uptimemillis,level,tags:filecount=0",
                    file("gc.log")
                ));
            }
            "jfr" => {
                options
                    .extend(["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"].map(String::from));
                let mut recording = format!(
                    "-XX:StartFlightRecording=maxsize=0,maxage=0s,disk=true,dumponexit=true,filename={}",
                    file("profile.jfr")
                );
                for (name, key) in
                    [("jfr-delay", "delay"), ("jfr-duration", "duration"), ("recording-template", "settings")]
                {
                    if let Some(value) = text(name) {
                        recording.push_str(&format!(",{key}={value}"));
                    }
                }
                options.push(recording);
            }
            _ => {}
        }
    }
    if !options.is_empty() {
        // The JVM creates files, but no folders.
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    Ok(options)
}

/// Returns the process id of the JVM that the race started.
fn started(surroundings: &Surroundings<'_>, instead: &str) -> Result<u32, Error> {
    surroundings.jvm.ok_or_else(|| {
        Error::Unsupported(format!("the race does not start a JVM (--engine DIR would); {instead}"))
    })
}

fn log(surroundings: &Surroundings<'_>, file: &str, instead: &str) -> Result<Vec<Planned>, Error> {
    started(surroundings, instead)?;
    let recorder = JvmLog { file: surroundings.folder.join(file) };
    Ok(vec![Planned { cluster: 0, interval: None, recorder: Box::new(recorder) }])
}

/// A file that the JVM writes itself and completes when it ends.
struct JvmLog {
    file: PathBuf,
}

impl Recorder for JvmLog {
    fn finish(&mut self, _cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        output.findings.notes.push(format!("The JVM writes [{}].", self.file.display()));
        Ok(())
    }
}

struct HeapDump {
    process: u32,
    file: PathBuf,
}

impl Recorder for HeapDump {
    fn finish(&mut self, _cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).map_err(Error::at(folder))?;
        }
        // Use the tools of the server's own JDK, if it runs on one, else those in the path.
        let java = std::fs::read_link(format!("/proc/{}/exe", self.process)).ok();
        let jmap = java.map(|java| java.with_file_name("jmap")).filter(|jmap| jmap.is_file());
        let jmap = jmap.unwrap_or_else(|| "jmap".into());
        let done = Command::new(&jmap)
            .arg(format!("-dump:format=b,file={}", self.file.display()))
            .arg(self.process.to_string())
            .output()
            .map_err(Error::machine(format_args!("[{}] does not start", jmap.display())))?;
        if !done.status.success() {
            return Err(Error::Failed(format!(
                "[{}]: {}",
                jmap.display(),
                String::from_utf8_lossy(&done.stderr).trim()
            )));
        }
        output.findings.notes.push(format!("The heap dump is in [{}].", self.file.display()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_of_a_start() {
        let folder = tempfile::tempdir().unwrap();
        let plan = WatchPlan {
            devices: ["gc", "jfr", "node-stats"].map(String::from).to_vec(),
            params: json!({"gc-log-config": "gc", "jfr-delay": "5s"}).as_object().cloned().unwrap(),
        };
        let place = folder.path().join("r");
        let found = options(&plan, &place).unwrap();
        let shown = place.display();
        assert_eq!(
            found,
            [
                format!("-Xlog:gc:file={shown}/gc.log:utctime,uptimemillis,level,tags:filecount=0"),
                "-XX:+UnlockDiagnosticVMOptions".into(),
                "-XX:+DebugNonSafepoints".into(),
                format!(
                    "-XX:StartFlightRecording=maxsize=0,maxage=0s,disk=true,dumponexit=true,filename={shown}/profile.jfr,delay=5s"
                ),
            ]
        );
        assert!(place.is_dir());
        assert!(options(&WatchPlan::default(), &place).unwrap().is_empty());
    }
}
