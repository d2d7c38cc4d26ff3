//! What the server, the load generator and the machine used during the race.

use super::environment::{Row, put_rows};
use super::escape::put;
use super::race_data::RaceData;
use crate::notation::shown::{self, percent};
use crate::record::measurements::Measurements;

type Read = fn(&Measurements) -> Option<String>;

/// The rows, in the order of the page.
const ROWS: &[(&str, Read)] = &[
    ("Server: processor time", |all| all.server.cpu_s.map(seconds)),
    ("Server: peak resident memory, since its start", |all| {
        all.server.peak_resident_bytes.map(|bytes| shown::bytes(bytes as f64))
    }),
    ("Server: resident memory at the end", |all| {
        all.server.resident_bytes.map(|bytes| shown::bytes(bytes as f64))
    }),
    ("Load generator: processor time", |all| all.machine.generator_cpu_s.map(seconds)),
    ("Load generator: busiest thread in any task", |all| {
        let busiest = all.tasks.iter().map(|task| task.generator.busiest_worker_share).fold(0.0, f64::max);
        (busiest > 0.0).then(|| percent(busiest))
    }),
    ("Load generator: own delay, p99 of the worst task", |all| {
        let delays = all.tasks.iter().filter_map(|task| task.own_delay).map(|delay| delay.p99);
        delays.reduce(f64::max).map(shown::milliseconds)
    }),
    ("Machine: processors", |all| (all.machine.processors > 0).then(|| all.machine.processors.to_string())),
    ("Machine: processor time of everyone", |all| all.machine.busy_s.map(seconds)),
    ("Machine: processor time of others", |all| all.machine.others_cpu_s.map(seconds)),
    ("Machine: length of the race", |all| (all.machine.wall_s > 0.0).then(|| seconds(all.machine.wall_s))),
    ("Machine: time stolen by the hypervisor", |all| all.machine.steal_share.map(percent)),
    ("Machine: stalled for processors", |all| all.machine.cpu_stall_share.map(percent)),
    ("Machine: stalled for memory", |all| all.machine.memory_stall_share.map(percent)),
    ("Machine: stalled for disks", |all| all.machine.io_stall_share.map(percent)),
    ("Machine: throttled by its quota", |all| all.machine.quota_throttled_share.map(percent)),
];

fn seconds(seconds: f64) -> String {
    format!("{} s", shown::three_digits(seconds))
}

pub(crate) fn put(races: &[RaceData], labels: &[String], out: &mut String) {
    let value = |data: &RaceData, read: Read| data.measurements.as_ref().and_then(read);
    let row = |(name, read): &(&str, Read)| -> Row {
        ((*name).to_owned(), races.iter().map(|data| value(data, *read).unwrap_or_default()).collect())
    };
    let rows: Vec<Row> =
        ROWS.iter().map(row).filter(|(_, values)| values.iter().any(|value| !value.is_empty())).collect();
    if rows.is_empty() {
        return;
    }
    put!(
        out,
        "<section aria-labelledby=\"machine\"><h2 id=\"machine\">Server, load generator and machine</h2>"
    );
    put_rows(&rows, labels, out);
    out.push_str("</section>\n");
}
