//! A parsed request for a tile, and the search that answers it.

use limber_engine::Result;
use limber_mapping::{ObjectParser, RequestError};
use limber_search::geo::{Frame, MERCATOR_LATITUDE_MAX, ZOOM_MAX};
use serde_json::{Map, Value, json};

use super::metrics::{check_aggregations, claim_statistic, metrics_of};
use super::names::{BOUNDS, CENTROID, GRID, LABEL};
use crate::http::request::{Request, parse_flag};

/// Finest precision of a grid, beyond the zoom.
const PRECISION_MAX: i32 = 8;
/// Finest resolution of H3.
const RESOLUTION_MAX: i32 = 15;
/// Maximum number of buckets of a grid (`MultiBucketConsumerService.DEFAULT_MAX_BUCKETS`).
const BUCKET_COUNT_MAX: u32 = 65_535;

const PARSER: ObjectParser<'_> = ObjectParser::new("vector-tile");

/// How a cell of the grid is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridType {
    Cell,
    Middle,
    Centroid,
}

/// A request for a tile.
pub struct Asked {
    pub field: String,
    pub frame: Frame,
    zoom: i32,
    pub extent: i32,
    buffer: i32,
    size: i32,
    exact_bounds: bool,
    pub with_labels: bool,
    grid_precision: i32,
    pub grid_type: GridType,
    is_hex: bool,
    track_total_hits: Option<Value>,
    query: Option<Value>,
    sort: Option<Value>,
    fields: Vec<Value>,
    runtime_mappings: Map<String, Value>,
    aggregations: Map<String, Value>,
}

fn negative(name: &str, value: i32) -> RequestError {
    RequestError::illegal_argument(format!("[{name}] parameter cannot be negative, found [{value}]"))
}

impl Asked {
    /// Parses the path, the body, and the URL parameters, which override the body.
    ///
    /// # Errors
    /// Fails for an invalid request, with Elasticsearch's messages.
    pub fn parse(request: &Request, body: &Value) -> Result<Asked> {
        let number = |name: &str| -> Result<i32> {
            let text = request.path(name);
            text.parse().map_err(|_| RequestError::number_format(text))
        };
        let (zoom, x, y) = (number("zoom")?, number("x")?, number("y")?);
        let mut asked = Asked {
            field: request.path("field").to_owned(),
            frame: Frame::new(zoom, x, y, 0, 0)?,
            zoom,
            extent: 4096,
            buffer: 5,
            size: 10_000,
            exact_bounds: false,
            with_labels: false,
            grid_precision: PRECISION_MAX,
            grid_type: GridType::Cell,
            is_hex: false,
            track_total_hits: None,
            query: None,
            sort: None,
            fields: Vec::new(),
            runtime_mappings: Map::new(),
            aggregations: Map::new(),
        };
        if !body.is_null() {
            for (name, value) in PARSER.members(body)? {
                asked.member(name, value)?;
            }
        }
        asked.read_url(request)?;
        asked.check_numbers()?;
        asked.frame = Frame::new(zoom, x, y, asked.extent as u32, asked.buffer as u32)?;
        Ok(asked)
    }

    fn member(&mut self, name: &str, value: &Value) -> Result<()> {
        let of_type = |is_right: bool| {
            if is_right { Ok(value.clone()) } else { Err(PARSER.unsupported(name, value)) }
        };
        let failed = |cause| PARSER.failed(name, cause);
        match name {
            "size" => self.size = PARSER.integer(name, value)?,
            "extent" => self.extent = PARSER.integer(name, value)?,
            "buffer" => self.buffer = PARSER.integer(name, value)?,
            "grid_precision" => self.grid_precision = PARSER.integer(name, value)?,
            "grid_type" => self.grid_type = grid_type(PARSER.text(name, value)?).map_err(failed)?,
            "grid_agg" => self.is_hex = is_hex(PARSER.text(name, value)?).map_err(failed)?,
            "exact_bounds" => self.exact_bounds = PARSER.flag(name, value)?,
            "with_labels" => self.with_labels = PARSER.flag(name, value)?,
            "track_total_hits" => {
                self.track_total_hits = Some(of_type(!value.is_object() && !value.is_array())?);
            }
            "query" => self.query = Some(of_type(value.is_object())?),
            "sort" => self.sort = Some(of_type(!value.is_number() && !value.is_boolean())?),
            "fields" => match value {
                Value::Array(fields) => self.fields = fields.clone(),
                _ => return Err(PARSER.unsupported(name, value)),
            },
            "runtime_mappings" => match value {
                Value::Object(fields) => self.runtime_mappings = fields.clone(),
                _ => return Err(PARSER.unsupported(name, value)),
            },
            "aggs" | "aggregations" => match value {
                Value::Object(given) => {
                    check_aggregations(given).map_err(failed)?;
                    self.aggregations = given.clone();
                }
                _ => return Err(PARSER.unsupported(name, value)),
            },
            _ => return Err(PARSER.unknown(name)),
        }
        Ok(())
    }

