//! A pipeline as the user put it, and its compiled steps.
//!
//! Source: Elasticsearch's `Pipeline`, `ConfigurationUtils.readProcessorConfigs` and `CompoundProcessor`.

use limber_mapping::{RequestError, java_class};
use limber_script::{Script, ScriptContext};
use limber_store::Charge;
use limber_work as work;
use serde_json::{Map, Value};

use super::document::path::FieldPath;
use super::options::Options;
use super::processor::fail::Lost;
use super::processor::{self, PROCESSORS, Processor, UNSUPPORTED};
use super::resources::Resources;
use super::script::PipelineScript;
use super::template::Text;
use crate::shard::store_error;

/// How deeply `on_failure` may be nested.
const NESTING_DEPTH_MAX: usize = 50;

/// How many processors one pipeline may have, including those of `on_failure`.
const STEP_COUNT_MAX: usize = 10_000;

/// Pipelines up to this size in memory are not charged.
const FREE_BYTES: u64 = 64 << 10;

/// The work of a step.
#[derive(Debug)]
pub enum Action {
    /// Any other processor.
    Process(Box<dyn Processor>),
    /// The `pipeline` processor: runs another pipeline.
    Run {
        /// Id of the pipeline.
        name: Text,
        /// Continue when there is no such pipeline.
        ignore_missing: bool,
    },
    /// The `foreach` processor: runs one step for each element of an array or object.
    Each {
        /// The array or object.
        field: FieldPath,
        /// Continue when there is no such field.
        ignore_missing: bool,
        /// The step that runs for each element.
        step: Box<Step>,
    },
}

/// One processor with the options that every processor has.
#[derive(Debug)]
pub struct Step {
    /// The work of the step.
    pub action: Action,
    /// Type of the processor.
    pub kind: &'static str,
    /// Name that the user gave the step.
    pub tag: Option<Box<str>>,
    /// The user's description.
    pub description: Option<Box<str>>,
    /// The step runs only for documents for which this condition holds. An error of the condition is not
    /// handled by the step's own `ignore_failure` and `on_failure`.
    pub condition: Option<Box<PipelineScript>>,
    /// Continue as if the step had not failed.
    pub ignore_failure: bool,
    /// Steps that run when this one fails.
    pub on_failure: Vec<Step>,
    /// Position among the pipeline's steps in the statistics, which exclude those in `on_failure`.
    pub counted: Option<u32>,
}

impl Step {
    /// Returns the key under which statistics list this step: `set`, `set:tag`, `pipeline:name`.
    pub fn statistics_name(&self) -> String {
        let kind = self.kind;
        match (&self.action, &self.tag) {
            (Action::Run { name: Text::Plain(name), .. }, None) => format!("{kind}:{name}"),
            (Action::Run { name: Text::Template(name), .. }, None) => format!("{kind}:{}", name.source()),
            (Action::Run { name: Text::Plain(name), .. }, Some(tag)) => format!("{kind}:{name}:{tag}"),
            (Action::Run { name: Text::Template(name), .. }, Some(tag)) => {
                format!("{kind}:{}:{tag}", name.source())
            }
            (Action::Process(_) | Action::Each { .. }, Some(tag)) => format!("{kind}:{tag}"),
            (Action::Process(_) | Action::Each { .. }, None) => kind.to_owned(),
        }
    }
}

/// A compiled pipeline.
#[derive(Debug)]
pub struct Pipeline {
    /// The id under which it was put.
    pub id: Box<str>,
    /// The body as the user put it, for `GET _ingest/pipeline`.
    pub body: Value,
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// Steps that run when one of `steps` fails.
    pub on_failure: Vec<Step>,
    /// The memory that the pipeline takes, mainly for patterns.
    _charge: Option<Charge>,
}

impl Pipeline {
    /// Compiles the body of `PUT _ingest/pipeline/{id}`. Errors are Elasticsearch's `parse_exception`s;
    /// errors of scripts are returned unchanged.
    pub fn parse(id: &str, body: &Value, resources: &Resources) -> Result<Pipeline, RequestError> {
        Pipeline::parse_with(id, body, Parser { step_count: 0, resources, checks_stored: true })
    }

    /// Compiles a pipeline that was stored. Unlike in [`Self::parse`], stored scripts that it uses may be
    /// missing.
    pub fn restore(id: &str, body: &Value, resources: &Resources) -> Result<Pipeline, RequestError> {
        Pipeline::parse_with(id, body, Parser { step_count: 0, resources, checks_stored: false })
    }

