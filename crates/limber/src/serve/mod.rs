//! The running server: "a client connects and asks; who answers it, and what ends when the server ends?"
//!
//! Reading order: [`server`] is node, pools and listener as one, [`accept`] takes clients in, [`answer`]
//! reads their requests, finds the handler and runs it.

mod accept;
mod answer;
mod server;
mod stack_templates;
mod tls;

pub use server::Server;
