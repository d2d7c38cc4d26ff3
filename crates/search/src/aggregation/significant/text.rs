//! `significant_text`: the significant words of a text field, which is read from the source and analysed
//! again.
//!
//! Source: Elasticsearch's `SignificantTextAggregationBuilder`, `SignificantTextAggregatorFactory`.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use limber_mapping::{Field, Mapping, RequestError};
use limber_script::{Script, ScriptContext};
use limber_segment::{DocId, SegmentView};
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListPartial, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::Options;
use super::super::terms::{TermFilter, TermPool};
use super::super::tree::{Aggregation, Kind};
use super::super::values::given_script::FoundScript;
use super::super::values::source_texts::{SourceTexts, source_path};
use super::answer::Counted;
use super::background;
use super::heuristic::HEURISTICS;
use super::repeats::Repeats;
use super::request::Significance;
use super::terms::add_totals;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::{BoundQuery, MatchingDocs, Query};
use crate::values::json;

/// Largest number of paths in `source_fields`.
const SOURCE_COUNT_MAX: usize = 100;

/// The options of a `significant_text`: the field, and the paths of the source whose values are analysed
/// again.
#[derive(Debug, Clone)]
pub struct SignificantText {
    field: String,
    /// The paths of the text in the source; empty means the path of the field.
    source_fields: Vec<String>,
    /// `filter_duplicate_text`.
    skips_repeats: bool,
    request: Significance,
}

impl SignificantText {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let request = Significance::parse(options)?;
        let field = options.text("field")?.unwrap_or_default();
        let skips_repeats = options.boolean("filter_duplicate_text")?.unwrap_or(false);
        let source_fields = match options.take("source_fields") {
            None => Vec::new(),
            Some(Value::Array(list)) if list.len() <= SOURCE_COUNT_MAX => {
                list.iter().filter_map(json::scalar_text).collect()
            }
            Some(Value::String(one)) => vec![one],
            Some(other) => return Err(options.wrong_type("source_fields", &other)),
        };
        if let Some(option) = options.first_left() {
            return Err(options.no_heuristic(option, HEURISTICS));
        }
        if field.is_empty() {
            return Err(RequestError::illegal_argument(
                "Required one of fields [field], but none were specified.",
            ));
        }
        Ok(Kind::own(SignificantText { field, source_fields, skips_repeats, request }))
    }
}

impl Request for SignificantText {
    fn queries(&self) -> Vec<&Query> {
        self.request.background_filter.iter().collect()
    }

    fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        self.request.heuristic.stored_script()
    }

    fn is_mapped(&self, shard: &ShardSnapshot) -> bool {
        shard.mapping.field(&self.field).is_some()
    }

    fn check_on_shard(&self, _: &Bound, shard: &ShardSnapshot) -> Result<()> {
        if shard.nested.is_some() {
            return Err(RequestError::unsupported("[significant_text] on nested documents").into());
        }
        let Some(field) = shard.mapping.field(&self.field) else { return Ok(()) };
        match field.representation() {
            limber_mapping::Representation::Number => Err(RequestError::illegal_argument(format!(
                "Field [{}] has no analyzer, but SignificantText requires an analyzed field",
                self.field
            ))
            .into()),
            _ => Ok(()),
        }
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for SignificantText {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let field = context.shard.mapping.field(&self.field);
        let filter = TermFilter::bind_text(&self.request.include, &self.request.exclude, &self.field)?;
        let paths = match (self.source_fields.as_slice(), &field) {
            ([], Some(field)) => vec![source_path(context.shard, field)],
            ([], None) => Vec::new(),
            (paths, _) => paths.to_vec(),
        };
        Ok(Box::new(TextCollector {
            request: &self.request,
            field,
            paths,
            filter,
            background_filter: context.bound.queries.first(),
            script: context.bound.shape.stored_script.as_ref(),
            words: Words { repeats: self.skips_repeats.then(Repeats::default), ..Words::default() },
            view: None,
            table: BucketTable::default(),
            totals: Vec::new(),
            shard: context.shard,
            subs: context.subs,
            emitted: Emitted::default(),
            budget: context.budget,
        }))
    }
}

impl Reduce for SignificantText {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        self.request.reduce(own, parts, reducer)
    }
}

impl Render for SignificantText {
    fn typed_name(&self, _: &Aggregation, _: &ListPartial, _: &Shape) -> String {
        "sigsterms".to_owned()
    }

    fn render(&self, finding: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        self.request.render(finding, renderer, out)
    }
}

/// The words of documents, by their numbers in a pool.
#[derive(Debug, Default)]
struct Words {
    pool: TermPool,
    texts: SourceTexts,
    /// The words of one document, without duplicates.
    found: Vec<u32>,
    /// `None`: passages that were read before count as well.
    repeats: Option<Repeats>,
}

