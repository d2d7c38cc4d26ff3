//! Geo points and shapes that ask for too much.

use serde_json::json;

use super::{Victim, list};

fn with_places() -> Victim {
    let mut victim = Victim::start();
    let mapping = json!({"mappings": {"properties": {"p": {"type": "geo_point"}}}});
    victim.ok("PUT", "/i", mapping.to_string());
    for id in 0..20 {
        let place = json!({"p": [[id, id], [-id, id]]});
        victim.ok("PUT", &format!("/i/_doc/{id}?refresh=true"), place.to_string());
    }
    victim
}

#[test]
fn nested_collections() {
    let mut victim = with_places();
    for depth in [50, 1_000, 100_000] {
        let text = "GEOMETRYCOLLECTION (".repeat(depth);
        let query = json!({"query": {"geo_shape": {"p": {"shape": text}}}});
        let status = victim.send("POST", "/i/_search", query.to_string()).status;
        assert!(matches!(status, 400 | 500), "{depth}: {status}");
        let open = "{\"type\":\"geometrycollection\",\"geometries\":[".repeat(depth);
        let shape = format!("{open}{}", "]}".repeat(depth));
        let query = format!("{{\"query\":{{\"geo_shape\":{{\"p\":{{\"shape\":{shape}}}}}}}}}");
        let status = victim.send("POST", "/i/_search", query).status;
        assert!(matches!(status, 200 | 400), "{depth}: {status}");
        victim.bad("PUT", "/i/_doc/x", json!({"p": format!("POINT {}", "(".repeat(depth))}).to_string());
    }
}

#[test]
fn many_corners_and_cells() {
    let mut victim = with_places();
    let corners = |count: usize| list(count, |n| format!("[{},{}]", n % 170, (n * 7) % 80));
    let polygon =
        |count| format!("{{\"query\":{{\"geo_polygon\":{{\"p\":{{\"points\":[{}]}}}}}}}}", corners(count));
    victim.ok("POST", "/i/_search", polygon(20_000));
    victim.bad("POST", "/i/_search", polygon(200_000));
    for aggregation in [
        json!({"geohash_grid": {"field": "p", "precision": 12, "size": i32::MAX, "shard_size": i32::MAX}}),
        json!({"geotile_grid": {"field": "p", "precision": 29, "size": i32::MAX}}),
        json!({"geohex_grid": {"field": "p", "precision": 15, "size": i32::MAX}}),
    ] {
        victim.ok("POST", "/i/_search", json!({"size": 0, "aggs": {"a": aggregation}}).to_string());
    }
    for distance in ["1e400km", "NaNkm", "-1e308m", "0.0000000000001mm"] {
        let query = json!({"query": {"geo_distance": {"distance": distance, "p": [1, 1]}}});
        let status = victim.send("POST", "/i/_search", query.to_string()).status;
        assert!(matches!(status, 200 | 400), "{distance}: {status}");
    }
    for place in [json!([1e300, -1e300]), json!("1e300,1e300"), json!({"lat": 1e300, "lon": "Infinity"})] {
        victim.bad("PUT", "/i/_doc/x", json!({"p": place}).to_string());
    }
    let points: Vec<_> = (0..2_000).map(|n| json!([n % 180, n % 90])).collect();
    victim.bad("POST", "/i/_search", json!({"sort": [{"_geo_distance": {"p": points}}]}).to_string());
}
