//! `_cluster/reroute`: commands that move shards, which one node can only refuse.
//!
//! Sources: `RestClusterRerouteAction`, `MoveAllocationCommand`, `CancelAllocationCommand`,
//! `AllocateReplicaAllocationCommand`, `AllocateEmptyPrimaryAllocationCommand`,
//! `AllocateStalePrimaryAllocationCommand`.

use limber_engine::{HealthRequest, IndexHealth, IndicesOptions, Result, ShardHealth};
use limber_mapping::{ObjectParser, RequestError};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::allocation::{no_such_index, no_such_shard};
use super::nodes;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::generic as slow;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = &["dry_run", "explain", "retry_failed", "metric", "master_timeout", "timeout"];

/// The endpoints of this file (`_cluster/reroute`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[slow(&[Method::Post], "/_cluster/reroute", PARAMETERS, reroute)];

const PARSER: ObjectParser<'_> = ObjectParser::new("cluster_reroute");

/// Estimated bytes of an explanation besides what it repeats of its command.
const EXPLANATION_BYTES: u64 = 2048;
/// How often an explanation repeats its command at most.
const REPEATED_MAX: u64 = 4;

fn reroute(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or_else(|| json!({}));
    let members = PARSER.members(&body)?;
    if let Some(unknown) = members.keys().find(|key| !matches!(key.as_str(), "commands" | "dry_run")) {
        return Err(PARSER.unknown(unknown));
    }
    let commands = match members.get("commands") {
        None => &[][..],
        Some(Value::Array(commands)) => commands.as_slice(),
        Some(other) => return Err(PARSER.unsupported("commands", other)),
    };
    work::claim(REPEATED_MAX * request.body.len() as u64 + EXPLANATION_BYTES * commands.len() as u64)?;
    let commands = commands.iter().map(Command::parse).collect::<Result<Vec<_>>>();
    let commands = commands.map_err(|cause| PARSER.failed("commands", cause))?;
    let is_explained = request.flag_or("explain", false)?;
    let explanations = refused(app, &commands, is_explained)?;
    let is_trial = members.get("dry_run").map_or(Ok(false), |given| PARSER.flag("dry_run", given))?;
    let is_trial = request.flag_or("dry_run", false)? || is_trial;
    if request.flag_or("retry_failed", false)? && !is_trial {
        app.node.retry_failed_shards();
    }
    let mut answer = json!({"acknowledged": true});
    let metrics = request.param("metric").unwrap_or("blocks,master_node,nodes,routing_table,version");
    if metrics != "none" {
        work::warn(
            "The [state] field in the response to the reroute API is deprecated and will be removed in a future version. Specify \
             ?metric=none to adopt the future behaviour.",
        );
        answer["state"] = app.node.cluster_state(metrics, "_all", IndicesOptions::LENIENT)?;
    }
    if is_explained {
        answer["explanations"] = explanations.into();
    }
    Ok(Response::ok(answer))
}

/// Returns why each of the commands is refused, if the request asks for explanations. Otherwise the first
/// refusal is the error.
fn refused(app: &App, commands: &[Command<'_>], is_explained: bool) -> Result<Vec<Value>> {
    if commands.is_empty() {
        return Ok(Vec::new());
    }
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let explain = |command: &Command<'_>| -> Result<Value> {
        work::check_beyond_deadline()?;
        let refusal = command.refusal(app, &health.indices)?;
        if is_explained { Ok(command.explained(&refusal)) } else { Err(refusal.error) }
    };
    commands.iter().map(explain).collect()
}

/// The members that a command has besides `index` and `shard`.
struct Form {
    name: &'static str,
    /// The first is the node that has the shard, or should have it.
    nodes: &'static [&'static str],
    /// What makes the command more daring.
    flag: Option<&'static str>,
}

const FORMS: &[Form] = &[
    Form { name: "move", nodes: &["from_node", "to_node"], flag: None },
    Form { name: "cancel", nodes: &["node"], flag: Some("allow_primary") },
    Form { name: "allocate_replica", nodes: &["node"], flag: None },
    Form { name: "allocate_stale_primary", nodes: &["node"], flag: Some("accept_data_loss") },
    Form { name: "allocate_empty_primary", nodes: &["node"], flag: Some("accept_data_loss") },
];

/// A command of the request.
struct Command<'c> {
    form: &'static Form,
    index: &'c str,
    shard: u64,
    /// In the order of the form.
    nodes: Vec<&'c str>,
    /// Whether the flag of the form is set.
    is_daring: bool,
}

