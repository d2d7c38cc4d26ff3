//! The options, the reduce and the rendering of `frequent_item_sets`.
//!
//! Source: Elasticsearch's reference, "Frequent item sets aggregation", and
//! `FrequentItemSetsAggregationBuilder`. The support of a set is its share of all documents of the bucket.
//! Documents that do not match the `filter` contribute no items, but they count in the total.

use limber_mapping::number::java_double;
use limber_mapping::{ObjectParser, RequestError};
use limber_store::Charge;
use serde_json::{Map, Value};

use super::super::answer::members::Members;
use super::super::answer::partial::OwnFinding;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Shape;
use super::super::buckets::list::part_json;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::sampling::scaled;
use super::super::source::Accepts;
use super::super::terms::{Include, TermFilter};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::super::values::format::double;
use super::collector::FrequentCollector;
use super::database::Database;
use super::miner::{ItemSet, Wanted, Watch, closed_sets};
use super::transactions::{Item, Transactions};
use crate::context::SearchContext;
use crate::error::{Error, Result};
use crate::query::Query;
use crate::request::read_query;

const NAME: &str = "frequent_item_sets";

/// Largest number of fields of one aggregation.
const FIELD_COUNT_MAX: usize = 64;

const MINIMUM_SUPPORT: f64 = 0.01;
const SIZE: i32 = 10;

/// Granularity of the memory charge, in bytes.
const STEP_BYTES: u64 = 64 << 10;

const LABEL: &str = "<frequent item sets>";

/// The options of a `frequent_item_sets`: the fields, and the minimum support and size of a set.
#[derive(Debug, Clone)]
pub struct FrequentItemSets {
    name: String,
    fields: Vec<ItemField>,
    minimum_support: f64,
    minimum_set_size: usize,
    size: usize,
    filter: Option<Query>,
}

/// A field whose values are items.
#[derive(Debug, Clone)]
struct ItemField {
    values: ValuesOptions,
    include: Option<Include>,
    exclude: Option<Include>,
}

impl ItemField {
    fn parse(name: &str, definition: Value) -> std::result::Result<ItemField, RequestError> {
        let mut options = match definition {
            Value::Object(map) => Options::new("field_config", name, map),
            other => return Err(Options::new(NAME, name, Map::new()).wrong_type("fields", &other)),
        };
        let include = Include::parse(&mut options, "include")?;
        let exclude = Include::parse(&mut options, "exclude")?;
        let values = ValuesOptions::parse_plain(&mut options)?;
        options.finish()?;
        if values.field.is_empty() {
            return Err(RequestError::illegal_argument(
                "[field] and [script] cannot both be null.  Please specify one or the other.",
            ));
        }
        Ok(ItemField { values, include, exclude })
    }
}

impl FrequentItemSets {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        // Before version 8.7 the aggregation was called `frequent_items`.
        options.kind = NAME;
        let fields = match options.take_typed("fields")? {
            None => return Err(RequestError::illegal_argument("Required [fields]")),
            Some(Value::Array(list)) => list,
            Some(one @ Value::Object(_)) => vec![one],
            Some(other) => return Err(options.wrong_type("fields", &other)),
        };
        if fields.len() > FIELD_COUNT_MAX {
            return Err(options.refused("fields", format!("more than {FIELD_COUNT_MAX} fields")));
        }
        let fields = fields.into_iter().map(|field| {
            ItemField::parse(&options.name, field).map_err(|cause| options.failed("fields", cause))
        });
        let fields = fields.collect::<std::result::Result<_, _>>()?;
        let minimum_support = options.double("minimum_support")?.unwrap_or(MINIMUM_SUPPORT);
        let minimum_set_size = options.int("minimum_set_size")?.unwrap_or(1);
        let size = options.int("size")?.unwrap_or(SIZE);
        let filter = match options.object("filter")? {
            None => None,
            Some(query) => {
                let query = read_query(&Value::Object(query));
                Some(query.map_err(|cause| options.failed("filter", cause))?)
            }
        };
        let hint = options.text("execution_hint")?;
        if let Some(option) = options.first_left() {
            return Err(super::super::options::unknown_field(NAME, option));
        }
        let name = options.name.clone();
        check(&name, minimum_support, minimum_set_size, size, hint.as_deref())?;
        let (minimum_set_size, size) = (minimum_set_size as usize, size as usize);
        Ok(Kind::own(FrequentItemSets { name, fields, minimum_support, minimum_set_size, size, filter }))
    }

    fn mine(&self, parts: &[Transactions], context: &SearchContext) -> Result<FrequentSets> {
        let mut memory =
            Memory { charge: context.ledger.request.charge(STEP_BYTES, LABEL)?, kept_bytes: 0, context };
        let database = Database::new(parts, self.minimum_support, |bytes| memory.keep(bytes))?;
        let wanted = Wanted {
            min_count: database.min_count(self.minimum_support),
            min_size: self.minimum_set_size,
            size: self.size,
        };
        let shown = |set: ItemSet| ShownSet {
            support: set.doc_count as f64 / database.total as f64,
            doc_count: set.doc_count,
            items: set.items,
        };
        let sets = closed_sets(&database, wanted, &mut memory)?.into_iter().map(shown).collect();
        Ok(FrequentSets { items: database.items, sets })
    }
}

/// The memory of the mining, which is released afterwards.
struct Memory<'c> {
    charge: Charge,
    /// Bytes of the transactions and items.
    kept_bytes: u64,
    context: &'c SearchContext,
}

