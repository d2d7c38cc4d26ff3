//! `_list`: the tables of `_cat`, paginated as in OpenSearch.
//!
//! Indices are sorted by their creation time. A page ends with a token that names the last index, or the last
//! shard of an index, on the page. So paging continues at the right position even if indices are created or
//! deleted in between.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use limber_engine::{IndexInfo, Result};
use limber_mapping::RequestError;
use limber_work::Stop;
use serde_json::{Value, json};

use crate::http::request::Request;

/// The sort key of an index: its creation time in milliseconds since 1970, and its name.
pub type SortKey = (u64, String);

/// Default and limits of the size of a page.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub default: usize,
    pub min: usize,
    pub max: usize,
}

/// The page that a request asks for.
#[derive(Debug)]
pub struct Page {
    pub size: usize,
    is_descending: bool,
    after: Option<(SortKey, u32)>,
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

    /// Returns the token's shard number if the token names this index: the shards up to that number were
    /// shown.
    pub fn shown_shards(&self, key: &SortKey) -> Option<u32> {
        self.after.as_ref().filter(|(after, _)| after == key).map(|(_, shard)| *shard)
    }

    /// Returns the indices after the token. With `by_shard`, the token's own index is included, because some
    /// of its shards may be left.
    pub fn rest(&self, infos: &[IndexInfo], by_shard: bool) -> Vec<SortKey> {
        let mut keys: Vec<SortKey> =
            infos.iter().map(|info| (info.created_millis(), info.name.to_string())).collect();
        keys.sort_unstable();
        if self.is_descending {
            keys.reverse();
        }
        if let Some((after, _)) = &self.after {
            let comes_later = |key: &SortKey| match self.is_descending {
                true => key < after,
                false => key > after,
            };
            keys.retain(|key| comes_later(key) || by_shard && key == after);
        }
        keys
    }
}

/// Returns the token of a page that ends with this index, or with this shard of it.
pub fn token((created, name): &SortKey, shard: Option<u32>) -> String {
    match shard {
        Some(shard) => STANDARD.encode(format!("{shard}|{created}|{name}")),
        None => STANDARD.encode(format!("{created}|{name}")),
    }
}

fn read_token(token: &str) -> Result<(SortKey, u32)> {
    let read = || {
        let text = String::from_utf8(STANDARD.decode(token).ok()?).ok()?;
        // Index names contain no `|`.
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

/// The representation of a page: as text, with the token in the last line, or as a member of an object.
#[derive(Debug)]
pub struct Paged<S> {
    pub rows: S,
    /// `indices` or `shards`.
    pub name: &'static str,
    pub next_token: Option<String>,
}

impl<S: crate::http::response::TextOrValue> crate::http::response::TextOrValue for Paged<S> {
    fn text(&self) -> std::result::Result<String, Stop> {
        let mut text = self.rows.text()?;
        text.push_str("next_token ");
        text.push_str(self.next_token.as_deref().unwrap_or("null"));
        text.push('\n');
        Ok(text)
    }

    fn value(&self) -> std::result::Result<Value, Stop> {
        Ok(json!({"next_token": self.next_token, self.name: self.rows.value()?}))
    }
}
