//! Vector tiles over HTTP, taken apart as a map does. Expected pixels are computed by hand; no Elasticsearch
//! at hand has the module.

mod support;

use serde_json::{Value, json};
use support::ServerProcess;

/// The fields of a message: number, and a number or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        match tag & 7 {
            0 => found.push((tag >> 3, varint(&mut bytes), &bytes[..0])),
            1 => {
                let (value, rest) = bytes.split_at(8);
                found.push((tag >> 3, 0, value));
                bytes = rest;
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                found.push((tag >> 3, 0, value));
                bytes = rest;
            }
            other => panic!("wire type {other}"),
        }
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn numbers(mut bytes: &[u8]) -> Vec<u64> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        found.push(varint(&mut bytes));
    }
    found
}

/// The corners that the commands of a geometry visit.
fn corners(commands: &[u64]) -> Vec<[i64; 2]> {
    let (mut at, mut place, mut found) = (0, [0, 0], Vec::new());
    while at < commands.len() {
        let (command, count) = (commands[at] & 7, commands[at] >> 3);
        at += 1;
        for _ in 0..if command == 7 { 0 } else { count } {
            place = [place[0] + unzigzag(commands[at]), place[1] + unzigzag(commands[at + 1])];
            found.push(place);
            at += 2;
        }
    }
    found
}

fn value_of(bytes: &[u8]) -> Value {
    match fields(bytes)[0] {
        (1, _, text) => String::from_utf8_lossy(text).into(),
        (3, _, double) => f64::from_le_bytes(double.try_into().expect("eight bytes")).into(),
        (6, number, _) => unzigzag(number).into(),
        (7, flag, _) => (flag == 1).into(),
        (other, ..) => panic!("value {other}"),
    }
}

/// The layers by name: features with type, corners and properties.
fn decode(tile: &[u8]) -> Value {
    let mut layers = serde_json::Map::new();
    for (_, _, layer) in fields(tile) {
        let parts = fields(layer);
        let of = |wanted: u64| parts.iter().filter(move |(number, ..)| *number == wanted);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let name = text(of(1).next().expect("a name").2);
        let keys: Vec<String> = of(3).map(|(_, _, key)| text(key)).collect();
        let values: Vec<Value> = of(4).map(|(_, _, value)| value_of(value)).collect();
        let feature = |bytes: &[u8]| {
            let parts = fields(bytes);
            let tags = parts.iter().find(|part| part.0 == 2).map(|part| numbers(part.2)).unwrap_or_default();
            let properties: serde_json::Map<String, Value> = tags
                .chunks(2)
                .map(|pair| (keys[pair[0] as usize].clone(), values[pair[1] as usize].clone()))
                .collect();
            let geometry = parts.iter().find(|part| part.0 == 4).expect("a geometry").2;
            let kind = parts.iter().find(|part| part.0 == 3).expect("a type").1;
            json!({"type": kind, "corners": corners(&numbers(geometry)), "properties": properties})
        };
        assert_eq!(of(15).next().expect("a version").1, 2);
        let features: Vec<Value> = of(2).map(|(_, _, bytes)| feature(bytes)).collect();
        layers.insert(name, json!({"extent": of(5).next().expect("an extent").1, "features": features}));
    }
    layers.into()
}

