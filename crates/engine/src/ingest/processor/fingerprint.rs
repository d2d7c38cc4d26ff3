//! `fingerprint`: "one short string that is the same for the same values". Source: Elasticsearch's
//! `FingerprintProcessor`, with its digests, its serialization of values, and base64.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use limber_mapping::RequestError;
use limber_work as work;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::{Sha256, Sha512};

use super::super::document::node::{Kind, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::{is_floating, java_type};
use super::super::document::{IngestDocument, check_depth};
use super::super::options::Options;
use super::{Flow, Processor, flat_fingerprint};

#[derive(Debug, Clone, Copy)]
enum Method {
    Md5,
    Sha1,
    Sha256,
    Sha512,
    Murmur3,
}

const METHODS: [(&str, Method); 5] = [
    ("MD5", Method::Md5),
    ("SHA-1", Method::Sha1),
    ("SHA-256", Method::Sha256),
    ("SHA-512", Method::Sha512),
    ("MurmurHash3", Method::Murmur3),
];

#[derive(Debug)]
struct Fingerprint {
    /// Sorted by name.
    fields: Vec<FieldPath>,
    target: FieldPath,
    salt: Vec<u8>,
    method: Method,
    ignore_missing: bool,
}

/// Compiles the processor. Options: `fields`; optional `target_field` (`fingerprint`), `salt` (empty),
/// `method` (`SHA-1`) and `ignore_missing` (false).
///
/// Options that only OpenSearch's processor has make that one.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    if flat_fingerprint::is_meant(options) {
        return flat_fingerprint::parse(options);
    }
    let mut fields = options.strings("fields")?;
    if fields.is_empty() {
        return Err(options.error("fields", "must specify at least one field"));
    }
    if fields.iter().any(String::is_empty) {
        return Err(options.error("fields", "field name must be non-empty"));
    }
    fields.sort_unstable();
    let fields = FieldPath::parse_all(&fields)?;
    let target = FieldPath::parse(&options.string_or("target_field", "fingerprint")?)?;
    let salt = options.string_or("salt", "")?.into_bytes();
    let name = options.string_or("method", "SHA-1")?;
    let Some((_, method)) = METHODS.into_iter().find(|(known, _)| *known == name) else {
        let names = METHODS.map(|(known, _)| known).join(",");
        let reason = format!("[{name}] must be one of the supported hash methods [{names}]");
        return Err(options.error("method", &reason));
    };
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    Ok(Box::new(Fingerprint { fields, target, salt, method, ignore_missing }))
}

impl Processor for Fingerprint {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let mut hash = Hash::new(self.method);
        hash.update(&self.salt)?;
        let mut has_values = false;
        for field in &self.fields {
            let found = field.find(document)?.map(|found| found.node);
            match found.filter(|node| document.node(*node).kind != Kind::Null) {
                Some(node) => {
                    has_values = true;
                    push(document, node, &mut hash, 0)?;
                }
                None if self.ignore_missing => {}
                None => {
                    return Err(RequestError::illegal_argument(format!(
                        "missing field [{}] when calculating fingerprint",
                        field.text()
                    )));
                }
            }
        }
        if has_values {
            let digest = document.make_string(&STANDARD.encode(hash.finish()?))?;
            self.target.set(document, digest)?;
        }
        Ok(Flow::Continue)
    }
}

/// A digest that takes bytes as they come, since the fields of a document may be named any number of times.
enum Hash {
    Digest(Box<dyn DynDigest>),
    /// MurmurHash3 takes all bytes at once.
    Murmur3(Vec<u8>),
}

impl Hash {
    fn new(method: Method) -> Hash {
        match method {
            Method::Md5 => Hash::Digest(Box::new(Md5::default())),
            Method::Sha1 => Hash::Digest(Box::new(Sha1::default())),
            Method::Sha256 => Hash::Digest(Box::new(Sha256::default())),
            Method::Sha512 => Hash::Digest(Box::new(Sha512::default())),
            Method::Murmur3 => Hash::Murmur3(Vec::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) -> Result<(), RequestError> {
        match self {
            Hash::Digest(digest) => {
                work::check()?;
                digest.update(bytes);
            }
            Hash::Murmur3(all) => {
                work::check_growth(all.len(), all.capacity(), bytes.len())?;
                all.extend_from_slice(bytes);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Box<[u8]>, RequestError> {
        match self {
            Hash::Digest(digest) => Ok(digest.finalize()),
            Hash::Murmur3(all) => {
                let hash = murmur3::murmur3_x64_128(&mut Cursor::new(all), 0)
                    .map_err(|error| RequestError::internal("exception", error.to_string()))?;
                // Both halves big-endian, the low one first.
                Ok([(hash as u64).to_be_bytes(), ((hash >> 64) as u64).to_be_bytes()].concat().into())
            }
        }
    }
}

/// A byte before each value, so that `ab`, `c` differs from `a`, `bc`.
const MARK: u8 = 0;

/// Hashes the bytes of a value. Members of objects are sorted by name; numbers are little-endian.
fn push(document: &IngestDocument<'_>, id: NodeId, out: &mut Hash, depth: usize) -> Result<(), RequestError> {
    check_depth(depth)?;
    let node = document.node(id);
    match node.kind {
        Kind::Array => {
            for child in document.children(id) {
                push(document, child, out, depth + 1)?;
            }
            return Ok(());
        }
        Kind::Object => {
            let mut members: Vec<_> =
                document.children(id).map(|child| (document.key(child).into_owned(), child)).collect();
            members.sort_unstable();
            for (name, child) in members {
                out.update(&[MARK])?;
                out.update(name.as_bytes())?;
                push(document, child, out, depth + 1)?;
            }
            return Ok(());
        }
        _ => out.update(&[MARK])?,
    }
    match node.kind {
        Kind::True => out.update(&[1])?,
        Kind::False => out.update(&[2])?,
        Kind::String => out.update(document.string(id).as_bytes())?,
        Kind::Number => {
            let text = document.text(node.text);
            if is_floating(text) {
                out.update(&text.parse::<f64>().unwrap_or(f64::NAN).to_le_bytes())?;
            } else if let Ok(number) = text.parse::<i32>() {
                out.update(&number.to_le_bytes())?;
            } else if let Ok(number) = text.parse::<i64>() {
                out.update(&number.to_le_bytes())?;
            } else {
                let kind = java_type(document, id);
                return Err(RequestError::illegal_argument(format!(
                    "cannot convert object of type [{kind}] to bytes"
                )));
            }
        }
        _ => {}
    }
    Ok(())
}
