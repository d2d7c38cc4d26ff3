//! The routes below `_security`.

use crate::http::request::Method;
use crate::rest::Route;
use crate::rest::router::{generic as slow, management as route};

use super::{api_keys, application_privileges, identity, role_mappings, roles, services, users};

const GET: &[Method] = &[Method::Get];
const WRITE: &[Method] = &[Method::Put, Method::Post];
const DELETE: &[Method] = &[Method::Delete];
const BOTH: &[Method] = &[Method::Get, Method::Post];
const REFRESH: &[&str] = &["refresh"];
const KEYS: &[&str] =
    &["id", "name", "username", "realm_name", "owner", "with_limited_by", "active_only", "with_profile_uid"];

/// The endpoints of this file (`_security`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(GET, "/_security/_authenticate", &[], identity::authenticate),
    route(GET, "/_security/user", &["with_profile_uid"], users::get),
    route(GET, "/_security/user/{username}", &["with_profile_uid"], users::get),
    // Hashing a password takes long.
    slow(WRITE, "/_security/user/{username}", REFRESH, users::put),
    route(DELETE, "/_security/user/{username}", REFRESH, users::delete),
    slow(WRITE, "/_security/user/_password", REFRESH, users::password),
    slow(WRITE, "/_security/user/{username}/_password", REFRESH, users::password),
    route(WRITE, "/_security/user/{username}/_enable", REFRESH, users::enable),
    route(WRITE, "/_security/user/{username}/_disable", REFRESH, users::disable),
    route(GET, "/_security/user/_privileges", &[], identity::privileges),
    route(BOTH, "/_security/user/_has_privileges", &[], identity::has_privileges),
    route(BOTH, "/_security/user/{username}/_has_privileges", &[], identity::has_privileges),
    route(GET, "/_security/role", &[], roles::get),
    route(&[Method::Post], "/_security/role", REFRESH, roles::put_many),
    route(DELETE, "/_security/role", REFRESH, roles::delete_many),
    route(BOTH, "/_security/_query/role", &[], roles::query),
    route(BOTH, "/_security/_query/user", &["with_profile_uid"], users::query),
    route(GET, "/_security/role/{name}", &[], roles::get),
    route(WRITE, "/_security/role/{name}", REFRESH, roles::put),
    route(DELETE, "/_security/role/{name}", REFRESH, roles::delete),
    route(WRITE, "/_security/role/{name}/_clear_cache", &[], identity::clear_cache),
    route(WRITE, "/_security/realm/{realms}/_clear_cache", &["usernames"], identity::clear_cache),
    route(WRITE, "/_security/api_key/{ids}/_clear_cache", &[], identity::clear_cache),
    route(
        WRITE,
        "/_security/service/{namespace}/{service}/credential/token/{name}/_clear_cache",
        &[],
        identity::clear_cache,
    ),
    route(WRITE, "/_security/privilege/{application}/_clear_cache", &[], identity::clear_cache),
    route(GET, "/_security/role_mapping", &[], role_mappings::get),
    route(GET, "/_security/role_mapping/{name}", &[], role_mappings::get),
    route(WRITE, "/_security/role_mapping/{name}", REFRESH, role_mappings::put),
    route(DELETE, "/_security/role_mapping/{name}", REFRESH, role_mappings::delete),
    route(WRITE, "/_security/api_key", REFRESH, api_keys::create),
    route(GET, "/_security/api_key", KEYS, api_keys::get),
    route(DELETE, "/_security/api_key", &[], api_keys::invalidate),
    route(&[Method::Put], "/_security/api_key/{id}", &[], api_keys::update),
    route(&[Method::Post], "/_security/api_key/_bulk_update", &[], api_keys::bulk_update),
    route(
        BOTH,
        "/_security/_query/api_key",
        &["with_limited_by", "typed_keys", "with_profile_uid"],
        api_keys::query,
    ),
    slow(&[Method::Post], "/_security/api_key/grant", REFRESH, api_keys::grant),
    route(GET, "/_security/privilege", &[], application_privileges::get),
    route(GET, "/_security/privilege/{application}", &[], application_privileges::get),
    route(GET, "/_security/privilege/{application}/{privilege}", &[], application_privileges::get),
    route(WRITE, "/_security/privilege", REFRESH, application_privileges::put),
    route(DELETE, "/_security/privilege/{application}/{privilege}", REFRESH, application_privileges::delete),
    route(GET, "/_security/privilege/_builtin", &[], application_privileges::builtin),
    route(GET, "/_security/service", &[], services::get),
    route(GET, "/_security/service/{namespace}", &[], services::get),
    route(GET, "/_security/service/{namespace}/{service}", &[], services::get),
    route(GET, "/_security/service/{namespace}/{service}/credential", &[], services::credentials),
    route(
        WRITE,
        "/_security/service/{namespace}/{service}/credential/token/{name}",
        REFRESH,
        services::create,
    ),
    route(
        &[Method::Post],
        "/_security/service/{namespace}/{service}/credential/token",
        REFRESH,
        services::create,
    ),
    route(
        DELETE,
        "/_security/service/{namespace}/{service}/credential/token/{name}",
        REFRESH,
        services::delete,
    ),
];
