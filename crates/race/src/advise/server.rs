//! What a server says about itself.
//!
//! Elasticsearch, OpenSearch and Limber get the same few requests. If an answer does not come, the reason is
//! kept in its place, so that only the rules that need the answer fail.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::finding::Unread;
use crate::http::HttpError;
use crate::http::cluster::{Cluster, UNKNOWN};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Elasticsearch,
    OpenSearch,
    Limber,
}

/// Which program answers, and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Product {
    pub kind: Kind,
    /// Its own version. For Limber, this is not the version it is compatible with.
    pub version: String,
}

impl Product {
    /// Recognizes the product from the answers to `GET /` and `_nodes/stats`.
    fn of(info: &Value, node_stats: &Value) -> Product {
        let version = &info["version"];
        let limber = first_node(node_stats).map(|node| &node["limber"]).filter(|section| section.is_object());
        let (kind, number) = match limber {
            Some(limber) => (Kind::Limber, &limber["version"]),
            None if version["distribution"] == "opensearch" => (Kind::OpenSearch, &version["number"]),
            None => (Kind::Elasticsearch, &version["number"]),
        };
        Product { kind, version: number.as_str().unwrap_or("of unknown version").to_owned() }
    }

    /// Returns its name in lower case, as the command line of its process contains it.
    pub(super) fn engine(&self) -> &'static str {
        match self.kind {
            Kind::Elasticsearch => "elasticsearch",
            Kind::OpenSearch => "opensearch",
            Kind::Limber => "limber",
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            Kind::Elasticsearch => "Elasticsearch",
            Kind::OpenSearch => "OpenSearch",
            Kind::Limber => "Limber",
        };
        write!(f, "{name} {}", self.version)
    }
}

fn first_node(nodes: &Value) -> Option<&Value> {
    nodes["nodes"].as_object()?.values().next()
}

/// One question to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    Nodes,
    NodeStats,
    ClusterSettings,
    Health,
    IndexStats,
    IndexSettings,
    Shards,
    Segments,
}

impl Question {
    pub(super) const ALL: &[Question] = &[
        Question::Nodes,
        Question::NodeStats,
        Question::ClusterSettings,
        Question::Health,
        Question::IndexStats,
        Question::IndexSettings,
        Question::Shards,
        Question::Segments,
    ];

    /// Returns the path. It asks only for what rules read, since the complete answers of a large cluster are
    /// megabytes.
    pub(super) fn path(self) -> &'static str {
        match self {
            Question::Nodes => "/_nodes/settings,os,process,jvm,thread_pool?flat_settings=true",
            Question::NodeStats => "/_nodes/stats",
            Question::ClusterSettings => "/_cluster/settings?include_defaults=true&flat_settings=true",
            Question::Health => "/_cluster/health",
            Question::IndexStats => {
                "/_stats/docs,store,indexing,search,merge,refresh,flush,segments,translog,fielddata,query_cache"
            }
            Question::IndexSettings => {
                "/_all/_settings/index.codec,index.refresh_interval,index.translog.*,index.number_of_*,index.merge.scheduler.*\
                 ?flat_settings=true&include_defaults=true"
            }
            Question::Shards => {
                "/_cat/shards?format=json&bytes=b&h=index,shard,prirep,state,docs,store,node,unassigned.reason"
            }
            Question::Segments => {
                "/_cat/segments?format=json&bytes=b&h=index,shard,prirep,segment,docs.count,docs.deleted,size"
            }
        }
    }

    /// Returns its name as evidence gives it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Question::Nodes => "_nodes",
            Question::NodeStats => "_nodes/stats",
            Question::ClusterSettings => "_cluster/settings",
            Question::Health => "_cluster/health",
            Question::IndexStats => "_stats",
            Question::IndexSettings => "_settings",
            Question::Shards => "_cat/shards",
            Question::Segments => "_cat/segments",
        }
    }
}

/// All answers of one server.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub product: Product,
    pub cluster_name: String,
    answers: BTreeMap<Question, Result<Value, Unread>>,
    /// `_nodes/stats` again after the sampling.
    after: Option<Value>,
}

impl Server {
    /// Asks all questions once.
    ///
    /// Errors: the server does not even answer `GET /`, or it is a product that rules do not know.
    pub(super) fn ask(cluster: &mut Cluster) -> Result<Server, Unread> {
        let info = answer(cluster, "/", "GET /")?;
        if !info["version"]["number"].is_string() || !info["cluster_name"].is_string() {
            return Err(Unread::new("GET /", UNKNOWN));
        }
        let answers = Question::ALL
            .iter()
            .map(|question| (*question, answer(cluster, question.path(), question.name())))
            .collect();
        Ok(Server::of(&info, answers))
    }

