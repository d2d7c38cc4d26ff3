//! The `aggregations` object of an answer. Source: `doXContentBody` of Elasticsearch's `Internal...`
//! aggregations.

use limber_work as work;
use serde_json::{Map, Value};

use super::partial::{Bucket, Partial};
use super::reduce::ReducedAggregations;
use crate::aggregation::bind::Shape;
use crate::aggregation::pipeline::PickedBucket;
use crate::aggregation::tree::{Aggregation, Aggregations};
use crate::aggregation::values::claimed;
use crate::error::Result;

impl ReducedAggregations {
    /// Makes the object with an entry for each aggregation; with `typed_keys`, the names are `type#name`.
    ///
    /// # Errors
    /// Fails when there is no memory for the object, or when the client has disconnected.
    pub fn to_json(&self, request: &Aggregations, typed_keys: bool, node_id: &str) -> Result<Value> {
        let mut out = Map::new();
        level(&request.list, &self.partials, &self.shapes, Writing { typed_keys, node_id }, &mut out)?;
        Ok(Value::Object(out))
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
    out: &mut Map<String, Value>,
) -> Result<()> {
    for ((aggregation, partial), shape) in list.iter().zip(partials).zip(shapes) {
        // What each bucket of the answer repeats is claimed where it is copied or formatted; this counts the
        // rest.
        work::check_beyond_deadline()?;
        if matches!(partial, Partial::Absent) {
            continue;
        }
        let name = match writing.typed_keys {
            true => {
                let typed_name = typed_name(aggregation, partial, shape);
                claimed::joined(&[typed_name, claimed::name(&aggregation.name)?], "#")?
            }
            false => claimed::name(&aggregation.name)?,
        };
        let mut body = Map::new();
        if let Some(meta) = &aggregation.meta {
            body.insert("meta".into(), Value::Object(claimed::object(meta)?));
        }
        if let Partial::Pipeline(made) = partial
            && let Some(bucket) = &made.bucket
        {
            body.insert("bucket".into(), Value::Object(picked(list, shapes, bucket, writing)?));
        }
        Renderer { aggregation, shape, node_id: writing.node_id, writing }.body(partial, &mut body)?;
        out.insert(name, Value::Object(body));
    }
    Ok(())
}

/// Renders a bucket that a pipeline aggregation of this level has picked.
fn picked(
    list: &[Aggregation],
    shapes: &[Shape],
    bucket: &PickedBucket,
    writing: Writing<'_>,
) -> Result<Map<String, Value>> {
    let (mut list, mut shapes) = (list, shapes);
    let mut places = bucket.places.iter().copied();
    let mut place = places.next().expect("a path has a step");
    for next in places {
        (list, shapes) = (&list[place].subs, &shapes[place].subs);
        place = next;
    }
    let renderer =
        Renderer { aggregation: &list[place], shape: &shapes[place], node_id: writing.node_id, writing };
    let head = Map::from_iter([("key".to_owned(), claimed::name(&bucket.key)?.into())]);
    renderer.bucket(head, bucket.doc_count, &bucket.subs)
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
    fn body(&self, partial: &Partial, out: &mut Map<String, Value>) -> Result<()> {
        match (partial, self.aggregation.definition()) {
            (Partial::Simple(made), _) => made.write(out),
            (Partial::Pipeline(made), _) => {
                out.extend(claimed::object(&made.body)?);
                Ok(())
            }
            (partial, Some(definition)) => definition.render(partial, self, out),
            (_, None) => unreachable!("a pipeline makes a value of its own or none"),
        }
    }

    /// Writes one bucket without a key.
    ///
    /// # Errors
    /// As for [`Renderer::bucket`].
    pub fn single(&self, bucket: &Bucket, out: &mut Map<String, Value>) -> Result<()> {
        out.extend(self.bucket(Map::new(), bucket.doc_count, &bucket.subs)?);
        Ok(())
    }

    /// Adds the document count and the sub-aggregations' results to `head`.
    ///
    /// # Errors
    /// Fails when there is no memory for all the buckets so far, or when the client has disconnected.
    pub fn bucket(
        &self,
        mut head: Map<String, Value>,
        doc_count: u64,
        subs: &[Partial],
    ) -> Result<Map<String, Value>> {
        work::check_beyond_deadline()?;
        head.insert("doc_count".into(), doc_count.into());
        self.subs(subs, &mut head)?;
        Ok(head)
    }

    /// Writes the results of the sub-aggregations of a bucket.
    ///
    /// # Errors
    /// As for [`Renderer::bucket`].
    pub fn subs(&self, subs: &[Partial], out: &mut Map<String, Value>) -> Result<()> {
        level(&self.aggregation.subs, subs, &self.shape.subs, self.writing, out)
    }
}

/// Renders buckets with their keys, as an object by key or as a list.
pub fn shown(bodies: impl Iterator<Item = Result<(String, Value)>>, keyed: bool) -> Result<Value> {
    match keyed {
        true => Ok(Value::Object(bodies.collect::<Result<_>>()?)),
        false => bodies.map(|outcome| outcome.map(|(_, body)| body)).collect(),
    }
}
