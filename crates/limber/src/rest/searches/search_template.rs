//! Search templates: `_render/template`, `_search/template` and `_msearch/template`.

use limber_engine::Result;
use limber_mapping::{ObjectParser, RequestError};
use limber_script::mustache::{Escape, Template};
use serde_json::{Value, json};

use super::{msearch, search};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request, parse_json};
use crate::http::response::Response;
use crate::rest::{App, Route};

const BOTH: &[Method] = &[Method::Get, Method::Post];

const fn route(
    path: &'static str,
    parameters: &'static [&'static str],
    handler: crate::rest::router::Handler,
) -> Route {
    Route { methods: BOTH, path, parameters, pool: PoolName::Search, handler }
}

/// The endpoints of this file (`_render`, `_search`, `_msearch`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route("/_render/template", &[], render),
    route("/_render/template/{id}", &[], render),
    route("/_search/template", search::TEMPLATE_PARAMETERS, search_template),
    route("/{index}/_search/template", search::TEMPLATE_PARAMETERS, search_template),
    route("/_msearch/template", msearch::PARAMETERS, msearch_template),
    route("/{index}/_msearch/template", msearch::PARAMETERS, msearch_template),
];

/// What a body says about a template.
struct Given {
    source: Option<String>,
    id: Option<String>,
    escape: Escape,
    parameters: Value,
    explain: bool,
    profile: bool,
}

impl Given {
    fn parse(body: &Value) -> Result<Given> {
        let Value::Object(members) = body else {
            return Err(RequestError::parsing("Expected [START_OBJECT]"));
        };
        let mut given = Given {
            source: None,
            id: None,
            escape: Escape::Json,
            parameters: json!({}),
            explain: false,
            profile: false,
        };
        for (key, value) in members {
            let flag = || {
                value.as_bool().ok_or_else(|| {
                    ObjectParser::of_kind("illegal_argument_exception", "search_template").malformed(key)
                })
            };
            match (key.as_str(), value) {
                ("source" | "inline" | "template", Value::String(text)) => given.source = Some(text.clone()),
                ("source" | "inline" | "template", Value::Object(_)) => {
                    given.source = Some(value.to_string())
                }
                ("id", Value::String(id)) => given.id = Some(id.clone()),
                ("params", Value::Object(_)) => given.parameters = value.clone(),
                ("params", Value::Null) => {}
                ("explain", _) => given.explain = flag()?,
                ("profile", _) => given.profile = flag()?,
                ("options", Value::Object(options)) => {
                    if let Some(name) = options.get("content_type").and_then(Value::as_str) {
                        given.escape = Escape::of_media_type(name)?;
                    }
                }
                (other, _) => return Err(ObjectParser::new("search_template").unknown(other)),
            }
        }
        Ok(given)
    }

    /// Renders the template with its parameters.
    fn rendered(&self, app: &App) -> Result<String> {
        let source = match (&self.source, &self.id) {
            (Some(source), _) if !source.is_empty() => source.clone(),
            (None, Some(id)) => stored(app, id)?,
            _ => return Err(RequestError::validation(["template is missing"])),
        };
        Template::parse(&source, self.escape)?.render(&self.parameters)
    }

    /// Renders the template and returns the search.
    fn search(&self, app: &App) -> Result<Value> {
        let mut search = parse_json(self.rendered(app)?.as_bytes())?;
        if let Value::Object(members) = &mut search {
            for (name, flag) in [("explain", self.explain), ("profile", self.profile)] {
                if flag {
                    members.insert(name.to_owned(), true.into());
                }
            }
        }
        Ok(search)
    }
}

/// Returns the source of a stored template.
pub fn stored(app: &App, id: &str) -> Result<String> {
    match app.node.get_script(id) {
        Some(script) if script.language == "mustache" => Ok(script.source),
        Some(script) => Err(RequestError::illegal_argument(format!(
            "scripts of type [stored], operation [search_template] and lang [{}] are not supported",
            script.language
        ))),
        None => Err(RequestError::not_found(
            "resource_not_found_exception",
            format!("unable to find script [{id}] in cluster state"),
        )),
    }
}

fn render(app: &App, request: &Request) -> Result<Response> {
    let mut given = Given::parse(&request.json_required()?)?;
    if let Some(id) = request.param("id") {
        given.id = Some(id.to_owned());
    }
    let text = given.rendered(app)?;
    Ok(match parse_json(text.as_bytes()) {
        Ok(output) => Response::ok(json!({"template_output": output})),
        // Shown as it is, so that its author sees what is wrong with it.
        Err(_) => Response::raw(200, format!("{{\"template_output\":{text}}}").into_bytes()),
    })
}

fn search_template(app: &App, request: &Request) -> Result<Response> {
    let mut given = Given::parse(&request.json_required()?)?;
    given.explain |= request.flag_or("explain", false)?;
    given.profile |= request.flag_or("profile", false)?;
    search::run(app, request, given.search(app)?)
}

fn msearch_template(app: &App, request: &Request) -> Result<Response> {
    msearch::run(app, request, |line, header| {
        let given = Given::parse(&parse_json(line)?)?;
        Ok(given.search(app).and_then(|search| header.search(&search, line, request)))
    })
}
