//! `scripted_metric`: a metric that is computed by four scripts.
//!
//! Source: Elasticsearch's `ScriptedMetricAggregationBuilder`, `ScriptedMetricAggregator`,
//! `InternalScriptedMetric`, and the answers of a running 9.4. Each bucket has a state: `init_script` makes
//! it, `map_script` updates it for each document, `combine_script` converts it to the shard's result, and
//! `reduce_script` gets the results of all shards. Threads that collect parts of a large shard have a state
//! and a result each, as in Elasticsearch, where slices have.

use std::fmt;

use limber_mapping::RequestError;
use limber_script::{
    ContextScript, Kept, OpenScript, Origin, RowStates, Script, ScriptContext, Settled, Value,
    check_references,
};
use limber_segment::SegmentView;
use serde_json::{Map, Value as Json};

use super::super::answer::members::Members;
use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::answer::reduce::{Reducer, in_reduce};
use super::super::answer::render::Renderer;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::script::BoundScript;

/// The options of a `scripted_metric`: its scripts and their parameters.
#[derive(Debug, Clone)]
pub struct ScriptedMetric {
    init: Option<Script>,
    map: Script,
    combine: Option<Script>,
    reduce: Option<Script>,
    /// Parameters of all four scripts, in addition to their own.
    params: Map<String, Json>,
}

impl ScriptedMetric {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let mut script = |option: &str| match options.take_typed(option)? {
            None => Ok(None),
            Some(value @ (Json::String(_) | Json::Object(_))) => {
                Script::parse(&value).map(Some).map_err(|cause| options.failed(option, cause))
            }
            Some(other) => Err(options.wrong_type(option, &other)),
        };
        let (init, map) = (script("init_script")?, script("map_script")?);
        let (combine, reduce) = (script("combine_script")?, script("reduce_script")?);
        let params = match options.take_typed("params")? {
            None => Map::new(),
            Some(Json::Object(params)) => params,
            Some(other) => return Err(options.wrong_type("params", &other)),
        };
        if let (None, Some(option)) = (&map, options.first_left()) {
            return Err(super::super::options::unknown_field(options.kind, option));
        }
        let map = map.ok_or_else(|| RequestError::illegal_argument("Required [map_script]"))?;
        Ok(Kind::own(ScriptedMetric { init, map, combine, reduce, params }))
    }

    /// Adds the parameters of the aggregation to a script.
    fn with_params(&self, script: &Script) -> std::result::Result<Script, RequestError> {
        let mut script = script.clone();
        for (name, value) in &self.params {
            if script.params.insert(name.clone(), value.clone()).is_some() {
                return Err(RequestError::illegal_argument(format!(
                    "Parameter name \"{name}\" used in both aggregation and script parameters"
                )));
            }
        }
        Ok(script)
    }
}

/// The finding in one bucket.
#[derive(Debug, Clone)]
pub struct ScriptedFinding {
    /// The results of `combine_script`, one for each shard, or for each of its parts that were collected in
    /// parallel.
    states: Vec<Settled>,
    /// The result of `reduce_script`; null before it has run.
    value: Json,
}

impl OwnFinding for ScriptedFinding {}

impl Request for ScriptedMetric {
    fn goes_below_filters(&self) -> bool {
        false
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn needs_scores(&self) -> bool {
        self.map.is_stored() || self.map.text().contains("_score")
    }

    fn scripts(&self, own: &Aggregation, shard: &ShardSnapshot) -> Result<Vec<(Script, ScriptContext)>> {
        let missing =
            |name: &str| RequestError::illegal_argument(format!("[{name}] must not be null: [{}]", own.name));
        let combine = self.combine.as_ref().ok_or_else(|| missing("combine_script"))?;
        let reduce = self.reduce.as_ref().ok_or_else(|| missing("reduce_script"))?;
        let named = [
            ("init_script", self.init.as_ref()),
            ("map_script", Some(&self.map)),
            ("combine_script", Some(combine)),
            ("reduce_script", Some(reduce)),
        ];
        for (name, script) in named {
            if script.is_some_and(|script| !shard.scripts.allows_metric(script)) {
                return Err(RequestError::illegal_argument(format!(
                    "[{name}] contains not allowed script: [{}]",
                    own.name
                ))
                .into());
            }
        }
        let of_shard = [
            (Some(&self.map), ScriptContext::MetricMap),
            (Some(combine), ScriptContext::MetricCombine),
            (self.init.as_ref(), ScriptContext::MetricInit),
        ];
        let bound = of_shard.into_iter().filter_map(|(script, context)| Some((script?, context)));
        bound.map(|(script, context)| Ok((self.with_params(script)?, context))).collect()
    }

    fn reduce_script(
        &self,
        shard: &ShardSnapshot,
    ) -> Option<std::result::Result<ContextScript, RequestError>> {
        let script = self.with_params(self.reduce.as_ref()?);
        Some(
            script.and_then(|script| {
                ContextScript::compile(&shard.scripts, &script, ScriptContext::MetricReduce)
            }),
        )
    }
}

impl Collect for ScriptedMetric {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, budget, .. } = context;
        let [map, combine, init @ ..] = bound.scripts.as_slice() else {
            unreachable!("bound with the scripts of a shard")
        };
        Ok(Box::new(ScriptedCollector {
            map,
            open: None,
            combine: combine.start(),
            init: init.first().map(BoundScript::start),
            states: Vec::new(),
            of_parts: Vec::new(),
            kept: Kept::default(),
            memory: Memory::default(),
            budget,
        }))
    }
}

