//! Rollover: "is the write index old or large enough, and what is the next one?"
//!
//! Source: Elasticsearch's `MetadataRolloverService`, `RolloverRequest`.

use std::cell::Cell;
use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::create_index::check_is_free;
use crate::api::*;
use crate::catalog::names::check_index_name;
use crate::catalog::{Alias, Catalog, DataStream, IndexMetadata, TemplateBody, date_math};
use crate::lifecycle::{Conditions, Figures};
use crate::node::Node;
use crate::node::life::recover::hand_over;
use crate::node::stream::series_bounds::{continue_series, series_end};

/// How often a rollover of time series is tried while writers move the end of the last index.
const TRIES_MAX: usize = 5;

/// A `POST /{target}/_rollover[/{new_index}]` request.
#[derive(Debug, Clone, Default)]
pub struct RolloverRequest {
    /// Name of the new index; `None` increments the number at the end of the old name.
    pub new_index: Option<String>,
    /// Only report whether the conditions are met.
    pub dry_run: bool,
    /// Only mark the data stream; the next document rolls it over.
    pub lazy: bool,
    /// Conditions that the index must meet; without any it is rolled over regardless.
    pub conditions: Conditions,
    /// `settings`, `mappings` and `aliases` of the new index of an alias.
    body: TemplateBody,
}

impl RolloverRequest {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// Fails for unknown members.
    pub fn parse(body: &Value) -> Result<RolloverRequest> {
        let mut request = RolloverRequest::default();
        let Value::Object(members) = body else {
            return Err(RequestError::parsing("the body of a rollover is an object"));
        };
        for (key, value) in members {
            if key == "conditions" {
                request.conditions = Conditions::parse(value)
                    .map_err(|cause| ObjectParser::new("rollover").failed(key, cause))?;
            } else if !request.body.read(key, value)? {
                return Err(ObjectParser::new("rollover").unknown(key));
            }
        }
        if !request.conditions.is_empty() && !request.conditions.has_max() {
            let problem = "at least one max_* rollover condition must be set when using min_* conditions";
            return Err(RequestError::validation([problem]));
        }
        Ok(request)
    }
}

/// The old index, the new one, and what is rolled over.
struct Plan {
    old: Arc<IndexMetadata>,
    new_index: String,
    target: Target,
}

enum Target {
    Stream(Arc<DataStream>),
    Alias {
        name: String,
        /// Whether the old index is explicitly the alias's write index. Otherwise it is the alias's only
        /// index.
        is_explicit: bool,
    },
}

impl Target {
    fn name(&self) -> &str {
        match self {
            Target::Stream(stream) => &stream.name,
            Target::Alias { name, .. } => name,
        }
    }
}

impl Node {
    /// Carries out the request. Returns the body of the response.
    pub fn rollover(&self, target: &str, request: &RolloverRequest) -> Result<Value> {
        if request.lazy && !request.conditions.is_empty() {
            return Err(RequestError::validation(["lazy rollover can be used only without any conditions"]));
        }
        let catalog = self.catalog.load_full();
        catalog.check_may_touch(target)?;
        if let Some(name) = &request.new_index {
            catalog.check_may_touch(&date_math::resolve(name, self.now_millis() as i64)?)?;
        }
        // The new index must not take the place of others in their aliases.
        if let (Some(access), Some(aliases)) = (limber_access::current(), &request.body.aliases) {
            access.check_action("indices:admin/aliases", aliases.keys().map(String::as_str))?;
        }
        let _rolling = self.names.lock(target);
        self.check_metadata_write_block()?;
        let catalog = self.catalog.load_full();
        let plan = self.plan_rollover(&catalog, target, request)?;
        let (results, is_met) = request.conditions.judge(&self.figures_of(&plan.old));
        let mut answer = Answer { plan: &plan, request, results, acknowledged: false, rolled_over: false };
        if request.lazy {
            if let Target::Stream(stream) = &plan.target
                && !request.dry_run
            {
                self.mark_for_rollover(&stream.name)?;
                answer.acknowledged = true;
            }
            return Ok(answer.to_json());
        }
        if is_met && !request.dry_run {
            let met: Vec<&str> = answer
                .results
                .iter()
                .filter(|(_, met)| **met == true)
                .map(|(name, _)| name.as_str())
                .collect();
            self.roll(&catalog, &plan, request, &met)?;
            (answer.acknowledged, answer.rolled_over) = (true, true);
        }
        Ok(answer.to_json())
    }

    /// Rolls over a data stream or alias whose write index is `index`. Does nothing if another request has
    /// already done it.
    pub(in crate::node) fn rollover_from(&self, target: &str, index: &IndexMetadata) -> Result<()> {
        let _rolling = self.names.lock(target);
        self.check_metadata_write_block()?;
        let catalog = self.catalog.load_full();
        let request = RolloverRequest::default();
        let plan = self.plan_rollover(&catalog, target, &request)?;
        match plan.old.uuid == index.uuid {
            true => self.roll(&catalog, &plan, &request, &[]),
            false => Ok(()),
        }
    }

