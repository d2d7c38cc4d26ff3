//! `_cat/nodes`.

use std::sync::LazyLock;

use limber_engine::{Result, StatsRequest};

use super::App;
use super::statistics;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::machine;

const LEADING: &[Column] = &[
    text("id", "id,nodeId", "unique node id").hidden(),
    number("pid", "p", "process id").hidden(),
    text("ip", "i", "ip address"),
    number("port", "po", "bound transport port").hidden(),
    text("http_address", "http", "bound http address").hidden(),
    text("version", "v", "es version").hidden(),
    text("type", "t", "es distribution type").hidden(),
    text("build", "b", "es build hash").hidden(),
    text("jdk", "j", "jdk version").hidden(),
    number("disk.total", "dt,diskTotal", "total disk space").hidden(),
    number("disk.used", "du,diskUsed", "used disk space").hidden(),
    number("disk.avail", "d,da,disk,diskAvail", "available disk space").hidden(),
    number("disk.used_percent", "dup,diskUsedPercent", "used disk space percentage").hidden(),
    number("heap.current", "hc,heapCurrent", "used heap").hidden(),
    number("heap.percent", "hp,heapPercent", "used heap ratio"),
    number("heap.max", "hm,heapMax", "max configured heap").hidden(),
    number("ram.current", "rc,ramCurrent", "used machine memory").hidden(),
    number("ram.percent", "rp,ramPercent", "used machine memory ratio"),
    number("ram.max", "rm,ramMax", "total machine memory").hidden(),
    number("file_desc.current", "fdc,fileDescriptorCurrent", "used file descriptors").hidden(),
    number("file_desc.percent", "fdp,fileDescriptorPercent", "used file descriptor ratio").hidden(),
    number("file_desc.max", "fdm,fileDescriptorMax", "max file descriptors").hidden(),
    number("cpu", "cpu", "recent cpu usage"),
    number("load_1m", "l", "1m load avg"),
    number("load_5m", "l", "5m load avg"),
    number("load_15m", "l", "15m load avg"),
    number("uptime", "u", "node uptime").hidden(),
    text(
        "node.role",
        "r,role,nodeRole",
        "m:master eligible node, d:data node, i:ingest node, -:coordinating node only",
    ),
    text("master", "m", "*:current master"),
    text("name", "n", "node name"),
];

static COLUMNS: LazyLock<Vec<Column>> =
    LazyLock::new(|| LEADING.iter().copied().chain(statistics::columns_of_nodes()).collect());

/// Answers `GET _cat/nodes`.
pub fn nodes(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(&COLUMNS);
    if request.flag_or("help", false)? {
        return table.render(request);
    }
    let mut of_node = app.node.node_indices_stats(&StatsRequest::default())?;
    let (os, process) = (machine::os(), machine::process());
    let ledger = app.node.ledger();
    let used: u64 = ledger.pools().iter().map(|pool| pool.used_bytes()).sum();
    let percent = |part: u64, whole: u64| (part * 100).checked_div(whole).unwrap_or(0);
    let fs = app.node.fs_stats();
    let disk = |name: &str| fs["total"][name].as_u64().unwrap_or(0);
    let (disk_total, disk_available) = (disk("total_in_bytes"), disk("available_in_bytes"));
    let disk_used = disk_total.saturating_sub(disk_available);
    let id = app.node.node_id();
    let id = if request.flag_or("full_id", false)? { id } else { id.get(..4).unwrap_or(id) };
    let (host, port) = app.config.http_address.rsplit_once(':').unwrap_or(("127.0.0.1", "0"));
    let ram_used = os.memory_total_bytes.saturating_sub(os.memory_available_bytes);
    let mut row = vec![
        Cell::from(id),
        Cell::from(std::process::id()),
        Cell::from(host),
        Cell::from(port),
        Cell::from(app.config.http_address.as_str()),
        Cell::from(app.config.compat_version.as_str()),
        Cell::from("tar"),
        Cell::from(crate::rest::server::info::build_hash()),
        // There is no JDK; `_nodes` says the same.
        Cell::from("none"),
        Cell::Bytes(disk_total),
        Cell::Bytes(disk_used),
        Cell::Bytes(disk_available),
        Cell::Float(if disk_total == 0 { 0.0 } else { disk_used as f64 * 100.0 / disk_total as f64 }),
        Cell::Bytes(used),
        Cell::Count(percent(used, ledger.limit_bytes)),
        Cell::Bytes(ledger.limit_bytes),
        Cell::Bytes(ram_used),
        Cell::Count(percent(ram_used, os.memory_total_bytes)),
        Cell::Bytes(os.memory_total_bytes),
        Cell::Count(process.open_file_descriptors),
        Cell::Count(percent(process.open_file_descriptors, process.max_file_descriptors)),
        Cell::Count(process.max_file_descriptors),
        Cell::Count(percent(os.busy_millis, os.busy_millis + os.idle_millis)),
        Cell::Float(os.load_average[0]),
        Cell::Float(os.load_average[1]),
        Cell::Float(os.load_average[2]),
        Cell::Millis(app.node.uptime_ms()),
        Cell::from("dimr"),
        Cell::from("*"),
        Cell::from(app.node.config().node_name.as_str()),
    ];
    of_node["script"] = crate::rest::server::node_sections::compilations(app);
    row.extend(statistics::cells_of_node(&of_node));
    table.rows.push(row);
    table.render(request)
}