impl Reduce for ScriptedMetric {
    type Finding = ScriptedFinding;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<ScriptedFinding>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ScriptedFinding> {
        let found = parts.into_iter();
        let mut states: Vec<Settled> = found.flat_map(|found| found.states).collect();
        if states.is_empty() {
            // A bucket that no shard has collected.
            states.push(Settled::Null);
        }
        let value = match reducer.script() {
            None => Json::Null,
            Some(Ok(script)) => script.reduce(&states).map_err(in_reduce)?,
            Some(Err(error)) => return Err(in_reduce(error.clone()).into()),
        };
        Ok(ScriptedFinding { states, value })
    }
}

impl Render for ScriptedMetric {
    fn render(&self, found: &ScriptedFinding, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.insert("value", &found.value)
    }

    fn number(&self, finding: &ScriptedFinding, value: Option<&str>) -> Option<f64> {
        finding.value.as_f64().filter(|_| value == Some("value"))
    }

    fn java_name(&self, finding: &ScriptedFinding, value: Option<&str>) -> &'static str {
        match (value, &finding.value) {
            (Some("value"), Json::String(_)) => "String",
            (Some("value"), Json::Bool(_)) => "Boolean",
            (Some("value"), Json::Array(_)) => "ArrayList",
            (Some("value"), Json::Object(_)) => "HashMap",
            _ => "InternalScriptedMetric",
        }
    }
}

/// Tracks the memory of all states, so that it is charged before it grows too far.
#[derive(Debug, Default)]
struct Memory {
    /// The size of all states when they were last measured.
    measured_bytes: u64,
    /// What was allocated since, whether it is still in use or not.
    grown_bytes: u64,
    charged_bytes: u64,
}

/// Growth below this is not worth measuring all states again.
const GROWTH_BYTES_MIN: u64 = 16 << 10;

/// Number of documents that the map script runs for between two checks for cancellation.
const ENTRIES_PER_CHECK: usize = 32;

/// Estimated bytes of an empty state.
const STATE_BYTES: u64 = 128;

struct ScriptedCollector<'s> {
    map: &'s BoundScript,
    /// The map script, opened on the current segment.
    open: Option<OpenScript<'s>>,
    combine: OpenScript<'s>,
    init: Option<OpenScript<'s>>,
    /// Indexed by bucket; made at the bucket's first document.
    states: Vec<Option<Value>>,
    /// The results for parts that others have collected, by bucket.
    of_parts: Vec<Vec<Settled>>,
    kept: Kept,
    memory: Memory,
    budget: &'s Budget,
}

