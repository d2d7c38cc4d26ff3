//! Draws the search's response as the layers `hits`, `aggs` and `meta`.

use std::borrow::Cow;

use limber_engine::Result;
use limber_mapping::geo::{Geometry, Rectangle, WktOptions, geometry_from_wkt};
use limber_search::geo::{Layer, MapCell, Outline, Property};
use limber_search::{Rendering, SearchHit, SearchResponse};
use limber_work as work;
use serde_json::{Map, Value};

use super::asked::{Asked, GridType};
use super::names::{BOUNDS, CENTROID, GRID, LABEL, OWN_PREFIX};
use crate::rest::searches::search::refused;

/// Returns the bytes of the tile.
///
/// # Errors
/// There is not enough memory, or the client has disconnected.
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
    let mut aggregations = found.aggregations_to_json().map_err(|error| refused(&error))?;
    let mut own = |name: &str| aggregations.as_object_mut()?.shift_remove(name);
    let (grid, bounds) = (own(GRID), own(BOUNDS));
    // The layer of metadata shows the request's own aggregations.
    if found.aggregations.is_some() {
        found.aggregations = Some(aggregations.to_string().into_bytes());
    }
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
        let found = found.to_json(&Rendering::default()).map_err(|error| refused(&error))?;
        let mut properties = Vec::new();
        flatten(&found, "", &mut properties)?;
        let tags = layer.tags(shown(&properties))?;
        layer.add(&outline, &tags)?;
    }
    layer.write(&mut tile)?;
    Ok(tile)
}

/// Names of properties and their values.
type Properties<'v> = Vec<(Cow<'v, str>, &'v Value)>;

fn shown<'p>(properties: &'p Properties<'_>) -> impl Iterator<Item = Property<'p>> {
    properties.iter().map(|(name, value)| (&**name, *value))
}

/// Adds a label of a feature with the same properties.
fn add_label(layer: &mut Layer, outline: &Outline, mut properties: Properties<'_>) -> Result<()> {
    properties.insert(2, (LABEL.into(), &Value::Bool(true)));
    let tags = layer.tags(shown(&properties))?;
    Ok(layer.add(outline, &tags)?)
}

/// Adds the scalars of a value under their paths.
fn flatten<'v>(value: &'v Value, path: &str, properties: &mut Properties<'v>) -> Result<()> {
    let mut inside = |name: &str, value: &'v Value| {
        // The path of each scalar repeats the names of the objects around it.
        work::claim((path.len() + name.len() + 1) as u64)?;
        match path {
            "" => flatten(value, name, properties),
            path => flatten(value, &format!("{path}.{name}"), properties),
        }
    };
    match value {
        Value::Null => {}
        Value::Object(members) => {
            members.iter().try_for_each(|(name, value)| inside(name, value))?;
        }
        Value::Array(items) => {
            let mut numbered = items.iter().enumerate();
            numbered.try_for_each(|(at, value)| inside(&at.to_string(), value))?;
        }
        scalar => properties.push((path.to_owned().into(), scalar)),
    }
    Ok(())
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
    let outlines = outlines(asked, fields)?;
    let label = fields.get(LABEL).and_then(|values| values[0]["coordinates"].as_array());
    let place = label.and_then(|place| Some((place.first()?.as_f64()?, place.get(1)?.as_f64()?)));
    let label = place.and_then(|place| asked.frame.point(place));
    if outlines.is_empty() && label.is_none() {
        return Ok(());
    }
    let id = hit.id.clone().map_or(Value::Null, Value::from);
    let index = Value::from(&*hit.index);
    let mut properties: Properties<'_> = vec![("_id".into(), &id), ("_index".into(), &index)];
    add_fields(&mut properties, fields, &asked.field);
    if !outlines.is_empty() {
        let tags = layer.tags(shown(&properties))?;
        outlines.iter().try_for_each(|outline| layer.add(outline, &tags))?;
    }
    label.map_or(Ok(()), |outline| add_label(layer, &outline, properties))
}

/// Adds the first value of each field; members of an object are added under their own names.
fn add_fields<'v>(properties: &mut Properties<'v>, fields: &'v Map<String, Value>, drawn: &str) {
    for (name, values) in fields.iter().filter(|(name, _)| *name != drawn && *name != LABEL) {
        match &values[0] {
            Value::Object(members) => {
                properties.extend(members.iter().map(|(name, value)| (name.into(), value)));
            }
            value => properties.push((name.into(), value)),
        }
    }
}

/// About the most bytes that a geometry takes per byte of its text.
const GEOMETRY_FACTOR: usize = 8;

/// Returns the geometries of the drawn field: all points are one feature, each shape is its own.
fn outlines(asked: &Asked, fields: &Map<String, Value>) -> Result<Vec<Outline>> {
    let options = WktOptions { allow_z: true, coerce: true, off_map: true };
    let texts = fields.get(&asked.field).and_then(Value::as_array).into_iter().flatten();
    let mut shapes = Vec::new();
    for text in texts.filter_map(Value::as_str) {
        work::claim((GEOMETRY_FACTOR * text.len()) as u64)?;
        shapes.extend(geometry_from_wkt(text, options).ok());
    }
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
    let Some(outline) = outline else { return Ok(()) };
    let mut properties: Properties<'_> =
        vec![("_key".into(), &bucket["key"]), ("_count".into(), &bucket["doc_count"])];
    for (name, value) in bucket.as_object().into_iter().flatten() {
        let is_metric = value.is_object() && !name.starts_with(OWN_PREFIX);
        if is_metric {
            flatten(value, name, &mut properties)?;
        }
    }
    let tags = layer.tags(shown(&properties))?;
    layer.add(&outline, &tags)?;
    match asked.frame.point(cell.middle()).filter(|_| asked.with_labels) {
        Some(label) => add_label(layer, &label, properties),
        None => Ok(()),
    }
}
