//! Reads a track's challenges, and what each task runs, from the rendered JSON.
//!
//! This follows `_create_challenges`, `parse_parallel`, `parse_task` and `parse_operation` of Rally
//! (`esrally/track/loader.py`) and `Task.target_throughput` (`esrally/track/track.py`), with the same error
//! messages.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::LoadError;
use super::reader::{TrackReader, list, object, optional_text};
use crate::model::operations::operation_type;
use crate::model::{
    Challenge, Operation, Parallel, Params, ScheduleElement, Task, ignore_response_error_level,
    target_throughput,
};

/// The values that a `parallel` element passes to its tasks unless they have their own; all absent outside of
/// one.
#[derive(Default)]
struct TaskDefaults {
    warmup_iterations: Option<u64>,
    iterations: Option<u64>,
    warmup_time_period_s: Option<f64>,
    time_period_s: Option<f64>,
    ramp_up_time_period_s: Option<f64>,
}

impl TaskDefaults {
    fn read(element: &Value, inherited: &TaskDefaults) -> TaskDefaults {
        let count = |name: &str| element.get(name).and_then(Value::as_u64);
        let seconds = |name: &str| element.get(name).and_then(Value::as_f64);
        TaskDefaults {
            warmup_iterations: count("warmup-iterations").or(inherited.warmup_iterations),
            iterations: count("iterations").or(inherited.iterations),
            warmup_time_period_s: seconds("warmup-time-period").or(inherited.warmup_time_period_s),
            time_period_s: seconds("time-period").or(inherited.time_period_s),
            ramp_up_time_period_s: seconds("ramp-up-time-period").or(inherited.ramp_up_time_period_s),
        }
    }
}

