//! `shrink-index`: moves an index to one node and shrinks it into another index (`runner.py`, `ShrinkIndex`).
//!
//! The source may be a pattern. Then each target's name ends with the part in which the sources' names
//! differ.

use std::hash::BuildHasher;
use std::time::Duration;

use serde_json::{Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady};
use crate::drive::operation::flow::retry::retried;
use crate::drive::probe::{Found, probe};
use crate::error::Error;
use crate::http::{Method, Request, in_path};

/// Rally's pause before it first asks whether shards are still moving.
const PAUSE: Duration = if cfg!(test) { Duration::from_millis(1) } else { Duration::from_secs(3) };
/// Pause between attempts after a time-out; Rally's default for operations that it retries.
const RETRY_WAIT: Duration = Duration::from_millis(500);

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let target_body = plan.mandatory("target-body")?;
    if !target_body.is_object() {
        return Err(Error::parameter("parameter 'target-body' must be an object"));
    }
    let source = plan.mandatory_text("source-index")?;
    let without_body = plan.request(Method::Get, &format!("/{}", in_path(source)))?;
    let with_body = plan.request(Method::Put, "/")?.header("content-type", &plan.protocol.content_json);
    retried(
        plan,
        ShrinkIndex {
            sources: without_body.build(),
            nodes: plan.request(Method::Get, "/_nodes")?.build(),
            with_body: with_body.build(),
            target: plan.mandatory_text("target-index")?.to_owned(),
            target_body: shrink_body(target_body),
            node: plan.text("shrink-node")?.map(str::to_owned),
            timeout: plan.timeout()?,
        },
    )
}

/// Returns the target's body, which removes the settings that the source needs for shrinking.
fn shrink_body(body: &Value) -> String {
    let mut body = body.clone();
    let settings = &mut body["settings"];
    if settings.is_null() {
        *settings = json!({});
    }
    if let Some(settings) = settings.as_object_mut() {
        settings.insert("index.routing.allocation.require._name".into(), Value::Null);
        settings.insert("index.blocks.write".into(), Value::Null);
    }
    body.to_string()
}

struct ShrinkIndex {
    sources: Request,
    nodes: Request,
    /// The headers of a request with a body.
    with_body: Request,
    target: String,
    target_body: String,
    /// The node to shrink on; `None` to choose a random data node for each index.
    node: Option<String>,
    timeout: Option<Duration>,
}

impl Steady for ShrinkIndex {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let sources = exchange.send(&self.sources, self.timeout).await?.json()?;
            let sources: Vec<String> =
                sources.as_object().map(|indices| indices.keys().cloned().collect()).unwrap_or_default();
            let nodes = self.nodes(exchange).await?;
            let stem = common_prefix(&sources);
            for source in &sources {
                let node = &nodes[std::hash::RandomState::new().hash_one(source) as usize % nodes.len()];
                let target = format!("{}{}", self.target, &source[stem..]);
                self.shrink(exchange, source, &target, node).await?;
            }
            Ok(Outcome::ops(sources.len() as u64))
        })
    }
}

impl ShrinkIndex {
    /// Returns the names of the nodes to choose from; at least one.
    async fn nodes(&self, exchange: &mut Exchange) -> Result<Vec<String>, Failure> {
        if let Some(node) = &self.node {
            return Ok(vec![node.clone()]);
        }
        let info = exchange.send(&self.nodes, self.timeout).await?.json()?;
        let has_data = |node: &&Value| {
            node["roles"]
                .as_array()
                .is_some_and(|roles| roles.iter().any(|role| role.as_str() == Some("data")))
        };
        let nodes = info["nodes"].as_object().into_iter().flat_map(|nodes| nodes.values()).filter(has_data);
        let names: Vec<String> = nodes.filter_map(|node| node["name"].as_str()).map(str::to_owned).collect();
        if names.is_empty() {
            let reason =
                "Could not choose a suitable shrink-node automatically. Specify it explicitly.".to_owned();
            return Err(Failure::from(Error::Answer(reason)));
        }
        Ok(names)
    }

    async fn shrink(
        &self,
        exchange: &mut Exchange,
        source: &str,
        target: &str,
        node: &str,
    ) -> Result<(), Failure> {
        let path = format!("/{}/_settings?preserve_existing=true", in_path(source));
        let prepare = self.with_body.retargeted(Method::Put, &path);
        let body = json!({
            "settings": { "index.routing.allocation.require._name": node, "index.blocks.write": "true" },
        });
        exchange.send_body(&prepare, body.to_string().as_bytes(), self.timeout).await?;
        self.wait_for(exchange, source, &format!("shard relocation for index [{source}]")).await?;
        let path = format!("/{}/_shrink/{}", in_path(source), in_path(target));
        let shrink = self.with_body.retargeted(Method::Put, &path);
        exchange.send_body(&shrink, self.target_body.as_bytes(), self.timeout).await?;
        self.wait_for(exchange, target, &format!("shrink for index [{target}]")).await
    }

    async fn wait_for(&self, exchange: &mut Exchange, index: &str, what: &str) -> Result<(), Failure> {
        tokio::time::sleep(PAUSE).await;
        let target = format!("/_cluster/health/{}?wait_for_no_relocating_shards=true", in_path(index));
        let request = self.nodes.retargeted(Method::Get, &target);
        loop {
            let response = match exchange.send(&request, self.timeout).await {
                Err(Failure::Connection { .. } | Failure::Timeout | Failure::Api { status: 408, .. }) => {
                    tokio::time::sleep(RETRY_WAIT).await;
                    continue;
                }
                answered => answered?,
            };
            let text = response.text()?;
            let [relocating] = probe(&text, ["relocating_shards"]);
            return match relocating.and_then(Found::as_u64) {
                Some(0) => Ok(()),
                _ => Err(Failure::from(Error::Failed(format!("Failed to wait for [{what}].")))),
            };
        }
    }
}

/// Returns the length in bytes of the names' common prefix, which ends at a character boundary.
fn common_prefix(names: &[String]) -> usize {
    let Some((first, rest)) = names.split_first() else { return 0 };
    let ends = first.char_indices().map(|(at, _)| at).chain([first.len()]);
    ends.rev().find(|end| rest.iter().all(|name| name.starts_with(&first[..*end]))).unwrap_or(0)
}
