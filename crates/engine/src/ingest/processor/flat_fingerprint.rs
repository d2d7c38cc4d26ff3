//! `fingerprint` as OpenSearch has it: "one short string that is the same for the same values, with the
//! method that made it". Source: OpenSearch's `FingerprintProcessor`.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use limber_mapping::RequestError;
use limber_work as work;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use sha3::Sha3_256;

use super::super::document::node::{Kind, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::document::{IngestDocument, ROOT, check_depth};
use super::super::options::Options;
use super::{Flow, Processor};

#[derive(Debug)]
struct FlatFingerprint {
    fields: Fields,
    target: FieldPath,
    method: Method,
    ignore_missing: bool,
}

/// Which fields of the document are part of the fingerprint.
#[derive(Debug)]
enum Fields {
    /// Sorted by name.
    These(Vec<FieldPath>),
    /// All members of the source but these.
    AllBut(HashSet<String>),
}

#[derive(Debug, Clone, Copy)]
enum Method {
    Md5,
    Sha1,
    Sha256,
    Sha3,
}

/// The names hold the version since which OpenSearch computes the fingerprint in this way.
const METHODS: [(&str, Method); 4] = [
    ("MD5@2.16.0", Method::Md5),
    ("SHA-1@2.16.0", Method::Sha1),
    ("SHA-256@2.16.0", Method::Sha256),
    ("SHA3-256@2.16.0", Method::Sha3),
];

/// Whether these options are those of OpenSearch: it has `hash_method` and `exclude_fields`, and needs no
/// `fields`.
pub fn is_meant(options: &Options) -> bool {
    options.has("hash_method") || options.has("exclude_fields") || !options.has("fields")
}

/// Compiles the processor. Optional: `fields` or `exclude_fields` (all fields), `target_field`
/// (`fingerprint`), `hash_method` (`SHA-1@2.16.0`) and `ignore_missing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let mut fields = options.string_or_list("fields")?.unwrap_or_default();
    let excluded = options.string_or_list("exclude_fields")?.unwrap_or_default();
    if !fields.is_empty() && !excluded.is_empty() {
        return Err(options.error("fields", "either fields or exclude_fields can be set"));
    }
    if fields.iter().chain(&excluded).any(|name| name.trim().is_empty()) {
        let option = if fields.is_empty() { "exclude_fields" } else { "fields" };
        return Err(options.error(option, "field name cannot be null nor empty"));
    }
    fields.sort_unstable();
    fields.dedup();
    let target = FieldPath::parse(&options.string_or("target_field", "fingerprint")?)?;
    let name = options.string_or("hash_method", "SHA-1@2.16.0")?;
    let Some((_, method)) = METHODS.into_iter().find(|(known, _)| *known == name) else {
        let reason = "hash method must be MD5@2.16.0, SHA-1@2.16.0, SHA-256@2.16.0 or SHA3-256@2.16.0";
        return Err(options.error("hash_method", reason));
    };
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let fields = match fields.is_empty() {
        true => Fields::AllBut(excluded.into_iter().collect()),
        false => Fields::These(FieldPath::parse_all(&fields)?),
    };
    Ok(Box::new(FlatFingerprint { fields, target, method, ignore_missing }))
}

impl Processor for FlatFingerprint {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let mut text = String::new();
        for (name, node) in self.chosen(document)? {
            push(document, &name, node, &mut text, 0)?;
        }
        if text.is_empty() {
            return Ok(Flow::Continue);
        }
        text.push('|');
        let name = METHODS[self.method as usize].0;
        let digest = STANDARD.encode(self.method.digest(text.as_bytes()));
        let digest = document.make_string(&format!("{name}:{digest}"))?;
        self.target.set(document, digest)?;
        Ok(Flow::Continue)
    }
}

impl FlatFingerprint {
    /// Returns the fields with their names, sorted by name.
    fn chosen(&self, document: &mut IngestDocument<'_>) -> Result<Vec<(String, NodeId)>, RequestError> {
        let mut chosen = Vec::new();
        match &self.fields {
            Fields::AllBut(excluded) => {
                let members = document.children(ROOT);
                let named = members.map(|member| (document.key(member).into_owned(), member));
                chosen.extend(named.filter(|(name, _)| !excluded.contains(name)));
                chosen.sort_unstable();
            }
            Fields::These(fields) => {
                for field in fields {
                    match field.find(document)? {
                        Some(found) => chosen.push((field.text().to_owned(), found.node)),
                        None if self.ignore_missing => {}
                        None => {
                            let reason = format!("field [{}] doesn't exist", field.text());
                            return Err(RequestError::illegal_argument(reason));
                        }
                    }
                }
            }
        }
        Ok(chosen)
    }
}

impl Method {
    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Method::Md5 => Md5::digest(bytes).to_vec(),
            Method::Sha1 => Sha1::digest(bytes).to_vec(),
            Method::Sha256 => Sha256::digest(bytes).to_vec(),
            Method::Sha3 => Sha3_256::digest(bytes).to_vec(),
        }
    }
}

/// Appends `|path|length:value` for each value below a field, in the order of the paths.
fn push(
    document: &IngestDocument<'_>,
    path: &str,
    id: NodeId,
    out: &mut String,
    depth: usize,
) -> Result<(), RequestError> {
    check_depth(depth)?;
    if document.node(id).kind != Kind::Object {
        let value = java_text(document, id);
        work::check_growth(out.len(), out.capacity(), value.len() + path.len() + 32)?;
        out.push_str(&format!("|{path}|{}:{value}", value.encode_utf16().count()));
        return Ok(());
    }
    let mut members: Vec<(String, NodeId)> =
        document.children(id).map(|child| (format!("{path}.{}", document.key(child)), child)).collect();
    members.sort_unstable();
    for (path, child) in members {
        push(document, &path, child, out, depth + 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::ingest::tests::check;

    #[test]
    fn fingerprints_are_those_of_opensearch() {
        // Recorded from OpenSearch 3.8.0.
        check(
            r#"[{"fingerprint": {"fields": ["a", "b"], "hash_method": "MD5@2.16.0", "target_field": "f"}},
                {"remove": {"field": ["a", "b"]}}]"#,
            r#"{"a": "x", "b": {"c": [1, 2.5, true, null], "a": 3}}"#,
            r#"{"f": "MD5@2.16.0:XVnNuJOFg3w6lSdJinarcg=="}"#,
        );
        check(
            r#"[{"fingerprint": {"exclude_fields": ["b"]}}]"#,
            r#"{"a": "x", "b": 1}"#,
            r#"{"a": "x", "b": 1, "fingerprint": "SHA-1@2.16.0:y3GvwVv1aS25FAGBVVaDm1Ve4yI="}"#,
        );
        check(
            r#"[{"fingerprint": {"fields": ["a", "c"], "hash_method": "SHA-1@2.16.0"}}]"#,
            r#"{"a": "x"}"#,
            "!field [c] doesn't exist",
        );
    }
}
