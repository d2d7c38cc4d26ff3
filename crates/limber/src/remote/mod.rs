//! Another server as the source of `_reindex`: "which documents does that search find there?"
//!
//! Reading order: [`settings`] says which servers are allowed and which certificates TLS trusts, [`host`]
//! parses the request's `remote`, [`scroll`] runs the scroll in the API of the remote's version, [`exchange`]
//! sends one request with its timeouts and retries, [`answer`] parses the responses.
//!
//! A request chooses the server to connect to, so only listed hosts are ever connected to: redirects are not
//! followed, and no proxy is used. Secrets of a request are shown nowhere: neither in tasks, logs or errors,
//! nor where the other server repeats them.
//!
//! Source: Elasticsearch's `Reindexer`, `RemoteInfo`, `RemoteRequestBuilders`, `RemoteScrollableHitSource`.

mod answer;
mod exchange;
mod host;
mod scroll;
mod settings;

pub use host::RemoteHost;
pub use scroll::{RemoteSearch, RemoteSource};
pub use settings::{RemoteSettings, TlsSettings};