impl Words {
    /// Fills `found` with the words of a document.
    fn read(
        &mut self,
        source: (&Mapping, &SegmentView),
        doc: DocId,
        (field, paths, filter): (&Field, &[String], &TermFilter),
        budget: &Budget,
    ) -> Result<()> {
        self.found.clear();
        let Words { pool, texts, found, repeats } = self;
        texts.each(source, doc, paths, |text| {
            let mut add = |word: &[u8]| -> Result<()> {
                let allowed = filter.allows_term(word).then(|| pool.number(word, budget));
                let number = allowed.transpose()?;
                match repeats.as_mut() {
                    Some(repeats) => repeats.add(word, number, budget)?,
                    None => found.extend(number),
                }
                Ok(())
            };
            match &field.analyzer {
                Some(analyzer) => {
                    let mut added = Ok(());
                    analyzer.tokens(text, |token| {
                        if added.is_ok() {
                            added = add(token.text.as_bytes());
                        }
                    });
                    added?;
                }
                None => add(text.as_bytes())?,
            }
            repeats.as_mut().map_or(Ok(()), |repeats| repeats.end(found, budget))
        })?;
        self.found.sort_unstable();
        self.found.dedup();
        Ok(())
    }
}

#[derive(Debug)]
struct TextCollector<'s> {
    request: &'s Significance,
    /// `None` if the field is not mapped on this shard.
    field: Option<Arc<Field>>,
    paths: Vec<String>,
    filter: TermFilter,
    background_filter: Option<&'s BoundQuery>,
    /// The stored script that scores.
    script: Option<&'s FoundScript>,
    words: Words,
    view: Option<View<'s>>,
    table: BucketTable,
    totals: Vec<u64>,
    shard: &'s ShardSnapshot,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

struct View<'s>(&'s SegmentView);

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("View")
    }
}

impl<'s> TextCollector<'s> {
    /// Counts the background documents that have each of the words whose numbers are the keys of `counts`.
    fn count_background(&self, counts: &mut HashMap<i64, u64, FixedState>) -> Result<()> {
        let Some(field) = &self.field else { return Ok(()) };
        for view in &self.shard.segments {
            let Some(terms) = view.segment.terms(&field.path)? else { continue };
            // With a filter, only the matching documents of each word are counted.
            let mut allowed = limber_segment::LiveDocs::all(view.segment.doc_count());
            if let Some(filter) = self.background_filter {
                retain_matching(filter, view, &mut allowed, self.budget)?;
            }
            for (&id, count) in counts.iter_mut() {
                self.budget.check()?;
                let Some(info) = terms.get(self.words.pool.term(id as u32))? else { continue };
                if self.background_filter.is_none() {
                    *count += u64::from(info.doc_freq);
                    continue;
                }
                let mut postings =
                    view.segment.postings(&field.path, &info, limber_segment::postings::Want::Docs)?;
                let mut doc = postings.doc();
                while doc != limber_segment::NO_MORE_DOCS {
                    *count += u64::from(allowed.is_live(doc));
                    doc = postings.next();
                }
            }
        }
        Ok(())
    }
}

/// Marks the documents of a segment that do not match as not live.
fn retain_matching(
    filter: &BoundQuery,
    view: &SegmentView,
    allowed: &mut limber_segment::LiveDocs,
    budget: &Budget,
) -> Result<()> {
    let mut matching = MatchingDocs::open(filter, &view.segment)?;
    let (mut docs, mut kept) = (Vec::new(), Vec::new());
    let end = view.segment.doc_count();
    for start in (0..end).step_by(4096) {
        budget.check()?;
        docs.clear();
        docs.extend(start..end.min(start + 4096));
        matching.retain(&docs, &mut kept)?;
        let mut next = kept.iter().copied().peekable();
        for &doc in &docs {
            let is_live = view.live.as_ref().is_none_or(|live| live.is_live(doc));
            if next.next_if_eq(&doc).is_none() || !is_live {
                allowed.delete(doc);
            }
        }
    }
    Ok(())
}

impl<'s> Collector<'s> for TextCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.view = Some(View(view));
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (Some(field), Some(View(view))) = (&self.field, &self.view) else { return Ok(()) };
        add_totals(&mut self.totals, entries, self.budget)?;
        self.emitted.clear();
        let mut last = usize::MAX;
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            if position != last {
                last = position;
                if position.is_multiple_of(64) {
                    self.budget.check()?;
                }
                self.words.read(
                    (&self.shard.mapping, view),
                    entries.docs[position],
                    (field, &self.paths, &self.filter),
                    self.budget,
                )?;
            }
            for &word in &self.words.found {
                let bucket = self.table.bucket(entries.bucket(entry), i64::from(word), self.budget)?;
                self.table.counts[bucket as usize] += 1;
                self.emitted.push(entry, bucket)?;
            }
        }
        if !self.subs.is_empty() && self.table.len() > 0 {
            self.subs.collect(&self.emitted.batch(entries, self.table.len())?)?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let background_size = background::size(self.shard, self.background_filter, self.budget)?;
        let lists = self.table.by_parent(parents);
        let mut counts: HashMap<i64, u64, _> = HashMap::default();
        self.budget.spend(self.table.len() as u64 * 24)?;
        counts.extend(lists.iter().flatten().map(|&bucket| (self.table.key(bucket), 0)));
        self.count_background(&mut counts)?;
        let (table, pool) = (&self.table, &self.words.pool);
        let term = |bucket: u32| pool.term(table.key(bucket) as u32);
        let counted = Counted {
            table,
            totals: &self.totals,
            background: &counts,
            background_size,
            script: self.script,
        };
        let compare = |left: u32, right: u32| term(left).cmp(term(right));
        let key = |bucket: u32| Key::Term(term(bucket).into());
        counted.answer(self.request, (parents, lists), &mut self.subs, compare, key)
    }
}
