//! Units and kinds of errors that plugins name: a few, for the whole race.

use super::PluginError;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Different names that are kept. A plugin that needs more makes them up for every request.
const NAMES_MAX: usize = 256;

/// `name` for ever: samples hold units by reference.
///
/// Errors: the plugin names too many different ones.
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
