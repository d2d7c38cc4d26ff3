//! What the server reported about itself over time.
//!
//! `telemetry.ndjson` has documents in Rally's metrics layout. Values of the known panels are drawn
//! ([`PANELS`]). Every other document with one value is listed, or drawn when there are several with its
//! name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Map, Value};

use super::scale::Unit;
use crate::model::bare_text;

/// Largest number of points of a line.
const POINTS_MAX: usize = 300;
/// Largest number of names of values outside the panels.
const NAMES_MAX: usize = 400;

/// How a plot's values are computed from fields of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The field as it is.
    Level,
    /// Areas on top of each other, from the first pattern that matches any field.
    Stacked,
    /// Growth per second.
    Rate,
    /// Growth of hits relative to the growth of hits and misses. The fields are pairs of the two.
    HitRate,
    /// Milliseconds per second, as a share.
    TimeShare,
}

/// A plot of telemetry. Its fields are names, or a prefix and a suffix around `*`, each with a label (`""`
/// for the part that the star matches). If several fields have the same label, the first that exists is
/// drawn.
#[derive(Debug)]
pub(crate) struct Panel {
    pub title: &'static str,
    pub unit: Unit,
    pub reading: Reading,
    pub fields: &'static [(&'static str, &'static str)],
}

/// The panels, in the order of the page. Fields are those of the devices `process-stats` and `server-stats`
/// and of Rally's `node-stats`.
pub(crate) const PANELS: &[Panel] = &[
    Panel {
        title: "Memory by pool",
        unit: Unit::Bytes,
        reading: Reading::Stacked,
        fields: &[
            ("limber_memory_pools_*_used_in_bytes", ""),
            ("jvm_mem_pools_*_used_in_bytes", ""),
            ("breakers_*_estimated_size_in_bytes", ""),
        ],
    },
    Panel {
        title: "Memory of the process",
        unit: Unit::Bytes,
        reading: Reading::Level,
        fields: &[
            ("rss_bytes", "resident (RSS)"),
            ("limber_memory_resident_in_bytes", "resident (RSS)"),
            ("process_mem_resident_in_bytes", "resident (RSS)"),
            ("anonymous_bytes", "anonymous"),
            ("limber_memory_anonymous_in_bytes", "anonymous"),
            ("file_bytes", "mapped files"),
            ("jvm_mem_heap_used_in_bytes", "heap used"),
            ("jvm_mem_heap_max_in_bytes", "heap limit"),
            ("os_cgroup_memory_usage_in_bytes", "cgroup"),
        ],
    },
    Panel {
        title: "Processor",
        unit: Unit::Percent,
        reading: Reading::Level,
        fields: &[
            ("cpu_percent", "process, 100 % a core"),
            ("process_cpu_percent", "process, of the machine"),
            ("os_cpu_percent", "machine"),
        ],
    },
    Panel {
        title: "Garbage collection, share of time",
        unit: Unit::Percent,
        reading: Reading::TimeShare,
        fields: &[("jvm_gc_collectors_*_collection_time_in_millis", "")],
    },
    Panel {
        title: "Disk",
        unit: Unit::BytesPerSecond,
        reading: Reading::Rate,
        fields: &[
            ("disk_read_bytes", "read"),
            ("fs_io_stats_total_read_kilobytes", "read"),
            ("disk_write_bytes", "written"),
            ("fs_io_stats_total_write_kilobytes", "written"),
        ],
    },
    Panel {
        title: "Size on disk",
        unit: Unit::Bytes,
        reading: Reading::Level,
        fields: &[("indices_store_size_in_bytes", "index"), ("indices_translog_size_in_bytes", "translog")],
    },
    Panel {
        title: "Merged",
        unit: Unit::BytesPerSecond,
        reading: Reading::Rate,
        fields: &[("indices_merges_total_size_in_bytes", "merged")],
    },
    Panel {
        title: "Time spent, per second",
        unit: Unit::Percent,
        reading: Reading::TimeShare,
        fields: &[
            ("indices_indexing_index_time_in_millis", "indexing"),
            ("indices_search_query_time_in_millis", "queries"),
            ("indices_merges_total_time_in_millis", "merges"),
            ("indices_refresh_total_time_in_millis", "refresh"),
            ("indices_flush_total_time_in_millis", "flush"),
        ],
    },
    Panel {
        title: "Segments",
        unit: Unit::Plain,
        reading: Reading::Level,
        fields: &[("indices_segments_count", "segments")],
    },
    Panel {
        title: "Cache hit rate",
        unit: Unit::Percent,
        reading: Reading::HitRate,
        fields: &[
            ("indices_query_cache_hit_count", "query cache"),
            ("indices_query_cache_miss_count", ""),
            ("indices_request_cache_hit_count", "request cache"),
            ("indices_request_cache_miss_count", ""),
            ("limber_memory_term_index_cache_hit_count", "term index"),
            ("limber_memory_term_index_cache_miss_count", ""),
        ],
    },
    Panel {
        title: "Queued in thread pools",
        unit: Unit::Plain,
        reading: Reading::Level,
        fields: &[("thread_pool_write_queue", "write"), ("thread_pool_search_queue", "search")],
    },
];

