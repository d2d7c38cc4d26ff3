"""Points and shapes: documents, queries and cells."""

import math

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)

SETUP = [
    ("PUT", "/placed", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
        "p": {"type": "geo_point"}, "s": {"type": "geo_shape"}, "k": {"type": "keyword"}, "at": {"type": "point"}, "area": {"type": "shape"}}}}),
    ("POST", "/placed/_bulk?refresh=true", lambda: Lines([line for n in range(5_000) for line in (
        {"index": {}}, {"p": [n % 360 - 180, n % 170 - 85], "k": f"key{n}", "s": {"type": "envelope", "coordinates": [[n % 170, n % 80 + 5], [n % 170 + 5, n % 80]]}})])),
    # Shapes that cover much and have many edges.
    ("POST", "/placed/_bulk?refresh=true", lambda: Lines([line for n in range(20) for line in ({"index": {}}, {"s": ring(2_000, 80)})])),
]


def ring(count, radius=10.0, turns=1):
    points = [[radius * math.cos(2 * math.pi * turns * n / count), radius * math.sin(2 * math.pi * turns * n / count)] for n in range(count)]
    return {"type": "polygon", "coordinates": [points + [points[0]]]}


def star(count):
    """Edges that all cross."""
    points = [[80 * math.cos(math.pi * (count - 1) * n / count), 80 * math.sin(math.pi * (count - 1) * n / count)] for n in range(count)]
    return {"type": "polygon", "coordinates": [points + [points[0]]]}


def comb(count, height=85):
    points = []
    for n in range(count):
        x = n * 170 / count
        points += [[x, -height], [x + 85 / count, height]]
    return {"type": "polygon", "coordinates": [[[-1, -height - 1]] + points + [[171, -height - 1], [-1, -height - 1]]]}


def holes(count):
    inner = [[[x / 100, 1], [x / 100 + 0.005, 1], [x / 100 + 0.005, 1.005], [x / 100, 1]] for x in range(count)]
    return {"type": "polygon", "coordinates": [[[-1, 0], [170, 0], [170, 2], [-1, 2], [-1, 0]]] + inner}


def collection(depth):
    inside = {"type": "point", "coordinates": [1, 1]}
    for _ in range(depth):
        inside = {"type": "geometrycollection", "geometries": [inside]}
    return inside


SHAPES = {
    "ring": lambda: ring(100_000), "ring_wide": lambda: ring(100_000, 85), "ring_turns": lambda: ring(20_000, 80, 200), "star": lambda: star(10_001), "comb": lambda: comb(20_000),
    "comb_flat": lambda: comb(50_000, 0.0001), "holes": lambda: holes(15_000), "holes_equal": lambda: {"type": "polygon", "coordinates": [
        [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]] + [[[1, 1], [2, 1], [2, 2], [1, 1]]] * 15_000},
    "points": lambda: {"type": "multipoint", "coordinates": [[n % 180, n % 90] for n in range(200_000)]},
    "lines": lambda: {"type": "multilinestring", "coordinates": [[[n % 180, -85], [-(n % 180), 85]] for n in range(30_000)]},
    "line_world": lambda: {"type": "linestring", "coordinates": [[180 - 360 * (n % 2), n % 170 - 85] for n in range(100_000)]},
    "line_datelines": lambda: {"type": "linestring", "coordinates": [[n * 100_000, 0] for n in range(1_000)]},
    "polygon_datelines": lambda: {"type": "polygon", "coordinates": [[[0, 0], [3_600_000, 0], [3_600_000, 10], [0, 0]]]},
    "coordinates_huge": lambda: {"type": "linestring", "coordinates": [[1e308, 1e308], [-1e308, -1e308]]},
    "coordinates_tiny": lambda: {"type": "polygon", "coordinates": [[[0, 0], [1e-300, 0], [1e-300, 1e-300], [0, 0]]]},
    "point_equal": lambda: {"type": "polygon", "coordinates": [[[1, 1]] * 100_000]},
    "circle": lambda: {"type": "circle", "coordinates": [0, 0], "radius": "20000km"},
    "circle_small": lambda: {"type": "circle", "coordinates": [0, 89.999], "radius": "0.0001m"},
    "circle_huge": lambda: {"type": "circle", "coordinates": [0, 0], "radius": "1e300km"},
    "envelope": lambda: {"type": "envelope", "coordinates": [[-180, 90], [180, -90]]},
    "envelope_thin": lambda: {"type": "envelope", "coordinates": [[-180, 0.0000001], [180, 0]]},
    "collection_deep": lambda: collection(800), "collection": lambda: {"type": "geometrycollection", "geometries": [ring(100, n / 100) for n in range(1, 900)]},
    "coordinates_deep": lambda: {"type": "polygon", "coordinates": deep_list(800)}, "many_values": lambda: [[n % 180, n % 90] for n in range(100_000)],
    "wkt_deep": lambda: "GEOMETRYCOLLECTION (" * 100_000, "wkt_long": lambda: "LINESTRING (" + "1 2, " * 1_000_000 + "3 4)",
    "wkt_numbers": lambda: "POINT (" + "9" * 1_000_000 + " 1)",
}


