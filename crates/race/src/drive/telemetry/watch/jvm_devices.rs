//! Devices that work by options of a JVM's start or within its machine: none of them works on a server that runs already.

use super::device::{Device, Planned, Surroundings};
use super::params::Parameters;

const fn refused(
    name: &'static str,
    help: &'static str,
    params: &'static [&'static str],
    plan: fn(&Parameters<'_>, &Surroundings<'_>) -> Result<Vec<Planned>, String>,
) -> Device {
    Device { name, help, params, is_default: false, is_on_serverless: false, plan }
}

pub const JIT: Device = refused("jit", "JIT compiler logs; needs a JVM that the race starts", &[], |_, _| {
    Err("a running JVM cannot be told to log its compiler; start the server with -XX:+UnlockDiagnosticVMOptions \
         -XX:+LogCompilation"
        .into())
});

pub const GC: Device =
    refused("gc", "GC logs; needs a JVM that the race starts", &["gc-log-config"], |_, _| {
        Err("the race does not start a JVM, and a running one cannot be told to log; start the server with \
         -Xlog:gc*=info,safepoint=info,age*=trace:file=gc.log:utctime,uptimemillis,level,tags:filecount=0"
            .into())
    });

pub const FLIGHT_RECORDER: Device = refused(
    "jfr",
    "Java Flight Recorder; needs a JVM that the race starts",
    &["recording-template", "jfr-delay", "jfr-duration"],
    |_, _| {
        Err("the race does not start a JVM; start a recording of the running one with [jcmd PID JFR.start]"
            .into())
    },
);

pub const HEAP_DUMP: Device =
    refused("heapdump", "Heap dump at the end; needs a JVM that the race starts", &[], |_, _| {
        Err("the race does not start a JVM; dump the running one's heap with [jcmd PID GC.heap_dump FILE]"
            .into())
    });