#[test]
fn tiles_hold_hits_cells_and_what_the_search_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    let mapping =
        json!({"mappings": {"properties": {"at": {"type": "geo_point"}, "area": {"type": "geo_shape"}}}});
    client.expect(200, "PUT", "/m", mapping);
    let lines = [
        json!({"index": {"_id": "a"}}),
        json!({"at": [0.0, 0.0], "n": 2, "name": "middle", "open": true}),
        json!({"index": {"_id": "b"}}),
        json!({"at": [90.0, 66.513_260_443_111_86], "n": 4}),
        json!({"index": {"_id": "c"}}),
        json!({"area": {"type": "polygon", "coordinates": [[[0, 0], [90, 0], [90, 60], [0, 60], [0, 0]]]}}),
        json!({"index": {"_id": "d"}}),
        json!({"area": {"type": "linestring", "coordinates": [[-90, 0], [90, 0]]}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    client.send("POST", "/m/_bulk?refresh=true", lines);

    let body = json!({
        "grid_precision": 1, "fields": ["n", "name", "open"], "sort": ["n"], "exact_bounds": true,
        "aggs": {"avg_n": {"avg": {"field": "n"}}, "s": {"stats": {"field": "n"}}},
    });
    let answer = client.send("POST", "/m/_mvt/at/0/0/0", body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/vnd.mapbox-vector-tile"));
    let tile = decode(&answer.body);
    let hits = &tile["hits"]["features"];
    let first = json!({"_id": "a", "_index": "m", "n": 2, "name": "middle", "open": true});
    assert_eq!(hits[0], json!({"type": 1, "corners": [[2048, 2048]], "properties": first}));
    let second = json!({"_id": "b", "_index": "m", "n": 4});
    assert_eq!(hits[1], json!({"type": 1, "corners": [[3072, 1024]], "properties": second}));
    // The middle belongs to the tile on its right and below.
    let cells = tile["aggs"]["features"].as_array().expect("cells");
    let keys: Vec<&str> = cells.iter().filter_map(|cell| cell["properties"]["_key"].as_str()).collect();
    assert_eq!(keys.len(), 2, "{cells:?}");
    let upper =
        cells.iter().find(|cell| cell["properties"]["_key"] == "1/1/0").expect("the upper right tile");
    assert_eq!(upper["type"], 3);
    assert_eq!(upper["corners"], json!([[2048, 2048], [2048, 0], [4096, 0], [4096, 2048]]));
    let properties = &upper["properties"];
    assert_eq!(
        (&properties["_count"], &properties["avg_n.value"], &properties["s.max"]),
        (&json!(1), &json!(4.0), &json!(4.0))
    );
    let meta = &tile["meta"]["features"][0];
    assert_eq!(meta["corners"], json!([[2048, 2048], [2048, 1024], [3072, 1024], [3072, 2048]]));
    let meta = &meta["properties"];
    assert_eq!((&meta["hits.total.value"], &meta["hits.total.relation"]), (&json!(2), &json!("eq")));
    assert_eq!(
        (&meta["aggregations._count.max"], &meta["aggregations.avg_n.sum"]),
        (&json!(1.0), &json!(6.0))
    );
    assert_eq!((&meta["aggregations.s.max.max"], &meta["timed_out"]), (&json!(4.0), &json!(false)));

    // Shapes that extend beyond the tile are cut some pixels beyond its border.
    let answer = client.send("GET", "/m/_mvt/area/1/1/0?grid_precision=0&buffer=8&extent=256", "");
    let tile = decode(&answer.body);
    assert_eq!(tile["hits"]["extent"], 256);
    let by_id = |id: &str| {
        let hits = tile["hits"]["features"].as_array().expect("hits").iter();
        hits.filter(|hit| hit["properties"]["_id"] == id).cloned().collect::<Vec<_>>()
    };
    assert_eq!(by_id("c")[0]["type"], 3);
    assert_eq!(by_id("c")[0]["corners"].as_array().map(Vec::len), Some(4));
    assert_eq!(by_id("d")[0]["type"], 2);
    assert_eq!(by_id("d")[0]["corners"], json!([[-8, 256], [128, 256]]));
    assert!(tile.get("aggs").is_none());

    for (grid, kind) in [("geohex", 3), ("geotile", 3)] {
        let path = format!("/m/_mvt/at/1/1/0?grid_agg={grid}&size=0&grid_type=grid&with_labels=true");
        let tile = decode(&client.send("GET", &path, "").body);
        assert!(tile.get("hits").is_none());
        let cells = tile["aggs"]["features"].as_array().expect("cells").clone();
        assert!(cells.iter().any(|cell| cell["type"] == kind), "{grid}: {cells:?}");
        assert!(cells.iter().any(|cell| cell["properties"]["_mvt_label_position"] == true), "{grid}");
    }
    let centroid = client.send("GET", "/m/_mvt/at/0/0/0?size=0&grid_precision=1&grid_type=centroid", "");
    assert_eq!(decode(&centroid.body)["aggs"]["features"][0]["type"], 1);

    for (path, body, reason) in [
        ("/m/_mvt/at/0/1/0", json!({}), "Zoom/X/Y combination is not valid: 0/1/0"),
        ("/m/_mvt/at/x/1/0", json!({}), "For input string: \"x\""),
        (
            "/m/_mvt/at/0/0/0?grid_precision=9",
            json!({}),
            "[gridPrecision] parameter cannot be bigger than 8, found [9]",
        ),
        ("/m/_mvt/at/0/0/0?grid_type=round", json!({}), "Invalid grid type [round]"),
        ("/m/_mvt/at/0/0/0", json!({"extent": -1}), "[extent] parameter cannot be negative, found [-1]"),
        ("/m/_mvt/at/0/0/0", json!({"bogus": 1}), "[1:2] [vector-tile] unknown field [bogus]"),
    ] {
        let refused = client.expect(400, "POST", path, body);
        assert_eq!(refused["error"]["reason"], reason, "{path}");
    }
}
