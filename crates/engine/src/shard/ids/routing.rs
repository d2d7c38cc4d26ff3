//! Maps documents to shards: "where does Elasticsearch put this id?"
//!
//! Source: `IndexRouting.Unpartitioned`, `IndexRouting.Partitioned`.

use limber_codec::murmur3::routing_hash;

use crate::settings::IndexSettings;

/// Returns the shard of a document: `floorMod(murmur3(routing or id), routing_num_shards) / routing_factor`.
/// The id of a document of a time series contains the hash.
#[inline]
pub fn shard_of(settings: &IndexSettings, id: &str, routing: Option<&str>) -> u32 {
    if settings.number_of_shards == 1 {
        return 0;
    }
    if settings.mode.has_series() {
        // An id of another form is the id of no document.
        let hash = limber_mapping::document::shard_hash_of(id).unwrap_or(0) as i32;
        return hash.rem_euclid(settings.routing_num_shards as i32) as u32 / settings.routing_factor();
    }
    let hash = match routing {
        None => routing_hash(id),
        Some(routing) if settings.routing_partition_size == 1 => routing_hash(routing),
        Some(routing) => {
            let within = routing_hash(id).rem_euclid(settings.routing_partition_size as i32);
            routing_hash(routing).wrapping_add(within)
        }
    };
    hash.rem_euclid(settings.routing_num_shards as i32) as u32 / settings.routing_factor()
}

/// Returns the shards that may hold documents with a routing value, in ascending order.
pub fn shards_of_routing(settings: &IndexSettings, routing: &str) -> Vec<u32> {
    let hash = routing_hash(routing);
    let mut shards: Vec<u32> = (0..settings.routing_partition_size)
        .map(|within| {
            let hash = hash.wrapping_add(within as i32);
            hash.rem_euclid(settings.routing_num_shards as i32) as u32 / settings.routing_factor()
        })
        .collect();
    shards.sort_unstable();
    shards.dedup();
    shards
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};

    fn settings(shards: u32) -> IndexSettings {
        let mut flat = Map::new();
        flat.insert("index.number_of_shards".into(), Value::from(shards.to_string()));
        IndexSettings::from_flat(&flat).expect("valid")
    }

    #[test]
    fn shards_are_elasticsearchs() {
        // Source: org.elasticsearch.cluster.routing.IndexRoutingTests, 2 and 5 shards; checked against a
        // running 8.19.
        let check = |shards, id, expected| {
            assert_eq!(shard_of(&settings(shards), id, None), expected, "{shards} {id}")
        };
        for id in 0..200 {
            let id = id.to_string();
            let shard = shard_of(&settings(5), &id, None);
            assert!(shard < 5);
            assert_eq!(shard_of(&settings(5), "other", Some(&id)), shard, "routing takes the id's place");
            assert_eq!(shards_of_routing(&settings(5), &id), [shard]);
        }
        check(1, "anything", 0);
    }
}