    /// Rolls over a data stream that is marked for rollover on its next document.
    pub(in crate::node) fn roll_lazily(&self, stream: &str) -> Result<()> {
        let _rolling = self.names.lock(stream);
        let catalog = self.catalog.load_full();
        // Another request may have rolled it over first.
        if !catalog.data_streams.get(stream).is_some_and(|stream| stream.rolls_on_write) {
            return Ok(());
        }
        let request = RolloverRequest::default();
        let plan = self.plan_rollover(&catalog, stream, &request)?;
        self.roll(&catalog, &plan, &request, &[])
    }

    fn plan_rollover(&self, catalog: &Catalog, target: &str, request: &RolloverRequest) -> Result<Plan> {
        let refused = |why: String| Err(RequestError::illegal_argument(why));
        if let Some(stream) = catalog.data_streams.get(target) {
            if request.new_index.is_some() {
                return refused("new index name may not be specified when rolling over a data stream".into());
            }
            if request.body != TemplateBody::default() {
                return refused(
                    "aliases, mappings, and index settings may not be specified when rolling over a data stream"
                        .into(),
                );
            }
            let old = catalog.indices.get(stream.write_index()).cloned();
            let old = old.ok_or_else(|| crate::catalog::names::index_not_found(stream.write_index()))?;
            let new_index = stream.next_index(self.now_millis());
            return Ok(Plan { old, new_index, target: Target::Stream(stream.clone()) });
        }
        if catalog.indices.contains_key(target) {
            return refused(
                "rollover target is a [concrete index] but one of [alias,data_stream] was expected".into(),
            );
        }
        if catalog.means_data_stream(target) {
            return Err(RequestError::unsupported(format_args!(
                "rollover of the data stream alias [{target}]"
            )));
        }
        let Some(indices) = catalog.aliases.get(target) else {
            return Err(RequestError::not_found(
                "resource_not_found_exception",
                format!("rollover target [{target}] does not exist"),
            ));
        };
        if request.lazy {
            return refused("Lazy rollover can be applied only on a data stream. Please remove the query parameter 'lazy'.".into());
        }
        let says = |index: &IndexMetadata| index.aliases.get(target).and_then(|alias| alias.is_write_index);
        let mut known = indices.iter().filter_map(|name| catalog.indices.get(name));
        let explicit = known.clone().find(|index| says(index) == Some(true));
        let only = known.next().filter(|index| indices.len() == 1 && says(index).is_none());
        let Some(old) = explicit.or(only).cloned() else {
            return refused(format!("rollover target [{target}] does not point to a write index"));
        };
        let new_index = match &request.new_index {
            Some(name) => date_math::resolve(name, self.now_millis() as i64)?,
            None => next_name(&old.name)?,
        };
        // Even a dry run fails for an index that could not be created.
        check_index_name(&new_index)?;
        check_is_free(catalog, &new_index)?;
        let target = Target::Alias { name: target.to_owned(), is_explicit: explicit.is_some() };
        Ok(Plan { old, new_index, target })
    }

    /// Whether an index meets the conditions. An empty index does so only if `only_filled` is false.
    pub(in crate::node) fn is_ready_to_roll(
        &self,
        index: &IndexMetadata,
        conditions: &Conditions,
        only_filled: bool,
    ) -> bool {
        let figures = self.figures_of(index);
        let is_empty = only_filled && !conditions.asks_for_docs() && figures.docs == 0;
        !is_empty && conditions.judge(&figures).1
    }

    fn figures_of(&self, index: &IndexMetadata) -> Figures {
        let mut figures = Figures {
            age_ms: self.now_millis().saturating_sub(index.creation_date_ms),
            ..Figures::default()
        };
        if let Ok(live) = self.live(index) {
            for stats in live.shards.iter().map(|shard| shard.stats()) {
                figures.docs += stats.docs;
                figures.bytes += stats.store_bytes;
                figures.largest_shard_docs = figures.largest_shard_docs.max(stats.docs);
                figures.largest_shard_bytes = figures.largest_shard_bytes.max(stats.store_bytes);
            }
        }
        figures
    }

    /// Marks a data stream so that its next document rolls it over.
    fn mark_for_rollover(&self, stream: &str) -> Result<()> {
        self.change_catalog(|catalog| {
            self.check_metadata_write_block()?;
            let marked = catalog.data_streams.get(stream).map(|stream| {
                catalog.with_data_stream(DataStream { rolls_on_write: true, ..(**stream).clone() })
            });
            Ok((marked.unwrap_or_else(|| catalog.clone()), ()))
        })
    }

    /// Puts the new index in the place of the old one. The index, the alias or data stream, and the rollover
    /// information of the old index change in one step. Called with the target's name locked.
    fn roll(&self, catalog: &Catalog, plan: &Plan, request: &RolloverRequest, met: &[&str]) -> Result<()> {
        let end_moved = Cell::new(false);
        let mut rolled = self.roll_once(catalog, plan, request, (met, &end_moved));
        for _ in 1..TRIES_MAX {
            if rolled.is_ok() || !end_moved.take() {
                break;
            }
            rolled = self.roll_once(&self.catalog.load_full(), plan, request, (met, &end_moved));
        }
        rolled
    }

