//! `_list/indices` and `_list/shards`: OpenSearch's paginated forms of `_cat/indices` and `_cat/shards`.

use std::collections::HashMap;
use std::ops::Range;

use limber_engine::{IndexInfo, IndicesOptions, Result};
use serde_json::Value;

use super::App;
use super::page::{Page, Paged, Sizes, SortKey, token};
use super::table::{Cell, Table};
use super::{indices, shards};
use crate::http::request::Request;
use crate::http::response::Response;

/// Page sizes. Source: `IndexPaginationStrategy`, `ShardPaginationStrategy`.
const INDICES: Sizes = Sizes { default: 500, min: 1, max: 5_000 };
const SHARDS: Sizes = Sizes { default: 2_000, min: 2_000, max: 20_000 };

/// The positions of the columns with the index names in the two tables.
const NAME_OF_INDICES: usize = 2;
const NAME_OF_SHARDS: usize = 0;

/// Answers `GET _list`.
pub fn help(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::text(
        ":‑|\n/_list/indices\n/_list/indices/{index}\n/_list/shards\n/_list/shards/{index}\n".to_owned(),
    ))
}

/// Answers `GET _list/indices`.
pub fn list_indices(app: &App, request: &Request) -> Result<Response> {
    if request.flag_or("help", false)? {
        return indices::empty().render(request);
    }
    let page = Page::of(request, INDICES)?;
    let options = indices::options(request)?;
    let infos = app.node.get_index(request.param("index").unwrap_or("_all"), options)?;
    let mut places = page.rest(&infos, false);
    let has_more = places.len() > page.size;
    places.truncate(page.size);
    let next_token = places.last().filter(|_| has_more).map(|place| token(place, None));
    let names: Vec<String> = places.into_iter().map(|(_, name)| name).collect();
    let mut table = match names.is_empty() {
        true => indices::empty(),
        false => indices::table(app, request, &names.join(","), options)?,
    };
    in_order(&mut table, &names, NAME_OF_INDICES);
    paged(table, request, "indices", next_token)
}

/// The shards of a page, and the token of the next page.
struct ShardPage {
    /// Index names and their shards on the page, in the page's order.
    shown: Vec<(String, Range<u32>)>,
    next_token: Option<String>,
}

/// Returns a page of shards. All copies of a shard are on the same page.
fn shard_page(page: &Page, infos: &[IndexInfo]) -> ShardPage {
    let by_name: HashMap<&str, &IndexInfo> = infos.iter().map(|info| (&*info.name, info)).collect();
    let (mut shown, mut count): (Vec<(String, Range<u32>)>, usize) = (Vec::new(), 0);
    let mut last: Option<(SortKey, u32)> = None;
    for place in page.rest(infos, true) {
        let number = |key: &str| {
            let text = by_name.get(&*place.1).and_then(|info| info.settings.get(key)).and_then(Value::as_str);
            text.and_then(|text| text.parse::<u32>().ok()).unwrap_or(0)
        };
        let copies = 1 + number("index.number_of_replicas") as usize;
        let first = page.shown_shards(&place).map_or(0, |shard| shard.saturating_add(1));
        for shard in first..number("index.number_of_shards") {
            if let Some((place, shard)) = last.as_ref().filter(|_| count + copies > page.size) {
                return ShardPage { shown, next_token: Some(token(place, Some(*shard))) };
            }
            count += copies;
            match shown.last_mut().filter(|(name, _)| *name == place.1) {
                Some((_, range)) => range.end = shard + 1,
                None => shown.push((place.1.clone(), shard..shard + 1)),
            }
            last = Some((place.clone(), shard));
        }
    }
    ShardPage { shown, next_token: None }
}

/// Answers `GET _list/shards`.
pub fn list_shards(app: &App, request: &Request) -> Result<Response> {
    if request.flag_or("help", false)? {
        return shards::empty().render(request);
    }
    let page = Page::of(request, SHARDS)?;
    let options = IndicesOptions { ignore_unavailable: true, ..shards::options(request)? };
    let infos = app.node.get_index(request.param("index").unwrap_or("_all"), options)?;
    let ShardPage { shown, next_token } = shard_page(&page, &infos);
    let names: Vec<String> = shown.iter().map(|(name, _)| name.clone()).collect();
    let mut table = match names.is_empty() {
        true => shards::empty(),
        false => shards::table(app, &names.join(","), options)?,
    };
    let ranges: HashMap<String, Range<u32>> = shown.into_iter().collect();
    table.rows.retain(|row| match &row[..2] {
        [Cell::Text(name), Cell::Text(shard)] => {
            let range = ranges.get(name);
            range.is_some_and(|range| shard.parse().is_ok_and(|shard| range.contains(&shard)))
        }
        _ => false,
    });
    in_order(&mut table, &names, NAME_OF_SHARDS);
    paged(table, request, "shards", next_token)
}

/// Sorts the rows by the order of the index names. Rows of the same index keep their order.
fn in_order(table: &mut Table, names: &[String], column: usize) {
    let places: HashMap<&str, usize> = names.iter().zip(0..).map(|(name, place)| (&**name, place)).collect();
    table.rows.sort_by_key(|row| match &row[column] {
        Cell::Text(name) => places.get(&**name).copied(),
        _ => None,
    });
}

fn paged(
    table: Table,
    request: &Request,
    name: &'static str,
    next_token: Option<String>,
) -> Result<Response> {
    Ok(Response::shown(Paged { rows: table.chosen(request)?, name, next_token }))
}
