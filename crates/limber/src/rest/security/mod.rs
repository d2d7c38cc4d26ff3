//! `_security`: users, roles, API keys, tokens, and what a user may do.
//!
//! Question answered: "which users are there, and what may they do?" The endpoints exist only while
//! `xpack.security.enabled` is true.

mod api_keys;
mod application_privileges;
mod caller;
mod entry_query;
mod identity;
mod role_mappings;
mod roles;
mod services;
mod table;
mod users;

pub use table::ROUTES;
