//! Patterns of whole paths: "does one of them match?"

use limber_work::{self as work, Stop};

/// Bytes of paths and patterns that are compared between two checks.
const BYTES_PER_CHECK: usize = 1 << 18;

/// Whether `test` holds for any pattern. A test takes at most the time to read the pattern and `path`.
///
/// # Errors
/// The client has disconnected, or there is not enough memory.
pub(crate) fn any_pattern(
    patterns: &[impl AsRef<str>],
    path: &str,
    test: impl Fn(&str) -> bool,
) -> Result<bool, Stop> {
    work::check_beyond_deadline()?;
    let mut bytes = 0;
    for pattern in patterns {
        let pattern = pattern.as_ref();
        if test(pattern) {
            return Ok(true);
        }
        bytes += pattern.len() + path.len();
        if bytes >= BYTES_PER_CHECK {
            bytes = 0;
            work::check_beyond_deadline()?;
        }
    }
    Ok(false)
}
