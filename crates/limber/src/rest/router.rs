//! Maps method and path to a route: "which handler takes this request, and with which parameters?"
//!
//! A trie over path segments, in which a literal segment wins over a placeholder. Errors are Elasticsearch's:
//! 400 for an unknown path, 405 for a known path with another method, and 400 for an unknown query parameter,
//! which the message names.

use std::collections::{BTreeSet, HashMap, HashSet};

use limber_engine::ActiveCopies;
use limber_mapping::{ErrorClass, RequestError};
use limber_text::likeness;

use super::App;
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request, parse_flag, parse_time_ms};
use crate::http::response::{BARE, Response};

/// Handles one request.
pub type Handler = fn(&App, &Request) -> Result<Response, RequestError>;

/// One line of an endpoint's table.
#[derive(Debug)]
pub struct Route {
    pub methods: &'static [Method],
    /// The path, such as `/{index}/_doc/{id}`.
    pub path: &'static str,
    /// Query parameters that the handler reads, besides the common ones.
    pub parameters: &'static [&'static str],
    pub pool: PoolName,
    pub handler: Handler,
}

/// Makes a route that runs on the management pool.
pub const fn management(
    methods: &'static [Method],
    path: &'static str,
    parameters: &'static [&'static str],
    handler: Handler,
) -> Route {
    Route { methods, path, parameters, pool: PoolName::Management, handler }
}

/// Makes a `GET` route that runs on the management pool.
pub const fn get(path: &'static str, parameters: &'static [&'static str], handler: Handler) -> Route {
    management(&[Method::Get], path, parameters, handler)
}

/// Makes a route that may take long because it opens or closes shards.
pub const fn generic(
    methods: &'static [Method],
    path: &'static str,
    parameters: &'static [&'static str],
    handler: Handler,
) -> Route {
    Route { methods, path, parameters, pool: PoolName::Generic, handler }
}

/// Parameters that every request may carry.
pub const COMMON_PARAMETERS: [&str; 7] =
    ["pretty", "human", "error_trace", "filter_path", "format", "source", "source_content_type"];

/// Those of [`COMMON_PARAMETERS`] that errors about unknown parameters suggest.
const SUGGESTED: &[&str] = &["pretty", "human", "error_trace", "filter_path", "format"];

/// The only parameter of routes that read none and accept any.
pub const ANY_PARAMETER: &str = "*";

/// A matched route with the values of its placeholders.
pub struct Resolved {
    pub route: &'static Route,
    pub path_values: Vec<(&'static str, String)>,
}

#[derive(Default)]
struct Node {
    literals: HashMap<&'static str, Node>,
    placeholder: Option<Box<Node>>,
    /// Each route with the names of its placeholders, which may differ between routes with the same path
    /// shape.
    routes: Vec<(&'static Route, Vec<&'static str>)>,
}

/// All routes as a tree of path segments.
pub struct Routes {
    root: Node,
    /// The placeholders of all routes of each handler. As in Elasticsearch, a request may give one as a query
    /// parameter if its path does not have it: `/_stats?metric=docs`.
    placeholders: HashMap<usize, HashSet<&'static str>>,
}

impl Routes {
    /// Builds the tree from all tables.
    pub fn new(tables: &[&'static [Route]]) -> Routes {
        let mut root = Node::default();
        let mut placeholders: HashMap<usize, HashSet<&'static str>> = HashMap::new();
        for route in tables.iter().flat_map(|table| table.iter()) {
            let mut node = &mut root;
            let mut names = Vec::new();
            for segment in route.path.split('/').filter(|s| !s.is_empty()) {
                node = match segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
                    Some(name) => {
                        names.push(name);
                        node.placeholder.get_or_insert_with(Box::default)
                    }
                    None => node.literals.entry(segment).or_default(),
                };
            }
            placeholders.entry(route.handler as usize).or_default().extend(&names);
            node.routes.push((route, names));
        }
        Routes { root, placeholders }
    }

    /// Returns the methods that a path allows; none if the path does not exist.
    pub fn allowed(&self, segments: &[String]) -> Vec<Method> {
        let mut candidates = Vec::new();
        find(&self.root, segments, true, &mut Vec::new(), &mut candidates);
        methods_of(&candidates)
    }

