//! `geo_grid`: documents with a point in a cell of a grid, which has the same name as in the grid
//! aggregations.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::geo::{geo_field, near};
use crate::error::Error;
use crate::geo::{GridCell, Hexagon, HexagonShape, Shape, Target};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct GeoGrid {
    field: String,
    cell: GridCell,
    name: String,
    ignore_unmapped: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut found, mut ignore_unmapped) = (None, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            (_, Value::Object(options)) => {
                if found.is_some() {
                    return Err(RequestError::parsing(format!(
                        "[geo_grid] field name specified twice. [{key}]"
                    )));
                }
                let mut cell = None;
                for (option, value) in options {
                    let name = json::scalar_text(value).unwrap_or_default();
                    let read = match option.as_str() {
                        "geohash" => GridCell::geohash(&name)?,
                        "geotile" => GridCell::geotile(&name)?,
                        "geohex" => GridCell::geohex(&name)?,
                        other => {
                            return Err(RequestError::parsing(format!(
                                "[geo_grid] Invalid grid name [{other}]"
                            )));
                        }
                    };
                    cell = Some((read, name));
                }
                let (cell, name) =
                    cell.ok_or_else(|| RequestError::parsing("[geo_grid] required grid is missing"))?;
                found = Some((key.clone(), cell, name));
            }
            ("ignore_unmapped", value) => ignore_unmapped = json::boolean(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("geo_grid", key)),
        }
    }
    let (field, cell, name) =
        found.ok_or_else(|| RequestError::parsing("[geo_grid] required field name is missing"))?;
    Ok(common.query(GeoGrid { field, cell, name, ignore_unmapped }))
}

impl QueryNode for GeoGrid {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = geo_field(binder, &self.field, "geo_grid", self.ignore_unmapped)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        let shape = || match &self.cell {
            GridCell::Rectangle(cell) => Shape::Cell(*cell),
            GridCell::Hexagon(cell) => Shape::Hexagon(HexagonShape::new(Hexagon::new(*cell))),
        };
        let target = || match &self.cell {
            GridCell::Rectangle(cell) => Target::cell(cell),
            GridCell::Hexagon(cell) => Target::hexagon(*cell),
        };
        Ok(near(field, boost, self.name.clone(), shape, target))
    }
}
