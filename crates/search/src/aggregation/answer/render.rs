//! The `aggregations` object of an answer. Source: `doXContentBody` of Elasticsearch's `Internal...`
//! aggregations.

use limber_work::{self as work, CheckedBytes};

use super::members::Members;
use super::partial::{Bucket, Partial};
use super::reduce::ReducedAggregations;
use crate::aggregation::bind::Shape;
use crate::aggregation::pipeline::PickedBucket;
use crate::aggregation::tree::{Aggregation, Aggregations};
use crate::aggregation::values::claimed;
use crate::error::Result;

impl ReducedAggregations {
    /// Returns the JSON of the object with a member for each aggregation; with `typed_keys`, the names are
    /// `type#name`.
    ///
    /// # Errors
    /// Fails when there is no memory for the object, or when the client has disconnected.
    pub fn to_json(&self, request: &Aggregations, typed_keys: bool, node_id: &str) -> Result<Vec<u8>> {
        let mut text = CheckedBytes::default();
        let writing = Writing { typed_keys, node_id };
        Members::write_to(&mut text, |out| level(&request.list, &self.partials, &self.shapes, writing, out))?;
        Ok(text.finish()?)
    }
}

/// Settings of the whole answer.
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
    out: &mut Members<'_>,
) -> Result<()> {
    for ((aggregation, partial), shape) in list.iter().zip(partials).zip(shapes) {
        work::check_beyond_deadline()?;
        if matches!(partial, Partial::Absent) {
            continue;
        }
        let body = |out: &mut Members<'_>| {
            if let Some(meta) = &aggregation.meta {
                out.insert("meta", meta)?;
            }
            if let Partial::Pipeline(made) = partial
                && let Some(bucket) = &made.bucket
            {
                out.object("bucket", |out| picked(list, shapes, bucket, writing, out))?;
            }
            Renderer { aggregation, shape, node_id: writing.node_id, writing }.body(partial, out)
        };
        if writing.typed_keys {
            let typed_name = typed_name(aggregation, partial, shape);
            out.object(&claimed::joined(&[typed_name, claimed::name(&aggregation.name)?], "#")?, body)?;
        } else {
            out.object(&aggregation.name, body)?;
        }
    }
    Ok(())
}

/// Renders a bucket that a pipeline aggregation of this level has picked.
fn picked(
    list: &[Aggregation],
    shapes: &[Shape],
    bucket: &PickedBucket,
    writing: Writing<'_>,
    out: &mut Members<'_>,
) -> Result<()> {
    let (mut list, mut shapes) = (list, shapes);
    let mut places = bucket.places.iter().copied();
    let mut place = places.next().expect("a path has a step");
    for next in places {
        (list, shapes) = (&list[place].subs, &shapes[place].subs);
        place = next;
    }
    let renderer =
        Renderer { aggregation: &list[place], shape: &shapes[place], node_id: writing.node_id, writing };
    out.insert("key", &bucket.key)?;
    renderer.bucket(bucket.doc_count, &bucket.subs, out)
}

fn typed_name(aggregation: &Aggregation, partial: &Partial, shape: &Shape) -> String {
    match (partial, aggregation.definition()) {
        (Partial::Simple(_), _) => "simple_value".to_owned(),
        (Partial::Pipeline(made), _) => made.typed_name.to_owned(),
        (_, Some(definition)) => definition.typed_name(aggregation, partial, shape),
        (_, None) => aggregation.type_name.to_owned(),
    }
}

/// Writes one aggregation.
pub struct Renderer<'r> {
    pub aggregation: &'r Aggregation,
    pub shape: &'r Shape,
    /// Shown in explanations of hits.
    pub node_id: &'r str,
    writing: Writing<'r>,
}

impl Renderer<'_> {
    fn body(&self, partial: &Partial, out: &mut Members<'_>) -> Result<()> {
        match (partial, self.aggregation.definition()) {
            (Partial::Simple(made), _) => made.write(out),
            (Partial::Pipeline(made), _) => out.extend(&made.body),
            (partial, Some(definition)) => definition.render(partial, self, out),
            (_, None) => unreachable!("a pipeline makes a value of its own or none"),
        }
    }

    /// Writes one bucket without a key.
    ///
    /// # Errors
    /// As for [`Renderer::bucket`].
    pub fn single(&self, bucket: &Bucket, out: &mut Members<'_>) -> Result<()> {
        self.bucket(bucket.doc_count, &bucket.subs, out)
    }

    /// Writes the document count and the sub-aggregations' results.
    ///
    /// # Errors
    /// Fails when there is no memory for all the buckets so far, or when the client has disconnected.
    pub fn bucket(&self, doc_count: u64, subs: &[Partial], out: &mut Members<'_>) -> Result<()> {
        work::check_beyond_deadline()?;
        out.insert("doc_count", &doc_count)?;
        self.subs(subs, out)
    }

    /// Writes the results of the sub-aggregations of a bucket.
    ///
    /// # Errors
    /// As for [`Renderer::bucket`].
    pub fn subs(&self, subs: &[Partial], out: &mut Members<'_>) -> Result<()> {
        level(&self.aggregation.subs, subs, &self.shape.subs, self.writing, out)
    }
}
