//! A running server: node, pools and listener, started and stopped together.
//!
//! Used by `limber serve` (until a signal) and by `limber race` (for the duration of a race, on a free port).

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use limber_engine::{Node, NodeConfig};
use limber_store::Process;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::accept;
use super::tls::Tls;
use crate::config::{Config, shown_paths};
use crate::http::back_pressure::Mode;
use crate::http::config::HttpConfig;
use crate::http::connections::Connections;
use crate::machine::{self, FreedMemory, MappedMemory, ProgramPages, Reserved, cannot_listen};
use crate::rest::{App, AppConfig};
use crate::security::{Guard, SecuritySettings};

/// Interval between measurements of the process's memory. A pool that fills at 1 GB/s grows by 50 MB in
/// between.
const MEASURE_EVERY: Duration = Duration::from_millis(50);
/// The interval while more than half of `memory.limit` is in use.
const MEASURE_FILLING_EVERY: Duration = Duration::from_millis(10);

/// Creates the guard that authorizes requests. `None` if security is off, so that every request is let in.
fn guard(settings: &SecuritySettings, config: &Config, cores: usize) -> Result<Option<Guard>> {
    settings.enabled.then(|| Guard::new(settings, config.main_data_path(), cores)).transpose()
}

/// Raises the limit of file descriptors, and returns how many connections it and the memory allow.
fn connections(config: &Config) -> Result<Connections> {
    machine::start_disk_traffic();
    let descriptors =
        machine::raise_descriptor_limit().context("cannot read the limit of file descriptors")?;
    let connections = Connections::new(config.max_connections, descriptors.count, config.memory_limit_bytes);
    tracing::info!(
        limit = descriptors.count,
        limit_before = descriptors.before,
        connections_max = connections.max(),
        "file descriptors"
    );
    Ok(connections)
}

/// Opens the data folder and recovers its node.
fn open_node(config: &Config, cores: usize) -> Result<Arc<Node>> {
    Node::open(NodeConfig {
        data_paths: config.data_paths.clone(),
        memory_limit_bytes: config.memory_limit_bytes,
        cluster_name: config.cluster_name.clone(),
        node_name: config.node_name.clone(),
        compat_version: config.compat_version.clone(),
        settings: config.engine_settings.clone(),
        background_threads: true,
        search_processors: cores,
    })
    // A mistake in the settings is not the folder's fault, and the error's Elasticsearch name would not
    // help here.
    .map_err(|error| match error.class.is_refusal() {
        true => anyhow::Error::msg(error.reason),
        false => anyhow::Error::msg(error.reason)
            .context(format!("cannot open the data folder {}", shown_paths(&config.data_paths))),
    })
}

/// Starts the threads that move bytes between sockets and handlers.
fn network_runtime(config: &Config) -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.network_threads)
        .thread_name("http")
        .on_thread_start(machine::prefer_short_turns)
        .enable_all()
        .build()
        .context("cannot start the network threads")
}

/// Starts the thread that measures the memory of the process, for as long as the node is open. The thread
/// returns freed memory to the system, and cancels searches while memory is short.
fn measure_memory(config: &Config, node: &Arc<Node>, app: &App) -> Result<()> {
    let measured = Arc::downgrade(node);
    let mut program = ProgramPages::new(config.memory_limit_bytes);
    program.measure();
    node.ledger()
        .parent
        .measure_by(Process { held_bytes: machine::held_bytes, give_back: machine::give_back_freed });
    let back_pressure = app.back_pressure.clone();
    let mut mapped = MappedMemory::new(config.memory_limit_bytes);
    let mut freed = FreedMemory::new(config.memory_limit_bytes, config.freed_memory_keep);
    std::thread::Builder::new()
        .name("memory".into())
        .spawn(move || {
            // The memory that it measures can grow with every millisecond that it waits for a processor.
            machine::prefer_short_turns();
            while let Some(node) = measured.upgrade() {
                program.measure();
                let resident = machine::resident();
                mapped.adjust_to(resident);
                let held_bytes = resident.held_bytes();
                node.ledger().parent.measure(held_bytes);
                if freed.adjust_to(held_bytes) {
                    node.ledger().parent.give_back();
                }
                let mode = || Mode::of(&node.cluster_setting("search_backpressure.mode"));
                back_pressure.look(held_bytes, node.ledger().limit_bytes, mode);
                let is_filling = held_bytes > node.ledger().limit_bytes / 2;
                drop(node);
                std::thread::sleep(if is_filling { MEASURE_FILLING_EVERY } else { MEASURE_EVERY });
            }
        })
        .context("cannot start the thread that measures memory")?;
    Ok(())
}

/// A running server. Dropping it leaves it running; call [`Server::stop`].
pub struct Server {
    pub address: SocketAddr,
    node: Arc<Node>,
    stop: Arc<Notify>,
    network: Option<JoinHandle<()>>,
}

impl Server {
    /// Opens the data folder, recovers and listens on the reserved address. Returns when the server answers
    /// requests.
    pub fn start(config: &Config, reserved: Reserved) -> Result<Server> {
        let connections = Arc::new(connections(config)?);
        limber_work::count_allocations_by(machine::allocated_bytes);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let tls = config.security.tls.clone().map(Tls::open).transpose()?.map(Arc::new);
        let node = open_node(config, cores)?;
        // It writes into the data folder, which is ours now.
        let guard = guard(&config.security, config, cores)?;
        if config.has_stack_templates {
            super::stack_templates::install(&node);
        }
        let runtime = network_runtime(config)?;
        // Only a runtime's own threads may make a listener of tokio.
        let listener = runtime
            .block_on(async { reserved.listen().and_then(TcpListener::from_std) })
            .map_err(|error| cannot_listen(&config.http_address, &error))?;
        let address = listener.local_addr().context("cannot read the listener's address")?;
        let app = App::new(
            node.clone(),
            connections,
            AppConfig {
                compat_version: config.compat_version.clone(),
                http_address: address.to_string(),
                max_content_bytes: config.max_content_bytes,
                node_attributes: config.node_attributes.clone(),
                cores,
                remote: config.remote.clone(),
                tls: config.security.tls.clone(),
                secrets: config.secrets.clone(),
                is_page_enabled: config.is_page_enabled,
            },
            guard,
        )
        .context("cannot start the thread pools")?;
        let http = HttpConfig {
            max_content_bytes: config.max_content_bytes,
            compression: config.compression,
            cors: config.cors.clone(),
        };
        let app = Arc::new(app);
        measure_memory(config, &node, &app)?;
        let stop = Arc::new(Notify::new());
        let stop_network = stop.clone();
        let network = std::thread::Builder::new()
            .name("network".into())
            .spawn(move || {
                runtime.block_on(accept::serve(listener, app, http, tls, stop_network));
                runtime.shutdown_timeout(Duration::from_secs(2));
            })
            .context("cannot start the network thread")?;
        Ok(Server { address, node, stop, network: Some(network) })
    }

    /// Returns the node, for setting it up before the first request.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the loggers whose level is set in the cluster settings.
    pub fn loggers(&self) -> Vec<(String, String)> {
        self.node.loggers()
    }

    /// Stops listening, then closes the node (flushes it and releases the folder).
    pub fn stop(mut self) {
        self.stop.notify_one();
        if let Some(network) = self.network.take() {
            let _ = network.join();
        }
        self.node.close();
    }

    /// Runs until SIGINT or SIGTERM, then stops.
    pub fn run_until_signal(self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut terminate = signal(SignalKind::terminate())?;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            anyhow::Ok(())
        })?;
        tracing::info!("stopping");
        self.stop();
        Ok(())
    }
}
