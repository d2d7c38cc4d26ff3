//! Layers of a tile as bytes: Protocol Buffers after Mapbox' `vector_tile.proto`.

use std::collections::HashMap;

use limber_codec::varint;
use limber_work::{self as work, Stop};
use serde_json::Value;

use super::outline::Outline;

/// Field number and wire type of what is written, as the byte before it.
mod tag {
    /// `Tile.layers`.
    pub(super) const TILE_LAYERS: u8 = 3 << 3 | 2;
    /// `Layer.name`.
    pub(super) const LAYER_NAME: u8 = 1 << 3 | 2;
    /// `Layer.features`.
    pub(super) const LAYER_FEATURES: u8 = 2 << 3 | 2;
    /// `Layer.keys`.
    pub(super) const LAYER_KEYS: u8 = 3 << 3 | 2;
    /// `Layer.values`.
    pub(super) const LAYER_VALUES: u8 = 4 << 3 | 2;
    /// `Layer.extent`.
    pub(super) const LAYER_EXTENT: u8 = 5 << 3;
    /// `Layer.version`.
    pub(super) const LAYER_VERSION: u8 = 15 << 3;
    /// `Feature.tags`.
    pub(super) const FEATURE_TAGS: u8 = 2 << 3 | 2;
    /// `Feature.type`.
    pub(super) const FEATURE_KIND: u8 = 3 << 3;
    /// `Feature.geometry`.
    pub(super) const FEATURE_GEOMETRY: u8 = 4 << 3 | 2;
    /// `Value.string_value`.
    pub(super) const VALUE_TEXT: u8 = 1 << 3 | 2;
    /// `Value.double_value`.
    pub(super) const VALUE_DOUBLE: u8 = 3 << 3 | 1;
    /// `Value.uint_value`.
    pub(super) const VALUE_UNSIGNED: u8 = 5 << 3;
    /// `Value.sint_value`.
    pub(super) const VALUE_SIGNED: u8 = 6 << 3;
    /// `Value.bool_value`.
    pub(super) const VALUE_BOOL: u8 = 7 << 3;
}

/// Maximum number of bytes of the tag and the length before a field.
const HEAD_BYTES_MAX: usize = 11;
/// Maximum number of bytes of a 32-bit number.
const NUMBER_BYTES_MAX: usize = 5;

/// A property of a feature: its name and a text, number or truth value.
pub type Property<'p> = (&'p str, &'p Value);

/// The encoded properties of features of one [`Layer`].
#[derive(Debug)]
pub struct Tags(Vec<u8>);

/// A layer that features are added to.
#[derive(Debug)]
pub struct Layer {
    name: &'static str,
    extent: u32,
    /// Written features.
    features: Vec<u8>,
    keys: HashMap<String, u32>,
    written_keys: Vec<u8>,
    /// Written values, and their numbers.
    values: HashMap<Vec<u8>, u32>,
    written_values: Vec<u8>,
}

/// Writes a field that has a length: the tag, the length, the bytes.
fn field(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    varint::write_bytes(out, bytes);
}

/// Does the same as [`field`], and claims the memory that the list grows by.
fn append(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) -> Result<(), Stop> {
    work::check_growth(out.len(), out.capacity(), bytes.len() + HEAD_BYTES_MAX)?;
    field(out, tag, bytes);
    Ok(())
}

fn packed(out: &mut Vec<u8>, tag: u8, numbers: &[u32]) -> Result<(), Stop> {
    let bytes_max = numbers.len() * NUMBER_BYTES_MAX;
    // The numbers are written to one list, then copied to another after their length.
    work::claim(2 * bytes_max as u64)?;
    let mut written = Vec::with_capacity(bytes_max);
    numbers.iter().for_each(|number| varint::write_u32(&mut written, *number));
    append(out, tag, &written)
}

/// Encodes the value as a message; `None` if the format has no type for it.
fn value_bytes(value: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match value {
        Value::String(text) => field(&mut out, tag::VALUE_TEXT, text.as_bytes()),
        Value::Bool(flag) => out.extend([tag::VALUE_BOOL, u8::from(*flag)]),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => {
                out.push(tag::VALUE_SIGNED);
                varint::write_u64(&mut out, varint::zigzag(whole));
            }
            (None, Some(whole)) => {
                out.push(tag::VALUE_UNSIGNED);
                varint::write_u64(&mut out, whole);
            }
            (None, None) => {
                out.push(tag::VALUE_DOUBLE);
                out.extend(number.as_f64()?.to_le_bytes());
            }
        },
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    }
    Some(out)
}

