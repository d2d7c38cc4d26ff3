//! Who may do what: users, roles, privileges, API keys and tokens, in Elasticsearch's terms.
//!
//! The question it answers: "may this request carry out this action on these names, and what of them may it
//! see?"
//!
//! A request that was granted access carries an [`Access`] on each of its threads ([`Access::enter`],
//! [`carried`]). Code that resolves names or opens shards calls [`current`] instead of taking a parameter,
//! so that a new endpoint cannot forget the check. Outside a request, and while security is off, there is
//! no access and everything is allowed.
//!
//! What the server does later for a user, such as a transform, runs with the access of its [`Author`].
//!
//! An action of the cluster may not read or write documents or delete indices. Code that does so for one
//! enters an action on indices with [`acting`], or states with [`aside`] that the server does it for itself.
//!
//! **Invariant**: this crate knows nothing of HTTP, disks or documents. Secrets leave it only as hashes, or
//! once, when they are created.

#![deny(missing_docs)]

mod access;
mod api_key;
mod author;
mod builtin;
mod cluster;
mod denial;
mod descriptor;
mod entry;
mod identity;
mod index;
mod pattern;
mod query_template;
mod reach;
mod rights;
mod role_mapping;
mod secret;
mod service;
mod shared_map;
mod store;
mod user;

pub use access::{Access, Acting, Entered, acting, aside, carried, current};
pub use api_key::{ApiKey, ApiKeyDraft};
pub use author::Author;
pub use builtin::{RESERVED_ROLES, RESERVED_USERS, reserved_role, reserved_user};
pub use cluster::{CLUSTER_PRIVILEGES, is_cluster_action};
pub use descriptor::{FieldRule, IndexEntry, NamedRoles, RoleDescriptor, check_metadata_size};
pub use entry::{EntryChange, EntryKind};
pub use identity::{AuthenticationType, Identity, Realm};
pub use index::INDEX_PRIVILEGES;
pub use pattern::NamePattern;
pub use reach::{Limits, Part, Reach};
pub use rights::{ClusterVerdict, Rights, Role};
pub use role_mapping::RoleMapping;
pub use secret::{
    SecretKey, digest_matches, hash_password, new_password, new_secret, new_uuid, password_matches,
    secret_digest,
};
pub use service::{SERVICE_ACCOUNTS, ServiceAccount, ServiceToken};
pub use shared_map::{Difference, SharedMap};
pub use store::{Store, privilege_key};
pub use user::{User, check_name};

/// Errors have Elasticsearch's form and messages.
pub type Result<T> = std::result::Result<T, limber_mapping::RequestError>;