def deep_list(depth):
    inside = [1, 1]
    for _ in range(depth):
        inside = [inside]
    return inside


def search(name, query, **more):
    return Case(name, "POST", "/placed/_search", query, **{"seconds": 90, **more})


CASES = []
for name, shape in SHAPES.items():
    CASES += [
        Case(f"document_{name}", "PUT", f"/placed/_doc/{name}", (lambda shape: lambda: {"s": shape()})(shape), OK + BAD, seconds=30),
        search(f"query_{name}", (lambda shape: lambda: {"query": {"geo_shape": {"s": {"shape": shape(), "relation": "intersects"}}}})(shape)),
        search(f"within_{name}", (lambda shape: lambda: {"query": {"geo_shape": {"s": {"shape": shape(), "relation": "within"}}}})(shape)),
        search(f"points_{name}", (lambda shape: lambda: {"query": {"geo_shape": {"p": {"shape": shape(), "relation": "disjoint"}}}})(shape)),
        Case(f"plane_{name}", "PUT", f"/placed/_doc/plane_{name}", (lambda shape: lambda: {"at": [1e30, -1e30], "area": shape()})(shape), OK + BAD, seconds=30),
        search(f"query_plane_{name}", (lambda shape: lambda: {"query": {"shape": {"area": {"shape": shape(), "relation": "intersects"}}}})(shape)),
        search(f"points_plane_{name}", (lambda shape: lambda: {"query": {"shape": {"at": {"shape": shape()}}}})(shape)),
    ]