/// A line over time: (seconds since the race's start, value), ascending.
pub(crate) type Course = Vec<(f64, f64)>;

#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    /// Keyed by (node, field). The node is empty for documents without one.
    fields: BTreeMap<(String, String), Course>,
    /// Single values outside the panels by (node, name), with their units.
    values: BTreeMap<(String, String), (Course, String)>,
}

impl Telemetry {
    /// Reads the file. `start_ms` is the race's start; without it, the first document's time is used. Without
    /// a file there is no telemetry.
    ///
    /// Errors: the file cannot be read, or a line other than the last one is not a JSON object.
    pub(crate) fn read(path: &Path, start_ms: Option<u64>) -> std::io::Result<Telemetry> {
        let mut telemetry = Telemetry::default();
        let mut start_ms = start_ms.map(|start| start as f64);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(telemetry),
            Err(error) => return Err(error),
        };
        let mut reader = BufReader::new(file);
        let mut text = Vec::new();
        loop {
            text.clear();
            if reader.read_until(b'\n', &mut text)? == 0 || text.last() != Some(&b'\n') {
                break;
            }
            let document: Map<String, Value> = serde_json::from_slice(&text)?;
            let Some(at_ms) = document.get("@timestamp").and_then(Value::as_f64) else { continue };
            let start_ms = *start_ms.get_or_insert(at_ms);
            telemetry.take(&document, (at_ms - start_ms) / 1000.0);
        }
        for course in
            telemetry.fields.values_mut().chain(telemetry.values.values_mut().map(|value| &mut value.0))
        {
            course.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Ok(telemetry)
    }