impl Layer {
    /// Makes a layer without features.
    pub fn new(name: &'static str, extent: u32) -> Layer {
        Layer {
            name,
            extent,
            features: Vec::new(),
            keys: HashMap::new(),
            written_keys: Vec::new(),
            values: HashMap::new(),
            written_values: Vec::new(),
        }
    }

    /// Returns the properties as features have them. Properties whose values the format cannot represent are
    /// left out.
    ///
    /// # Errors
    /// There is not enough memory, or the request was cancelled.
    pub fn tags<'p>(&mut self, properties: impl Iterator<Item = Property<'p>>) -> Result<Tags, Stop> {
        let mut numbers = Vec::new();
        for (name, value) in properties {
            // Each name and value is stored twice: as the key of a table, and encoded.
            work::claim(2 * (name.len() + value.as_str().map_or(0, str::len)) as u64)?;
            let Some(value) = value_bytes(value) else { continue };
            numbers.push(self.key(name)?);
            numbers.push(self.value(value)?);
        }
        let mut written = Vec::new();
        if !numbers.is_empty() {
            packed(&mut written, tag::FEATURE_TAGS, &numbers)?;
        }
        Ok(Tags(written))
    }

    /// Adds a feature.
    ///
    /// # Errors
    /// There is not enough memory, or the request was cancelled.
    pub fn add(&mut self, outline: &Outline, tags: &Tags) -> Result<(), Stop> {
        work::check_beyond_deadline()?;
        let mut feature = tags.0.clone();
        feature.extend([tag::FEATURE_KIND, outline.kind as u8]);
        packed(&mut feature, tag::FEATURE_GEOMETRY, &outline.commands)?;
        append(&mut self.features, tag::LAYER_FEATURES, &feature)
    }

    fn key(&mut self, name: &str) -> Result<u32, Stop> {
        if let Some(number) = self.keys.get(name) {
            return Ok(*number);
        }
        append(&mut self.written_keys, tag::LAYER_KEYS, name.as_bytes())?;
        let number = self.keys.len() as u32;
        self.keys.insert(name.to_owned(), number);
        Ok(number)
    }

    fn value(&mut self, value: Vec<u8>) -> Result<u32, Stop> {
        if let Some(number) = self.values.get(&value) {
            return Ok(*number);
        }
        append(&mut self.written_values, tag::LAYER_VALUES, &value)?;
        let number = self.values.len() as u32;
        self.values.insert(value, number);
        Ok(number)
    }

    /// Appends the layer to a tile.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut head = Vec::new();
        field(&mut head, tag::LAYER_NAME, self.name.as_bytes());
        let mut end = vec![tag::LAYER_EXTENT];
        varint::write_u32(&mut end, self.extent);
        end.extend([tag::LAYER_VERSION, 2]);
        let parts = [&head, &self.features, &self.written_keys, &self.written_values, &end];
        let length: usize = parts.iter().map(|part| part.len()).sum();
        work::check_growth(out.len(), out.capacity(), length + 16)?;
        out.push(tag::TILE_LAYERS);
        varint::write_u64(out, length as u64);
        parts.iter().for_each(|part| out.extend_from_slice(part));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bytes_of_a_layer() {
        let mut layer = Layer::new("hits", 4096);
        let outline = Outline::rectangle((25, 25), (17, 17));
        let (id, count) = (json!("a"), json!(-2));
        for _ in 0..2 {
            let properties = [("_id", &id), ("n", &count), ("none", &Value::Null)];
            let tags = layer.tags(properties.into_iter()).expect("there is room");
            layer.add(&outline, &tags).expect("there is room");
        }
        let mut tile = Vec::new();
        layer.write(&mut tile).expect("there is room");
        let feature: &[u8] = &[0x12, 13, 0x12, 4, 0, 0, 1, 1, 0x18, 1, 0x22, 3, 9, 50, 34];
        let mut expected = vec![0x1a, 0];
        expected.extend([0x0a, 4]);
        expected.extend(b"hits");
        expected.extend(feature);
        expected.extend(feature);
        expected.extend(b"\x1a\x03_id\x1a\x01n");
        expected.extend(b"\x22\x03\x0a\x01a\x22\x02\x30\x03");
        expected.extend([0x28, 0x80, 0x20, 0x78, 2]);
        expected[1] = (expected.len() - 2) as u8;
        assert_eq!(tile, expected);
    }

    #[test]
    fn a_cancelled_request_adds_no_features() {
        let request = work::Work::default();
        request.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let _entered = request.enter();
        let mut layer = Layer::new("hits", 4096);
        let outline = Outline::rectangle((25, 25), (17, 17));
        assert_eq!(layer.tags([("a", &json!(1))].into_iter()).err(), Some(Stop::Cancelled));
        assert_eq!(layer.add(&outline, &Tags(Vec::new())), Err(Stop::Cancelled));
    }
}
