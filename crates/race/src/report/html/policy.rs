//! Content security policies name the scripts and styles that a browser may apply.

use base64::Engine as _;
use sha2::{Digest, Sha256};

/// Returns the source that allows the script or style with this text, and no other.
pub(crate) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text)))
}
