//! The `aggregations` object of an answer. Source: `doXContentBody` of Elasticsearch's `Internal...` aggregations.

use limber_work as work;
use serde_json::{Map, Value};

use super::bind::Shape;
use super::format::{Format, double};
use super::partial::{Bucket, KeyedBucket, Partial, TermKey, TermsPartial};
use super::reduce::ReducedAggregations;
use super::terms::Terms;
use super::tree::{Aggregation, Aggregations, Kind};
use crate::error::Result;

impl ReducedAggregations {
    /// The object by aggregation name; with `typed_keys`, names are `type#name`.
    ///
    /// # Errors
    /// There is no memory for it, or its client is gone.
    pub fn to_json(&self, request: &Aggregations, typed_keys: bool, node_id: &str) -> Result<Value> {
        let mut out = Map::new();
        level(&request.list, &self.partials, &self.shapes, Writing { typed_keys, node_id }, &mut out)?;
        Ok(Value::Object(out))
    }
}

/// What holds for the whole answer.
#[derive(Debug, Clone, Copy)]
struct Writing<'w> {
    typed_keys: bool,
    node_id: &'w str,
}

fn level(
    list: &[Aggregation],
    partials: &[Partial],
    shapes: &[Shape],
    writing: Writing<'_>,
    out: &mut Map<String, Value>,
) -> Result<()> {
    for ((aggregation, partial), shape) in list.iter().zip(partials).zip(shapes) {
        // What each bucket of the answer shows once more (names, metadata, formats, keys) is measured here, whatever it is.
        work::check_beyond_deadline()?;
        if matches!(partial, Partial::Absent) {
            continue;
        }
        let name = match writing.typed_keys {
            true => format!("{}#{}", typed_name(aggregation, partial, shape), aggregation.name),
            false => aggregation.name.clone(),
        };
        let mut body = Map::new();
        if let Some(meta) = &aggregation.meta {
            body.insert("meta".into(), Value::Object(meta.clone()));
        }
        Renderer { aggregation, shape, node_id: writing.node_id, writing }.body(partial, &mut body)?;
        out.insert(name, Value::Object(body));
    }
    Ok(())
}

fn typed_name(aggregation: &Aggregation, partial: &Partial, shape: &Shape) -> String {
    if let Partial::Pipeline(made) = partial {
        return made.typed_name.to_owned();
    }
    match &aggregation.kind {
        Kind::Own(definition) => definition.typed_name(aggregation, partial, shape),
        _ => built_in_name(aggregation, partial, shape).to_owned(),
    }
}

fn built_in_name(aggregation: &Aggregation, partial: &Partial, shape: &Shape) -> &'static str {
    if let Kind::Percentiles(percentiles) = &aggregation.kind {
        return percentiles.typed_name();
    }
    let Partial::Terms(terms) = partial else { return aggregation.type_name };
    match terms.buckets.first().map(|bucket| &bucket.key) {
        Some(TermKey::Long(_)) => "lterms",
        Some(TermKey::Double(_)) => "dterms",
        Some(TermKey::Term(_) | TermKey::Several(_)) => "sterms",
        None if !shape.is_mapped => "umterms",
        None if shape.sources.iter().any(|source| source.is_floating()) => "dterms",
        None if shape.sources.iter().any(|source| source.is_numeric()) => "lterms",
        None => "sterms",
    }
}

/// Writes one aggregation.
pub struct Renderer<'r> {
    pub aggregation: &'r Aggregation,
    pub shape: &'r Shape,
    /// For explanations of hits.
    pub node_id: &'r str,
    writing: Writing<'r>,
}

