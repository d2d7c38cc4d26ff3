//! Cluster health: "are all shards and their copies active?"

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_text::wildcard;

use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::node::Node;
use crate::tasks::waiting::wait_until;

/// Time between two checks of a waiting call.
const POLL: Duration = Duration::from_millis(20);

impl Node {
    /// Waits until the state of the cluster has this version or a later one, at most `timeout_ms`. Returns
    /// whether it has.
    pub fn wait_for_metadata_version(&self, version: u64, timeout_ms: u64) -> Result<bool> {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.min(3_600_000));
        let held = wait_until(deadline, |step| {
            limber_store::sync::sleep(POLL.min(step));
            Ok((self.catalog.load().version >= version).then_some(()))
        })?;
        Ok(held.is_some())
    }

    /// Waits as requested, at most `timeout_ms`, and returns the health.
    pub fn cluster_health(&self, request: &HealthRequest) -> Result<HealthResponse> {
        let deadline = Instant::now() + Duration::from_millis(request.timeout_ms.min(3_600_000));
        let wanted_nodes = request.wait_for_nodes.as_deref().map(parse_nodes).transpose()?;
        let mut last = None;
        let held = wait_until(deadline, |step| {
            limber_store::sync::sleep(POLL.min(step));
            let (response, is_there) = self.health_now(request)?;
            let holds = is_there
                && request.wait_for_status.is_none_or(|status| response.status <= status)
                && wanted_nodes.is_none_or(|wanted| wanted.holds(1))
                && active_shards_hold(request.wait_for_active_shards.as_deref(), &response)?;
            if holds {
                return Ok(Some(response));
            }
            last = Some(response);
            Ok(None)
        })?;
        match (held, last) {
            (Some(response), _) => Ok(response),
            (None, Some(response)) => Ok(HealthResponse { timed_out: true, ..response }),
            (None, None) => Ok(self.health_now(request)?.0),
        }
    }

    /// Returns the current health, and whether all named indices exist.
    fn health_now(&self, request: &HealthRequest) -> Result<(HealthResponse, bool)> {
        let catalog = self.catalog.load();
        let expression = request.index.as_deref().unwrap_or("");
        let (found, is_there) = match catalog.resolve(expression, request.options) {
            Ok(found) => {
                let named = expression.split(',').filter(|part| {
                    !part.is_empty()
                        && !part.starts_with('-')
                        && !wildcard::is_pattern(part)
                        && *part != "_all"
                });
                let is_there = named.clone().all(|name| {
                    let name = name.trim();
                    catalog.indices.contains_key(name)
                        || catalog.aliases.contains_key(name)
                        || catalog.data_streams.contains_key(name)
                });
                (found, is_there)
            }
            Err(error) if error.class == ErrorClass::NotFound => (Vec::new(), false),
            Err(error) => return Err(error),
        };
        let indices: Vec<IndexHealth> = found.iter().map(|metadata| self.index_health(metadata)).collect();
        let shards = || indices.iter().flat_map(|index| &index.shards);
        let active = shards().filter(|shard| shard.primary_active).count() as u32;
        let mut status = indices.iter().map(|index| index.status).max().unwrap_or(HealthStatus::Green);
        let active_percent = match status {
            HealthStatus::Green => 100.0,
            _ => self.active_percent(&catalog, &indices),
        };
        if !is_there {
            // As in Elasticsearch, an index that does not exist makes the status red.
            status = HealthStatus::Red;
        }
        let response = HealthResponse {
            cluster_name: self.config.cluster_name.clone(),
            status,
            timed_out: false,
            number_of_nodes: 1,
            active_primary_shards: active,
            active_shards: active,
            unassigned_shards: shards().map(|shard| shard.unassigned_shards).sum(),
            active_percent,
            number_of_pending_tasks: 0,
            indices,
        };
        Ok((response, is_there))
    }

    /// Returns how many of the copies of all indices are active, in percent. The health of some is known.
    ///
    /// Source: `ClusterStateHealth`, which counts all copies whatever indices are asked for.
    fn active_percent(&self, catalog: &Catalog, known: &[IndexHealth]) -> f64 {
        let (mut active, mut all) = (0_u32, 0_u32);
        let mut count = |index: &IndexHealth| {
            for shard in &index.shards {
                active += u32::from(shard.primary_active);
                all += u32::from(shard.primary_active) + shard.unassigned_shards;
            }
        };
        known.iter().for_each(&mut count);
        let names: BTreeSet<&str> = known.iter().map(|index| &*index.name).collect();
        for metadata in catalog.indices.values() {
            if !metadata.is_unfinished && !names.contains(&*metadata.name) {
                count(&self.index_health(metadata));
            }
        }
        f64::from(active) / f64::from(all.max(1)) * 100.0
    }

    /// Returns the health of one index.
    pub(in crate::node) fn status_of(&self, metadata: &Arc<IndexMetadata>) -> HealthStatus {
        self.index_health(metadata).status
    }

    fn index_health(&self, metadata: &Arc<IndexMetadata>) -> IndexHealth {
        let live = self.live.load().get(&metadata.uuid).cloned();
        let replicas = metadata.typed.number_of_replicas;
        let shards: Vec<ShardHealth> = (0..metadata.typed.number_of_shards)
            .map(|number| {
                let shard = live.as_ref().and_then(|live| live.shards.get(number as usize));
                // The shards of a closed index count as assigned; they are complete on disk.
                let reason = match shard {
                    Some(shard) => self.why_failed(shard),
                    None if !metadata.open && metadata.damage.is_none() => None,
                    None => self.live(metadata).err(),
                };
                // An active shard may have damaged files, so that a part of its data cannot be read.
                let damage = shard.and_then(|shard| shard.problem());
                let primary_active = reason.is_none();
                let status = match (primary_active && damage.is_none(), replicas) {
                    (false, _) => HealthStatus::Red,
                    (true, 0) => HealthStatus::Green,
                    (true, _) => HealthStatus::Yellow,
                };
                ShardHealth {
                    shard: number,
                    status,
                    primary_active,
                    unassigned_shards: replicas + u32::from(!primary_active),
                    reason: reason.map(|error| error_line(&error).into()).or(damage.map(Into::into)),
                }
            })
            .collect();
        IndexHealth {
            name: metadata.name.clone(),
            uuid: metadata.uuid.clone(),
            open: metadata.open,
            status: shards.iter().map(|shard| shard.status).max().unwrap_or(HealthStatus::Green),
            number_of_shards: metadata.typed.number_of_shards,
            number_of_replicas: replicas,
            shards,
        }
    }
}

