//! The answer of the search as the layers `hits`, `aggs` and `meta`.

use limber_engine::Result;
use limber_mapping::geo::{Geometry, Rectangle, WktOptions, geometry_from_wkt};
use limber_search::geo::{Layer, MapCell, Outline, Property};
use limber_search::{Rendering, SearchHit, SearchResponse};
use serde_json::{Map, Value};

use super::asked::{Asked, BOUNDS, CENTROID, GRID, GridType, LABEL, OWN_PREFIX};

/// The bytes of the tile.
///
/// # Errors
/// There is no memory for it, or its client is gone.
pub fn tile_of(asked: &Asked, mut found: SearchResponse) -> Result<Vec<u8>> {
    let mut tile = Vec::new();
    let hits = std::mem::take(&mut found.hits);
    if !hits.is_empty() {
        let mut layer = Layer::new("hits", asked.extent as u32);
        for hit in &hits {
            add_hit(asked, &mut layer, hit)?;
        }
        layer.write(&mut tile)?;
    }
    drop(hits);
    let mut own = |name: &str| found.aggregations.as_mut()?.as_object_mut()?.shift_remove(name);
    let (grid, bounds) = (own(GRID), own(BOUNDS));
    if let Some(buckets) = grid.as_ref().and_then(|grid| grid["buckets"].as_array())
        && !buckets.is_empty()
    {
        let mut layer = Layer::new("aggs", asked.extent as u32);
        for bucket in buckets {
            add_cell(asked, &mut layer, bucket)?;
        }
        layer.write(&mut tile)?;
    }
    let mut layer = Layer::new("meta", asked.extent as u32);
    let around = bounds.as_ref().and_then(|bounds| rectangle(&bounds["bounds"]));
    if let Some(outline) = asked.frame.rectangle(around.unwrap_or(asked.frame.bounds())) {
        let mut properties = Vec::new();
        flatten(&found.to_json(&Rendering::default()), "", &mut properties);
        layer.add(&outline, shown(&properties))?;
    }
    layer.write(&mut tile)?;
    Ok(tile)
}

fn shown(properties: &[(String, Value)]) -> impl Iterator<Item = Property<'_>> {
    properties.iter().map(|(name, value)| (name.as_str(), value))
}

/// The scalars of a value under their paths.
fn flatten(value: &Value, path: &str, properties: &mut Vec<(String, Value)>) {
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Null => {}
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| flatten(value, &inside(name), properties));
        }
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(at, value)| flatten(value, &inside(&at.to_string()), properties));
        }
        scalar => properties.push((path.to_owned(), scalar.clone())),
    }
}

fn rectangle(bounds: &Value) -> Option<Rectangle> {
    let (upper, lower) = (&bounds["top_left"], &bounds["bottom_right"]);
    Some(Rectangle {
        west: upper["lon"].as_f64()?,
        east: lower["lon"].as_f64()?,
        south: lower["lat"].as_f64()?,
        north: upper["lat"].as_f64()?,
    })
}

fn add_hit(asked: &Asked, layer: &mut Layer, hit: &SearchHit) -> Result<()> {
    let Some(fields) = hit.fields.as_deref().and_then(Value::as_object) else { return Ok(()) };
    let mut properties = vec![
        ("_id".to_owned(), hit.id.clone().map_or(Value::Null, Value::from)),
        ("_index".to_owned(), Value::from(&*hit.index)),
    ];
    add_fields(&mut properties, fields, &asked.field);
    for outline in outlines(asked, fields)? {
        layer.add(&outline, shown(&properties))?;
    }
    let label = fields.get(LABEL).and_then(|values| values[0]["coordinates"].as_array());
    let place = label.and_then(|place| Some((place.first()?.as_f64()?, place.get(1)?.as_f64()?)));
    if let Some(outline) = place.and_then(|place| asked.frame.point(place)) {
        properties.insert(2, (LABEL.to_owned(), true.into()));
        layer.add(&outline, shown(&properties))?;
    }
    Ok(())
}

/// Adds the first value of each field; members of an object are added under their own names.
fn add_fields(properties: &mut Vec<(String, Value)>, fields: &Map<String, Value>, drawn: &str) {
    for (name, values) in fields.iter().filter(|(name, _)| *name != drawn && *name != LABEL) {
        match &values[0] {
            Value::Object(members) => {
                properties.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            value => properties.push((name.clone(), value.clone())),
        }
    }
}

/// Returns the geometries of the drawn field: all points are one feature, each shape is its own.
fn outlines(asked: &Asked, fields: &Map<String, Value>) -> Result<Vec<Outline>> {
    let options = WktOptions { allow_z: true, coerce: true, off_map: true };
    let texts = fields.get(&asked.field).and_then(Value::as_array).into_iter().flatten();
    let shapes: Vec<Geometry> =
        texts.filter_map(|text| geometry_from_wkt(text.as_str()?, options).ok()).collect();
    let places: Option<Vec<(f64, f64)>> = shapes
        .iter()
        .map(|shape| match shape {
            Geometry::Point(place) => Some(*place),
            _ => None,
        })
        .collect();
    if let Some(places) = places {
        return Ok(asked.frame.points(&places)?.into_iter().collect());
    }
    let mut outlines = Vec::new();
    for shape in &shapes {
        outlines.extend(asked.frame.shape(shape)?);
    }
    Ok(outlines)
}

fn add_cell(asked: &Asked, layer: &mut Layer, bucket: &Value) -> Result<()> {
    let Some(key) = bucket["key"].as_str() else { return Ok(()) };
    let cell = MapCell::parse(key)?;
    let outline = match asked.grid_type {
        GridType::Cell => asked.frame.cell(cell)?,
        GridType::Middle => asked.frame.point(cell.middle()),
        GridType::Centroid => {
            let place = &bucket[CENTROID]["location"];
            let place = place["lon"].as_f64().zip(place["lat"].as_f64());
            place.and_then(|place| asked.frame.point(cell.nearest_to(place)))
        }
    };
    let mut properties =
        vec![("_key".to_owned(), key.into()), ("_count".to_owned(), bucket["doc_count"].clone())];
    for (name, value) in bucket.as_object().into_iter().flatten() {
        let is_metric = value.is_object() && !name.starts_with(OWN_PREFIX);
        if is_metric {
            flatten(value, name, &mut properties);
        }
    }
    let Some(outline) = outline else { return Ok(()) };
    layer.add(&outline, shown(&properties))?;
    if asked.with_labels
        && let Some(label) = asked.frame.point(cell.middle())
    {
        properties.insert(2, (LABEL.to_owned(), true.into()));
        layer.add(&label, shown(&properties))?;
    }
    Ok(())
}