impl Renderer<'_> {
    fn body(&self, partial: &Partial, out: &mut Map<String, Value>) -> Result<()> {
        match (partial, &self.aggregation.kind) {
            (Partial::Metric(state), Kind::Metric(metric)) => {
                out.extend(state.to_json(metric, &self.shape.format))
            }
            (Partial::Cardinality(sketch), _) => {
                out.insert("value".into(), sketch.cardinality().into());
            }
            (Partial::Distribution(distribution), Kind::Percentiles(request)) => {
                out.extend(request.to_json(distribution, &self.shape.format))
            }
            (Partial::Terms(terms), Kind::Terms(request)) => self.terms(terms, request, out)?,
            (Partial::Histogram(buckets), Kind::Histogram(request)) => {
                let key = |bucket: &KeyedBucket| {
                    let key = request.key(bucket.key);
                    (double(key), self.shape.format.text(key))
                };
                self.histogram(buckets, request.keyed, key, out)?;
            }
            (Partial::Histogram(buckets), Kind::DateHistogram(request)) => {
                let key =
                    |bucket: &KeyedBucket| (bucket.key.into(), self.shape.format.text_of_long(bucket.key));
                self.histogram(buckets, request.keyed, key, out)?;
            }
            (Partial::Fixed(buckets), Kind::Range(request)) => self.ranges(buckets, request.keyed, out)?,
            (Partial::Fixed(buckets), Kind::Filters(request)) => {
                let names = request.filters.iter().map(|(name, _)| name).chain(&request.other);
                let body = |head, bucket: &Bucket| {
                    Ok(Value::Object(self.bucket(head, bucket.doc_count, &bucket.subs)?))
                };
                let shown = if !request.is_named {
                    buckets.iter().map(|bucket| body(Map::new(), bucket)).collect::<Result<_>>()?
                } else if request.keyed {
                    let named = names.zip(buckets);
                    let named = named.map(|(name, bucket)| Ok((name.clone(), body(Map::new(), bucket)?)));
                    Value::Object(named.collect::<Result<_>>()?)
                } else {
                    let with_key = names.zip(buckets).map(|(name, bucket)| {
                        let key = Map::from_iter([("key".to_owned(), Value::from(name.as_str()))]);
                        body(key, bucket)
                    });
                    with_key.collect::<Result<_>>()?
                };
                out.insert("buckets".into(), shown);
            }
            (Partial::Pipeline(made), _) => out.extend(made.body.clone()),
            (partial, Kind::Own(definition)) => definition.render(partial, self, out)?,
            (Partial::Single(bucket), _) => {
                out.extend(self.bucket(Map::new(), bucket.doc_count, &bucket.subs)?)
            }
            _ => unreachable!("an aggregation's result is of its own kind"),
        }
        Ok(())
    }

    /// One bucket without a key.
    ///
    /// # Errors
    /// As [`Renderer::bucket`].
    pub fn single(&self, partial: &Partial, out: &mut Map<String, Value>) -> Result<()> {
        if let Partial::Single(bucket) = partial {
            out.extend(self.bucket(Map::new(), bucket.doc_count, &bucket.subs)?);
        }
        Ok(())
    }

    /// `head`, then the number of documents and the results below.
    ///
    /// # Errors
    /// There is no memory for all the buckets so far, or the client is gone.
    pub fn bucket(
        &self,
        mut head: Map<String, Value>,
        doc_count: u64,
        subs: &[Partial],
    ) -> Result<Map<String, Value>> {
        work::check_beyond_deadline()?;
        head.insert("doc_count".into(), doc_count.into());
        level(&self.aggregation.subs, subs, &self.shape.subs, self.writing, &mut head)?;
        Ok(head)
    }

    fn terms(&self, terms: &TermsPartial, request: &Terms, out: &mut Map<String, Value>) -> Result<()> {
        out.insert("doc_count_error_upper_bound".into(), terms.error.into());
        out.insert("sum_other_doc_count".into(), terms.other_doc_count.into());
        let format = &self.shape.format;
        let bucket = |bucket: &super::partial::TermBucket| {
            work::check_beyond_deadline()?;
            let mut head = Map::new();
            let text = match &bucket.key {
                TermKey::Long(key) => {
                    head.insert("key".into(), format.long(*key));
                    (!format.is_raw()).then(|| format.text_of_long(*key))
                }
                TermKey::Double(key) => {
                    head.insert("key".into(), double(*key));
                    (!format.is_raw()).then(|| format.text(*key))
                }
                TermKey::Several(_) => None,
                TermKey::Term(term) => {
                    head.insert("key".into(), term_text(term, format).into());
                    None
                }
            };
            if let Some(text) = text {
                head.insert("key_as_string".into(), text.into());
            }
            head.insert("doc_count".into(), bucket.doc_count.into());
            if request.show_error {
                head.insert("doc_count_error_upper_bound".into(), bucket.error.into());
            }
            level(&self.aggregation.subs, &bucket.subs, &self.shape.subs, self.writing, &mut head)?;
            Ok(Value::Object(head))
        };
        out.insert("buckets".into(), terms.buckets.iter().map(bucket).collect::<Result<_>>()?);
        Ok(())
    }

    fn histogram(
        &self,
        buckets: &[KeyedBucket],
        keyed: bool,
        key: impl Fn(&KeyedBucket) -> (Value, String),
        out: &mut Map<String, Value>,
    ) -> Result<()> {
        let bodies = buckets.iter().map(|bucket| {
            let (shown, text) = key(bucket);
            let mut head = Map::new();
            if !self.shape.format.is_raw() {
                head.insert("key_as_string".into(), text.clone().into());
            }
            head.insert("key".into(), shown);
            Ok((text, Value::Object(self.bucket(head, bucket.doc_count, &bucket.subs)?)))
        });
        out.insert("buckets".into(), shown(bodies, keyed)?);
        Ok(())
    }

    fn ranges(&self, buckets: &[Bucket], keyed: bool, out: &mut Map<String, Value>) -> Result<()> {
        let format = &self.shape.format;
        let bodies = self.shape.ranges.iter().zip(buckets).map(|(range, bucket)| {
            let key = range.key(format);
            let mut head = Map::new();
            if !keyed {
                head.insert("key".into(), key.clone().into());
            }
            for (name, end) in [("from", range.from), ("to", range.to)] {
                if end.is_finite() {
                    head.insert(name.into(), double(end));
                    if !format.is_raw() {
                        head.insert(format!("{name}_as_string"), format.value(end));
                    }
                }
            }
            Ok((key, Value::Object(self.bucket(head, bucket.doc_count, &bucket.subs)?)))
        });
        out.insert("buckets".into(), shown(bodies, keyed)?);
        Ok(())
    }
}

/// Buckets with their keys, by key or as a list.
fn shown(bodies: impl Iterator<Item = Result<(String, Value)>>, keyed: bool) -> Result<Value> {
    match keyed {
        true => Ok(Value::Object(bodies.collect::<Result<_>>()?)),
        false => bodies.map(|outcome| outcome.map(|(_, body)| body)).collect(),
    }
}

/// A term as text.
pub fn term_text(term: &[u8], format: &Format) -> String {
    match format {
        Format::Coded(codec) => codec.decode(term),
        _ => String::from_utf8_lossy(term).into_owned(),
    }
}
