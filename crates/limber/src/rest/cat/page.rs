//! `_list`: the tables of `_cat` by pages, as OpenSearch has them.
//!
//! Indices come in the order of their creation. A page ends with a token that says after which index, or
//! shard of one, the next begins; so pages go on where they were although indices come and go.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use limber_engine::{IndexInfo, Result};
use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::http::request::Request;

/// An index by its place: when it was created, in milliseconds, and its name.
pub type Place = (u64, String);

/// Bounds of the size of a page.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub default: usize,
    pub min: usize,
    pub max: usize,
}

/// Which page a request asks for.
#[derive(Debug)]
pub struct Page {
    pub size: usize,
    is_descending: bool,
    after: Option<(Place, u32)>,
}

impl Page {
    /// Reads `size`, `sort` and `next_token`. Source: OpenSearch's `PageParams` and its strategies.
    pub fn of(request: &Request, sizes: Sizes) -> Result<Page> {
        let illegal = RequestError::illegal_argument;
        let size =
            request.number::<i32>("size")?.map_or(Ok(sizes.default), |size| match usize::try_from(size) {
                Ok(0) | Err(_) => Err(illegal("size must be greater than zero".to_owned())),
                Ok(size) if size < sizes.min => {
                    Err(illegal(format!("size should at least be [{}]", sizes.min)))
                }
                Ok(size) if size > sizes.max => {
                    Err(illegal(format!("size should be less than [{}]", sizes.max)))
                }
                Ok(size) => Ok(size),
            })?;
        let is_descending = match request.param("sort") {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(illegal("value of sort can either be asc or desc".to_owned())),
        };
        let after = request.param("next_token").map(read_token).transpose()?;
        Ok(Page { size, is_descending, after })
    }

    /// Whether the token says that all shards of this index were shown up to a number, this one included.
    pub fn shown_shards(&self, place: &Place) -> Option<u32> {
        self.after.as_ref().filter(|(after, _)| after == place).map(|(_, shard)| *shard)
    }

    /// The indices from the token on; `by_shard`: the token's own, too, as some of its shards may be left.
    pub fn rest(&self, infos: &[IndexInfo], by_shard: bool) -> Vec<Place> {
        let mut places: Vec<Place> =
            infos.iter().map(|info| (info.created_millis(), info.name.to_string())).collect();
        places.sort_unstable();
        if self.is_descending {
            places.reverse();
        }
        if let Some((after, _)) = &self.after {
            let comes_later = |place: &Place| match self.is_descending {
                true => place < after,
                false => place > after,
            };
            places.retain(|place| comes_later(place) || by_shard && place == after);
        }
        places
    }
}

/// The token of a page that ends with this index, or this shard of it.
pub fn token((created, name): &Place, shard: Option<u32>) -> String {
    match shard {
        Some(shard) => STANDARD.encode(format!("{shard}|{created}|{name}")),
        None => STANDARD.encode(format!("{created}|{name}")),
    }
}

fn read_token(token: &str) -> Result<(Place, u32)> {
    let read = || {
        let text = String::from_utf8(STANDARD.decode(token).ok()?).ok()?;
        // Names of indices hold no bar.
        let parts: Vec<&str> = text.split('|').collect();
        let (shard, created, name) = match parts[..] {
            [created, name] => ("0", created, name),
            [shard, created, name] => (shard, created, name),
            _ => return None,
        };
        Some(((created.parse().ok()?, name.to_owned()), shard.parse().ok()?))
    };
    let reason =
        "Parameter [next_token] has been tainted and is incorrect. Please provide a valid [next_token].";
    read().ok_or_else(|| RequestError::bad_request("parse_exception", reason))
}

/// How a page is shown: as text with the token in the last line, as a value within an object.
#[derive(Debug)]
pub struct Paged<S> {
    pub rows: S,
    /// `indices`, `shards`.
    pub name: &'static str,
    pub next_token: Option<String>,
}

impl<S: crate::http::response::Shown> crate::http::response::Shown for Paged<S> {
    fn text(&self) -> String {
        format!("{}next_token {}\n", self.rows.text(), self.next_token.as_deref().unwrap_or("null"))
    }

    fn value(&self) -> Value {
        json!({"next_token": self.next_token, self.name: self.rows.value()})
    }
}
