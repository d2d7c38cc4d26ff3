//! Geohashes: cells of the map as strings, five bits per character, longitude first.
//!
//! Source: Elasticsearch's `Geohash`.

use limber_codec::z_order::interleave;

use super::geometry::Rectangle;
use super::point::{encode_latitude, encode_longitude};
use crate::RequestError;

const ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
/// Maximum number of significant characters; longer geohashes are cut.
pub const GEOHASH_CHARS_MAX: usize = 12;

/// Returns the bounds of a geohash's cell.
///
/// # Errors
/// `illegal_argument_exception` for an empty string or an invalid character.
pub fn geohash_bounds(text: &str) -> Result<Rectangle, RequestError> {
    if text.is_empty() {
        return Err(RequestError::illegal_argument("empty geohash"));
    }
    let (mut latitude, mut longitude) = ((-90.0, 90.0), (-180.0, 180.0));
    let mut is_longitude = true;
    for symbol in text.chars().take(GEOHASH_CHARS_MAX) {
        let Some(digit) = ALPHABET.iter().position(|&known| char::from(known) == symbol) else {
            return Err(RequestError::illegal_argument(format!(
                "unsupported symbol [{symbol}] in geohash [{text}]"
            )));
        };
        for bit in (0..5).rev() {
            let range = if is_longitude { &mut longitude } else { &mut latitude };
            let middle = (range.0 + range.1) / 2.0;
            if digit >> bit & 1 == 1 {
                range.0 = middle
            } else {
                range.1 = middle
            }
            is_longitude = !is_longitude;
        }
    }
    Ok(Rectangle { west: longitude.0, east: longitude.1, south: latitude.0, north: latitude.1 })
}

/// Returns the geohash of the cell with a number in Z order (longitude first).
pub fn geohash_text(order: u64, chars: usize) -> String {
    (0..chars.min(GEOHASH_CHARS_MAX))
        .map(|at| char::from(ALPHABET[(order >> (59 - 5 * at)) as usize & 31]))
        .collect()
}

/// Returns the longest possible geohash of the cell that contains a point.
pub fn geohash_at(latitude: f64, longitude: f64) -> String {
    let shifted = |encoded: i32| encoded as u32 ^ 1 << 31;
    let order = interleave(shifted(encode_longitude(longitude)), shifted(encode_latitude(latitude)));
    geohash_text(order, GEOHASH_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_hashes_are_cells_in_shorter_ones() {
        let hash = "drm3btev3e86";
        assert_eq!(geohash_at(41.12, -71.34), hash);
        for chars in 1..=12 {
            let cell = geohash_bounds(&hash[..chars]).expect("valid");
            assert!(cell.west <= -71.34 && -71.34 < cell.east && cell.south <= 41.12 && 41.12 < cell.north);
        }
        let past_the_end = geohash_bounds("drm3btev3e86zz").expect("cut");
        assert_eq!(past_the_end, geohash_bounds(hash).expect("valid"));
        assert_eq!(geohash_text(0b00000_11111 << 54, 2), "0z");
    }
}
