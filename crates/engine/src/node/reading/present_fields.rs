//! Which fields have values? (`_field_caps` with `include_empty_fields=false`)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limber_segment::Segment;
use limber_work as work;

use super::placement::Placement;
use crate::api::{IndicesOptions, Result};
use crate::node::Node;

/// The paths of an index's fields that some segment has.
pub type PresentFields = BTreeSet<Arc<str>>;

impl Node {
    /// Returns the fields of each index, by its name, that have values in a segment. Values of deleted
    /// documents count until they are merged away, as in Elasticsearch.
    pub fn present_fields(
        &self,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<BTreeMap<String, PresentFields>> {
        let pinned = self.pin(expression, options, Placement::default())?;
        let mut found: BTreeMap<String, PresentFields> = BTreeMap::new();
        for shard in &pinned.snapshots {
            let fields = found.entry(shard.index.name.clone()).or_default();
            for view in &shard.segments {
                work::check()?;
                add(&view.segment, fields);
                view.segment.nested_spaces().iter().for_each(|space| add(&space.segment, fields));
            }
        }
        Ok(found)
    }
}

fn add(segment: &Segment, fields: &mut PresentFields) {
    for field in segment.fields() {
        if !fields.contains(&*field.path) {
            fields.insert(field.path.clone());
        }
    }
}
