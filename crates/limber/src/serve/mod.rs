//! The running server: "how does a client's request reach its handler, and how does the server start and
//! stop?"
//!
//! Reading order: [`server`] combines node, pools and listener, [`accept`] accepts connections, [`answer`]
//! answers their requests: it finds the route, has the [`body`] read and the [`job`] run on a pool.

mod accept;
mod answer;
mod body;
mod job;
mod server;
mod stack_templates;
mod tls;

pub use server::Server;