    fn read_url(&mut self, request: &Request) -> Result<()> {
        for (name, place) in [
            ("size", &mut self.size),
            ("extent", &mut self.extent),
            ("buffer", &mut self.buffer),
            ("grid_precision", &mut self.grid_precision),
        ] {
            *place = request.number(name)?.unwrap_or(*place);
        }
        if let Some(text) = request.param("grid_type") {
            self.grid_type = grid_type(text)?;
        }
        if let Some(text) = request.param("grid_agg") {
            self.is_hex = is_hex(text)?;
        }
        self.exact_bounds = request.flag("exact_bounds")?.unwrap_or(self.exact_bounds);
        self.with_labels = request.flag("with_labels")?.unwrap_or(self.with_labels);
        if let Some(text) = request.param("track_total_hits") {
            self.track_total_hits = Some(match parse_flag(text) {
                Ok(flag) => flag.into(),
                Err(_) => request.number::<i32>("track_total_hits")?.into(),
            });
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<()> {
        for (name, value) in [
            ("size", self.size),
            ("extent", self.extent),
            ("buffer", self.buffer),
            ("gridPrecision", self.grid_precision),
        ] {
            if value < 0 {
                return Err(negative(name, value));
            }
        }
        if self.grid_precision > PRECISION_MAX {
            return Err(RequestError::illegal_argument(format!(
                "[gridPrecision] parameter cannot be bigger than {PRECISION_MAX}, found [{}]",
                self.grid_precision
            )));
        }
        Ok(())
    }

    /// Returns the body of the search for the hits on the tile.
    ///
    /// # Errors
    /// There is not enough memory, or the request was cancelled.
    pub fn search_body(&self) -> Result<Value> {
        let mut body = json!({
            "size": self.size,
            "_source": false,
            "query": self.search_query(),
            "fields": self.search_fields(),
        });
        if let Some(track) = &self.track_total_hits {
            body["track_total_hits"] = track.clone();
        }
        match &self.sort {
            Some(sort) => body["sort"] = sort.clone(),
            None if self.size == 0 => {}
            None => body["sort"] = self.largest_first(),
        }
        let mut runtime = self.runtime_mappings.clone();
        if self.with_labels {
            let source = format!(
                "GeoPoint point = {}.getLabelPosition(); emit(point.getLat(), point.getLon());",
                self.doc_values()
            );
            let script = json!({"source": source});
            runtime.insert(LABEL.into(), json!({"type": "geo_point", "script": script}));
        }
        if !runtime.is_empty() {
            body["runtime_mappings"] = runtime.into();
        }
        let aggregations = self.search_aggregations()?;
        if !aggregations.is_empty() {
            body["aggs"] = aggregations.into();
        }
        Ok(body)
    }

    fn search_query(&self) -> Value {
        let [west, east, south, north] = self.searched();
        let mut shape = Map::new();
        let envelope = json!({"type": "envelope", "coordinates": [[west, north], [east, south]]});
        shape.insert(self.field.clone(), json!({"shape": envelope, "relation": "intersects"}));
        let on_tile = json!({"geo_shape": shape});
        match &self.query {
            Some(query) => json!({"bool": {"filter": [query, on_tile]}}),
            None => on_tile,
        }
    }

    /// Returns the west, east, south and north ends of the searched area, which is larger than the tile for
    /// hexagons, because they reach beyond it.
    fn searched(&self) -> [f64; 4] {
        let bounds = self.frame.bounds();
        if !self.is_hex || self.zoom == 0 || self.grid_precision == 0 {
            return [bounds.west, bounds.east, bounds.south, bounds.north];
        }
        // Elasticsearch measured these margins for resolution 2. Each finer resolution divides them by 2.5.
        let finer = 2.5f64.powi(self.cell_precision() - 2);
        let (width, height) = (51.2 / finer, 3.7 / finer);
        let turned = |longitude: f64| match longitude {
            beyond if beyond < -180.0 => beyond + 360.0,
            beyond if beyond > 180.0 => beyond - 360.0,
            within => within,
        };
        let all = bounds.east - bounds.west + 2.0 * width >= 360.0;
        let (west, east) = match all {
            true => (-180.0, 180.0),
            false => (turned(bounds.west - width), turned(bounds.east + width)),
        };
        let south = (bounds.south - height).max(-MERCATOR_LATITUDE_MAX);
        [west, east, south, (bounds.north + height).min(MERCATOR_LATITUDE_MAX)]
    }

    /// Returns the zoom of the grid's tiles, or the resolution of its hexagons.
    fn cell_precision(&self) -> i32 {
        let finer = self.zoom + self.grid_precision;
        match self.is_hex {
            true => ((finer - 1) / 2).clamp(2, RESOLUTION_MAX),
            false => finer.min(ZOOM_MAX as i32),
        }
    }

    fn search_fields(&self) -> Vec<Value> {
        let mut fields = self.fields.clone();
        if self.with_labels {
            fields.push(LABEL.into());
        }
        // Added last, because the last entry that matches a field determines its format.
        fields.push(json!({"field": self.field, "format": "wkt"}));
        fields
    }

    /// Returns the expression by which a script reads the field's values.
    fn doc_values(&self) -> String {
        format!("doc['{}']", self.field.replace('\\', "\\\\").replace('\'', "\\'"))
    }

    fn largest_first(&self) -> Value {
        let values = self.doc_values();
        let source = format!(
            "double w = {values}.getMercatorWidth(); double h = {values}.getMercatorHeight(); \
             return h * h + w * w;"
        );
        let script = json!({"source": source});
        json!([{"_script": {"type": "number", "order": "desc", "script": script}}])
    }

    fn search_aggregations(&self) -> Result<Map<String, Value>> {
        let mut aggregations = Map::new();
        if self.grid_precision > 0 {
            let bounds = self.frame.bounds();
            let mut grid = json!({
                "field": self.field,
                "precision": self.cell_precision(),
                "size": BUCKET_COUNT_MAX,
            });
            if self.zoom > 0 {
                grid["bounds"] = json!({
                    "top_left": {"lat": bounds.north, "lon": bounds.west},
                    "bottom_right": {"lat": bounds.south, "lon": bounds.east},
                });
            }
            let mut below = self.aggregations.clone();
            if self.grid_type == GridType::Centroid {
                below.insert(CENTROID.into(), json!({"geo_centroid": {"field": self.field}}));
            }
            let kind = if self.is_hex { "geohex_grid" } else { "geotile_grid" };
            let mut of_grid = Map::from_iter([(kind.to_owned(), grid)]);
            if !below.is_empty() {
                of_grid.insert("aggs".into(), below.into());
            }
            aggregations.insert(GRID.into(), of_grid.into());
            let over_cells = |path: String| json!({"stats_bucket": {"buckets_path": path}});
            aggregations.insert("_count".into(), over_cells(format!("{GRID}>_count")));
            for (name, metric) in self
                .aggregations
                .iter()
                .flat_map(|(name, body)| metrics_of(body).map(move |metric| (name, metric)))
            {
                claim_statistic(name)?;
                match metric {
                    None => aggregations.insert(name.clone(), over_cells(format!("{GRID}>{name}"))),
                    Some(metric) => {
                        let path = match metric.contains('.') {
                            true => format!("{GRID}>{name}[{metric}]"),
                            false => format!("{GRID}>{name}.{metric}"),
                        };
                        aggregations.insert(format!("{name}.{metric}"), over_cells(path))
                    }
                };
            }
        }
        if self.exact_bounds {
            let around = json!({"geo_bounds": {"field": self.field, "wrap_longitude": false}});
            aggregations.insert(BOUNDS.into(), around);
        }
        Ok(aggregations)
    }
}

fn grid_type(text: &str) -> Result<GridType> {
    match text.to_lowercase().as_str() {
        "grid" => Ok(GridType::Cell),
        "point" => Ok(GridType::Middle),
        "centroid" => Ok(GridType::Centroid),
        _ => Err(RequestError::illegal_argument(format!("Invalid grid type [{text}]"))),
    }
}

fn is_hex(text: &str) -> Result<bool> {
    match text.to_lowercase().as_str() {
        "geotile" => Ok(false),
        "geohex" => Ok(true),
        _ => Err(RequestError::illegal_argument(format!("Invalid agg type [{text}]"))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use limber_work::Work;

    use super::*;

    fn asked(body: &Value) -> Asked {
        let path_values = [("field", "p"), ("zoom", "1"), ("x", "0"), ("y", "0")];
        let request = Request {
            uri: String::new(),
            query: Vec::new(),
            path_values: path_values.map(|(name, value)| (name, value.to_owned())).into(),
            body: Vec::new().into(),
            prefers_html: false,
            cancelled: Arc::default(),
        };
        Asked::parse(&request, body).expect("a request for a tile")
    }

    #[test]
    fn each_statistic_asks_whether_the_request_may_continue() {
        let percents: Vec<f64> = (0..100).map(f64::from).collect();
        let body = json!({"aggs": {"p": {"percentiles": {"field": "n", "percents": percents}}}});
        let asked = asked(&body);
        assert_eq!(asked.search_body().expect("no limit")["aggs"].as_object().map(Map::len), Some(102));
        let work = Work { cancelled: Arc::new(AtomicBool::new(true)), ..Work::default() };
        let _entered = work.enter();
        assert_eq!(asked.search_body().expect_err("stopped").kind, "task_cancelled_exception");
    }
}
