//! `_delete_by_query`, `_update_by_query` and `_rethrottle`: the common part of the by-query requests, and
//! those that change documents in place.

use limber_engine::{
    ActiveCopies, ByQueryFailure, ByQueryRequest, ByQueryResponse, Change, IndicesOptions, Result, Slices,
};
use limber_mapping::RequestError;
use limber_script::Script;
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Value, json};

use super::document::{TIMEOUT_MS, active_copies};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::http::status;
use crate::rest::human::with_words;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::unrecognized;
use crate::rest::searches::search::check_lonely_parameters;
use crate::rest::server::tasks::parse_task_id;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = with_indices_options![
    "_source",
    "_source_excludes",
    "_source_includes",
    "analyze_wildcard",
    "analyzer",
    "conflicts",
    "default_operator",
    "df",
    "from",
    "lenient",
    "max_docs",
    "pipeline",
    "preference",
    "q",
    "refresh",
    "request_cache",
    "requests_per_second",
    "routing",
    "scroll",
    "scroll_size",
    "search_timeout",
    "search_type",
    "size",
    "slices",
    "sort",
    "stats",
    "terminate_after",
    "timeout",
    "version",
    "wait_for_active_shards",
    "wait_for_completion",
];

const fn route(path: &'static str, handler: crate::rest::router::Handler) -> Route {
    Route { methods: &[Method::Post], path, parameters: PARAMETERS, pool: PoolName::Generic, handler }
}

const fn rethrottle_route(path: &'static str) -> Route {
    let parameters = &["requests_per_second", "group_by"];
    Route { methods: &[Method::Post], path, parameters, pool: PoolName::Management, handler: rethrottle }
}

/// The endpoints of this file (`_delete_by_query`, `_update_by_query`, `_reindex`), for
/// [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route("/{index}/_delete_by_query", delete),
    route("/{index}/_update_by_query", update),
    rethrottle_route("/_delete_by_query/{task}/_rethrottle"),
    rethrottle_route("/_update_by_query/{task}/_rethrottle"),
    rethrottle_route("/_reindex/{task}/_rethrottle"),
];

/// Number of documents in a batch, unless the request says otherwise. Source:
/// `AbstractBulkByScrollRequest#DEFAULT_SCROLL_SIZE`.
pub(in crate::rest) const BATCH_SIZE: u32 = 1000;

/// URL parameters of a search that have another meaning here, or none.
const NOT_OF_THE_SEARCH: &[&str] = &["timeout", "version", "scroll"];

fn delete(app: &App, request: &Request) -> Result<Response> {
    if request.param("pipeline").is_some() {
        return Err(unrecognized(&request.uri, "parameter", &["pipeline"], &[]));
    }
    in_place(app, request, Change::Delete)
}

fn update(app: &App, request: &Request) -> Result<Response> {
    in_place(app, request, Change::Update)
}

fn in_place(app: &App, request: &Request, change: Change) -> Result<Response> {
    if request.param("size").is_some() {
        return Err(RequestError::illegal_argument("invalid parameter [size], use [max_docs] instead"));
    }
    check_lonely_parameters(request)?;
    request.flag("version")?;
    request.flag("request_cache")?;
    // An empty value is none.
    if request.param("request_cache") == Some("true") {
        return Err(RequestError::validation(["[request_cache] cannot be used in a scroll context"]));
    }
    let mut body = request.json()?.unwrap_or(Value::Null);
    let mut shared = Shared::from_url(request)?;
    let mut script = None;
    if let Value::Object(members) = &mut body {
        shared.take_from(members)?;
        if matches!(change, Change::Update) {
            script = members.remove("script").map(|script| Script::parse(&script)).transpose()?;
        }
    }
    let url = request.query.iter().filter(|(name, _)| !NOT_OF_THE_SEARCH.contains(&name.as_str()));
    let url = url.map(|(name, value)| match name.as_str() {
        "search_timeout" => ("timeout", value.as_str()),
        name => (name, value.as_str()),
    });
    let search = SearchRequest::parse(&body, &url.collect::<UrlParameters>())?;
    shared.check_slicing(&search)?;
    if matches!(change, Change::Delete) && search.query.is_none() {
        return Err(RequestError::validation(["query is missing"]));
    }
    let size = request.number::<u32>("scroll_size")?.unwrap_or(BATCH_SIZE);
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    let by_query = ByQueryRequest {
        routing: request.param("routing").map(str::to_owned),
        preference: request.param("preference").map(str::to_owned),
        script,
        pipeline: request.param("pipeline").map(str::to_owned),
        ..shared.request(request.path("index"), options, SearchRequest { size: Some(size), ..search }, change)
    };
    run(app, request, by_query)
}

