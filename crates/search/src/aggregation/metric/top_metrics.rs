//! `top_metrics`: the metrics of the top documents of a sort. Source: Elasticsearch's
//! `TopMetricsAggregationBuilder`, `InternalTopMetrics`. The documents are found and read as in `top_hits`.

use limber_mapping::RequestError;
use limber_mapping::date::Resolution;
use limber_segment::{DocId, SegmentView};
use serde_json::{Value, json};

use super::super::answer::members::Members;
use super::super::answer::order::{NameCheck, OrderValues};
use super::super::answer::partial::Partial;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Bound;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::super::values::format::{Format, double};
use super::top_hits::{TopHits, TopHitsCollector, TopHitsFound};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::request::{FieldFormat, SearchRequest, Sort, StoredFields};
use crate::score::float_to_json;
use crate::source::SourceFilter;

/// Largest number of metrics of one aggregation.
const METRIC_COUNT_MAX: usize = 100;

/// Number of documents that are read at once.
const WINDOW: usize = 4096;

/// The options of a `top_metrics`: the metrics that are read from the top documents, and their sort.
#[derive(Debug, Clone)]
pub struct TopMetrics {
    /// The fields of the metrics, then the field of the sort if it has one.
    fields: Vec<ValuesOptions>,
    metric_count: usize,
    hits: TopHits,
}

impl TopMetrics {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let list = match options.take("metrics") {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        if list.is_empty() || list.len() > METRIC_COUNT_MAX {
            return Err(RequestError::illegal_argument("[top_metrics] needs at least one [metrics]"));
        }
        let mut fields = Vec::with_capacity(list.len() + 1);
        for metric in list {
            let Value::Object(map) = metric else { return Err(options.wrong_type("metrics", &metric)) };
            if map.contains_key("missing") {
                return Err(RequestError::unsupported(
                    "[missing] in the [metrics] of the aggregation [top_metrics]",
                ));
            }
            let mut own = Options::new("metrics", &options.name, map);
            let values = ValuesOptions::parse(&mut own).and_then(|values| own.finish().map(|()| values));
            fields.push(values.map_err(|cause| options.failed("metrics", cause))?);
        }
        let sort = match options.take("sort") {
            None => Vec::new(),
            Some(value) => Sort::parse_list(&value).map_err(|cause| options.failed("sort", cause))?,
        };
        if sort.len() != 1 {
            return Err(RequestError::illegal_argument("[top_metrics] sort must contain exactly one sort"));
        }
        let size = options.int("size")?.unwrap_or(1);
        if size < 1 {
            let reason = format!("[size] must be more than 0 but was [{size}]");
            return Err(options.refused("size", reason));
        }
        let metric_count = fields.len();
        let wanted = fields.iter().map(|values| FieldFormat::of(values.field.clone()));
        let request = SearchRequest {
            docvalue_fields: wanted.collect(),
            size: u32::try_from(size).ok(),
            source: Some(SourceFilter::none()),
            stored_fields: Some(StoredFields::None),
            sort: sort.clone(),
            ..SearchRequest::default()
        };
        let sort_fields = sort.into_iter().filter(|sort| !sort.is_score() && !sort.is_doc());
        fields.extend(sort_fields.map(|sort| ValuesOptions {
            field: sort.field,
            format: sort.format,
            ..ValuesOptions::default()
        }));
        Ok(Kind::own(TopMetrics {
            fields,
            metric_count,
            hits: TopHits { name: options.name.clone(), request },
        }))
    }
}

impl Request for TopMetrics {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.fields.iter().map(|values| (values, Accepts::Anything)).collect()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn needs_scores(&self) -> bool {
        self.hits.needs_scores()
    }

    fn needs_search_query(&self) -> bool {
        true
    }

    fn check_on_shard(&self, _: &Bound, shard: &ShardSnapshot) -> Result<()> {
        let (size, size_max) = (self.hits.request.size(), shard.settings.top_metrics_max_size);
        if size <= size_max {
            return Ok(());
        }
        Err(RequestError::illegal_argument(format!(
            "[top_metrics.size] must not be more than [{size_max}] but was [{size}]. This limit can be set by changing the \
             [index.top_metrics_max_size] index level setting."
        ))
        .into())
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::Several
    }

    fn check_order_name(&self, own: &str, name: &str) -> NameCheck {
        let size = self.hits.request.size();
        if size != 1 {
            return NameCheck::refused(format!(
                "[top_metrics] can only the be target if [size] is [1] but was [{size}]"
            ));
        }
        if self.fields[..self.metric_count].iter().any(|values| values.field == name) {
            return NameCheck::known();
        }
        NameCheck::unknown(own, name, format!("unknown metric [{name}]"))
    }
}

impl Collect for TopMetrics {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let sources = &context.bound.sources()[..self.metric_count];
        let (shard, budget) = (context.shard, context.budget);
        let is_ordering = self.hits.request.size() == 1;
        Ok(Box::new(TopMetricsCollector {
            hits: self.hits.open(context)?,
            names: self.fields[..self.metric_count].iter().map(|values| values.field.as_str()).collect(),
            sources: if is_ordering { sources } else { &[] },
            firsts: Vec::new(),
            shard,
            budget,
        }))
    }
}

impl Reduce for TopMetrics {
    type Finding = TopHitsFound;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<TopHitsFound>,
        reducer: &mut Reducer<'_>,
    ) -> Result<TopHitsFound> {
        self.hits.reduce(own, parts, reducer)
    }
}

