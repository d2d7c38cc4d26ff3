//! `_security/user`: users, their passwords, and whether they are enabled.

use limber_access::{AuthenticationType, RESERVED_USERS, User, reserved_user};
use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::caller::{caller, check_may};
use super::entry_query::{Query, USER};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;

pub(super) fn get(app: &App, request: &Request) -> Result<Response> {
    let store = app.node.security();
    let asked = request.list("username");
    let names: Vec<String> = match asked.is_empty() {
        true => {
            let own = store.users.keys().filter(|name| reserved_user(name).is_none()).map(str::to_owned);
            RESERVED_USERS.iter().map(|(name, _)| (*name).to_owned()).chain(own).collect()
        }
        false => asked.clone(),
    };
    let mut shown = Map::new();
    for name in names {
        limber_work::check()?;
        if let Some((user, _)) = store.user(&name) {
            let entry = user.shown(&name);
            shown.insert(name, entry);
        }
    }
    let status = if shown.is_empty() && !asked.is_empty() { 404 } else { 200 };
    Ok(Response::json(status, Value::Object(shown)))
}

/// Queries the native users. Source: `TransportQueryUserAction`.
pub(super) fn query(app: &App, request: &Request) -> Result<Response> {
    // There are no profiles, so no user has one.
    request.flag_or("with_profile_uid", false)?;
    let query = Query::parse(&request.json()?.unwrap_or_else(|| json!({})), &USER)?;
    let store = app.node.security();
    let own = store.users.iter().filter(|(name, _)| reserved_user(name).is_none());
    Ok(Response::ok(query.answer(own.map(|(name, user)| user.shown(name)), "users")?))
}

pub(super) fn put(app: &App, request: &Request) -> Result<Response> {
    let name = request.path("username");
    let body = request.json_required()?;
    if reserved_user(name).is_some() {
        return Err(RequestError::validation([format!(
            "user [{name}] is reserved and only the password can be changed"
        )]));
    }
    // The password is hashed before the lock is taken. An existing user keeps its password if the body has
    // none.
    let user = User::parse(name, &body)?;
    let created = app.node.change_security(|store| store.put_user(name, user))?;
    Ok(Response::ok(json!({"created": created})))
}

pub(super) fn delete(app: &App, request: &Request) -> Result<Response> {
    let name = request.path("username");
    if reserved_user(name).is_some() {
        return Err(RequestError::illegal_argument(format!(
            "user [{name}] is reserved and cannot be deleted"
        )));
    }
    let found = app.node.change_security(|store| Ok(store.users.remove(name)))?;
    Ok(Response::json(if found { 200 } else { 404 }, json!({"found": found})))
}

/// Changes the caller's own password, or another user's if that is allowed.
pub(super) fn password(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let own = &access.identity;
    let name = request.param("username").unwrap_or(&own.username).to_owned();
    let may_change_own =
        own.username == name && own.authentication == AuthenticationType::Realm && own.run_by.is_none();
    if !may_change_own {
        check_may(&access, "cluster:admin/xpack/security/user/change_password")?;
    }
    let body = request.json_required()?;
    let object = body.as_object().ok_or_else(|| RequestError::parsing("expected an object"))?;
    let mut members = object.iter();
    let (Some((key, value)), None) = (members.next(), members.next()) else {
        return Err(RequestError::parsing("expected [password] or [password_hash]"));
    };
    if !["password", "password_hash"].contains(&key.as_str()) {
        return Err(RequestError::parsing(format!(
            "failed to parse change password request. unexpected field [{key}]"
        )));
    }
    // The password is hashed before the lock is taken.
    let mut hashed = (*app.node.security()).clone();
    hashed.set_password(&name, key, value)?;
    let hash = hashed.users.get(&name).and_then(|user| user.password_hash.clone()).unwrap_or_default();
    app.node.change_security(|store| store.set_password(&name, "password_hash", &Value::from(hash)))?;
    Ok(Response::ok(json!({})))
}

pub(super) fn enable(app: &App, request: &Request) -> Result<Response> {
    set_enabled(app, request, true)
}

pub(super) fn disable(app: &App, request: &Request) -> Result<Response> {
    set_enabled(app, request, false)
}

fn set_enabled(app: &App, request: &Request, enabled: bool) -> Result<Response> {
    let name = request.path("username");
    if caller()?.identity.username == name {
        return Err(RequestError::illegal_argument(
            "users may not update the enabled status of their own account",
        ));
    }
    app.node.change_security(|store| store.set_enabled(name, enabled))?;
    Ok(Response::ok(json!({})))
}