impl Memory<'_> {
    fn keep(&mut self, bytes: u64) -> Result<()> {
        self.kept_bytes += bytes;
        self.hold(0)
    }
}

impl Watch for Memory<'_> {
    fn hold(&mut self, bytes: u64) -> Result<()> {
        let more = (self.kept_bytes + bytes).saturating_sub(self.charge.bytes());
        match more {
            0 => Ok(()),
            more => Ok(self.charge.grow(more.max(STEP_BYTES), LABEL)?),
        }
    }

    /// Deadlines are not checked here: they apply to the work of the shards.
    fn check(&self) -> Result<()> {
        match self.context.check() {
            Err(Error::TimedOut) => Ok(()),
            other => other,
        }
    }
}

/// Validates the option values after all of them were parsed, as Elasticsearch does.
fn check(
    name: &str,
    minimum_support: f64,
    minimum_set_size: i32,
    size: i32,
    hint: Option<&str>,
) -> std::result::Result<(), RequestError> {
    let reason = if !(minimum_support > 0.0 && minimum_support <= 1.0) {
        let found = java_double(minimum_support);
        format!(
            "[minimum_support] must be greater than 0 and less or equal to 1. Found [{found}] in [{name}]"
        )
    } else if minimum_set_size <= 0 {
        format!("[minimum_set_size] must be greater than 0. Found [{minimum_set_size}] in [{name}]")
    } else if size <= 0 {
        format!("[size] must be greater than 0. Found [{size}] in [{name}]")
    } else if let Some(hint) = hint.filter(|hint| !matches!(*hint, "global_ordinals" | "map")) {
        format!("[execution_hint] must be one of [global_ordinals,map]. Found [{hint}]")
    } else {
        return Ok(());
    };
    Err(ObjectParser::new(NAME).failed_to_build(RequestError::illegal_argument(reason)))
}

impl Request for FrequentItemSets {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.fields.iter().map(|field| (&field.values, Accepts::Keys)).collect()
    }

    fn type_name_of(&self, _: usize) -> Option<&'static str> {
        Some(NAME)
    }

    fn queries(&self) -> Vec<&Query> {
        self.filter.iter().collect()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for FrequentItemSets {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let pairs = context.bound.sources().iter().zip(&self.fields);
        let fields = pairs.map(|(source, field)| {
            Ok((source, TermFilter::bind(&field.include, &field.exclude, source, &self.name)?))
        });
        let fields = fields.collect::<Result<_>>()?;
        Ok(Box::new(FrequentCollector::new(fields, context.bound.queries.first(), context.budget)?))
    }
}

impl Reduce for FrequentItemSets {
    type Finding = FrequentFinding;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<FrequentFinding>,
        reducer: &mut Reducer<'_>,
    ) -> Result<FrequentFinding> {
        let shard = |part| match part {
            FrequentFinding::Shard(transactions) => Some(transactions),
            FrequentFinding::Reduced(_) => None,
        };
        let parts: Vec<Transactions> = parts.into_iter().filter_map(shard).collect();
        let found = self.mine(&parts, reducer.context())?;
        reducer.count_buckets(found.sets.len())?;
        Ok(FrequentFinding::Reduced(found))
    }
}

impl Render for FrequentItemSets {
    fn typed_name(&self, _: &Aggregation, _: &FrequentFinding, _: &Shape) -> String {
        NAME.to_owned()
    }

    fn render(
        &self,
        finding: &FrequentFinding,
        renderer: &Renderer<'_>,
        out: &mut Members<'_>,
    ) -> Result<()> {
        let FrequentFinding::Reduced(found) = finding else { return Ok(()) };
        out.bucket_list(&found.sets, |set, out| {
            let mut items: Vec<&Item> = set.items.iter().map(|&rank| &found.items[rank as usize]).collect();
            // The sort is stable: the values of a field stay in the order of their frequency.
            items.sort_by_key(|item| item.field);
            let mut fields: Map<String, Value> = Map::new();
            for item in items {
                let Some(source) = renderer.shape.sources.get(item.field as usize) else { continue };
                let values = match fields.get_mut(source.path()) {
                    Some(values) => values,
                    None => fields
                        .entry(claimed::name(source.path())?)
                        .or_insert_with(|| Value::Array(Vec::new())),
                };
                values.as_array_mut().expect("made above").push(part_json(&item.key, &source.format)?);
            }
            out.insert("key", &fields)?;
            out.insert("doc_count", &set.doc_count)?;
            out.insert("support", &double(set.support))
        })
    }
}

/// The findings of a shard, and the sets that the reduce makes of them.
#[derive(Debug, Clone)]
pub enum FrequentFinding {
    Shard(Transactions),
    Reduced(FrequentSets),
}

impl OwnFinding for FrequentFinding {
    fn scale(&mut self, probability: f64) {
        if let FrequentFinding::Reduced(found) = self {
            found.sets.iter_mut().for_each(|set| set.doc_count = scaled(set.doc_count, probability));
        }
    }
}

/// The closed sets of all shards, best first.
#[derive(Debug, Clone, Default)]
pub struct FrequentSets {
    /// The items by rank.
    items: Vec<Item>,
    sets: Vec<ShownSet>,
}

#[derive(Debug, Clone)]
struct ShownSet {
    /// The ranks of the items, ascending.
    items: Vec<u32>,
    doc_count: u64,
    support: f64,
}
