//! Another server as the source of `_reindex`: "which documents does that search find over there?"
//!
//! Reading order: [`settings`] says which servers may be asked and whom TLS trusts, [`host`] reads the
//! request's `remote`, [`scroll`] is the conversation in the words of the remote's version, [`exchange`] one
//! request of it with its time limits and retries, [`answer`] what came back.
//!
//! A request decides whom this server talks to, so that nothing but listed hosts is ever connected to: no
//! redirect is followed, no proxy is asked. Secrets of a request are shown nowhere: not in tasks, logs, or
//! errors, also where the other server repeats them.
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
