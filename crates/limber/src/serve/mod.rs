//! The running server: "how does a client's request reach its handler, and how does the server start and
//! stop?"
//!
//! Reading order: [`server`] combines node, pools and listener, [`accept`] accepts connections, [`answer`]
//! reads their requests, finds the handler and runs it.

mod accept;
mod answer;
mod server;
mod stack_templates;
mod tls;

pub use server::Server;
