//! Reads single documents.

use std::sync::Arc;

use limber_mapping::RequestError;

use crate::api::*;
use crate::catalog::{IndexMetadata, alias};
use crate::node::Node;
use crate::node::index::resize::unfinished;
use crate::shard::ids::routing;
use crate::shard::{Reading, Shard};

impl Node {
    /// Returns the document, in realtime unless the request says otherwise.
    pub fn get(&self, request: &GetRequest<'_>) -> Result<GetResponse> {
        loop {
            let (metadata, alias_routing) = self.catalog.load().single(request.index)?;
            match self.get_from(request, &metadata, alias_routing) {
                // Since the name was looked up, the alias moved to another index, or the name to a new index.
                Err(_) if self.is_outdated(&metadata) => {}
                outcome => return outcome,
            }
        }
    }

    /// Works like [`Node::get`], for an index that the name of the request was resolved to.
    pub(super) fn get_from(
        &self,
        request: &GetRequest<'_>,
        metadata: &Arc<IndexMetadata>,
        alias_routing: Option<String>,
    ) -> Result<GetResponse> {
        self.check_read_block(metadata)?;
        if metadata.is_unfinished {
            return Err(unfinished(metadata));
        }
        let live = self.live(metadata)?;
        let routing = alias::index_routing(request.index, alias_routing.as_deref(), request.routing)?;
        if routing.is_some() && live.core.settings.load().mode.has_series() {
            return Err(RequestError::illegal_argument(format!(
                "get with a specified routing is not supported because the destination index [{}] is in time series mode",
                metadata.name
            )));
        }
        if routing.is_none() && live.core.mapping.load().routing_required() {
            let why = format!("routing is required for [{}]/[{}]", metadata.name, request.id);
            return Err(RequestError::bad_request("routing_missing_exception", why)
                .with("index_uuid", &*metadata.uuid)
                .with("index", &*metadata.name));
        }
        let number = routing::shard_of(&live.core.settings.load(), request.id, routing);
        let shard = live.shard(number)?;
        if request.refresh {
            shard.refresh()?;
        }
        let reading = if request.realtime { Reading::Newest } else { Reading::Published };
        let found = match request.forces_source {
            true => shard.get_forced(request.id, request.realtime)?,
            false if request.is_counted => shard.get(request.id, reading)?,
            false => shard.look_up(request.id, reading)?,
        };
        if let (Some(found), Some(version)) = (&found, request.version) {
            check_version(shard, request.id, found.identity.version, version)?;
        }
        let (index, uuid) = (metadata.name.clone(), metadata.uuid.clone());
        Ok(GetResponse { index, uuid, id: request.id.into(), found })
    }
}

/// Makes the error if the versions differ. Reads treat all version types alike
/// (`VersionType#isVersionConflictForReads`).
fn check_version(shard: &Arc<Shard>, id: &str, current: u64, wanted: u64) -> Result<()> {
    if current == wanted {
        return Ok(());
    }
    Err(shard
        .conflict(id, format!("current version [{current}] is different than the one provided [{wanted}]")))
}