/// Why a command is not carried out.
struct Refusal {
    /// Which rule forbids it.
    decider: String,
    explanation: String,
    /// What a request gets that asks for no explanations.
    error: RequestError,
}

impl Refusal {
    fn of(decider: impl Into<String>, explanation: String, error: String) -> Refusal {
        Refusal { decider: decider.into(), explanation, error: RequestError::illegal_argument(error) }
    }
}

impl<'c> Command<'c> {
    fn parse(command: &'c Value) -> Result<Command<'c>> {
        let only = command.as_object().filter(|object| object.len() == 1);
        let Some((name, Value::Object(arguments))) = only.and_then(|object| object.iter().next()) else {
            return Err(RequestError::parsing("allocation command is malformed, done parsing a command"));
        };
        let Some(form) = FORMS.iter().find(|form| form.name == name) else {
            return Err(ObjectParser::no_named_object(name));
        };
        let is_known = |key: &str| {
            matches!(key, "index" | "shard") || form.nodes.contains(&key) || form.flag == Some(key)
        };
        if let Some(key) = arguments.keys().find(|key| !is_known(key.as_str())) {
            return Err(form.unknown(key));
        }
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).ok_or_else(|| form.missing(key));
        let index = text("index")?;
        let shard = arguments.get("shard").and_then(Value::as_u64).ok_or_else(|| form.missing("shard"))?;
        let nodes = form.nodes.iter().copied().map(text).collect::<Result<Vec<_>>>()?;
        let flag = form.flag.and_then(|key| arguments.get(key).map(|value| (key, value)));
        let parser = ObjectParser::new(form.name);
        let is_daring = flag.map_or(Ok(false), |(key, value)| parser.flag(key, value))?;
        Ok(Command { form, index, shard, nodes, is_daring })
    }

    /// Returns why the command is refused.
    ///
    /// # Errors
    /// It names an index or a node that is not there, and Elasticsearch does not explain that either.
    fn refusal(&self, app: &App, indices: &[IndexHealth]) -> Result<Refusal> {
        let index = indices.iter().find(|index| *index.name == *self.index);
        let shard = index.and_then(|index| Some((index, self.shard_of(index)?)));
        match self.form.name {
            "move" => {
                self.nodes.iter().try_for_each(|node| resolve(app, node))?;
                Ok(self.refused_move(app, shard.is_some_and(|(_, shard)| shard.primary_active)))
            }
            "cancel" => {
                self.nodes.iter().try_for_each(|node| resolve(app, node))?;
                index.ok_or_else(|| no_such_index(self.index))?;
                Ok(self.refused_cancel(app, shard.is_some_and(|(_, shard)| shard.primary_active)))
            }
            _ => {
                let known = self.nodes.iter().try_for_each(|node| resolve(app, node)).and_then(|()| {
                    let index = index.ok_or_else(|| no_such_index(self.index))?;
                    let shard = self.shard_of(index);
                    Ok((index, shard.ok_or_else(|| no_such_shard(self.index, self.shard))?))
                });
                Ok(match known {
                    Ok((index, shard)) => self.refused_allocation(app, index, shard),
                    Err(error) => {
                        Refusal { decider: self.decider(), explanation: error.reason.clone(), error }
                    }
                })
            }
        }
    }

