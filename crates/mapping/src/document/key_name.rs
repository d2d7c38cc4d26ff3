//! Names of fields in documents: "may a field have this key as its name?"

use super::error;
use crate::RequestError;

/// Returns why the key that begins at `quote` cannot be a field name.
pub(super) fn refused(bytes: &[u8], quote: usize, key: &str) -> Option<RequestError> {
    let is_blank = |text: &str| text.chars().all(char::is_whitespace);
    let wrapped = |reason: String| Some(error::wrapped(bytes, quote, RequestError::illegal_argument(reason)));
    if key.is_empty() {
        return wrapped("field name cannot be an empty string".to_owned());
    }
    if is_blank(key) {
        let reason = format_args!("Field name cannot contain only whitespace: [{key}]");
        return Some(error::document(bytes, quote, reason));
    }
    if key.bytes().all(|byte| byte == b'.') {
        return wrapped("field name cannot contain only dots".to_owned());
    }
    // As in Java's `split`, trailing empty parts do not count.
    let trimmed = key.trim_end_matches('.');
    if trimmed.split('.').any(|part| !part.is_empty() && is_blank(part)) {
        return wrapped(format!(
            "field name starting or ending with a [.] makes object resolution ambiguous: [{key}]"
        ));
    }
    if trimmed.split('.').any(str::is_empty) {
        return wrapped(format!("field name cannot contain only whitespace: ['{key}']"));
    }
    None
}