/// The options that all three requests have in common.
pub(in crate::rest) struct Shared {
    max_docs: Option<u64>,
    proceeds_on_conflicts: bool,
    refresh: bool,
    copies: ActiveCopies,
    timeout_ms: u64,
    requests_per_second: f32,
    pub slices: Slices,
}

impl Shared {
    /// Reads the shared parameters.
    pub fn from_url(request: &Request) -> Result<Shared> {
        let mut shared = Shared {
            max_docs: None,
            proceeds_on_conflicts: false,
            refresh: request.flag_or("refresh", false)?,
            copies: active_copies(request)?,
            timeout_ms: request.time_ms("timeout")?.unwrap_or(TIMEOUT_MS),
            requests_per_second: speed(request)?.unwrap_or(f32::INFINITY),
            slices: Slices::Number(1),
        };
        if request.param("scroll") == Some("-1") {
            let reason = "duration cannot be negative, was given [-1000000]";
            return Err(RequestError::illegal_argument(reason));
        }
        // Checks only the syntax: a batch has no time limit of its own.
        request.time_ms("scroll")?;
        if let Some(text) = request.param("conflicts") {
            shared.proceeds_on_conflicts = conflicts(text)?;
        }
        if let Some(count) = request.number::<i64>("max_docs")? {
            shared.max_docs = Some(max_docs(count)?);
        }
        if let Some(text) = request.param("slices") {
            shared.slices = slices(text)?;
        }
        Ok(shared)
    }

    /// Removes the members of a body that are not part of its search.
    pub fn take_from(&mut self, members: &mut serde_json::Map<String, Value>) -> Result<()> {
        if let Some(value) = members.remove("conflicts") {
            self.proceeds_on_conflicts = conflicts(value.as_str().unwrap_or_default())?;
        }
        if let Some(value) = members.remove("max_docs") {
            let count = value.as_i64().or_else(|| value.as_str()?.parse().ok());
            let count = max_docs(count.ok_or_else(|| {
                RequestError::illegal_argument(format!("Failed to parse [max_docs] with value [{value}]"))
            })?)?;
            if self.max_docs.is_some_and(|other| other != count) {
                return Err(RequestError::illegal_argument(format!(
                    "[max_docs] set to two different values [{}] and [{count}]",
                    self.max_docs.unwrap_or(0)
                )));
            }
            self.max_docs = Some(count);
        }
        Ok(())
    }

    /// Checks that the request either reads one slice or is split into several.
    pub fn check_slicing(&self, search: &SearchRequest) -> Result<()> {
        if search.pit.is_some() {
            return Err(RequestError::unsupported("[pit] in a request by query"));
        }
        if search.slice.is_some() && self.slices != Slices::Number(1) {
            let problem = "can't specify both manual and automatic slicing at the same time";
            return Err(RequestError::validation([problem]));
        }
        Ok(())
    }

    /// Builds the request, without routing, script and pipeline.
    pub fn request(
        self,
        source: &str,
        options: IndicesOptions,
        search: SearchRequest,
        change: Change,
    ) -> ByQueryRequest {
        ByQueryRequest {
            source: source.to_owned(),
            options,
            remote: None,
            routing: None,
            preference: None,
            search,
            change,
            script: None,
            pipeline: None,
            max_docs: self.max_docs,
            proceeds_on_conflicts: self.proceeds_on_conflicts,
            refresh: self.refresh,
            copies: self.copies,
            timeout_ms: self.timeout_ms,
            requests_per_second: self.requests_per_second,
            slices: self.slices,
        }
    }

    fn check(request: &ByQueryRequest) -> Result<()> {
        let slices = match request.slices {
            Slices::Auto => 1,
            Slices::Number(number) => u64::from(number),
        };
        if request.max_docs.is_some_and(|count| count < slices) {
            return Err(RequestError::illegal_argument("[max_docs] should be >= [slices]"));
        }
        let mut problems = Vec::new();
        if request.search.from() > 0 {
            problems.push("using [from] is not allowed in a scroll context");
        }
        if request.search.size() == 0 {
            problems.push("[size] cannot be [0] in a scroll context");
        }
        if request.search.from.is_some() {
            problems.push("from is not supported in this context");
        }
        if request.search.stored_fields.is_some() {
            problems.push("stored_fields is not supported in this context");
        }
        if problems.is_empty() { Ok(()) } else { Err(RequestError::validation(problems)) }
    }
}