    fn shard_of<'i>(&self, index: &'i IndexHealth) -> Option<&'i ShardHealth> {
        index.shards.iter().find(|shard| u64::from(shard.shard) == self.shard)
    }

    fn decider(&self) -> String {
        format!("{} (allocation command)", self.form.name)
    }

    /// Returns the only assigned copy of the shard, as a shard prints itself.
    fn copy(&self, app: &App) -> String {
        format!("[{}][{}], node[{}], [P], s[STARTED]", self.index, self.shard, app.node.node_id())
    }

    fn refused_move(&self, app: &App, is_here: bool) -> Refusal {
        let (shard, node) = (self.shard, described(app));
        if !is_here {
            let error = format!("[move_allocation] can't move {shard}, failed to find it on node {node}");
            return Refusal::of("move_allocation_command", format!("shard {shard} not found"), error);
        }
        let why = format!("this shard is already allocated to this node [{}]", self.copy(app));
        let error = format!(
            "[move_allocation] can't move {shard}, from {node}, to {node}, since its not allowed, reason: [NO({why})]"
        );
        Refusal::of("same_shard", why, error)
    }

    fn refused_cancel(&self, app: &App, is_here: bool) -> Refusal {
        let (shard, node) = (self.shard, described(app));
        let why = match (is_here, self.is_daring) {
            (false, _) => format!("can't cancel {shard}, failed to find it on node {node}"),
            (true, false) => format!("can't cancel {shard} on node {node}, shard is primary and started"),
            (true, true) => format!(
                "can't cancel {shard} on node {node}, because the cluster has one node, and each primary stays on it"
            ),
        };
        let error = format!("[cancel_allocation] {why}");
        Refusal::of("cancel_allocation_command", why, error)
    }

    fn refused_allocation(&self, app: &App, index: &IndexHealth, shard: &ShardHealth) -> Refusal {
        let (name, place) = (self.form.name, format!("[{}][{}]", self.index, self.shard));
        let is_replica = name == "allocate_replica";
        if is_replica && shard.primary_active && index.number_of_replicas > 0 {
            let why = format!("a copy of this shard is already allocated to this node [{}]", self.copy(app));
            let error = format!(
                "[{name}] allocation of {place} on node {} is not allowed, reason: [NO({why})]",
                described(app)
            );
            return Refusal::of("same_shard", why, error);
        }
        let why = match (is_replica, shard.primary_active) {
            (true, false) => format!(
                "trying to allocate a replica shard {place}, while corresponding primary shard is still unassigned"
            ),
            (true, true) => {
                format!("all copies of {place} are already assigned. Use the move allocation command instead")
            }
            (false, true) => format!("primary {place} is already assigned"),
            (false, false) if !self.is_daring => format!(
                "allocating an empty primary for {place} can result in data loss. Please confirm by setting the accept_data_loss \
                 parameter to true"
            ),
            (false, false) => format!(
                "{place} is damaged, and never replaced by a request, which would lose what can still be read of it; stop the node and \
                 run `limber check --repair`"
            ),
        };
        let error = format!("[{name}] {why}");
        Refusal::of(self.decider(), why, error)
    }

    /// Renders the refusal. Source: `RerouteExplanation#toXContent`.
    fn explained(&self, refusal: &Refusal) -> Value {
        let mut parameters = Map::new();
        parameters.insert("index".to_owned(), self.index.into());
        parameters.insert("shard".to_owned(), self.shard.into());
        let nodes = self.form.nodes.iter().zip(&self.nodes);
        parameters.extend(nodes.map(|(key, node)| ((*key).to_owned(), (*node).into())));
        parameters.extend(self.form.flag.map(|key| (key.to_owned(), self.is_daring.into())));
        json!({
            "command": self.form.name,
            "parameters": parameters,
            "decisions": [{
                "decider": refusal.decider,
                "decision": "NO",
                "explanation": refusal.explanation,
            }],
        })
    }
}

impl Form {
    /// Returns the parser of a command that Elasticsearch reads by hand, with errors of another form than
    /// those of its object parsers.
    fn by_hand(&self) -> Option<ObjectParser<'static>> {
        matches!(self.name, "move" | "cancel").then(|| ObjectParser::of_kind("parse_exception", self.name))
    }

    fn unknown(&self, key: &str) -> RequestError {
        match self.by_hand() {
            Some(parser) => parser.refused(&format!("command does not support field [{key}]")),
            None => ObjectParser::new(self.name).unknown(key),
        }
    }

    fn missing(&self, key: &str) -> RequestError {
        match (self.by_hand(), key) {
            (Some(parser), _) => parser.refused(&format!("command missing the {key} parameter")),
            (None, "shard") => {
                RequestError::illegal_argument("Argument [shard] must be defined and non-negative")
            }
            (None, _) => RequestError::illegal_argument(format!("Argument [{key}] must be defined")),
        }
    }
}

/// Checks that the only node has this name, id or address.
fn resolve(app: &App, node: &str) -> Result<()> {
    match nodes::selects(app, node) {
        true => Ok(()),
        false => {
            Err(RequestError::illegal_argument(format!("failed to resolve [{node}], no matching nodes")))
        }
    }
}

/// Returns the node as a node of Elasticsearch prints itself. Source: `DiscoveryNode#toString`.
fn described(app: &App) -> String {
    let (name, id) = (&app.node.config().node_name, app.node.node_id());
    let (host, address, version) = (nodes::host(app), &app.config.http_address, &app.config.compat_version);
    format!("{{{name}}}{{{id}}}{{{id}}}{{{name}}}{{{host}}}{{{address}}}{{dimr}}{{{version}}}")
}