    fn take(&mut self, document: &Map<String, Value>, at_s: f64) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let meta = |name: &str| document.get("meta").and_then(|meta| meta.get(name));
        let node = text(meta("node_name").or_else(|| meta("host")));
        if let (Some(value), name) =
            (document.get("value").and_then(Value::as_f64), text(document.get("name")))
        {
            if document.get("task").is_none_or(Value::is_null) && self.values.len() < NAMES_MAX {
                // These parts distinguish values with the same name, such as the disk usage of each field.
                let parts = ["index", "field", "shard", "pipeline_name", "processor_type"].map(meta);
                let parts = parts.into_iter().flatten().map(bare_text);
                let name = std::iter::once(name).chain(parts).collect::<Vec<_>>().join(" ");
                let unit = text(document.get("unit"));
                self.values.entry((node, name)).or_insert_with(|| (Vec::new(), unit)).0.push((at_s, value));
            }
            return;
        }
        for (field, value) in document {
            if let (Some(value), true) = (value.as_f64(), is_drawn(field)) {
                self.fields.entry((node.clone(), field.clone())).or_default().push((at_s, value));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.values.is_empty()
    }

    /// Returns the time of the last document that is drawn, in seconds since the race's start.
    pub(crate) fn end_s(&self) -> f64 {
        self.fields.values().filter_map(|course| course.last()).map(|point| point.0).fold(0.0, f64::max)
    }

    /// Returns the lines of a panel with their labels; empty if the server reports none of its fields.
    pub(crate) fn lines(&self, panel: &Panel) -> Vec<(String, Course)> {
        let mut lines: Vec<(String, Course)> = Vec::new();
        for (place, (pattern, label)) in panel.fields.iter().enumerate() {
            if panel.reading == Reading::HitRate && place % 2 == 1
                || panel.reading == Reading::Stacked && !lines.is_empty()
            {
                continue;
            }
            let mut found = Vec::new();
            for ((node, field), course) in &self.fields {
                let Some(star) = starred(pattern, field) else { continue };
                let label = if label.is_empty() { star } else { label };
                // The parent breaker contains the others.
                if panel.reading == Reading::Stacked && label == "parent" {
                    continue;
                }
                let line = match panel.reading {
                    Reading::Level | Reading::Stacked => course.clone(),
                    Reading::Rate => rates(course, if field.ends_with("_kilobytes") { 1024.0 } else { 1.0 }),
                    Reading::TimeShare => rates(course, 0.1),
                    Reading::HitRate => {
                        let misses = panel.fields[place + 1].0.to_owned();
                        self.fields
                            .get(&(node.clone(), misses))
                            .map_or_else(Vec::new, |misses| hit_rates(course, misses))
                    }
                };
                // Leave out the heap of a server without one, a pool that was never used, and a single point.
                if line.len() >= 2 && line.iter().any(|point| point.1 != 0.0) {
                    found.push((node, label, thinned(line)));
                }
            }
            let is_of_one_node = found.iter().all(|(node, ..)| *node == found[0].0);
            let known: Vec<String> = lines.iter().map(|line| line.0.clone()).collect();
            let named = found.into_iter().map(|(node, label, line)| {
                (if is_of_one_node { label.to_owned() } else { format!("{label}, {node}") }, line)
            });
            lines.extend(named.filter(|(label, _)| !known.contains(label)));
        }
        lines
    }

    /// Returns the values outside the panels: (node, name, unit, course).
    pub(crate) fn others(&self) -> impl Iterator<Item = (&str, &str, &str, &Course)> {
        self.values
            .iter()
            .map(|((node, name), (course, unit))| (node.as_str(), name.as_str(), unit.as_str(), course))
    }
}

fn is_drawn(field: &str) -> bool {
    PANELS.iter().flat_map(|panel| panel.fields).any(|(pattern, _)| starred(pattern, field).is_some())
}

/// Returns what the star matches, or the whole field without a star; `None` for fields that do not match.
fn starred<'a>(pattern: &str, field: &'a str) -> Option<&'a str> {
    match pattern.split_once('*') {
        None => (pattern == field).then_some(field),
        Some((prefix, suffix)) => {
            field.strip_prefix(prefix)?.strip_suffix(suffix).filter(|star| !star.is_empty())
        }
    }
}

/// Returns the growth per second between consecutive points, at the time of the later one. A counter that
/// decreased was reset, so nothing is known there.
fn rates(course: &Course, factor: f64) -> Course {
    let rate = |pair: &[(f64, f64)]| {
        let (seconds, growth) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        (seconds > 0.0 && growth >= 0.0).then(|| (pair[1].0, growth / seconds * factor))
    };
    course.windows(2).filter_map(rate).collect()
}

fn hit_rates(hits: &Course, misses: &Course) -> Course {
    let pairs: Vec<(f64, f64, f64)> = hits
        .iter()
        .zip(misses)
        .filter(|(hit, miss)| hit.0 == miss.0)
        .map(|(hit, miss)| (hit.0, hit.1, miss.1))
        .collect();
    let rate = |pair: &[(f64, f64, f64)]| {
        let (hits, misses) = (pair[1].1 - pair[0].1, pair[1].2 - pair[0].2);
        (hits >= 0.0 && misses >= 0.0 && hits + misses > 0.0)
            .then(|| (pair[1].0, hits / (hits + misses) * 100.0))
    };
    pairs.windows(2).filter_map(rate).collect()
}

