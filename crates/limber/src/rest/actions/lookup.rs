//! Finds the action of a route in the tables.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::TABLES;
use crate::http::request::Method;
use crate::rest::Route;

/// For requests that every authenticated user may send.
pub(super) const KNOWN: &str = "cluster:admin/xpack/security/user/authenticate";
/// The action of routes that are refused by name to every user.
const ABSENT: &str = KNOWN;
/// For superusers only.
pub(super) const UNNAMED: &str = "cluster:unnamed";

/// Methods, path and action.
pub(super) type Row = (&'static str, &'static str, &'static str);

/// Returns the action of a route. `None` if it is missing from the table, which a test would find.
fn named(path: &str, method: Method) -> Option<&'static str> {
    static BY_PATH: OnceLock<HashMap<&'static str, Vec<(&'static str, &'static str)>>> = OnceLock::new();
    let by_path = BY_PATH.get_or_init(|| {
        let mut by_path: HashMap<_, Vec<_>> = HashMap::new();
        for (methods, path, action) in TABLES.iter().flat_map(|table| table.iter()) {
            by_path.entry(*path).or_default().push((*methods, *action));
        }
        by_path
    });
    let rows = by_path.get(path)?;
    let of = |wanted: &str| {
        rows.iter().find(|(methods, _)| *methods == "*" || methods.split(' ').any(|one| one == wanted))
    };
    let found = of(method.name()).or_else(|| (method == Method::Head).then(|| of("GET")).flatten());
    found.map(|(_, action)| *action)
}

/// Returns the action that the caller needs a privilege for.
pub fn action_of(route: &Route, method: Method) -> &'static str {
    let is_absent = || crate::rest::absent::is_refusal(route);
    named(route.path, method).unwrap_or_else(|| if is_absent() { ABSENT } else { UNNAMED })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::ROUTES;

    #[test]
    fn every_route_has_an_action() {
        let routes = ROUTES.iter().flat_map(|table| table.iter());
        let unnamed: Vec<String> = routes
            .flat_map(|route| route.methods.iter().map(move |method| (route, *method)))
            .filter(|(route, method)| action_of(route, *method) == UNNAMED)
            .map(|(route, method)| format!("{} {}", method.name(), route.path))
            .collect();
        assert!(unnamed.is_empty(), "routes without a row in the tables of rest/actions: {unnamed:#?}");
    }

    #[test]
    fn every_row_has_a_route() {
        let paths: Vec<&str> = ROUTES.iter().flat_map(|table| table.iter()).map(|route| route.path).collect();
        for (_, path, _) in TABLES.iter().flat_map(|table| table.iter()) {
            assert!(paths.contains(path), "{path}");
        }
    }
}
