//! A pipeline as put by the user, and its compiled steps.
//!
//! Source: Elasticsearch's `Pipeline`, `ConfigurationUtils.readProcessorConfigs` and `CompoundProcessor`.

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext};
use limber_store::Charge;
use limber_work as work;
use serde_json::{Map, Value};

use super::document::path::FieldPath;
use super::options::{Options, java_type};
use super::processor::{self, KNOWN_ELSEWHERE, PROCESSORS, Processor};
use super::resources::Resources;
use super::script::PipelineScript;
use super::template::Text;
use crate::shard::store_error;

/// `on_failure` inside `on_failure` and so on, at most.
const NESTING_DEPTH_MAX: usize = 50;

/// Processors of one pipeline, those of `on_failure` included.
const STEP_COUNT_MAX: usize = 10_000;

/// What a pipeline may take without being charged.
const FREE_BYTES: u64 = 64 << 10;

/// What a step does.
#[derive(Debug)]
pub enum Action {
    /// Any other processor.
    Process(Box<dyn Processor>),
    /// The `pipeline` processor: run another pipeline here.
    Run {
        /// Id of the pipeline.
        name: Text,
        /// Goes on when there is no such pipeline.
        ignore_missing: bool,
    },
    /// The `foreach` processor: run one step for each item of a list or object.
    Each {
        /// The list or object.
        field: FieldPath,
        /// Goes on when there is no such field.
        ignore_missing: bool,
        /// What runs for each item.
        step: Box<Step>,
    },
}

/// One processor with what every processor may have.
#[derive(Debug)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Name of the processor.
    pub kind: &'static str,
    /// Name that the user gave the step.
    pub tag: Option<Box<str>>,
    /// What it is for, in the user's words.
    pub description: Option<Box<str>>,
    /// The step runs for documents for which this holds; its failure is not the step's.
    pub condition: Option<Box<PipelineScript>>,
    /// Goes on as if the step had not failed.
    pub ignore_failure: bool,
    /// Steps that run when this one fails.
    pub on_failure: Vec<Step>,
    /// Place among the pipeline's counted steps: those outside of `on_failure`.
    pub counted: Option<u32>,
}

impl Step {
    /// The key under which statistics list this step: `set`, `set:tag`, `pipeline:name`.
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
    /// The id that it was put with.
    pub id: Box<str>,
    /// The body as it was put, for `GET _ingest/pipeline`.
    pub body: Value,
    /// Its processors in order.
    pub steps: Vec<Step>,
    /// Processors that run when a step fails.
    pub on_failure: Vec<Step>,
    /// What it takes in memory, patterns in particular.
    _charge: Option<Charge>,
}

impl Pipeline {
    /// Compiles the body of `PUT _ingest/pipeline/{id}`. Errors are Elasticsearch's `parse_exception`s, those
    /// of scripts as they are.
    pub fn parse(id: &str, body: &Value, resources: &Resources) -> Result<Pipeline, RequestError> {
        Pipeline::parse_with(id, body, Parser { step_count: 0, resources, checks_stored: true })
    }

    /// As [`Self::parse`], for a pipeline that was put before: its stored scripts may be gone.
    pub fn restore(id: &str, body: &Value, resources: &Resources) -> Result<Pipeline, RequestError> {
        Pipeline::parse_with(id, body, Parser { step_count: 0, resources, checks_stored: false })
    }

    /// Compiles a pipeline and charges it. One that was accepted before is charged even where there is no
    /// room.
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
    /// Whether a processor's stored script must be there.
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
                    java_type(&entry)
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
                let reason = format!("property isn't a map, but of type [{}]", java_type(&other));
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
    /// The condition `if`.
    fn condition(&self, value: &Value, options: &Options) -> Result<Box<PipelineScript>, RequestError> {
        if !matches!(value, Value::String(_) | Value::Object(_)) {
            let reason = format!("property isn't a map or string, but of type [{}]", java_type(value));
            return Err(Options::new(Map::new(), "conditional").error("script", &reason));
        }
        let script = Script::parse(value)?;
        PipelineScript::compile(&self.resources.scripts, script, ScriptContext::IngestCondition)
            .map(Box::new)
            .map_err(|error| options.locate(as_java_exception(error)))
    }

    /// The processor `foreach`. What is wrong with the processor inside is told as if it were its own.
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

    /// The processor `script`.
    fn script(&self, options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
        let script = Script::parse(&Value::Object(options.take_rest()));
        let compiled = script.and_then(|script| {
            processor::script::compile(&self.resources.scripts, script, self.checks_stored)
        });
        compiled.map_err(|error| options.locate(as_java_exception(error)))
    }
}

/// Elasticsearch answers with the exception that it met while it made the processor, wrapped.
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
    if KNOWN_ELSEWHERE.contains(&kind) {
        return Err(options.error("", &format!("processor type [{kind}] is not supported by Limber yet")));
    }
    Err(options.error("", &format!("No processor type exists with name [{kind}]")))
}
