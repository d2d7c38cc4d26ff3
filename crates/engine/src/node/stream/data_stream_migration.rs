//! `_data_stream/_migrate` turns an alias and its indices into a data stream with the same name.
//!
//! Source: Elasticsearch's `MetadataMigrateToDataStreamService`.

use std::sync::Arc;

use limber_mapping::RequestError;

use super::data_stream_changes::joined;
use super::data_streams::check_stream_is_free;
use crate::api::Result;
use crate::catalog::{Catalog, DataStream, IndexMetadata};
use crate::node::Node;

impl Node {
    /// Makes the indices of the alias the backing indices of a data stream and removes the alias, in one
    /// step.
    ///
    /// # Errors
    /// Fails when there is no such alias, when it has no write index, when it has a filter or routing, when
    /// an index belongs to a data stream or has no `@timestamp`, or when no template creates data streams
    /// with this name.
    pub fn migrate_to_data_stream(&self, alias: &str) -> Result<()> {
        self.change_catalog(|catalog| {
            self.check_metadata_write_block()?;
            Ok((migrated(catalog, alias)?, ()))
        })
    }

    /// Carries out `_data_stream/_promote`. Data streams do not follow those of another cluster here, so each
    /// of them is already promoted.
    ///
    /// # Errors
    /// Fails with `NotFound` when there is no such data stream.
    pub fn promote_data_stream(&self, name: &str) -> Result<()> {
        let catalog = self.catalog.load();
        catalog.check_may_touch(name)?;
        match catalog.data_streams.contains_key(name) {
            true => Ok(()),
            false => Err(RequestError::not_found(
                "resource_not_found_exception",
                format!("data stream [{name}] does not exist"),
            )),
        }
    }
}

fn migrated(catalog: &Catalog, alias: &str) -> Result<Catalog> {
    let refused = |why: String| Err(RequestError::illegal_argument(why));
    catalog.check_may_touch(alias)?;
    let with_alias = |index: &&Arc<IndexMetadata>| index.aliases.contains_key(alias);
    let members: Vec<&Arc<IndexMetadata>> = catalog.indices.values().filter(with_alias).collect();
    if members.is_empty() {
        return refused(format!("alias [{alias}] does not exist"));
    }
    let is_written = |index: &IndexMetadata| match index.aliases[alias].is_write_index {
        Some(is_written) => is_written,
        None => members.len() == 1,
    };
    let Some(written) = members.iter().find(|index| is_written(index)).map(|index| index.name.clone()) else {
        return refused(format!("alias [{alias}] must specify a write index"));
    };
    let mut template = catalog.templates.of_data_stream(alias)?;
    let mut next = catalog.clone();
    for index in &members {
        let own = &index.aliases[alias];
        if own.filter.is_some() || own.index_routing.is_some() || own.search_routing.is_some() {
            return refused(format!("alias [{alias}] may not have custom filtering or routing"));
        }
        // Who may use the data stream may then delete the index.
        catalog.check_may_name(&index.name)?;
        if let Some(stream) = catalog.backing.get(&index.name) {
            return refused(format!(
                "cannot make index [{}] part of data stream [{alias}]: it belongs to data stream [{stream}]",
                index.name
            ));
        }
        let mut without_alias = (***index).clone();
        without_alias.aliases.remove(alias);
        next.indices
            .insert(index.name.clone(), Arc::new(joined(&without_alias, &catalog.templates.analysis)?));
    }
    let mut next = next.derive();
    check_stream_is_free(&next, alias)?;
    let mut stream = DataStream::new(alias, &template.options, template.meta.take())?;
    stream.lifecycle = template.lifecycle.take();
    stream.indices = members
        .iter()
        .map(|index| index.name.clone())
        .filter(|name| *name != written)
        .chain([written.clone()])
        .collect();
    stream.generation = 1;
    next = next.with_data_stream(stream);
    Ok(next)
}
