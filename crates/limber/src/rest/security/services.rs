//! `_security/service`: service accounts and their tokens.

use limber_access::{SERVICE_ACCOUNTS, ServiceAccount, ServiceToken, new_secret, new_uuid, secret_digest};
use limber_engine::Result;
use limber_mapping::{ErrorClass, RequestError};
use serde_json::{Map, Value, json};

use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;
use crate::security::{now_ms, service_token_value};

const NAME_LENGTH_MAX: usize = 256;

pub(super) fn get(_: &App, request: &Request) -> Result<Response> {
    let is_asked = |account: &&ServiceAccount| {
        request.param("namespace").is_none_or(|namespace| namespace == account.namespace)
            && request.param("service").is_none_or(|service| service == account.service)
    };
    let mut shown = Map::new();
    for account in SERVICE_ACCOUNTS.iter().filter(is_asked) {
        shown.insert(account.principal(), json!({"role_descriptor": account.role()?.to_json()}));
    }
    Ok(Response::ok(Value::Object(shown)))
}

fn account(request: &Request) -> Result<&'static ServiceAccount> {
    let (namespace, service) = (request.path("namespace"), request.path("service"));
    ServiceAccount::find(namespace, service).ok_or_else(|| {
        RequestError::illegal_argument(format!("service account [{namespace}/{service}] does not exist"))
    })
}

pub(super) fn credentials(app: &App, request: &Request) -> Result<Response> {
    let principal = account(request)?.principal();
    let prefix = format!("{principal}/");
    let store = app.node.security();
    let names = store.service_tokens.keys().filter_map(|name| name.strip_prefix(&prefix));
    let tokens: Map<String, Value> = names.map(|name| (name.to_owned(), json!({}))).collect();
    Ok(Response::ok(json!({
        "service_account": principal,
        "count": tokens.len(),
        "tokens": tokens,
        "nodes_credentials": {"_nodes": {"total": 1, "successful": 1, "failed": 0}, "file_tokens": {}},
    })))
}

pub(super) fn create(app: &App, request: &Request) -> Result<Response> {
    let account = account(request)?;
    let name = request.param("name").map_or_else(|| format!("token_{}", new_uuid()), str::to_owned);
    check_name(&name)?;
    let place = format!("{}/{name}", account.principal());
    let secret = new_secret();
    let token = ServiceToken { creation_ms: now_ms(), digest: secret_digest(&secret) };
    app.node.change_security(|store| match store.service_tokens.contains_key(&place) {
        true => Err(RequestError::new(
            ErrorClass::Conflict,
            "version_conflict_engine_exception",
            format!("[service_account_token-{place}]: version conflict, document already exists"),
        )),
        false => {
            store.service_tokens.insert(&place, token);
            Ok(())
        }
    })?;
    let value = service_token_value(&place, &secret);
    Ok(Response::ok(json!({"created": true, "token": {"name": name, "value": value}})))
}

pub(super) fn delete(app: &App, request: &Request) -> Result<Response> {
    let place = format!("{}/{}", account(request)?.principal(), request.path("name"));
    let found = app.node.change_security(|store| Ok(store.service_tokens.remove(&place)))?;
    Ok(Response::json(if found { 200 } else { 404 }, json!({"found": found})))
}

fn check_name(name: &str) -> Result<()> {
    let is_valid = (1..=NAME_LENGTH_MAX).contains(&name.len())
        && !name.starts_with('_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    match is_valid {
        true => Ok(()),
        false => Err(RequestError::validation([format!(
            "service account token name must have at least 1 character and at most {NAME_LENGTH_MAX} characters that are alphanumeric \
             (A-Z, a-z, 0-9) or hyphen (-) or underscore (_). It must not begin with an underscore (_)."
        )])),
    }
}
