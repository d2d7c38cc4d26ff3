//! The cells that a grid aggregation asks for: "in which cell is this place, and is that one wanted?"

use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_mapping::geo::{GeoPoint, Rectangle, Unit, parse_distance};
use serde_json::Value;

use super::super::budget::Budget;
use super::super::options::Options;
use crate::geo::{Grid, TileRows, ZOOM_MAX, cell_touches, geohash_chars_of};
use crate::query::parse_corners;
use crate::values::json;

type Result<T> = std::result::Result<T, RequestError>;

/// `precision` and `bounds` of a grid.
#[derive(Debug, Clone)]
pub struct GridCells {
    pub grid: Grid,
    bounds: Option<Rectangle>,
}

/// What was found out about cells on the way.
#[derive(Debug, Default)]
pub struct CellMemory {
    /// Whether cells touch the bounds, as far as asked.
    touching: HashMap<u64, bool, foldhash::fast::FixedState>,
    rows: TileRows,
}

impl CellMemory {
    /// Charges what it may take.
    pub fn new(cells: &GridCells, budget: &Budget) -> crate::error::Result<CellMemory> {
        if matches!(cells.grid, Grid::Geotile(_)) {
            budget.spend(TileRows::BYTES)?;
        }
        Ok(CellMemory::default())
    }
}

impl GridCells {
    /// Reads the options of the grid that the type is named for.
    pub fn parse(options: &mut Options) -> Result<GridCells> {
        let precision = options.take_typed("precision")?;
        let grid = match options.kind {
            "geohash_grid" => Grid::Geohash(match &precision {
                None => 5,
                Some(value) => {
                    geohash_precision(value).map_err(|cause| options.failed("precision", cause))?
                }
            }),
            "geotile_grid" => Grid::Geotile(precision_below(options, &precision, 7, ZOOM_MAX)?),
            _ => Grid::Geohex(precision_below(options, &precision, 6, 15)?),
        };
        let bounds = match options.take("bounds") {
            None => None,
            Some(Value::Object(corners)) => {
                Some(parse_corners(&corners).map_err(|cause| options.failed("bounds", cause))?)
            }
            Some(other) => return Err(options.wrong_type("bounds", &other)),
        };
        Ok(GridCells { grid, bounds })
    }

    /// The cell of a stored place; `None` outside of the bounds, unless the cell reaches into them.
    #[inline]
    pub fn cell_of(&self, place: i64, memory: &mut CellMemory) -> Option<u64> {
        let cell = self.grid.cell_with(place, &mut memory.rows);
        match &self.bounds {
            Some(bounds) if !holds(bounds, GeoPoint::decode(place)) => memory
                .touching
                .entry(cell)
                .or_insert_with(|| cell_touches(self.grid, cell, bounds))
                .then_some(cell),
            _ => Some(cell),
        }
    }

    /// Whether a cell of a shape is wanted.
    pub fn wants(&self, cell: u64) -> bool {
        self.bounds.as_ref().is_none_or(|bounds| cell_touches(self.grid, cell, bounds))
    }
}

/// Whether a place lies in the bounds.
fn holds(bounds: &Rectangle, point: GeoPoint) -> bool {
    let is_between = match bounds.west <= bounds.east {
        true => bounds.west < point.longitude && point.longitude < bounds.east,
        false => bounds.west < point.longitude || point.longitude < bounds.east,
    };
    is_between && bounds.south < point.latitude && point.latitude < bounds.north
}

/// Characters, or a distance that a cell's sides are not longer than.
fn geohash_precision(value: &Value) -> Result<u32> {
    let text = json::scalar_text(value).unwrap_or_default();
    let chars = match (value, text.parse::<i64>()) {
        (Value::Number(_), _) => i64::from(json::int(value)?),
        (_, Ok(chars)) => chars,
        (_, Err(_)) => i64::from(geohash_chars_of(parse_distance(&text, Unit::METERS)?)),
    };
    match chars {
        1..=12 => Ok(chars as u32),
        _ => Err(RequestError::illegal_argument(format!(
            "Invalid geohash aggregation precision of {chars}. Must be between 1 and 12."
        ))),
    }
}

fn precision_below(options: &Options, value: &Option<Value>, default: u32, most: u32) -> Result<u32> {
    let Some(value) = value else { return Ok(default) };
    let precision = json::int(value).map_err(|cause| options.failed("precision", cause))?;
    if (0..=most as i32).contains(&precision) {
        return Ok(precision as u32);
    }
    Err(options.refused(
        "precision",
        format!("Invalid {} precision of {precision}. Must be between 0 and {most}.", options.kind),
    ))
}
