//! Which shards a search runs on: by routing, and by `preference`.
//!
//! Source: Elasticsearch's `Preference` and `OperationRouting`. Each shard has only one copy, on this node,
//! so only those parts of a preference matter that exclude shards or nodes.

use limber_mapping::RequestError;
use limber_search::ShardFailure;
use limber_text::wildcard;

use crate::api::Result;
use crate::catalog::{Catalog, IndexMetadata};
use crate::node::Node;
use crate::node::index::resize::unfinished;
use crate::settings::IndexSettings;
use crate::shard::ids::routing;

/// Which shards a request selects.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placement<'r> {
    /// Select only the shards of these routing values (comma-separated).
    pub routing: Option<&'r str>,
    /// `_shards:0,2`, `_local`, `_only_nodes:...`, or any string that does not begin with `_`.
    pub preference: Option<&'r str>,
}

impl Placement<'_> {
    /// Checks the preference of a request for one document. The document determines the shard, so the
    /// preference cannot select one.
    ///
    /// # Errors
    /// Fails for an unknown preference. `_shards` is refused by name, where Elasticsearch fails or uses that
    /// shard.
    pub fn check_for_document(&self) -> Result<()> {
        match Preference::parse(self.preference)?.shards {
            None => Ok(()),
            Some(_) => Err(RequestError::unsupported("the preference [_shards] for one document")),
        }
    }
}

/// The parts of a preference that exclude anything.
#[derive(Debug, PartialEq)]
pub(in crate::node) struct Preference<'r> {
    /// `None` means all shards.
    shards: Option<Vec<i32>>,
    /// `_only_nodes`: names, ids and patterns of nodes.
    only_nodes: Option<&'r str>,
}

impl<'r> Preference<'r> {
    /// # Errors
    /// `illegal_argument_exception` for an unknown preference, `number_format_exception` for a shard that is
    /// not a number.
    pub fn parse(text: Option<&'r str>) -> Result<Preference<'r>> {
        let mut preference = Preference { shards: None, only_nodes: None };
        let Some(mut rest) = text else { return Ok(preference) };
        if let Some(list) = rest.strip_prefix("_shards:") {
            let (list, behind) = list.split_once('|').unwrap_or((list, ""));
            let number = |text: &str| text.parse().map_err(|_| RequestError::number_format(text));
            let list = list.split(',').filter(|number| !number.is_empty());
            preference.shards = Some(list.map(number).collect::<Result<_>>()?);
            rest = behind;
        }
        if !rest.starts_with('_') {
            return Ok(preference);
        }
        let (kind, value) = rest.split_once(':').unwrap_or((rest, ""));
        match kind {
            "_local" | "_only_local" | "_prefer_nodes" => {}
            "_only_nodes" => preference.only_nodes = Some(value),
            _ => {
                return Err(RequestError::illegal_argument(format!("no Preference for [{kind}]")));
            }
        }
        Ok(preference)
    }

    /// Whether the preference allows the shard with this ordinal.
    pub fn takes_shard(&self, number: u32) -> bool {
        let is_it = |wanted: &i32| u32::try_from(*wanted) == Ok(number);
        self.shards.as_ref().is_none_or(|shards| shards.iter().any(is_it))
    }
}

impl Node {
    /// Returns the shards of an index that a request runs on, in ascending order. `routing` already includes
    /// that of an alias.
    pub(in crate::node) fn placed(
        &self,
        index: &str,
        settings: &IndexSettings,
        routing: Option<&str>,
        preference: &Preference<'_>,
    ) -> Result<Vec<u32>> {
        if routing.is_some() && settings.mode.has_series() {
            return Err(RequestError::illegal_argument(format!(
                "searching with a specified routing is not supported because the destination index [{index}] is in time series mode"
            )));
        }
        let mut numbers = shards_of_routing(settings, routing);
        numbers.retain(|number| preference.takes_shard(*number));
        if let (Some(criteria), Some(number)) = (preference.only_nodes, numbers.first()) {
            let is_this = |wanted: &str| {
                wanted == self.node_id()
                    || matches!(wanted, "_local" | "_all")
                    || wildcard::matches(wanted, &self.config().node_name)
            };
            if !criteria.split(',').any(is_this) {
                return Err(RequestError::illegal_argument(format!(
                    "no data nodes with criteria [{criteria}] found for shard: [{index}][{number}]"
                )));
            }
        }
        Ok(numbers)
    }
}

impl Node {
    /// Returns the failures of the shards of an index that is still being made from another one: none if the
    /// expression reaches it only by patterns, which pass over it. `None` for any other index.
    pub(super) fn unfinished_index(
        &self,
        catalog: &Catalog,
        expression: &str,
        index: &IndexMetadata,
    ) -> Option<Vec<ShardFailure>> {
        index.is_unfinished.then(|| match catalog.is_named(index, expression) {
            true => self.failed_index(index, &unfinished(index)),
            false => Vec::new(),
        })
    }
}

/// Returns the shards of these routing values (comma-separated), or all shards without routing.
fn shards_of_routing(settings: &IndexSettings, routing: Option<&str>) -> Vec<u32> {
    let Some(list) = routing else { return (0..settings.number_of_shards).collect() };
    let mut numbers: Vec<u32> =
        list.split(',').flat_map(|value| routing::shards_of_routing(settings, value)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences() {
        for (text, expected) in [
            ("", Ok((None, None))),
            ("anything", Ok((None, None))),
            ("_local", Ok((None, None))),
            ("_prefer_nodes:x", Ok((None, None))),
            ("_shards:0,2", Ok((Some(vec![0, 2]), None))),
            ("_shards:", Ok((Some(vec![]), None))),
            ("_shards:-1|_local", Ok((Some(vec![-1]), None))),
            ("_shards:1|abc", Ok((Some(vec![1]), None))),
            ("_shards:1|_only_nodes:a,b", Ok((Some(vec![1]), Some("a,b")))),
            ("_shards: 0", Err("For input string: \" 0\"")),
            ("_shards:0|_foo", Err("no Preference for [_foo]")),
            ("_primary", Err("no Preference for [_primary]")),
            ("_primary_first", Err("no Preference for [_primary_first]")),
            ("_only_node:x", Err("no Preference for [_only_node]")),
            ("_", Err("no Preference for [_]")),
        ] {
            let made = Preference::parse(Some(text));
            let made = made.map(|made| (made.shards, made.only_nodes)).map_err(|error| error.reason);
            assert_eq!(made, expected.map_err(str::to_owned), "{text}");
        }
    }
}
