//! The cells that a grid aggregation asks for: finds the cell of a point, and whether the cell is wanted.

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

/// Cached facts about cells.
#[derive(Debug, Default)]
pub struct CellMemory {
    /// Whether a cell touches the bounds, for the cells that were asked for.
    touching: HashMap<u64, bool, foldhash::fast::FixedState>,
    rows: TileRows,
}

impl CellMemory {
    /// Makes an empty cache, and charges the memory that it may need.
    pub fn new(cells: &GridCells, budget: &Budget) -> crate::error::Result<CellMemory> {
        if matches!(cells.grid, Grid::Geotile(_)) {
            budget.spend(TileRows::BYTES)?;
        }
        Ok(CellMemory::default())
    }
}

impl GridCells {
    /// Reads the options; the type of the aggregation determines the grid.
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

    /// Returns the cell of a stored point; `None` if the point is outside of the bounds and the cell does not
    /// touch them.
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

    /// Whether a cell that a shape touches is wanted.
    pub fn wants(&self, cell: u64) -> bool {
        self.bounds.as_ref().is_none_or(|bounds| cell_touches(self.grid, cell, bounds))
    }
}

/// Whether a point lies within the bounds.
fn holds(bounds: &Rectangle, point: GeoPoint) -> bool {
    let is_between = match bounds.west <= bounds.east {
        true => bounds.west < point.longitude && point.longitude < bounds.east,
        false => bounds.west < point.longitude || point.longitude < bounds.east,
    };
    is_between && bounds.south < point.latitude && point.latitude < bounds.north
}

/// Reads a precision: a number of characters, or a distance that is the largest length of a cell's sides.
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