/// Replaces neighbouring points by their mean if there are too many.
fn thinned(course: Course) -> Course {
    let group = course.len().div_ceil(POINTS_MAX).max(1);
    let mean = |points: &[(f64, f64)]| {
        let count = points.len() as f64;
        (
            points.iter().map(|point| point.0).sum::<f64>() / count,
            points.iter().map(|point| point.1).sum::<f64>() / count,
        )
    };
    course.chunks(group).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(documents: &[Value]) -> Telemetry {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = documents.iter().map(|document| format!("{document}\n")).collect();
        std::fs::write(file.path(), text + "{\"half a li").unwrap();
        Telemetry::read(file.path(), Some(1000)).unwrap()
    }

    fn panel(title: &str) -> &'static Panel {
        PANELS.iter().find(|panel| panel.title.starts_with(title)).unwrap()
    }

    #[test]
    fn panels_find_their_fields() {
        let document = |at: u64, fields: Value| {
            let mut document = json!({"@timestamp": at, "name": "node-stats", "meta": {"node_name": "n"}});
            document.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            document
        };
        let telemetry = read(&[
            document(
                2000,
                json!({"breakers_request_estimated_size_in_bytes": 5, "breakers_parent_estimated_size_in_bytes": 9, "indices_query_cache_hit_count": 0, "indices_query_cache_miss_count": 0, "fs_io_stats_total_write_kilobytes": 10, "rss_bytes": 4, "process_mem_resident_in_bytes": 5, "other": 1}),
            ),
            document(
                3000,
                json!({"breakers_request_estimated_size_in_bytes": 7, "breakers_parent_estimated_size_in_bytes": 9, "indices_query_cache_hit_count": 3, "indices_query_cache_miss_count": 1, "fs_io_stats_total_write_kilobytes": 12, "rss_bytes": 4, "process_mem_resident_in_bytes": 5}),
            ),
        ]);
        assert_eq!(
            telemetry.lines(panel("Memory by pool")),
            [("request".to_owned(), vec![(1.0, 5.0), (2.0, 7.0)])]
        );
        assert_eq!(
            telemetry.lines(panel("Memory of the process")),
            [("resident (RSS)".to_owned(), vec![(1.0, 4.0), (2.0, 4.0)])]
        );
        assert!(telemetry.lines(panel("Cache hit rate")).is_empty(), "one interval is no line");
        assert!(telemetry.lines(panel("Disk")).is_empty());
        assert_eq!(telemetry.end_s(), 2.0);
        assert_eq!(
            rates(&vec![(0.0, 10.0), (2.0, 30.0), (3.0, 5.0), (4.0, 6.0)], 1.0),
            [(2.0, 10.0), (4.0, 1.0)]
        );
        assert_eq!(hit_rates(&vec![(1.0, 0.0), (2.0, 3.0)], &vec![(1.0, 0.0), (2.0, 1.0)]), [(2.0, 75.0)]);
        assert_eq!(thinned((0..900).map(|i| (f64::from(i), 1.0)).collect()).len(), 300);
    }

    #[test]
    fn single_values_are_kept_and_tasks_left_out() {
        let telemetry = read(&[
            json!({"@timestamp": 2000, "name": "store_size", "value": 5, "unit": "byte", "meta": {"index": "logs", "field": "_id"}}),
            json!({"@timestamp": 2000, "name": "latency", "value": 5, "unit": "ms", "task": "index"}),
        ]);
        let others: Vec<_> = telemetry.others().collect();
        assert_eq!(others, [("", "store_size logs _id", "byte", &vec![(1.0, 5.0)])]);
        assert!(Telemetry::read(Path::new("/nowhere/telemetry.ndjson"), None).unwrap().is_empty());
    }
}
