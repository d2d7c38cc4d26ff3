//! The state that every handler can reach.

use std::sync::Arc;

use limber_engine::Node;

use super::ROUTES;
use super::router::Routes;
use super::searches::search_usage::SearchUsage;
use super::server::usage::Usage;
use crate::http::back_pressure::BackPressure;
use crate::http::connections::Connections;
use crate::http::pools::Pools;
use crate::http::slow::SlowRequests;
use crate::remote::RemoteSettings;
use crate::security::{Guard, SecretsFile, ServerTls};

/// The facts in `GET /` and `_nodes` that do not come from the engine.
#[derive(Debug, Clone)]
pub struct AppConfig {
    /// `compat.version`: the Elasticsearch version claimed.
    pub compat_version: String,
    /// The `host:port` that the server listens on.
    pub http_address: String,
    pub max_content_bytes: usize,
    /// `node.attr.*`.
    pub node_attributes: Vec<(String, String)>,
    pub cores: usize,
    pub remote: RemoteSettings,
    /// TLS of the listener; `None` if it is off.
    pub tls: Option<ServerTls>,
    /// The file with secure settings.
    pub secrets: Option<SecretsFile>,
    /// `page.enabled`: browsers get a page at `/`.
    pub is_page_enabled: bool,
}

/// The state that all handlers share: the node, and the parts of request handling outside it.
pub struct App {
    pub node: Arc<Node>,
    pub pools: Pools,
    pub connections: Arc<Connections>,
    pub routes: Routes,
    pub slow_requests: SlowRequests,
    pub back_pressure: Arc<BackPressure>,
    pub usage: Usage,
    pub search_usage: SearchUsage,
    pub config: AppConfig,
    /// `None` if security is off.
    pub guard: Option<Guard>,
}

impl App {
    /// Starts the pools for an open node. Fails if the system cannot start threads.
    pub fn new(
        node: Arc<Node>,
        connections: Arc<Connections>,
        config: AppConfig,
        guard: Option<Guard>,
    ) -> std::io::Result<App> {
        let (pools, routes) = (Pools::start(config.cores)?, Routes::new(ROUTES));
        let slow_requests = SlowRequests::default();
        let back_pressure = Arc::default();
        let usage = Usage::new(ROUTES.iter().flat_map(|table| table.iter()).map(|route| route.path));
        let search_usage = SearchUsage::default();
        Ok(App {
            node,
            pools,
            connections,
            routes,
            slow_requests,
            back_pressure,
            usage,
            search_usage,
            config,
            guard,
        })
    }
}
