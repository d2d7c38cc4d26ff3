//! Reports which tracks of a checkout of Rally's tracks can be loaded here, and what is missing for the
//! others.
//!
//! Every challenge of every `track.json` is rendered, checked and planned, without its documents. There is
//! one line for each challenge that cannot run, and a summary at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::drive::operation::{Plan, planned};
use crate::model::{Challenge, ScheduleElement, Track};
use crate::protocol::Protocol;
use crate::track::load::{TrackSource, TrackSpec, read};
use crate::track::plugin::{Plugin, PluginError, PythonSettings, wants};

/// Reads every track below `checkout`, and prints what keeps its challenges from running and a summary at the
/// end.
///
/// The Python that `LIMBER_PYTHON` names (`python3` by default) loads every `track.py`.
pub fn print_coverage(checkout: &Path) {
    let mut tracks = Vec::new();
    find_tracks(checkout, &mut tracks);
    tracks.sort();
    let now_s = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |now| now.as_secs_f64());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in tracks {
        let name = folder.strip_prefix(checkout).unwrap_or(&folder).display().to_string();
        let settings = PythonSettings {
            interpreter: std::env::var_os("LIMBER_PYTHON").map(PathBuf::from),
            ..PythonSettings::default()
        };
        let loaded = folder.join("track.py").is_file().then(|| Plugin::load(&folder, &settings));
        let plugin = match &loaded {
            None => "no plugin",
            Some(Ok(_)) => "track.py",
            Some(Err(error)) => {
                println!("{name} (track.py): {error}");
                "track.py cannot be loaded"
            }
        };
        match read(&TrackSpec::new(TrackSource::Path(folder), now_s)) {
            Err(error) => {
                *counts.entry("does not load").or_default() += 1;
                println!("{name} ({plugin}): does not load: {error}");
            }
            Ok(track) => {
                let mut is_whole = true;
                for challenge in &track.challenges {
                    let missing = missing(&track, challenge, loaded.as_ref());
                    is_whole &= missing.is_empty();
                    let default = if challenge.default { ", default" } else { "" };
                    for missing in missing {
                        println!("{name} ({plugin}) [{}{default}]: {missing}", challenge.name);
                    }
                }
                *counts
                    .entry(if is_whole { "whole" } else { "loads, challenges lack something" })
                    .or_default() += 1;
                println!("{name} ({plugin}): loads, {} challenges", track.challenges.len());
            }
        }
    }
    println!("{counts:?}");
}

fn find_tracks(folder: &Path, tracks: &mut Vec<PathBuf>) {
    if folder.join("track.json").is_file() {
        tracks.push(folder.to_owned());
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
            find_tracks(&path, tracks);
        }
    }
}

/// Returns each reason that keeps a challenge from running once. Documents are not read.
fn missing(
    track: &Track,
    challenge: &Challenge,
    plugin: Option<&Result<Plugin, PluginError>>,
) -> Vec<String> {
    let plugin = plugin.and_then(|plugin| plugin.as_ref().ok());
    let has = |what: &str, name: &str| {
        plugin.is_some_and(|plugin| match what {
            "operation type" => plugin.has_runner(name),
            "parameter source" => plugin.has_param_source(name),
            _ => plugin.has_scheduler(name),
        })
    };
    let mut missing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for task in challenge.schedule.iter().flat_map(ScheduleElement::tasks) {
        let kind = task.operation.kind.as_str();
        let reason = if let Some((what, name)) = wants(task).find(|(what, name)| !has(what, name)) {
            format!("{what} [{name}]")
        } else if wants(task).next().is_some() || plugin.is_some_and(|plugin| plugin.has_runner(kind)) {
            // The plugin decides at run time, so this cannot be checked.
            continue;
        } else if kind == "bulk" {
            continue;
        } else {
            match planned(&mut Plan::new(track, task, &Protocol::plain(), true)) {
                Ok(_) => continue,
                Err(reason) => format!("{kind}: {reason}"),
            }
        };
        missing.entry(reason).or_default().push(&task.name);
    }
    let shown = |(reason, tasks): (String, Vec<&str>)| match tasks[..] {
        [only] => format!("{reason} (task [{only}])"),
        _ => format!("{reason} ({} tasks, first [{}])", tasks.len(), tasks[0]),
    };
    missing.into_iter().map(shown).collect()
}