/// Runs the request, or starts it in the background with `wait_for_completion=false`.
pub(in crate::rest) fn run(app: &App, request: &Request, mut by_query: ByQueryRequest) -> Result<Response> {
    Shared::check(&by_query)?;
    // Their results would be discarded.
    by_query.search.aggregations = None;
    if !request.flag_or("wait_for_completion", true)? {
        let task = app.node.start_by_query(by_query, |response| shown(response).1)?;
        return Ok(Response::ok(json!({"task": task})));
    }
    let response = app.node.by_query(by_query, request.cancelled.clone())?;
    let (status, body) = shown(response);
    Ok(Response::json(status, with_words(request, body)?))
}

/// Returns the highest status among the failures, or 200, and the body of the response.
fn shown(response: ByQueryResponse) -> (u16, Value) {
    let ByQueryResponse { mut body, failures } = response;
    let gravest = failures.iter().map(|failure| status::of_error(failure.class)).max();
    let failures: Vec<Value> = failures.into_iter().map(shown_failure).collect();
    body.insert("failures".to_owned(), failures.into());
    (gravest.unwrap_or(200), Value::Object(body))
}

/// Renders a failure. The status comes before `reason` for a shard, and after `cause` for a document.
fn shown_failure(failure: ByQueryFailure) -> Value {
    let mut shown = failure.shown;
    if let Value::Object(members) = &mut shown {
        let at = members.keys().position(|name| name == "reason").unwrap_or(members.len());
        members.shift_insert(at, "status".to_owned(), status::of_error(failure.class).into());
    }
    shown
}

fn rethrottle(app: &App, request: &Request) -> Result<Response> {
    let text = request.path("task");
    let id = parse_task_id(app, text)?;
    let speed = speed(request)?
        .ok_or_else(|| RequestError::illegal_argument("requests_per_second is a required parameter"))?;
    let task = id.and_then(|id| app.node.tasks().list().into_iter().find(|task| task.id == id));
    let group_by = request.param("group_by").unwrap_or("nodes");
    let Some((task, progress)) = task.and_then(|task| Some((task.clone(), task.progress.clone()?))) else {
        return crate::rest::server::tasks::not_running(app, group_by, text);
    };
    progress.rethrottle(speed);
    let shown = (text.to_owned(), app.node.tasks().show(&task, app.node.node_id(), true));
    crate::rest::server::tasks::answer(app, request, group_by, vec![shown])
}

fn speed(request: &Request) -> Result<Option<f32>> {
    let Some(text) = request.param("requests_per_second") else { return Ok(None) };
    let refused = || {
        RequestError::illegal_argument(
            "[requests_per_second] must be a float greater than 0. Use -1 to disable throttling.",
        )
    };
    match text.parse::<f32>() {
        Ok(-1.0) => Ok(Some(f32::INFINITY)),
        Ok(speed) if speed > 0.0 => Ok(Some(speed)),
        Ok(_) => Err(refused()),
        Err(_) => Err(refused().caused_by(RequestError::number_format(text))),
    }
}

fn slices(text: &str) -> Result<Slices> {
    let refused = || {
        RequestError::illegal_argument(format!(
            "[slices] must be a positive integer or the string \"auto\", but was [{text}]"
        ))
    };
    match (text, text.parse::<i32>()) {
        ("auto", _) => Ok(Slices::Auto),
        (_, Ok(number)) if number > SLICES_MAX => Err(RequestError::illegal_argument(format!(
            "The number of slices [{number}] is too large. It must be less than [{SLICES_MAX}]. This limit can be set by \
             changing the [index.max_slices_per_scroll] index level setting."
        ))),
        (_, Ok(number)) if number > 0 => Ok(Slices::Number(number as u32)),
        (_, Ok(_)) => Err(refused()),
        (_, Err(_)) => Err(refused().caused_by(RequestError::number_format(text))),
    }
}

/// Default of `index.max_slices_per_scroll`.
const SLICES_MAX: i32 = 1024;

fn conflicts(text: &str) -> Result<bool> {
    match text {
        "proceed" => Ok(true),
        "abort" => Ok(false),
        other => Err(RequestError::illegal_argument(format!(
            "conflicts may only be \"proceed\" or \"abort\" but was [{other}]"
        ))),
    }
}

fn max_docs(count: i64) -> Result<u64> {
    u64::try_from(count).map_err(|_| {
        RequestError::illegal_argument(format!("[max_docs] parameter cannot be negative, found [{count}]"))
    })
}
