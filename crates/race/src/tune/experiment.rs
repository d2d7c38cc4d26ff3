//! The experiment that the user asks for, in a file, in options, or in both.

use serde_json::{Map, Value, json};

use super::goal::{Bound, Goal};
use super::space::{Knob, Space};
use crate::error::Error;
use crate::notation::units::MB;

/// Members of an experiment file.
const MEMBERS: [&str; 21] = [
    "description",
    "track",
    "track-path",
    "track-repository",
    "challenge",
    "track-params",
    "include-tasks",
    "corpus",
    "test-mode",
    "target-hosts",
    "engine",
    "engine-setting",
    "memory-limit",
    "heap",
    "jvm-option",
    "goal",
    "constraints",
    "knobs",
    "budget",
    "significance",
    "seed",
];

/// Default number of races.
const BUDGET: usize = 60;
/// A final of two candidates needs eight races to show anything.
const BUDGET_MIN: usize = 8;

/// The goal of a search and what is searched. The track and the engine are in `json`, which the command
/// reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Experiment {
    pub description: String,
    pub goal: Goal,
    pub bounds: Vec<Bound>,
    pub space: Space,
    pub budget: usize,
    pub significance: f64,
    pub seed: u64,
    /// The experiment as it is stored with the search: the file overridden by options, and with sizes
    /// resolved.
    pub json: Map<String, Value>,
}

impl Experiment {
    /// `json` is the object of an experiment file, overridden by options. Values such as `25%ram` become
    /// sizes: shares of `memory_bytes`, the memory of this machine or its cgroup, which is `None` if it is
    /// unknown.
    ///
    /// # Errors
    /// `Argument` for missing or invalid values.
    pub(super) fn new(mut json: Map<String, Value>, memory_bytes: Option<u64>) -> Result<Experiment, Error> {
        let refused = |reason: String| Error::Argument(reason);
        if let Some(unknown) = json.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
            return Err(refused(format!(
                "[{unknown}] is no member of an experiment; members are {}",
                MEMBERS.join(", ")
            )));
        }
        resolve_sizes(&mut json, memory_bytes)?;
        let goal = json.get("goal").and_then(Value::as_str).ok_or_else(|| {
            refused("a goal is missing: --goal 'docs/s', --goal 'p99 of TASK', or the member goal of the experiment".to_owned())
        })?;
        let list = |name: &str| match json.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items.clone()),
            Some(other) => Err(refused(format!("[{name}] must be a list but is {other}"))),
        };
        let bounds = list("constraints")?
            .iter()
            .map(|bound| Bound::parse(bound.as_str().unwrap_or_default()))
            .collect::<Result<_, _>>()?;
        let knobs: Vec<Knob> = list("knobs")?.iter().map(Knob::from_json).collect::<Result<_, _>>()?;
        if knobs.iter().all(|knob| knob.values.len() < 2) {
            return Err(refused(
                "there is nothing to try: give knobs with at least two values (--knob NAME=V1,V2)".to_owned(),
            ));
        }
        for (index, knob) in knobs.iter().enumerate() {
            if knobs[..index].iter().any(|other| other.target == knob.target) {
                return Err(refused(format!("knob [{}] is there twice", knob.name)));
            }
        }
        let number = |name: &str, default: f64| match json.get(name) {
            None => Ok(default),
            Some(value) => {
                value.as_f64().ok_or_else(|| refused(format!("[{name}] must be a number but is {value}")))
            }
        };
        let budget = number("budget", BUDGET as f64)? as usize;
        if budget < BUDGET_MIN {
            return Err(refused(format!(
                "a budget of {budget} races shows nothing; give at least {BUDGET_MIN}"
            )));
        }
        let significance = number("significance", 0.05)?;
        if !(significance > 0.0 && significance < 1.0) {
            return Err(refused(format!("[significance] must be between 0 and 1 but is {significance}")));
        }
        Ok(Experiment {
            description: json.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            goal: Goal::parse(goal)?,
            bounds,
            space: Space { knobs },
            budget,
            significance,
            seed: number("seed", 1.0)? as u64,
            json,
        })
    }
}

/// Replaces `N%ram` in knobs and sizes by megabytes.
fn resolve_sizes(json: &mut Map<String, Value>, memory_bytes: Option<u64>) -> Result<(), Error> {
    let resolved = |text: &str| -> Result<Option<String>, Error> {
        let Some(percent) = text.strip_suffix("%ram") else { return Ok(None) };
        let refused = |reason: &str| Error::Argument(format!("[{text}] {reason}"));
        match percent.trim().parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => {
                let memory_bytes = memory_bytes.ok_or_else(|| {
                    refused("is a share of a memory that this system does not tell; give a size such as 4g")
                })?;
                Ok(Some(format!("{}m", (memory_bytes as f64 * percent / 100.0 / MB) as u64)))
            }
            _ => Err(refused("is no share of the machine's memory, such as 25%ram")),
        }
    };
    for name in ["heap", "memory-limit"] {
        if let Some(size) = json.get(name).and_then(Value::as_str).map(resolved).transpose()?.flatten() {
            json.insert(name.to_owned(), json!(size));
        }
    }
    for knob in json.get_mut("knobs").and_then(Value::as_array_mut).into_iter().flatten() {
        for value in knob.get_mut("values").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(size) = value.as_str().map(resolved).transpose()?.flatten() {
                *value = json!(size);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(json: Value) -> Result<Experiment, String> {
        let Value::Object(json) = json else { panic!() };
        Experiment::new(json, Some(8 << 30)).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_read_whole() {
        let knobs = json!([{"knob": "heap", "values": ["25%ram", "4g"]}]);
        let read = experiment(json!({
            "description": "d", "track": "log_ingest", "goal": "docs/s", "constraints": ["peak_memory <= 4gb"], "knobs": knobs,
            "budget": 12, "heap": "50%ram"
        }))
        .unwrap();
        assert_eq!(read.space.knobs[0].values, [json!("2048m"), json!("4g")]);
        assert_eq!((read.budget, read.bounds.len(), read.json["heap"].as_str()), (12, 1, Some("4096m")));
        for (json, part) in [
            (json!({"knobs": knobs}), "goal is missing"),
            (json!({"goal": "docs/s"}), "nothing to try"),
            (json!({"goal": "docs/s", "knobs": knobs, "speed": 1}), "[speed] is no member"),
            (json!({"goal": "docs/s", "knobs": knobs, "budget": 4}), "at least 8"),
            (json!({"goal": "docs/s", "knobs": [{"knob": "heap", "values": ["0%ram", "1g"]}]}), "25%ram"),
            (json!({"goal": "docs/s", "knobs": [knobs[0], knobs[0]]}), "twice"),
        ] {
            let error = experiment(json).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let json = json!({"goal": "docs/s", "knobs": knobs});
        let error = Experiment::new(json.as_object().unwrap().clone(), None).unwrap_err().to_string();
        assert_eq!(
            error,
            "[25%ram] is a share of a memory that this system does not tell; give a size such as 4g"
        );
    }

    /// Reads the files that are part of the repository.
    #[test]
    fn experiments_in_the_repository_can_be_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                let read = experiment(json).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert!(!read.description.is_empty(), "{}", path.display());
                count += 1;
            }
        }
        assert!(count >= 4, "{count}");
    }
}