GRIDS = ("geohash_grid", "geotile_grid", "geohex_grid")
FINEST = {"geohash_grid": 12, "geotile_grid": 29, "geohex_grid": 15}
for grid in GRIDS:
    for field in ("p", "s"):
        CASES += [
            search(f"{grid}_{field}_finest", {"size": 0, "aggs": {"g": {grid: {"field": field, "precision": FINEST[grid], "size": 2_147_483_647}}}}),
            search(f"{grid}_{field}_middle", {"size": 0, "aggs": {"g": {grid: {"field": field, "precision": FINEST[grid] // 2, "size": 65_535}}}}),
            search(f"{grid}_{field}_bounds", {"size": 0, "aggs": {"g": {grid: {"field": field, "precision": FINEST[grid], "bounds": {
                "top_left": "90, -180", "bottom_right": "-90, 180"}}}}}),
        ]
    CASES.append(search(f"{grid}_precision_wrong", {"size": 0, "aggs": {"g": {grid: {"field": "p", "precision": 2_147_483_647}}}}, expect=REFUSED))
    CASES.append(search(f"{grid}_in_terms", {"size": 0, "aggs": {"k": {"terms": {"field": "k", "size": 5_000}, "aggs": {"g": {grid: {"field": "s", "precision": 7}}}}}}))
CASES += [
    search("composite_tiles", {"size": 0, "aggs": {"c": {"composite": {"size": 65_536, "sources": [{"a": {"geotile_grid": {"field": "p", "precision": 29}}},
                                                                                                      {"k": {"terms": {"field": "k"}}}]}}}}),
    search("distance_rings", lambda: {"size": 0, "aggs": {"k": {"terms": {"field": "k", "size": 5_000}, "aggs": {"d": {"geo_distance": {"field": "p", "origin": "0,0", "ranges": [
        {"from": n, "to": n + 1, "key": f"{n}" + "x" * 500} for n in range(1_000)]}}}}}}),
    search("bounds_and_centroids", lambda: {"size": 0, "aggs": {"k": {"terms": {"field": "k", "size": 5_000}, "aggs": {
        f"b{n}": {"geo_bounds" if n % 2 else "geo_centroid": {"field": "p"}} for n in range(300)}}}}),
    search("polygon", lambda: {"query": {"geo_polygon": {"p": {"points": [[n % 180, n % 90] for n in range(100_000)]}}}}),
    search("distances", lambda: {"query": {"bool": {"should": [{"geo_distance": {"distance": "20000km", "p": [n % 180, n % 90]}} for n in range(1_000)]}}}),
    search("distance_sort", lambda: {"size": 10_000, "sort": [{"_geo_distance": {"p": [[n % 180, n % 90] for n in range(10_000)], "unit": "m"}}]}),
    search("distance_odd", {"query": {"geo_distance": {"distance": "NaNkm", "p": [0, 0]}}}, expect=REFUSED),
    search("distance_negative", {"query": {"geo_distance": {"distance": "-1e308km", "p": [0, 0]}}}),
    search("box_odd", {"query": {"geo_bounding_box": {"p": {"top": 1e308, "left": -1e308, "bottom": -1e308, "right": 1e308}}}}),
    search("grid_query", {"query": {"geo_grid": {"p": {"geohash": "u" * 100_000}}}}),
    search("geohash_points", lambda: {"query": {"geo_distance": {"distance": "1km", "p": "u" * 1_000_000}}}),
    search("indexed_shape", {"query": {"bool": {"should": [{"geo_shape": {"s": {"indexed_shape": {"index": "placed", "id": "ring", "path": "s"}}}}] * 500}}}),
    search("indexed_shape_missing", {"query": {"geo_shape": {"s": {"indexed_shape": {"index": "placed", "id": "nowhere", "path": "s" + ".x" * 10_000}}}}}, expect=REFUSED),
    search("shapes_of_hits", {"size": 5_000, "fields": [{"field": "s", "format": "wkt"}, {"field": "s", "format": "geojson"}] * 10}),
    search("script_shapes", {"size": 1_000, "script_fields": {"f": {"script": "List l = []; for (int i = 0; i < 1000; i++) { l.add(doc['s'].value) } return l.size()"}}}),
    search("tiles_vector", {"size": 0, "aggs": {"g": {"geotile_grid": {"field": "s", "precision": 20}}}}, clients=4),
    Case("points_many", "PUT", "/placed/_doc/points", lambda: {"p": [[n % 180, n % 90] for n in range(300_000)]}, OK + BAD),
    Case("point_odd", "PUT", "/placed/_doc/odd", {"p": "9" * 100_000 + "," + "9" * 100_000}, 400),
    Case("point_nan", "PUT", "/placed/_doc/nan", "{\"p\":{\"lat\":NaN,\"lon\":1}}", 400),
    Case("shapes_bulk", "POST", "/placed/_bulk", lambda: Lines([line for n in range(100) for line in ({"index": {}}, {"s": comb(400)})]), OK + BAD, seconds=60),
    Case("shapes_bulk_gone", "POST", "/placed/_bulk", lambda: Lines([line for n in range(60) for line in ({"index": {}}, {"s": star(3_001)})]), hang_up=0.5, clients=4),
]
