//! `_security`: users, roles, API keys, tokens, and what somebody may do.
//!
//! Question answered: "who is there, and who may do what?" The endpoints exist only while
//! `xpack.security.enabled` is true.

mod api_keys;
mod application_privileges;
mod caller;
mod entry_query;
mod identity;
mod oauth2;
mod role_mappings;
mod roles;
mod services;
mod table;
mod users;

pub use table::ROUTES;