impl TrackReader<'_> {
    /// Returns all challenges, of which exactly one is the default.
    pub(crate) fn challenges(&self, track: &Value) -> Result<Vec<Challenge>, LoadError> {
        let operations = self.operations(track)?;
        let (elements, auto_generated) = self.challenge_elements(track)?;
        let mut challenges: Vec<Challenge> = Vec::new();
        for element in &elements {
            let name = self.text(element, "name", Some("challenges"))?;
            let default =
                elements.len() == 1 || element.get("default").and_then(Value::as_bool).unwrap_or(false);
            if let Some(other) = challenges.iter().find(|other| default && other.default) {
                return Err(self.error(format!(
                    "Both '{}' and '{name}' are defined as default challenges. Please define only one of them as default.",
                    other.name
                )));
            }
            if challenges.iter().any(|other| other.name == name) {
                return Err(self.error(format!("Duplicate challenge with name '{name}'.")));
            }
            let mut schedule = Vec::new();
            for entry in list(element, "schedule") {
                schedule.push(match entry.get("parallel") {
                    Some(parallel) => {
                        ScheduleElement::Parallel(self.parallel(parallel, &operations, &name)?)
                    }
                    None => ScheduleElement::Task(self.task(
                        entry,
                        &operations,
                        &name,
                        &TaskDefaults::default(),
                    )?),
                });
            }
            self.check_task_names(&schedule, &name)?;
            challenges.push(Challenge {
                name,
                description: optional_text(element, "description").unwrap_or_default(),
                default,
                auto_generated,
                user_info: optional_text(element, "user-info"),
                parameters: merged(object(track, "parameters"), object(element, "parameters")),
                meta: object(element, "meta"),
                schedule,
            });
        }
        if !challenges.is_empty() && !challenges.iter().any(|challenge| challenge.default) {
            let names: Vec<&str> = challenges.iter().map(|challenge| challenge.name.as_str()).collect();
            return Err(self.error(format!(
                "No default challenge specified. Please edit the track and add \"default\": true to one of the challenges {}.",
                names.join(", ")
            )));
        }
        Ok(challenges)
    }

    /// Returns the challenges as written, and whether the only one was made from a bare `schedule`.
    fn challenge_elements(&self, track: &Value) -> Result<(Vec<Value>, bool), LoadError> {
        let given = |name: &str| track.get(name).filter(|value| !value.is_null());
        match (given("schedule"), given("challenge"), given("challenges")) {
            (None, None, None) => {
                Err(self.error("You must define 'challenge', 'challenges' or 'schedule' but none is specified."))
            }
            (Some(schedule), None, None) => {
                Ok((vec![serde_json::json!({"name": "default", "schedule": schedule})], true))
            }
            (None, Some(challenge), None) => Ok((vec![challenge.clone()], false)),
            (None, None, Some(challenges)) => Ok((challenges.as_array().cloned().unwrap_or_default(), false)),
            _ => Err(self.error(
                "Multiple out of 'challenge', 'challenges' or 'schedule' are defined but only one of them is allowed.",
            )),
        }
    }

    fn check_task_names(&self, schedule: &[ScheduleElement], challenge: &str) -> Result<(), LoadError> {
        let mut known = BTreeSet::new();
        for task in schedule.iter().flat_map(ScheduleElement::tasks) {
            if !known.insert(task.name.as_str()) {
                return Err(self.error(format!(
                    "Challenge '{challenge}' contains multiple tasks with the name '{}'. Please use the task's name property to \
                     assign a unique name for each task.",
                    task.name
                )));
            }
        }
        Ok(())
    }

    fn parallel(
        &self,
        element: &Value,
        operations: &HashMap<String, Operation>,
        challenge: &str,
    ) -> Result<Parallel, LoadError> {
        let defaults = TaskDefaults::read(element, &TaskDefaults::default());
        let completed_by = optional_text(element, "completed-by");
        let mut tasks = Vec::new();
        for entry in list(element, "tasks") {
            tasks.push(self.task(entry, operations, challenge, &defaults)?);
        }
        for task in &tasks {
            if task.ramp_up_time_period_s == defaults.ramp_up_time_period_s {
                continue;
            }
            return Err(self.error(if defaults.ramp_up_time_period_s.is_none() {
                format!(
                    "task '{}' in 'parallel' element of challenge '{challenge}' specifies a ramp-up-time-period but it is only \
                     allowed on the 'parallel' element.",
                    task.name
                )
            } else {
                format!(
                    "task '{}' specifies a different ramp-up-time-period than its enclosing 'parallel' element in challenge \
                     '{challenge}'.",
                    task.name
                )
            }));
        }
        if let Some(name) = &completed_by {
            let matching = tasks.iter().filter(|task| task.name == *name).count();
            if matching > 1 {
                return Err(self.error(format!(
                    "'parallel' element for challenge '{challenge}' contains multiple tasks with the name '{name}' marked with \
                     'completed-by' but only task is allowed to match."
                )));
            }
            if matching == 0 && name != "any" {
                return Err(self.error(format!(
                    "'parallel' element for challenge '{challenge}' is marked with 'completed-by' with task name '{name}' but no \
                     task with this name exists."
                )));
            }
        }
        let clients = element
            .get("clients")
            .and_then(Value::as_u64)
            .map(|clients| self.clients(clients))
            .transpose()?;
        Ok(Parallel { tasks, clients, completed_by })
    }

    fn clients(&self, clients: u64) -> Result<u32, LoadError> {
        u32::try_from(clients).map_err(|_| {
            self.error(format!("'clients' is {clients}, more than {} are not possible.", u32::MAX))
        })
    }

    fn task(
        &self,
        element: &Value,
        operations: &HashMap<String, Operation>,
        challenge: &str,
        defaults: &TaskDefaults,
    ) -> Result<Task, LoadError> {
        let Some(operation) = element.get("operation") else {
            return Err(LoadError::invalid(format!(
                "Operation missing from task spec {element} in challenge '{challenge}'."
            )));
        };
        let operation = match operation.as_str().and_then(|name| operations.get(name)) {
            Some(named) => named.clone(),
            None => self.operation(operation, &format!("inline operation in challenge {challenge}"))?,
        };
        let name = optional_text(element, "name").unwrap_or_else(|| operation.name.clone());
        let params = element.as_object().cloned().unwrap_or_default();
        let loops = TaskDefaults::read(element, defaults);
        self.check_loops(&loops, &operation.name, challenge)?;
        Ok(Task {
            target_throughput: target_throughput(&name, &params)?,
            ignore_response_error_level: ignore_response_error_level(&name, &params)?,
            tags: match element.get("tags") {
                Some(Value::String(tag)) => vec![tag.clone()],
                Some(Value::Array(tags)) => {
                    tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            },
            name,
            operation,
            meta: object(element, "meta"),
            clients: self.clients(element.get("clients").and_then(Value::as_u64).unwrap_or(1))?,
            warmup_iterations: loops.warmup_iterations,
            iterations: loops.iterations,
            warmup_time_period_s: loops.warmup_time_period_s,
            time_period_s: loops.time_period_s,
            ramp_up_time_period_s: loops.ramp_up_time_period_s,
            schedule: optional_text(element, "schedule"),
            params,
        })
    }

    /// Refuses a mix of time periods and iterations, and a ramp-up that is longer than the warm-up time.
    fn check_loops(&self, loops: &TaskDefaults, operation: &str, challenge: &str) -> Result<(), LoadError> {
        let context = format!("Operation '{operation}' in challenge '{challenge}' defines");
        let mixing = "but mixing time periods and iterations is not allowed.";
        if let (Some(warmup), Some(period)) = (loops.warmup_iterations, loops.time_period_s) {
            return Err(self.error(format!(
                "{context} {warmup} warmup iterations and a time period of {period} seconds {mixing}"
            )));
        }
        if let (Some(warmup), Some(iterations)) = (loops.warmup_time_period_s, loops.iterations) {
            return Err(self.error(format!(
                "{context} a warmup time period of {warmup} seconds and {iterations} iterations {mixing}"
            )));
        }
        let Some(ramp_up) = loops.ramp_up_time_period_s else { return Ok(()) };
        if loops.warmup_iterations.is_some() || loops.iterations.is_some() {
            let count = |count: Option<u64>| count.map_or("None".to_owned(), |count| count.to_string());
            return Err(self.error(format!(
                "{context} a ramp-up time period of {ramp_up} seconds as well as {} warmup iterations and {} iterations {mixing}",
                count(loops.warmup_iterations),
                count(loops.iterations)
            )));
        }
        match loops.warmup_time_period_s {
            None => Err(self.error(format!(
                "{context} a ramp-up time period of {ramp_up} seconds but no warmup-time-period."
            ))),
            Some(warmup) if warmup < ramp_up => Err(self.error(format!(
                "The warmup-time-period of operation '{operation}' in challenge '{challenge}' is {warmup} seconds but must be \
                 greater than or equal to the ramp-up-time-period of {ramp_up} seconds."
            ))),
            Some(_) => Ok(()),
        }
    }

    fn operations(&self, track: &Value) -> Result<HashMap<String, Operation>, LoadError> {
        let mut operations = HashMap::new();
        for element in list(track, "operations") {
            let operation = self.operation(element, "operations")?;
            if operations.contains_key(&operation.name) {
                return Err(self.error(format!("Duplicate operation with name '{}'.", operation.name)));
            }
            operations.insert(operation.name.clone(), operation);
        }
        Ok(operations)
    }

    /// Reads an operation's object, or the bare name of an operation type.
    fn operation(&self, element: &Value, context: &str) -> Result<Operation, LoadError> {
        let (kind, name, mut params) = match element {
            Value::String(kind) => (kind.clone(), kind.clone(), Params::new()),
            Value::Object(params) => {
                let kind = self.text(element, "operation-type", Some(context))?;
                let name = optional_text(element, "name").unwrap_or_else(|| kind.clone());
                (kind, name, params.clone())
            }
            _ => {
                return Err(self.error(format!(
                    "[{element}] in {context} is neither an operation nor the name of one."
                )));
            }
        };
        if let Some(known) = operation_type(&kind) {
            params.entry("include-in-reporting").or_insert(Value::Bool(!known.admin));
        }
        Ok(Operation {
            include_in_reporting: params.get("include-in-reporting").and_then(Value::as_bool).unwrap_or(true),
            param_source: params.get("param-source").and_then(Value::as_str).map(str::to_owned),
            meta: object(element, "meta"),
            name,
            kind,
            params,
        })
    }
}

/// Returns `base` with the values of `over` merged into it: objects are merged, lists united
/// (`esrally/utils/collections.py`, `merge_dicts`).
fn merged(mut base: Params, over: Params) -> Params {
    for (name, value) in over {
        let value = match (base.shift_remove(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => Value::Object(merged(old, new)),
            (Some(Value::Array(mut all)), Value::Array(new)) => {
                for item in new {
                    if !all.contains(&item) {
                        all.push(item);
                    }
                }
                Value::Array(all)
            }
            (_, value) => value,
        };
        base.insert(name, value);
    }
    base
}