    /// Makes the substitute of a stored pipeline that cannot be compiled any more, for example because a
    /// file that it names is gone: every document fails, and everything else works.
    pub fn lost(id: &str, body: &Value, why: &RequestError) -> Pipeline {
        let reason = format!("pipeline with id [{id}] could not be loaded, caused by [{}]", why.reason);
        let step = Step {
            action: Action::Process(Box::new(Lost { reason })),
            kind: "unknown",
            tag: None,
            description: Some("this is a placeholder processor".into()),
            condition: None,
            ignore_failure: false,
            on_failure: Vec::new(),
            counted: Some(0),
        };
        let (id, body) = (id.into(), body.clone());
        Pipeline { id, body, steps: vec![step], on_failure: Vec::new(), _charge: None }
    }

    /// Compiles a pipeline and charges its memory. A stored pipeline is charged even when the circuit breaker
    /// has no room.
    fn parse_with(id: &str, body: &Value, parser: Parser<'_>) -> Result<Pipeline, RequestError> {
        let (memory, is_new) = (parser.resources.memory.clone(), parser.checks_stored);
        let before = work::allocated_bytes();
        let mut pipeline = Pipeline::compile(id, body, parser)?;
        let measured = work::allocated_bytes().wrapping_sub(before);
        let bytes = measured.max(0) as u64;
        if let Some(memory) = memory.filter(|_| bytes > FREE_BYTES) {
            pipeline._charge = Some(match is_new {
                true => memory.charge(bytes, "<pipeline>").map_err(|error| store_error(&error))?,
                false => memory.charge_always(bytes),
            });
        }
        Ok(pipeline)
    }

    fn compile(id: &str, body: &Value, mut parser: Parser<'_>) -> Result<Pipeline, RequestError> {
        let Value::Object(map) = body else {
            return Err(RequestError::bad_request("parse_exception", "the pipeline must be an object"));
        };
        let mut options = Options::new(map.clone(), "");
        options.optional_string("description")?;
        options.optional_int("version")?;
        options.optional_map("_meta")?;
        options.bool_or("deprecated", false)?;
        let processors = options.optional_list("processors")?;
        let processors =
            processors.ok_or_else(|| options.error("processors", "required property is missing"))?;
        let mut steps = parser.steps(processors, 0)?;
        let on_failure = match options.optional_list("on_failure")? {
            None => Vec::new(),
            Some(list) if list.is_empty() => {
                return Err(options
                    .error("", &format!("pipeline [{id}] cannot have an empty on_failure option defined")));
            }
            Some(list) => parser.steps(list, 1)?,
        };
        options.finish_pipeline(id)?;
        for (position, step) in steps.iter_mut().enumerate() {
            step.counted = Some(position as u32);
        }
        Ok(Pipeline { id: id.into(), body: body.clone(), steps, on_failure, _charge: None })
    }
}

struct Parser<'s> {
    step_count: usize,
    resources: &'s Resources,
    /// Whether stored scripts that processors use must exist.
    checks_stored: bool,
}

impl Parser<'_> {
    fn steps(&mut self, list: Vec<Value>, depth: usize) -> Result<Vec<Step>, RequestError> {
        if depth > NESTING_DEPTH_MAX {
            return Err(RequestError::bad_request("parse_exception", "[on_failure] is nested too deeply"));
        }
        let mut steps = Vec::with_capacity(list.len());
        for entry in list {
            let Value::Object(entry) = entry else {
                let reason = format!(
                    "[processors] elements must be objects, but one is of type [{}]",
                    java_class(&entry)
                );
                return Err(
                    RequestError::bad_request("parse_exception", reason).with("property_name", "processors")
                );
            };
            for (kind, config) in entry {
                self.step_count += 1;
                if self.step_count > STEP_COUNT_MAX {
                    return Err(RequestError::bad_request(
                        "parse_exception",
                        "the pipeline has too many processors",
                    ));
                }
                steps.push(self.step(&kind, config, depth)?);
            }
        }
        Ok(steps)
    }

    fn step(&mut self, kind: &str, config: Value, depth: usize) -> Result<Step, RequestError> {
        let map = match config {
            Value::Object(map) => map,
            Value::String(source) if kind == "script" => {
                Map::from_iter([("source".to_owned(), Value::String(source))])
            }
            other => {
                let reason = format!("property isn't a map, but of type [{}]", java_class(&other));
                return Err(Options::new(Map::new(), kind).error("", &reason));
            }
        };
        work::check()?;
        let mut options = Options::new(map, kind);
        let tag = options.take_tag()?;
        let description = options.optional_string("description")?;
        let ignore_failure = options.bool_or("ignore_failure", false)?;
        let on_failure = match options.optional_list("on_failure")? {
            None => Vec::new(),
            Some(list) if list.is_empty() => {
                return Err(options.error("on_failure", "processors list cannot be empty"));
            }
            Some(list) => self.steps(list, depth + 1)?,
        };
        let condition = options.take("if").map(|value| self.condition(&value, &options)).transpose()?;
        let (kind, action) = match kind {
            "script" => ("script", Action::Process(self.script(&mut options)?)),
            "enrich" => {
                let (lookups, is_new) = (&self.resources.enrich, self.checks_stored);
                ("enrich", Action::Process(processor::enrich::parse(&mut options, lookups, is_new)?))
            }
            "geoip" => {
                let databases = &self.resources.databases;
                ("geoip", Action::Process(processor::geoip::parse(&mut options, databases)?))
            }
            "ip_location" => {
                let databases = &self.resources.databases;
                (
                    "ip_location",
                    Action::Process(processor::geoip::parse_ip_location(&mut options, databases)?),
                )
            }
            "user_agent" => {
                let parsers = &self.resources.user_agents;
                ("user_agent", Action::Process(processor::user_agent::parse(&mut options, parsers)?))
            }
            "foreach" => ("foreach", self.each(&mut options, depth)?),
            _ => action(kind, &mut options)?,
        };
        options.finish()?;
        let (tag, description) = (tag.map(Into::into), description.map(Into::into));
        Ok(Step { action, kind, tag, description, condition, ignore_failure, on_failure, counted: None })
    }
}