    pub(super) fn of(info: &Value, answers: BTreeMap<Question, Result<Value, Unread>>) -> Server {
        let node_stats = answers.get(&Question::NodeStats).and_then(|answer| answer.as_ref().ok());
        Server {
            product: Product::of(info, node_stats.unwrap_or(&Value::Null)),
            cluster_name: info["cluster_name"].as_str().unwrap_or_default().to_owned(),
            answers,
            after: None,
        }
    }

    /// Asks for the statistics of the nodes again, to see how the counters have changed.
    pub(super) fn ask_again(&mut self, cluster: &mut Cluster) {
        self.after = answer(cluster, Question::NodeStats.path(), Question::NodeStats.name()).ok();
    }

    #[cfg(test)]
    pub(crate) fn set_after(&mut self, node_stats: Value) {
        self.after = Some(node_stats);
    }

    pub(super) fn answer(&self, question: Question) -> Result<&Value, Unread> {
        match self.answers.get(&question) {
            Some(answer) => answer.as_ref().map_err(Clone::clone),
            None => Err(Unread::new(question.name(), "it was not asked")),
        }
    }

    #[cfg(test)]
    pub(crate) fn set_answer(&mut self, question: Question, answer: Result<Value, Unread>) {
        self.answers.insert(question, answer);
    }

    /// Returns all nodes, sorted by name.
    ///
    /// Errors: the statistics of the nodes could not be read, or they contain no node.
    pub(super) fn nodes(&self) -> Result<Vec<Node<'_>>, Unread> {
        let stats = self.answer(Question::NodeStats)?;
        let info = self.answer(Question::Nodes).unwrap_or(&Value::Null);
        let mut nodes: Vec<Node<'_>> = stats["nodes"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(id, stats)| Node {
                name: stats["name"].as_str().unwrap_or(id),
                info: &info["nodes"][id],
                stats,
                after: self.after.as_ref().map(|after| &after["nodes"][id]),
            })
            .collect();
        if nodes.is_empty() {
            return Err(Unread::new("_nodes/stats", "the answer has no nodes"));
        }
        nodes.sort_by_key(|node| node.name);
        Ok(nodes)
    }

    /// Returns the nodes that hold shards.
    pub(super) fn data_nodes(&self) -> Result<Vec<Node<'_>>, Unread> {
        let mut nodes = self.nodes()?;
        nodes.retain(Node::holds_data);
        Ok(nodes)
    }

    /// Returns a setting of the cluster or the nodes, wherever it is set; `None` when it is not even among
    /// the defaults.
    pub(super) fn setting(&self, name: &str) -> Result<Option<&str>, Unread> {
        let settings = self.answer(Question::ClusterSettings)?;
        let of_cluster = ["transient", "persistent"].iter().find_map(|part| settings[part][name].as_str());
        if of_cluster.is_some() {
            return Ok(of_cluster);
        }
        let of_node = self.nodes().ok().and_then(|nodes| nodes.iter().find_map(|node| node.setting(name)));
        Ok(of_node.or_else(|| settings["defaults"][name].as_str()))
    }

    /// Returns the names of the indices and their statistics (`total`: including replicas).
    pub(super) fn indices(&self) -> Result<Vec<(&str, &Value)>, Unread> {
        let stats = self.answer(Question::IndexStats)?;
        let indices = stats["indices"].as_object();
        let indices = indices.ok_or_else(|| Unread::new("_stats indices", "the answer has none"))?;
        Ok(indices.iter().map(|(name, stats)| (name.as_str(), stats)).collect())
    }

    pub(super) fn index_setting(&self, index: &str, name: &str) -> Result<Option<&str>, Unread> {
        let settings = &self.answer(Question::IndexSettings)?[index];
        Ok(["settings", "defaults"].iter().find_map(|part| settings[part][name].as_str()))
    }

    pub(super) fn shards(&self) -> Result<Vec<Shard<'_>>, Unread> {
        let rows = self.answer(Question::Shards)?.as_array();
        let rows = rows.ok_or_else(|| Unread::new("_cat/shards", "the answer is no list"))?;
        Ok(rows.iter().map(Shard).collect())
    }
}

fn answer(cluster: &mut Cluster, path: &str, name: &str) -> Result<Value, Unread> {
    match cluster.get(path) {
        Ok(answer) if answer.status == 200 => Ok(answer.body),
        Ok(answer) => {
            let reason = answer.reason();
            let after = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            Err(Unread::new(name, format!("status {}{after}", answer.status)))
        }
        Err(HttpError::Timeout) => Err(Unread::new(name, "the server did not answer in time")),
        Err(error) => Err(Unread::new(name, error)),
    }
}