/// Formats an error and its causes as one line.
fn error_line(error: &RequestError) -> String {
    let causes = std::iter::successors(Some(error), |error| error.caused_by.as_deref());
    causes.map(|error| error.reason.as_str()).collect::<Vec<_>>().join(": ")
}

#[derive(Debug, Clone, Copy)]
enum WantedNodes {
    AtLeast(u64),
    AtMost(u64),
    More(u64),
    Fewer(u64),
    Exactly(u64),
}

impl WantedNodes {
    fn holds(self, nodes: u64) -> bool {
        match self {
            WantedNodes::AtLeast(count) => nodes >= count,
            WantedNodes::AtMost(count) => nodes <= count,
            WantedNodes::More(count) => nodes > count,
            WantedNodes::Fewer(count) => nodes < count,
            WantedNodes::Exactly(count) => nodes == count,
        }
    }
}

/// Parses `>=1`, `<=1`, `>1`, `<1`, `1`, `ge(1)`, `le(1)`, `gt(1)` or `lt(1)`.
fn parse_nodes(text: &str) -> Result<WantedNodes> {
    type Make = fn(u64) -> WantedNodes;
    const FORMS: [(&str, &str, Make); 8] = [
        (">=", "", WantedNodes::AtLeast),
        ("ge(", ")", WantedNodes::AtLeast),
        ("<=", "", WantedNodes::AtMost),
        ("le(", ")", WantedNodes::AtMost),
        (">", "", WantedNodes::More),
        ("gt(", ")", WantedNodes::More),
        ("<", "", WantedNodes::Fewer),
        ("lt(", ")", WantedNodes::Fewer),
    ];
    let number = |text: &str| text.trim().parse().map_err(|_| RequestError::number_format(text));
    for (prefix, suffix, make) in FORMS {
        if let Some(inner) = text.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix)) {
            return number(inner).map(make);
        }
    }
    number(text).map(WantedNodes::Exactly)
}

/// Whether every index has the required number of active copies: `all` or a number.
fn active_shards_hold(wanted: Option<&str>, response: &HealthResponse) -> Result<bool> {
    match wanted {
        None => Ok(true),
        Some("all") => Ok(response.unassigned_shards == 0),
        Some(text) => {
            let wanted: u32 = text.parse().map_err(|_| {
                RequestError::illegal_argument(format!("cannot parse ActiveShardCount[{text}]"))
            })?;
            Ok(response.active_shards >= wanted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_counts() {
        let check = |text: &str, expected: Option<bool>| {
            assert_eq!(parse_nodes(text).ok().map(|wanted| wanted.holds(1)), expected, "{text}");
        };
        check(">=1", Some(true));
        check("1", Some(true));
        check("ge(2)", Some(false));
        check("<2", Some(true));
        check("lt(1)", Some(false));
        check("x", None);
    }
}