impl Parser<'_> {
    /// Compiles the condition `if`.
    fn condition(&self, value: &Value, options: &Options) -> Result<Box<PipelineScript>, RequestError> {
        if !matches!(value, Value::String(_) | Value::Object(_)) {
            let reason = format!("property isn't a map or string, but of type [{}]", java_class(value));
            return Err(Options::new(Map::new(), "conditional").error("script", &reason));
        }
        let script = Script::parse(value)?;
        PipelineScript::compile(&self.resources.scripts, script, ScriptContext::IngestCondition)
            .map(Box::new)
            .map_err(|error| options.locate(as_java_exception(error)))
    }

    /// Compiles a `foreach` processor. Errors of the inner processor are reported as its own.
    fn each(&mut self, options: &mut Options, depth: usize) -> Result<Action, RequestError> {
        let field = options.path("field")?;
        let missing = options.error("processor", "required property is missing");
        let inside = options.optional_map("processor")?.ok_or(missing)?;
        let ignore_missing = options.bool_or("ignore_missing", false)?;
        let mut inside = inside.into_iter();
        let (Some((kind, config)), None) = (inside.next(), inside.next()) else {
            return Err(options.error("processor", "Must specify exactly one processor type"));
        };
        self.step_count += 1;
        if depth >= NESTING_DEPTH_MAX || self.step_count > STEP_COUNT_MAX {
            return Err(options.error("processor", "processors are nested too deeply, or too many"));
        }
        let step = self.step(&kind, config, depth + 1).map_err(|error| options.relocate(error))?;
        Ok(Action::Each { field, ignore_missing, step: Box::new(step) })
    }

    /// Compiles a `script` processor.
    fn script(&self, options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
        let script = Script::parse(&Value::Object(options.take_rest()));
        let compiled = script.and_then(|script| {
            processor::script::compile(&self.resources.scripts, script, self.checks_stored)
        });
        compiled.map_err(|error| options.locate(as_java_exception(error)))
    }
}

/// Wraps an error like Elasticsearch, which answers with the exception that it caught while it created the
/// processor.
fn as_java_exception(error: RequestError) -> RequestError {
    let class = match error.kind {
        "illegal_argument_exception" => "java.lang.IllegalArgumentException",
        "x_content_parse_exception" => "org.elasticsearch.xcontent.XContentParseException",
        _ => return error,
    };
    RequestError::internal("exception", format!("{class}: {}", error.reason)).caused_by(error)
}

fn action(kind: &str, options: &mut Options) -> Result<(&'static str, Action), RequestError> {
    if kind == "pipeline" {
        let name = options.template("name")?;
        let ignore_missing = options.bool_or("ignore_missing_pipeline", false)?;
        return Ok(("pipeline", Action::Run { name, ignore_missing }));
    }
    if let Some((name, parse)) = PROCESSORS.iter().find(|(name, _)| *name == kind) {
        return Ok((name, Action::Process(parse(options)?)));
    }
    if UNSUPPORTED.contains(&kind) {
        return Err(options.error("", &format!("processor type [{kind}] is not supported by Limber yet")));
    }
    Err(options.error("", &format!("No processor type exists with name [{kind}]")))
}