/// One node's part of `_nodes` and `_nodes/stats`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    pub name: &'a str,
    info: &'a Value,
    stats: &'a Value,
    after: Option<&'a Value>,
}

impl<'a> Node<'a> {
    /// Returns a number of `_nodes/stats` by its dotted path.
    pub(super) fn stat(&self, path: &str) -> Result<f64, Unread> {
        number_at(self.stats, path).ok_or_else(|| self.missing(Question::NodeStats, path))
    }

    /// Returns an object of `_nodes/stats`.
    pub(super) fn stats(&self, path: &str) -> Result<&'a serde_json::Map<String, Value>, Unread> {
        at(self.stats, path).as_object().ok_or_else(|| self.missing(Question::NodeStats, path))
    }

    pub(super) fn list(&self, path: &str) -> Result<&'a Vec<Value>, Unread> {
        at(self.stats, path).as_array().ok_or_else(|| self.missing(Question::NodeStats, path))
    }

    /// Returns how much a counter of `_nodes/stats` grew while the server was watched.
    pub(super) fn growth(&self, path: &str) -> Result<f64, Unread> {
        let before = self.stat(path)?;
        let after = self.after.and_then(|after| number_at(after, path));
        after
            .map(|after| (after - before).max(0.0))
            .ok_or_else(|| Unread::new(format!("_nodes/stats {path}"), "it was not read a second time"))
    }

    /// Returns a number of `_nodes`.
    pub(super) fn info(&self, path: &str) -> Result<f64, Unread> {
        number_at(self.info, path).ok_or_else(|| self.missing(Question::Nodes, path))
    }

    pub(super) fn info_text(&self, path: &str) -> Result<&'a str, Unread> {
        at(self.info, path).as_str().ok_or_else(|| self.missing(Question::Nodes, path))
    }

    /// Returns a string of `_nodes/stats`.
    pub(super) fn stats_text(&self, path: &str) -> Result<&'a str, Unread> {
        at(self.stats, path).as_str().ok_or_else(|| self.missing(Question::NodeStats, path))
    }

    pub(super) fn info_flag(&self, path: &str) -> Result<bool, Unread> {
        at(self.info, path).as_bool().ok_or_else(|| self.missing(Question::Nodes, path))
    }

    pub(super) fn info_list(&self, path: &str) -> Result<&'a Vec<Value>, Unread> {
        at(self.info, path).as_array().ok_or_else(|| self.missing(Question::Nodes, path))
    }

    /// Returns a setting of this node (from its configuration file or command line).
    pub(super) fn setting(&self, name: &str) -> Option<&'a str> {
        let settings = &self.info["settings"];
        // Not every product honours `flat_settings` here.
        settings[name].as_str().or_else(|| at(settings, name).as_str())
    }

    pub(super) fn holds_data(&self) -> bool {
        let roles = self.stats["roles"].as_array().or_else(|| self.info["roles"].as_array());
        roles.is_none_or(|roles| {
            roles.iter().filter_map(Value::as_str).any(|role| role.starts_with("data") || role == "search")
        })
    }

    fn missing(&self, question: Question, path: &str) -> Unread {
        let why = match (question, self.info.is_null()) {
            (Question::Nodes, true) => format!("_nodes says nothing of node [{}]", self.name),
            _ => format!("the answer of node [{}] does not have it", self.name),
        };
        Unread::new(format!("{} {path}", question.name()), why)
    }
}

/// A row of `_cat/shards`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shard<'a>(&'a Value);

impl<'a> Shard<'a> {
    fn text(&self, column: &str) -> &'a str {
        self.0[column].as_str().unwrap_or_default()
    }

    pub(super) fn index(&self) -> &'a str {
        self.text("index")
    }

    pub(super) fn node(&self) -> &'a str {
        self.text("node")
    }

    pub(super) fn is_primary(&self) -> bool {
        self.text("prirep") == "p"
    }

    pub(super) fn is_unassigned(&self) -> bool {
        self.text("state") == "UNASSIGNED"
    }

    pub(super) fn unassigned_reason(&self) -> &'a str {
        self.text("unassigned.reason")
    }

    /// Returns `None` while the shard is not started.
    pub(super) fn store_bytes(&self) -> Option<f64> {
        self.text("store").parse().ok()
    }
}

/// Returns the value at a dotted path, or null if there is none.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, key| &value[key])
}

fn number_at(value: &Value, path: &str) -> Option<f64> {
    match at(value, path) {
        Value::Number(number) => number.as_f64(),
        // cgroup limits are strings because they may not fit into a long.
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
