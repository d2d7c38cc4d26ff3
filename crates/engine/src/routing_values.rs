//! "Which routing do OpenSearch's processors for routing give to this value?"
//!
//! Source: OpenSearch's `HierarchicalRoutingProcessor` and `AclRoutingProcessor`.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_mapping::RequestError;

/// What stands for a path without parts.
const ROOT: &str = "_root";

/// Returns the routing of the first `anchor_depth` parts of a path.
pub(crate) fn hierarchical_routing(
    path: &str,
    separator: &str,
    anchor_depth: usize,
) -> Result<String, RequestError> {
    let parts = path.split(separator).map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.take(anchor_depth).collect();
    let anchor = if parts.is_empty() { ROOT.to_owned() } else { parts.join(separator) };
    let [first, _] = hash(&anchor)?;
    Ok(match i64::from_ne_bytes(first.to_ne_bytes()) {
        i64::MIN => "0".to_owned(),
        first => first.abs().to_string(),
    })
}

/// Returns the routing of a group that may read a document.
pub(crate) fn acl_routing(group: &str) -> Result<String, RequestError> {
    let halves = hash(group)?.map(u64::to_be_bytes);
    Ok(URL_SAFE_NO_PAD.encode(halves.concat()))
}

/// Returns the two halves of Murmur3's 128 bits.
fn hash(text: &str) -> Result<[u64; 2], RequestError> {
    let hash = murmur3::murmur3_x64_128(&mut Cursor::new(text.as_bytes()), 0)
        .map_err(|error| RequestError::internal("exception", error.to_string()))?;
    Ok([hash as u64, (hash >> 64) as u64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routings_are_those_of_opensearch() {
        // Recorded from OpenSearch 3.8.0.
        for (path, expected) in [
            ("/a/b/c", "3798723486112599867"),
            ("a//b", "3798723486112599867"),
            ("/", "8073684288746627228"),
            ("5", "958005880272148645"),
            ("a", "8839064797231613815"),
        ] {
            assert_eq!(hierarchical_routing(path, "/", 2).expect("a routing"), expected, "{path}");
        }
        assert_eq!(acl_routing("team-a").expect("a routing"), "LOvt6OpwHegf8MrKX7yrYQ");
    }
}