impl Render for TopMetrics {
    fn render(&self, found: &TopHitsFound, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let sort_source = renderer.shape.sources.get(self.metric_count);
        let names = || self.fields[..self.metric_count].iter().map(|values| values.field.as_str());
        out.list("top", &found.hits, |hit| {
            let shown = |value: &Value| match (value.as_i64(), sort_source) {
                (Some(key), Some(Source { format: Format::Date { format, zone }, field, .. })) => {
                    let resolution = field.as_ref().map_or(Resolution::Millis, |field| field.resolution());
                    Ok(format.format_instant(resolution.instant(key), zone).into())
                }
                _ => claimed::value(value),
            };
            let sort: Vec<Value> = match &hit.fetched.sort {
                Some(values) => values.iter().map(shown).collect::<Result<_>>()?,
                None => hit.fetched.score.map(float_to_json).into_iter().collect(),
            };
            let metrics = names().map(|name| {
                let fields = hit.fetched.fields.as_ref();
                let values = fields.and_then(|fields| fields.get(name));
                Ok((claimed::name(name)?, values.map_or(Ok(Value::Null), middle)?))
            });
            let metrics = Value::Object(metrics.collect::<Result<_>>()?);
            Ok(json!({"sort": sort, "metrics": metrics}).to_string().into_bytes())
        })
    }

    fn number(&self, finding: &TopHitsFound, value: Option<&str>) -> Option<f64> {
        let hit = finding.hits.first()?;
        let name = value.or_else(|| self.fields.first().map(|values| values.field.as_str()))?;
        middle(hit.fetched.fields.as_ref()?.get(name)?).ok()?.as_f64()
    }
}

/// Returns the value that represents the values of a document: the mean of several numbers (rounded as in
/// Java if they are integers), otherwise the first.
fn middle(values: &Value) -> Result<Value> {
    let Some([first, .., _]) = values.as_array().map(Vec::as_slice) else {
        return values.get(0).map_or(Ok(Value::Null), claimed::value);
    };
    let all = values.as_array().map_or(&[][..], Vec::as_slice);
    let numbers: Vec<f64> = all.iter().filter_map(Value::as_f64).collect();
    if numbers.len() < all.len() {
        return claimed::value(first);
    }
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    Ok(if first.is_f64() { double(mean) } else { ((mean + 0.5).floor() as i64).into() })
}

/// Collects hits as `top_hits` does. If buckets can be ordered by the metrics, also reads the metrics of each
/// bucket's first document.
#[derive(Debug)]
struct TopMetricsCollector<'s> {
    hits: TopHitsCollector<'s>,
    names: Vec<&'s str>,
    /// The fields of the metrics; empty if no bucket can be ordered by them.
    sources: &'s [Source],
    /// The values of the first documents by metric and bucket; NaN if there is none.
    firsts: Vec<Vec<f64>>,
    shard: &'s ShardSnapshot,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for TopMetricsCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.hits.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.hits.collect(entries)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.hits.end_segment()
    }

    fn can_split(&self) -> bool {
        self.hits.can_split()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        self.hits.take_findings()
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        self.hits.absorb(findings, bucket_of)
    }

    fn settle(&mut self) -> Result<()> {
        let best = || self.hits.best().enumerate();
        let bucket_count = best().count();
        let mut places: Vec<(u32, DocId, usize)> =
            best().filter_map(|(bucket, place)| place.map(|(segment, doc)| (segment, doc, bucket))).collect();
        places.sort_unstable();
        self.budget.spend((self.sources.len() * bucket_count) as u64 * 8)?;
        self.firsts = self.sources.iter().map(|_| vec![f64::NAN; bucket_count]).collect();
        for (source, firsts) in
            self.sources.iter().zip(&mut self.firsts).filter(|(source, _)| source.is_numeric())
        {
            let mut reader = NumberReader::new(source)?;
            for places in places.chunk_by(|left, right| left.0 == right.0) {
                reader.begin(&self.shard.segments[places[0].0 as usize].segment, source.is_mapped())?;
                read_means(&mut reader, source, places, firsts)?;
            }
        }
        Ok(())
    }

    fn order_value(&self, _: &[String], value: Option<&str>, bucket: u32) -> f64 {
        let place = value.and_then(|value| self.names.iter().position(|name| *name == value));
        let firsts = place.and_then(|place| self.firsts.get(place));
        firsts.and_then(|firsts| firsts.get(bucket as usize)).copied().unwrap_or(f64::NAN)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.hits.finish(buckets)
    }
}

/// Writes the mean of each document's values to the entry of its bucket. `places` are sorted by document, all
/// of one segment; a document may occur for several buckets.
fn read_means(
    reader: &mut NumberReader<'_>,
    source: &Source,
    places: &[(u32, DocId, usize)],
    firsts: &mut [f64],
) -> Result<()> {
    let mut docs: Vec<DocId> = places.iter().map(|(_, doc, _)| *doc).collect();
    docs.dedup();
    let mut means = Vec::with_capacity(docs.len());
    let mut numbers = Vec::new();
    for docs in docs.chunks(WINDOW) {
        let stored = reader.load(docs)?;
        source.decode_all(stored.values, &mut numbers);
        let mut sums = vec![(0.0, 0u32); docs.len()];
        for (at, number) in numbers.iter().enumerate() {
            let sum = &mut sums[stored.positions.map_or(at, |positions| positions[at] as usize)];
            *sum = (sum.0 + number, sum.1 + 1);
        }
        means.extend(sums.iter().map(|(sum, count)| sum / f64::from(*count)));
    }
    let of_doc = |doc| docs.binary_search(doc).map_or(f64::NAN, |at| means[at]);
    places.iter().for_each(|(_, doc, bucket)| firsts[*bucket] = of_doc(doc));
    Ok(())
}