impl fmt::Debug for ScriptedCollector<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ScriptedCollector").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl<'s> ScriptedCollector<'s> {
    /// Makes the state of a new bucket with the init script.
    fn new_state(&mut self) -> Result<Value> {
        let state = Value::map(Vec::new(), true);
        self.kept.made.push(state.clone());
        self.memory.grown_bytes += STATE_BYTES;
        if let Some(init) = &mut self.init {
            init.begin(&[]);
            let (_, grown) = init.given(&state, 0, 0.0, &mut self.kept)?;
            self.memory.grown_bytes += grown;
            check_references(&state, Origin::Init)?;
        }
        Ok(state)
    }

    /// Returns the state of a bucket.
    fn state(&mut self, bucket: usize) -> Result<Value> {
        if let Some(state) = &self.states[bucket] {
            return Ok(state.clone());
        }
        let state = self.new_state()?;
        self.states[bucket] = Some(state.clone());
        Ok(state)
    }

    /// Runs the map script for all documents of a batch at once. Returns false if that cannot be done.
    fn update_all(&mut self, open: &mut OpenScript<'s>, entries: &Entries<'_>) -> Result<bool> {
        match entries.buckets {
            None => drop(self.state(entries.bucket as usize)?),
            Some(buckets) => {
                for bucket in buckets {
                    if self.states[*bucket as usize].is_none() {
                        self.state(*bucket as usize)?;
                    }
                }
            }
        }
        let states = RowStates { states: &self.states, buckets: entries.buckets, bucket: entries.bucket };
        let grown = open.update_states(entries.scores, entries.len(), &states);
        self.memory.grown_bytes += grown.unwrap_or(0);
        Ok(grown.is_some())
    }

    fn account(&mut self) -> Result<()> {
        let memory = &mut self.memory;
        if memory.measured_bytes + memory.grown_bytes <= memory.charged_bytes {
            return Ok(());
        }
        if memory.grown_bytes >= GROWTH_BYTES_MIN.max(memory.measured_bytes / 2) {
            let slots = self.states.len() * size_of::<Option<Value>>();
            memory.measured_bytes = self.kept.sweep(self.states.iter().flatten()) + slots as u64;
            memory.grown_bytes = 0;
        }
        let live = memory.measured_bytes + memory.grown_bytes;
        if live > memory.charged_bytes {
            self.budget.spend(live - memory.charged_bytes)?;
            memory.charged_bytes = live;
        }
        Ok(())
    }

    /// Converts the state of a bucket to the shard's result.
    fn combined(&mut self, bucket: u32) -> Result<Settled> {
        let state = match self.states.get_mut(bucket as usize).and_then(Option::take) {
            Some(state) => {
                check_references(&state, Origin::Map)?;
                state
            }
            None => self.new_state()?,
        };
        self.combine.begin(&[]);
        let (value, grown) = self.combine.given(&state, 0, 0.0, &mut self.kept)?;
        let settled = Settled::of(&value, Origin::Combine)?;
        self.memory.grown_bytes += grown;
        self.budget.spend(settled.bytes())?;
        Ok(settled)
    }
}

impl<'s> Collector<'s> for ScriptedCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.open = Some(self.map.open(&view.segment)?);
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.states.len() {
            self.states.resize(entries.bucket_count, None);
        }
        let Some(mut open) = self.open.take() else { return Ok(()) };
        open.begin(entries.docs);
        if entries.positions.is_none() && self.update_all(&mut open, entries)? {
            self.open = Some(open);
            return self.account();
        }
        for entry in 0..entries.len() {
            let (bucket, position) = (entries.bucket(entry) as usize, entries.position(entry));
            let state = self.state(bucket)?;
            if entry % ENTRIES_PER_CHECK == 0 {
                self.budget.check()?;
            }
            let (_, grown) = open.given(&state, position, entries.score(position), &mut self.kept)?;
            self.memory.grown_bytes += grown;
            self.account()?;
        }
        self.open = Some(open);
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.open = None;
        Ok(())
    }

    fn can_split(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let bucket_count = self.states.len().max(self.of_parts.len());
        let mut partials = Vec::with_capacity(bucket_count);
        for bucket in 0..bucket_count {
            self.budget.check()?;
            let mut states = self.of_parts.get_mut(bucket).map(std::mem::take).unwrap_or_default();
            if matches!(self.states.get(bucket), Some(Some(_))) {
                states.push(self.combined(bucket as u32)?);
            }
            partials.push(Finding::into_partial(ScriptedFinding { states, value: Json::Null }));
            self.account()?;
        }
        Ok(Findings::Own(partials))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Own(partials) = findings else { unreachable!("findings of another collector") };
        for (partial, &bucket) in partials.into_iter().zip(bucket_of) {
            let Some(ScriptedFinding { states, .. }) = Finding::from_partial(partial) else { continue };
            let bucket = bucket as usize;
            if bucket >= self.of_parts.len() {
                let added = bucket + 1 - self.of_parts.len();
                self.budget.spend((added * size_of::<Vec<Settled>>()) as u64)?;
                self.of_parts.resize_with(bucket + 1, Vec::new);
            }
            self.of_parts[bucket].extend(states);
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let mut partials = Vec::with_capacity(buckets.len());
        for &bucket in buckets {
            self.budget.check()?;
            let mut states = self.of_parts.get_mut(bucket as usize).map(std::mem::take).unwrap_or_default();
            if states.is_empty() || matches!(self.states.get(bucket as usize), Some(Some(_))) {
                states.push(self.combined(bucket)?);
            }
            partials.push(Finding::into_partial(ScriptedFinding { states, value: Json::Null }));
            self.account()?;
        }
        Ok(partials)
    }
}
