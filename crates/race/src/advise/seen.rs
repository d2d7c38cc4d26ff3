//! The observations that a rule may use.

use super::experiment::{Experiment, megabytes};
use super::finding::Unread;
use super::gc::GcFigures;
use super::machine::Machine;
use super::server::{Kind, Node, Server};

/// Everything that was read. It is read once, before the first rule runs.
pub(super) struct Seen {
    /// As the user wrote it, for the experiments.
    pub host: String,
    pub server: Server,
    /// Seconds between the two readings of counters.
    pub window_s: f64,
    /// The machine of the server's process, or why it is not this one.
    pub machine: Result<Machine, Unread>,
    /// Figures of the GC logs, or why there are none.
    pub gc: Result<GcFigures, Unread>,
}

impl Seen {
    pub(super) fn is_limber(&self) -> bool {
        self.server.product.kind == Kind::Limber
    }

    pub(super) fn machine(&self) -> Result<&Machine, Unread> {
        self.machine.as_ref().map_err(Clone::clone)
    }

    pub(super) fn experiment(&self) -> Experiment<'_> {
        let folder = self.server.nodes().ok().and_then(|nodes| nodes.first()?.setting("path.home"));
        let indices = self.server.indices().unwrap_or_default().into_iter().map(|(name, _)| name).collect();
        Experiment { host: &self.host, product: &self.server.product, folder, indices }
    }

    /// Returns the knob for the server's memory, with three values: the current size, twice and four times
    /// that.
    pub(super) fn memory_knob(&self) -> (&'static str, String) {
        let name = if self.is_limber() { "memory-limit" } else { "heap" };
        let nodes = self.server.nodes().unwrap_or_default();
        let bytes = nodes.first().and_then(|node| node.info("jvm.mem.heap_max_in_bytes").ok());
        let bytes = bytes.unwrap_or((1u64 << 30) as f64);
        (name, [1.0, 2.0, 4.0].map(|times| megabytes(times * bytes)).join(","))
    }

    /// Returns the node whose process runs on this machine.
    pub(super) fn local_node(&self) -> Result<Node<'_>, Unread> {
        let pid = f64::from(self.machine()?.pid);
        let nodes = self.server.nodes()?;
        let is_local = |node: &&Node<'_>| node.info("process.id").is_ok_and(|id| id == pid);
        // With --pid, the server may report another process id (a container's).
        let only = if nodes.len() == 1 { nodes.first() } else { None };
        let found = nodes.iter().find(is_local).or(only);
        found
            .copied()
            .ok_or_else(|| Unread::new("_nodes process.id", format!("no node has the process {pid}")))
    }
}