    /// Finds the route of a request. Fails, with Elasticsearch's messages, on an unknown path (400), a method
    /// that the path does not have (405), and a parameter that the route does not read (400).
    pub fn resolve(
        &self,
        method: Method,
        segments: &[String],
        query: &[(String, String)],
        uri: &str,
    ) -> Result<Resolved, RequestError> {
        let mut candidates = Vec::new();
        find(&self.root, segments, true, &mut Vec::new(), &mut candidates);
        let matched = candidates.iter().find_map(|(node, values)| {
            let by_method = |wanted: Method| {
                node.routes
                    .iter()
                    .find(|(route, _)| route.methods.contains(&wanted))
                    .map(|found| (found, values))
            };
            by_method(method)
        });
        let Some(((route, names), values)) = matched else {
            return Err(no_handler(method, uri, &candidates));
        };
        check_values(route, query)?;
        let of_handler = self.placeholders.get(&(route.handler as usize));
        check_parameters(route, |name| of_handler.is_some_and(|names| names.contains(name)), query, uri)?;
        let path_values = names.iter().copied().zip(values.iter().map(|v| (*v).to_owned())).collect();
        Ok(Resolved { route, path_values })
    }
}

/// Finds all matching nodes, the most literal first.
fn find<'n, 's>(
    node: &'n Node,
    segments: &'s [String],
    first_segment: bool,
    values: &mut Vec<&'s str>,
    found: &mut Vec<(&'n Node, Vec<&'s str>)>,
) {
    let Some((first, rest)) = segments.split_first() else {
        if !node.routes.is_empty() {
            found.push((node, values.clone()));
        }
        return;
    };
    if let Some(next) = node.literals.get(first.as_str()) {
        find(next, rest, false, values, found);
    }
    // A known word such as `_search` is never an index name. But `PUT /_x` is refused as a wrong index name,
    // as is any unknown word followed by a path of an index (`GET /_x/_search`).
    let is_word = || node.literals.contains_key(first.as_str());
    let is_reserved = first_segment && first.starts_with('_') && first != "_all" && is_word();
    let is_endpoint = || node.literals.get(first.as_str()).is_some_and(|next| !next.routes.is_empty());
    if let Some(next) = &node.placeholder
        && (!is_reserved || rest.is_empty() && !is_endpoint())
    {
        values.push(first);
        find(next, rest, false, values, found);
        values.pop();
    }
}

/// Returns the methods of nodes, in Elasticsearch's order.
fn methods_of(candidates: &[(&Node, Vec<&str>)]) -> Vec<Method> {
    const ORDER: [Method; 6] =
        [Method::Get, Method::Post, Method::Put, Method::Delete, Method::Options, Method::Head];
    let has = |method: &Method| {
        let mut routes = candidates.iter().flat_map(|(node, _)| &node.routes);
        routes.any(|(route, _)| route.methods.contains(method))
    };
    ORDER.into_iter().filter(has).collect()
}

fn no_handler(method: Method, uri: &str, candidates: &[(&Node, Vec<&str>)]) -> RequestError {
    let allowed: Vec<&str> = methods_of(candidates).into_iter().map(Method::name).collect();
    if allowed.is_empty() {
        let name = method.name();
        let reason = format!("no handler found for uri [{uri}] and method [{name}]");
        return RequestError::bad_request(BARE, reason);
    }
    RequestError::new(
        ErrorClass::MethodNotAllowed,
        BARE,
        format!(
            "Incorrect HTTP method for uri [{uri}] and method [{}], allowed: [{}]",
            method.name(),
            allowed.join(", ")
        ),
    )
}

/// Parameters that are boolean wherever they are read.
const FLAGS: [&str; 14] = [
    "create",
    "detailed",
    "dry_run",
    "flat_settings",
    "help",
    "include_defaults",
    "include_unloaded_segments",
    "local",
    "pri",
    "rest_total_hits_as_int",
    "v",
    "verbose",
    "wait_for_completion",
    "wait_if_ongoing",
];

/// Whether an endpoint reads a parameter, also under OpenSearch's name for the master parameters.
fn reads(route: &Route, name: &str) -> bool {
    let has = |name: &str| route.parameters.contains(&name);
    has(name) || (name == "cluster_manager_timeout" && has("master_timeout"))
}

/// Refuses malformed values of parameters that every endpoint parses alike, even if this one ignores them.
/// For example, one node has no other master to wait for, but a master timeout that is no time is still an
/// error.
fn check_values(route: &Route, query: &[(String, String)]) -> Result<(), RequestError> {
    if route.parameters == [ANY_PARAMETER] {
        return Ok(());
    }
    for (name, value) in query {
        let is_read = reads(route, name);
        match name.as_str() {
            "error_trace" => {
                let wrong = |error: RequestError| RequestError::bad_request(BARE, error.reason);
                parse_flag(value).map_err(wrong)?;
            }
            "pretty" | "human" => drop(parse_flag(value)?),
            "allow_no_indices" | "ignore_unavailable" | "ignore_throttled"
                if is_read && !matches!(value.as_str(), "true" | "false") =>
            {
                let reason = format!("Could not convert [{name}] to boolean");
                let cause = RequestError::not_a_boolean(value);
                return Err(RequestError::illegal_argument(reason).caused_by(cause));
            }
            name if is_read && FLAGS.contains(&name) => drop(parse_flag(value)?),
            // `_close` has another value, which it warns of.
            "wait_for_active_shards"
                if is_read && !(value == "index-setting" && route.path.ends_with("/_close")) =>
            {
                ActiveCopies::parse(value)?;
            }
            "timeout" | "master_timeout" | "cluster_manager_timeout" | "wait_for_timeout" if is_read => {
                parse_time_ms(name, value)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_parameters(
    route: &Route,
    is_placeholder: impl Fn(&str) -> bool,
    query: &[(String, String)],
    uri: &str,
) -> Result<(), RequestError> {
    if route.parameters == [ANY_PARAMETER] {
        return Ok(());
    }
    let known = |name: &str| COMMON_PARAMETERS.contains(&name) || reads(route, name) || is_placeholder(name);
    let unknown: Vec<&str> =
        query.iter().map(|(name, _)| name.as_str()).filter(|name| !known(name)).collect();
    match unknown.is_empty() {
        true => Ok(()),
        false => Err(unrecognized(uri, "parameter", &unknown, &[route.parameters, SUGGESTED].concat())),
    }
}

/// Returns the error about unknown names in a request, in their order, each with those of the known names
/// that are similar. `what` is what they name, in the singular.
///
/// Source: `BaseRestHandler#unrecognized`.
pub fn unrecognized(uri: &str, what: &str, names: &[&str], known: &[&'static str]) -> RequestError {
    let path = uri.split('?').next().unwrap_or(uri);
    let names: BTreeSet<&str> = names.iter().copied().collect();
    let plural = if names.len() > 1 { "s" } else { "" };
    let shown = names.into_iter().map(|name| {
        let meant = likeness::did_you_mean(name, known.iter().copied());
        let arrow = if meant.is_empty() { "" } else { " ->" };
        format!("[{name}]{arrow}{meant}")
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    RequestError::illegal_argument(format!("request [{path}] contains unrecognized {what}{plural}: {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &App, _: &Request) -> Result<Response, RequestError> {
        Ok(Response::acknowledged())
    }

    static TABLE: [Route; 4] = [
        Route { methods: &[Method::Get], path: "/", parameters: &[], pool: PoolName::Get, handler: nothing },
        Route {
            methods: &[Method::Get, Method::Post],
            path: "/_search",
            parameters: &["size"],
            pool: PoolName::Get,
            handler: nothing,
        },
        Route {
            methods: &[Method::Get],
            path: "/{index}/_search",
            parameters: &["size"],
            pool: PoolName::Get,
            handler: nothing,
        },
        Route {
            methods: &[Method::Put],
            path: "/{index}/_doc/{id}",
            parameters: &[],
            pool: PoolName::Get,
            handler: nothing,
        },
    ];

    fn resolve(method: Method, uri: &str) -> Result<Resolved, RequestError> {
        let (segments, query) = Request::parse_uri(uri)?;
        Routes::new(&[&TABLE]).resolve(method, &segments, &query, uri)
    }

    #[test]
    fn paths_methods_and_parameters() {
        assert_eq!(resolve(Method::Get, "/").expect("root").route.path, "/");
        assert_eq!(resolve(Method::Get, "/_search?size=1&pretty").expect("literal").route.path, "/_search");
        let found = resolve(Method::Put, "/a%20b/_doc/_x").expect("document");
        assert_eq!(found.path_values, [("index", "a b".to_owned()), ("id", "_x".to_owned())]);
        let check = |method, uri, class, part: &str| {
            let error = resolve(method, uri).err().expect("refused");
            assert_eq!(error.class, class, "{uri}");
            assert!(error.reason.contains(part), "{} lacks {part}", error.reason);
        };
        check(
            Method::Get,
            "/a/b/c/d",
            ErrorClass::BadRequest,
            "no handler found for uri [/a/b/c/d] and method [GET]",
        );
        assert!(
            resolve(Method::Get, "/_search?index=a").is_ok(),
            "the same handler has a path with an index"
        );
        check(Method::Delete, "/_search", ErrorClass::MethodNotAllowed, "allowed: [GET, POST]");
        check(Method::Head, "/a/_search", ErrorClass::MethodNotAllowed, "allowed: [GET]");
        check(
            Method::Get,
            "/_search?sizes=1",
            ErrorClass::BadRequest,
            "unrecognized parameter: [sizes] -> did you mean [size]?",
        );
        check(
            Method::Get,
            "/_search?pretyy",
            ErrorClass::BadRequest,
            "unrecognized parameter: [pretyy] -> did you mean [pretty]?",
        );
        check(
            Method::Get,
            "/_search?z=1&formatt&a=1&z=2",
            ErrorClass::BadRequest,
            "unrecognized parameters: [a], [formatt] -> did you mean [format]?, [z]",
        );
    }
}
