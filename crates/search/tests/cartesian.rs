//! Compares queries on points and shapes of a plane with plain geometry, and the index with a scan.

mod support;

use limber_search::ShardSnapshot;
use serde_json::{Value, json};

/// A small random number generator, so that a failing case can be replayed from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Returns a whole number, so that floats are exact: most are near the origin, some far away.
    fn coordinate(&mut self) -> f64 {
        let reach = [50, 5_000, 5_000, 8_000_000][self.below(4) as usize];
        self.below(2 * reach) as f64 - reach as f64
    }

    /// Returns west, south, east and north of a rectangle.
    fn sides(&mut self) -> [f64; 4] {
        let (x, y) = (self.coordinate(), self.coordinate());
        let size = [1, 100, 10_000, 1_000_000][self.below(4) as usize];
        [x, y, x + 1.0 + self.below(size) as f64, y + 1.0 + self.below(size) as f64]
    }
}

fn rectangle([west, south, east, north]: [f64; 4]) -> Value {
    json!({"type": "polygon", "coordinates": [
        [[west, south], [east, south], [east, north], [west, north], [west, south]]
    ]})
}

/// Returns the numbers of the documents that the query finds, ascending.
fn found(snapshot: &[ShardSnapshot], path: &str, shape: &Value, relation: &str) -> Vec<usize> {
    let query = json!({"shape": {path: {"shape": shape, "relation": relation}}});
    let body = json!({"size": 5000, "_source": false, "sort": ["_doc"], "query": query});
    let mut ids: Vec<usize> = support::ids(&support::search(snapshot, &body))
        .iter()
        .map(|id| id.parse().expect("a number"))
        .collect();
    ids.sort_unstable();
    ids
}

#[test]
fn points_are_found_in_rectangles_circles_and_polygons() {
    let mut random = Random(7);
    let mut shards = support::Shards::new(&json!({"properties": {
        "p": {"type": "point"}, "scanned": {"type": "point", "index": false},
        "bare": {"type": "point", "doc_values": false}
    }}));
    let points: Vec<(f64, f64)> = (0..3000).map(|_| (random.coordinate(), random.coordinate())).collect();
    let documents: Vec<(String, Value)> = points
        .iter()
        .enumerate()
        .map(|(id, (x, y))| (id.to_string(), json!({"p": [x, y], "scanned": [x, y], "bare": [x, y]})))
        .collect();
    let views = documents.chunks(2000).map(|chunk| shards.segment(chunk, &[])).collect();
    let snapshot = [shards.shard(0, views)];
    for case in 0..90 {
        let sides = random.sides();
        let [west, south, east, north] = sides;
        let (shape, is_inside): (Value, Box<dyn Fn(f64, f64) -> bool>) = match case % 3 {
            0 => (
                json!({"type": "envelope", "coordinates": [[west, north], [east, south]]}),
                Box::new(move |x: f64, y: f64| west <= x && x <= east && south <= y && y <= north),
            ),
            1 => (
                json!({"type": "circle", "coordinates": [west, south], "radius": east - west}),
                Box::new(move |x: f64, y: f64| {
                    (x - west).powi(2) + (y - south).powi(2) <= (east - west).powi(2)
                }),
            ),
            // A triangle with its right angle in the south-west.
            _ => (
                json!({"type": "polygon", "coordinates": [
                    [[west, south], [east, south], [west, north], [west, south]]
                ]}),
                Box::new(move |x: f64, y: f64| {
                    let (width, height) = (east - west, north - south);
                    x >= west && y >= south && (x - west) * height + (y - south) * width <= width * height
                }),
            ),
        };
        let expected: Vec<usize> =
            points.iter().enumerate().filter(|(_, (x, y))| is_inside(*x, *y)).map(|(id, _)| id).collect();
        for path in ["p", "scanned", "bare"] {
            assert_eq!(found(&snapshot, path, &shape, "intersects"), expected, "{path} {shape}");
        }
    }
}

#[test]
fn rectangles_have_every_relation() {
    let mut random = Random(5);
    let mut shards = support::Shards::new(&json!({"properties": {
        "s": {"type": "shape"}, "scanned": {"type": "shape", "index": false},
        "bare": {"type": "shape", "doc_values": false}
    }}));
    let all: Vec<[f64; 4]> = (0..800).map(|_| random.sides()).collect();
    let documents: Vec<(String, Value)> = all
        .iter()
        .map(|sides| rectangle(*sides))
        .enumerate()
        .map(|(id, shape)| (id.to_string(), json!({"s": shape, "scanned": shape, "bare": shape})))
        .collect();
    let views = documents.chunks(500).map(|chunk| shards.segment(chunk, &[])).collect();
    let snapshot = [shards.shard(0, views)];
    for _ in 0..40 {
        let asked = random.sides();
        let meets = |own: &[f64; 4]| {
            own[0] <= asked[2] && asked[0] <= own[2] && own[1] <= asked[3] && asked[1] <= own[3]
        };
        let is_in = |inner: &[f64; 4], outer: &[f64; 4]| {
            outer[0] <= inner[0] && inner[2] <= outer[2] && outer[1] <= inner[1] && inner[3] <= outer[3]
        };
        // Lucene contains only what does not touch the edges.
        let is_strictly_in = |inner: &[f64; 4], outer: &[f64; 4]| {
            outer[0] < inner[0] && inner[2] < outer[2] && outer[1] < inner[1] && inner[3] < outer[3]
        };
        let ids = |holds: &dyn Fn(&[f64; 4]) -> bool| -> Vec<usize> {
            all.iter().enumerate().filter(|(_, own)| holds(own)).map(|(id, _)| id).collect()
        };
        let shape = rectangle(asked);
        for path in ["s", "scanned", "bare"] {
            assert_eq!(found(&snapshot, path, &shape, "intersects"), ids(&meets), "{path} {shape}");
            assert_eq!(found(&snapshot, path, &shape, "disjoint"), ids(&|own| !meets(own)), "{path} {shape}");
            let within = ids(&|own| is_in(own, &asked));
            assert_eq!(found(&snapshot, path, &shape, "within"), within, "{path} {shape}");
            let containing = ids(&|own| is_strictly_in(&asked, own));
            assert_eq!(found(&snapshot, path, &shape, "contains"), containing, "{path} {shape}");
        }
    }
}

#[test]
fn columns_show_points_as_floats() {
    let mut shards = support::Shards::new(&json!({"properties": {"p": {"type": "point"}}}));
    let view = shards.segment(&[("0".to_owned(), json!({"p": [[1000, -2.5], "0.1,7"]}))], &[]);
    let snapshot = [shards.shard(0, vec![view])];
    let response = support::search(&snapshot, &json!({"docvalue_fields": ["p"], "_source": false}));
    let answer = response.to_json(&limber_search::Rendering::default()).expect("rendered");
    let shown = &answer["hits"]["hits"][0]["fields"]["p"];
    assert_eq!(shown, &json!(["1000.0, -2.5", "0.10000000149011612, 7.0"]));
}