    /// Sets `end_moved` if the last index of time series got another end since the new one was made, which
    /// has to begin there.
    fn roll_once(
        &self,
        catalog: &Catalog,
        plan: &Plan,
        request: &RolloverRequest,
        (met, end_moved): (&[&str], &Cell<bool>),
    ) -> Result<()> {
        super::create_index::check_is_free(catalog, &plan.new_index)?;
        let mut last_end = None;
        let info = json!({"met_conditions": met, "time": self.now_millis()});
        let metadata = match &plan.target {
            Target::Stream(stream) => {
                let mut template = catalog.templates.of_stream(stream)?;
                template.resolved.aliases.clear();
                let stream = catalog.data_streams.get(&stream.name).unwrap_or(stream);
                last_end = series_end(catalog, stream);
                continue_series(catalog, stream, &mut template.resolved.settings)?;
                self.metadata_of(catalog, &plan.new_index, template.resolved)?
            }
            Target::Alias { name, .. } => {
                check_template_has_no(catalog, &plan.new_index, name)?;
                self.plan_index(&plan.new_index, &request.body)?
            }
        };
        self.install(metadata, |catalog, new| {
            // The write index that was checked above may have changed meanwhile.
            let now = self.plan_rollover(catalog, plan.target.name(), request)?;
            if let Target::Stream(stream) = &now.target {
                end_moved.set(series_end(catalog, stream) != last_end);
            }
            if now.old.uuid != plan.old.uuid || end_moved.get() {
                return Err(RequestError::illegal_argument(format!(
                    "rollover target [{}] was changed while it was being rolled over",
                    plan.target.name()
                )));
            }
            super::index_files::check_is_readable(&now.old)?;
            let (mut old, mut new) = ((*now.old).clone(), (**new).clone());
            old.rollover_info.insert(plan.target.name().to_owned(), info.clone());
            let mut next = catalog.clone();
            match &now.target {
                Target::Stream(stream) => {
                    next = next.with_data_stream(stream.rolled_over(&plan.new_index));
                }
                Target::Alias { name, is_explicit } => {
                    // As in Elasticsearch, the alias has neither a filter nor a routing afterwards.
                    let is_hidden = old.aliases.get(name).and_then(|alias| alias.is_hidden);
                    let definition = Alias { is_hidden, ..Alias::default() };
                    if let Some(alias) = old.aliases.get_mut(name) {
                        *alias = definition.clone();
                    }
                    hand_over(&mut old, &mut new, name, &definition, *is_explicit);
                }
            }
            next.indices.insert(old.name.clone(), Arc::new(old));
            self.with_new_index(&next, &Arc::new(new))
        })
    }
}

/// Checks that no template of the new index adds the alias that is rolled over.
fn check_template_has_no(catalog: &Catalog, new_index: &str, alias: &str) -> Result<()> {
    match catalog.templates.resolve(new_index).aliases.contains_key(alias) {
        false => Ok(()),
        true => Err(RequestError::illegal_argument(format!(
            "Rollover alias [{alias}] can point to multiple indices, found duplicated alias [[{alias}]] in index template [{new_index}]"
        ))),
    }
}

struct Answer<'a> {
    plan: &'a Plan,
    request: &'a RolloverRequest,
    results: Map<String, Value>,
    acknowledged: bool,
    rolled_over: bool,
}

impl Answer<'_> {
    fn to_json(&self) -> Value {
        json!({
            "acknowledged": self.acknowledged,
            "shards_acknowledged": self.rolled_over,
            "old_index": &*self.plan.old.name,
            "new_index": self.plan.new_index,
            "rolled_over": self.rolled_over,
            "dry_run": self.request.dry_run,
            "lazy": self.request.lazy,
            "conditions": self.results,
        })
    }
}

/// Increments the number in a name such as `logs-000001`, with at least six digits.
fn next_name(name: &str) -> Result<String> {
    let numbered = name.rsplit_once('-').and_then(|(head, digits)| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        Some((head, digits.parse::<u64>().ok().filter(|_| is_number)?))
    });
    match numbered {
        Some((head, number)) => Ok(format!("{head}-{:06}", number.saturating_add(1))),
        None => Err(RequestError::illegal_argument(format!(
            "index name [{name}] does not match pattern '^.*-\\d+$'"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_on() {
        let check = |name: &str, expected: &str| match next_name(name) {
            Ok(next) => assert_eq!(next, expected),
            Err(error) => assert_eq!(error.reason, expected),
        };
        check("logs-1", "logs-000002");
        check("logs-2024-000009", "logs-2024-000010");
        check("logs-9999999", "logs-10000000");
        check("logs", r"index name [logs] does not match pattern '^.*-\d+$'");
        check("logs-1a", r"index name [logs-1a] does not match pattern '^.*-\d+$'");
        check("logs-+1", r"index name [logs-+1] does not match pattern '^.*-\d+$'");
    }
}
