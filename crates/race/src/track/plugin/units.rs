//! Names of units and kinds of errors from plugins, which are kept for the whole process.

use super::PluginError;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Largest number of different names. A plugin that needs more probably makes up a name for every request.
const NAMES_MAX: usize = 256;

/// Returns `name` with a static lifetime, because samples refer to units by reference.
///
/// Errors: the plugin names too many different units.
pub(crate) fn unit(name: &str) -> Result<&'static str, PluginError> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    if let Some(known) = ["ops", "docs", "pages"].into_iter().find(|known| *known == name) {
        return Ok(known);
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() >= NAMES_MAX {
        return Err(PluginError::Track(format!(
            "the track's plugin names more than {NAMES_MAX} units and kinds of errors; the last is [{name}]"
        )));
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        assert_eq!(unit("ops").unwrap(), "ops");
        let (first, again) = (unit("widgets").unwrap(), unit("widgets").unwrap());
        assert!(std::ptr::eq(first, again));
    }
}
