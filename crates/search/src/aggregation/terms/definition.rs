//! The [`Definition`](super::super::definition::Definition) of `terms`: binds, collects, reduces and renders
//! it. Source: Elasticsearch's `TermsAggregatorFactory`, `InternalMappedTerms`.

use limber_mapping::RequestError;
use limber_work as work;

use super::super::answer::members::Members;
use super::super::answer::order::BucketOrder;
use super::super::answer::partial::{TermBucket, TermKey, TermsPartial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::ValuesOptions;
use super::super::profiled::ProfileNotes;
use super::super::source::{Accepts, Source};
use super::super::tree::Aggregation;
use super::super::values::format::double;
use super::computed_terms::ComputedTermsCollector;
use super::include::Include;
use super::keyword::KeywordTerms;
use super::number::NumberTerms;
use super::profile::notes;
use super::reduce::reduce_terms;
use super::request::Terms;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::Query;

impl Request for Terms {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Keys)]
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn sees_all_docs(&self) -> bool {
        self.min_doc_count == 0
    }

    fn includes(&self) -> (&Option<Include>, &Option<Include>) {
        (&self.include, &self.exclude)
    }

    fn order(&self) -> Option<&BucketOrder> {
        Some(&self.order)
    }

    fn profile_notes(
        &self,
        bound: &Bound,
        below: &[&str],
        shard: &ShardSnapshot,
        is_alone: bool,
    ) -> Result<ProfileNotes> {
        notes(self, &bound.sources()[0], below, shard, is_alone)
    }

    /// When all documents match, Elasticsearch counts terms with filters, and then validates paths only in
    /// the reduce.
    fn check_order(
        &self,
        own: &Aggregation,
        shape: &Shape,
        search_query: Option<&Query>,
    ) -> std::result::Result<(), RequestError> {
        let below = own.subs.iter().filter_map(Aggregation::definition);
        let is_by_filters = !shape.sources.iter().any(Source::is_numeric)
            && search_query.is_none_or(Query::is_match_all)
            && below.into_iter().all(|definition| definition.goes_below_filters());
        match is_by_filters {
            true => self.order.check(&own.subs),
            false => self.order.check_on_shard(&own.subs),
        }
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for Terms {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &context.bound.sources()[0];
        if !source.is_numeric() && !source.computes_terms() {
            return Ok(Box::new(KeywordTerms::new(self, source, context)?));
        }
        let filter = &context.bound.filter;
        Ok(if source.is_numeric() {
            Box::new(NumberTerms::new(self, filter, source, context)?)
        } else {
            Box::new(ComputedTermsCollector::new(self, filter, source, context.subs, context.budget)?)
        })
    }
}

impl Reduce for Terms {
    type Finding = TermsPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<TermsPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<TermsPartial> {
        reduce_terms(self, own, parts, reducer)
    }
}

impl Render for Terms {
    fn typed_name(&self, _: &Aggregation, finding: &TermsPartial, shape: &Shape) -> String {
        let name = match first_key(finding) {
            Some(TermKey::Long(_)) => "lterms",
            Some(TermKey::Double(_)) => "dterms",
            Some(TermKey::Term(_) | TermKey::Several(_)) => "sterms",
            // Source: `UnmappedTerms#getType`.
            None if !shape.is_mapped => "sterms",
            None if shape.sources.iter().any(Source::is_floating) => "dterms",
            None if shape.sources.iter().any(Source::is_numeric) => "lterms",
            None => "sterms",
        };
        name.to_owned()
    }

    fn render(&self, terms: &TermsPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.insert("doc_count_error_upper_bound", &terms.error)?;
        out.insert("sum_other_doc_count", &terms.other_doc_count)?;
        out.bucket_list(&terms.buckets, |bucket, out| self.bucket(bucket, renderer, out))
    }

    fn java_name(&self, finding: &TermsPartial, _: Option<&str>) -> &'static str {
        match first_key(finding) {
            Some(TermKey::Long(_)) => "LongTerms",
            Some(TermKey::Double(_)) => "DoubleTerms",
            _ => "StringTerms",
        }
    }
}

fn first_key(terms: &TermsPartial) -> Option<&TermKey> {
    terms.buckets.first().map(|bucket| &bucket.key)
}

impl Terms {
    fn bucket(&self, bucket: &TermBucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        work::check_beyond_deadline()?;
        let format = &renderer.shape.format;
        match &bucket.key {
            TermKey::Long(key) => {
                out.insert("key", &format.long(*key))?;
                if !format.is_raw() {
                    out.insert("key_as_string", &format.text_of_long(*key)?)?;
                }
            }
            TermKey::Double(key) => {
                out.insert("key", &double(*key))?;
                if !format.is_raw() {
                    out.insert("key_as_string", &format.text(*key)?)?;
                }
            }
            TermKey::Several(_) => {}
            TermKey::Term(term) => out.insert("key", &format.text_of_term(term)?)?,
        }
        out.insert("doc_count", &bucket.doc_count)?;
        if self.show_error {
            out.insert("doc_count_error_upper_bound", &bucket.error)?;
        }
        renderer.subs(&bucket.subs, out)
    }
}
