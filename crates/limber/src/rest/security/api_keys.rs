//! `_security/api_key`: keys with at most the privileges that their owner had when they were created or last
//! changed.

use std::collections::HashSet;
use std::sync::Arc;

use limber_access::{
    Access, ApiKey, ApiKeyDraft, AuthenticationType, Identity, NamePattern, NamedRoles, Store, new_secret,
    new_uuid, password_matches, secret_digest,
};
use limber_engine::Result;
use limber_mapping::{ErrorClass, ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::caller::caller;
use super::entry_query::{API_KEY, Query};
use crate::http::request::{Request, parse_time_ms};
use crate::http::response::Response;
use crate::rest::App;
use crate::security::now_ms;

pub(super) fn create(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let draft = ApiKeyDraft::parse(&request.json_required()?)?;
    make(app, &access.identity, draft)
}

/// Creates a key of `owner`. Its secret is only shown in this response.
fn make(app: &App, owner: &Identity, draft: ApiKeyDraft) -> Result<Response> {
    let Some(name) = draft.name else { return Err(RequestError::validation(["api key name is required"])) };
    let roles = draft.roles.unwrap_or_default();
    check_derived(owner, &roles)?;
    let expiration_ms = expiration(draft.expiration.as_deref())?;
    let (id, secret) = (new_uuid(), new_secret());
    let key = ApiKey {
        name: name.clone(),
        creation_ms: now_ms(),
        expiration_ms,
        invalidation_ms: None,
        username: owner.username.clone(),
        realm: owner.realm.name.into(),
        realm_kind: owner.realm.kind.into(),
        owner_full_name: owner.full_name.clone(),
        owner_email: owner.email.clone(),
        owner_metadata: Arc::new(owner.metadata.clone()),
        owner_roles: owner.roles.clone(),
        metadata: Arc::new(draft.metadata.unwrap_or_default()),
        roles: Arc::new(roles),
        limited_by: Arc::default(),
        digest: secret_digest(&secret),
    };
    app.node.change_security(|store| {
        // The owner's roles are taken under the lock, so that they are current.
        let key = ApiKey { limited_by: Arc::new(store.limiting_roles(owner)?), ..key };
        store.api_keys.insert(&id, key);
        Ok(())
    })?;
    let encoded =
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{id}:{secret}"));
    let mut body = json!({"id": id, "name": name});
    if let Some(expiration) = expiration_ms {
        body["expiration"] = expiration.into();
    }
    body["api_key"] = secret.into();
    body["encoded"] = encoded.into();
    Ok(Response::ok(body))
}

/// Checks that a key created by an API key has no privileges, because it would outlive that key.
fn check_derived(owner: &Identity, roles: &NamedRoles) -> Result<()> {
    let is_powerless = |roles: &NamedRoles| {
        !roles.is_empty()
            && roles.iter().all(|(_, role)| {
                role.cluster.is_empty()
                    && role.indices.is_empty()
                    && role.applications.is_empty()
                    && role.run_as.is_empty()
            })
    };
    match owner.is_api_key() && !is_powerless(roles) {
        true => Err(RequestError::illegal_argument(
            "creating derived api keys requires an explicit role descriptor that is empty (has no privileges)",
        )),
        false => Ok(()),
    }
}

fn expiration(text: Option<&str>) -> Result<Option<u64>> {
    let Some(text) = text else { return Ok(None) };
    let ms = parse_time_ms("expiration", text)?;
    Ok(Some(now_ms().saturating_add(ms)))
}

/// Creates a key for another user: the caller must know the user's password or be allowed to impersonate the
/// user.
pub(super) fn grant(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let body = request.json_required()?;
    for (key, _) in body.as_object().into_iter().flatten() {
        if !["grant_type", "username", "password", "access_token", "run_as", "api_key"]
            .contains(&key.as_str())
        {
            return Err(ObjectParser::parsing("grant_api_key_request").unknown(key));
        }
    }
    match body["grant_type"].as_str() {
        Some("password") => {}
        Some("access_token") => return Err(RequestError::unsupported("[grant_type] [access_token]")),
        _ => return Err(RequestError::validation(["grant_type must be one of [password, access_token]"])),
    }
    let (Some(username), Some(password)) = (body["username"].as_str(), body["password"].as_str()) else {
        return Err(RequestError::validation([
            "username and password are required for grant_type [password]",
        ]));
    };
    let store = app.node.security();
    let _room = app
        .node
        .ledger()
        .request
        .charge(20 << 20, "<password>")
        .map_err(|error| crate::http::refusal::circuit_breaking(&error))?;
    let found = store.user(username);
    let hash = found.as_ref().and_then(|(user, _)| user.password_hash.as_deref());
    let is_right = password_matches(password, hash);
    let Some((user, realm)) = found.filter(|(user, _)| is_right && user.enabled) else {
        return Err(RequestError::new(
            ErrorClass::Unauthenticated,
            "security_exception",
            format!("unable to authenticate user [{username}] for action [{}]", access.action()),
        ));
    };
    let mut owner = user.identity(username, realm);
    if let Some(other) = body["run_as"].as_str() {
        store.rights_of(&owner)?.check_run_as(&owner, access.action(), other)?;
        let (user, realm) = store
            .user(other)
            .filter(|(user, _)| user.enabled)
            .ok_or_else(|| RequestError::illegal_argument(format!("there is no user [{other}]")))?;
        owner = user.identity(other, realm);
    }
    make(app, &owner, ApiKeyDraft::parse(&body["api_key"])?)
}

pub(super) fn update(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let id = request.path("id");
    let draft = match request.has_body() {
        true => ApiKeyDraft::parse(&request.json_required()?)?,
        false => ApiKeyDraft::default(),
    };
    if draft.name.is_some() {
        return Err(ObjectParser::parsing("update_api_key_request_payload").unknown("name"));
    }
    check_may_update(&access)?;
    let expiration_ms = expiration(draft.expiration.as_deref())?;
    let updated = app.node.change_security(|store| {
        let update = Update::new(store, &access, &draft, expiration_ms)?;
        update.apply(store, id)
    })?;
    Ok(Response::ok(json!({"updated": updated})))
}

/// Updates several keys. Source: `RestBulkUpdateApiKeyAction`, `BulkUpdateApiKeyResponse`.
pub(super) fn bulk_update(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let mut body = request.json_required()?;
    let ids = body.as_object_mut().and_then(|body| body.shift_remove("ids"));
    let ids = ids_of(ids.ok_or_else(|| RequestError::illegal_argument("Required [ids]"))?)?;
    if ids.is_empty() {
        return Err(RequestError::validation(["Field [ids] cannot be empty"]));
    }
    let draft = ApiKeyDraft::parse(&body)?;
    if draft.name.is_some() {
        return Err(ObjectParser::parsing("bulk_update_api_key_request").unknown("name"));
    }
    check_may_update(&access)?;
    let expiration_ms = expiration(draft.expiration.as_deref())?;
    let (mut updated, mut unchanged, mut errors) = (Vec::new(), Vec::new(), Map::new());
    app.node.change_security(|store| {
        let update = Update::new(store, &access, &draft, expiration_ms)?;
        for id in &ids {
            limber_work::check()?;
            match update.apply(store, id) {
                Ok(true) => updated.push(id.as_str()),
                Ok(false) => unchanged.push(id.as_str()),
                Err(error) => drop(errors.insert(id.clone(), error.to_json())),
            }
        }
        Ok(())
    })?;
    let mut answer = json!({"updated": updated, "noops": unchanged});
    if !errors.is_empty() {
        answer["errors"] = json!({"count": errors.len(), "details": errors});
    }
    Ok(Response::ok(answer))
}

/// Returns the ids in a list, or a single id. Numbers and booleans are accepted as strings, as in
/// Elasticsearch (`ObjectParser#declareStringArray`).
fn ids_of(value: Value) -> Result<Vec<String>> {
    let items = match value {
        Value::Array(items) => items,
        one @ Value::String(_) => vec![one],
        other => {
            return Err(ObjectParser::new("bulk_update_api_key_request").unsupported("ids", &other));
        }
    };
    let text = |item: &Value| match item {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(item.to_string()),
        other => {
            let cause = match other {
                Value::Array(_) => "expected value but got [START_ARRAY]".to_owned(),
                other => format!("Expected text but found {}", limber_mapping::token(other)),
            };
            let cause = RequestError::illegal_argument(cause);
            Err(ObjectParser::new("bulk_update_api_key_request").failed("ids", cause))
        }
    };
    items.iter().map(text).collect()
}

fn check_may_update(access: &Access) -> Result<()> {
    match access.identity.is_api_key() {
        true => Err(RequestError::illegal_argument(
            "authentication via API key not supported: only the owner user can update an API key",
        )),
        false => Ok(()),
    }
}

/// What an update sets of each key. The keys share what is large.
struct Update<'u> {
    owner: &'u Identity,
    limited_by: Arc<NamedRoles>,
    roles: Option<Arc<NamedRoles>>,
    metadata: Option<Arc<Map<String, Value>>>,
    expiration_ms: Option<u64>,
}

impl<'u> Update<'u> {
    fn new(
        store: &Store,
        access: &'u Access,
        draft: &ApiKeyDraft,
        expiration_ms: Option<u64>,
    ) -> Result<Update<'u>> {
        Ok(Update {
            owner: &access.identity,
            limited_by: Arc::new(store.limiting_roles(&access.identity)?),
            roles: draft.roles.clone().map(Arc::new),
            metadata: draft.metadata.clone().map(Arc::new),
            expiration_ms,
        })
    }

    /// Updates a key. Returns whether anything of the key changed.
    fn apply(&self, store: &mut Store, id: &str) -> Result<bool> {
        let key = store.api_keys.get(id).filter(|key| is_of(key, self.owner)).ok_or_else(|| {
            RequestError::not_found(
                "resource_not_found_exception",
                format!("no API key owned by requesting user found for ID [{id}]"),
            )
        })?;
        if !key.is_valid(now_ms()) {
            return Err(RequestError::illegal_argument(format!(
                "cannot update invalidated or expired API key [{id}]"
            )));
        }
        let mut updated = key.clone();
        // What is equal stays shared with the key as it was.
        if *updated.limited_by != *self.limited_by {
            updated.limited_by = self.limited_by.clone();
        }
        // Query templates of roles may refer to them.
        updated.owner_roles.clone_from(&self.owner.roles);
        updated.owner_full_name.clone_from(&self.owner.full_name);
        updated.owner_email.clone_from(&self.owner.email);
        if *updated.owner_metadata != self.owner.metadata {
            updated.owner_metadata = Arc::new(self.owner.metadata.clone());
        }
        if let Some(roles) = self.roles.as_ref().filter(|roles| **roles != key.roles) {
            updated.roles = roles.clone();
        }
        if let Some(metadata) = self.metadata.as_ref().filter(|metadata| **metadata != key.metadata) {
            updated.metadata = metadata.clone();
        }
        updated.expiration_ms = self.expiration_ms.or(updated.expiration_ms);
        let is_changed = updated != *key;
        if is_changed {
            store.api_keys.insert(id, updated);
        }
        Ok(is_changed)
    }
}

fn is_of(key: &ApiKey, owner: &Identity) -> bool {
    key.username == owner.username && key.realm == owner.realm.name
}

/// Which keys a request selects.
#[derive(Default)]
struct Chosen {
    ids: HashSet<String>,
    name: Option<NamePattern>,
    username: Option<String>,
    realm: Option<String>,
    own: bool,
}

impl Chosen {
    fn matches(&self, id: &str, key: &ApiKey, access: &Access) -> bool {
        (self.ids.is_empty() || self.ids.contains(id))
            && self.name.as_ref().is_none_or(|name| name.matches(&key.name))
            && self.username.as_ref().is_none_or(|name| *name == key.username)
            && self.realm.as_ref().is_none_or(|name| *name == key.realm)
            && (!(self.own || access.is_for_own_keys()) || is_own(id, key, access))
    }

    /// Refuses callers who may only see their own keys, unless the request is limited to those. An API key
    /// has the name of its owner, but owns no other key.
    ///
    /// Source: `ManageOwnApiKeyClusterPrivilege`.
    fn check_own(&self, access: &Access) -> Result<()> {
        let own = &access.identity;
        let names_own = !own.is_api_key()
            && self.username.as_deref() == Some(&own.username)
            && self.realm.as_deref().is_none_or(|realm| realm == own.realm.name);
        let is_itself = |id: &String| matches!(&own.authentication, AuthenticationType::ApiKey { id: own, .. } if own == id);
        let names_itself = self.ids.len() == 1 && self.ids.iter().all(is_itself);
        match access.is_for_own_keys() && !self.own && !names_own && !names_itself {
            true => Err(access.denied(&[])),
            false => Ok(()),
        }
    }
}

/// Whether the key is the caller's own: a user owns all keys that the user created, and a key owns itself.
fn is_own(id: &str, key: &ApiKey, access: &Access) -> bool {
    match &access.identity.authentication {
        AuthenticationType::ApiKey { id: own, .. } => own == id,
        _ => is_of(key, &access.identity),
    }
}

pub(super) fn get(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let text = |name: &str| request.param(name).map(str::to_owned);
    let chosen = Chosen {
        ids: text("id").into_iter().collect(),
        name: text("name").map(|name| NamePattern::parse(&name)).transpose()?,
        username: text("username"),
        realm: text("realm_name"),
        own: request.flag_or("owner", false)?,
    };
    chosen.check_own(&access)?;
    let with_limited_by = request.flag_or("with_limited_by", false)?;
    let active_only = request.flag_or("active_only", false)?;
    let store = app.node.security();
    let now = now_ms();
    let mut shown = Vec::new();
    for (id, key) in store.api_keys.iter() {
        // Counts what was made so far.
        limber_work::check()?;
        if chosen.matches(id, key, &access) && (!active_only || key.is_valid(now)) {
            shown.push(key.shown(id, with_limited_by));
        }
    }
    let status = if shown.is_empty() && !chosen.ids.is_empty() { 404 } else { 200 };
    Ok(Response::json(status, Value::Object(Map::from_iter([("api_keys".to_owned(), shown.into())]))))
}

pub(super) fn invalidate(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let body = request.json_required()?;
    let chosen = chosen_by(&body)?;
    chosen.check_own(&access)?;
    let now = now_ms();
    let (fresh, before) = app.node.change_security(|store: &mut Store| {
        let chosen = store.api_keys.iter().filter(|(id, key)| chosen.matches(id, key, &access));
        let (before, fresh): (Vec<_>, Vec<_>) = chosen
            .map(|(id, key)| (id.to_owned(), key.invalidation_ms.is_some()))
            .partition(|(_, is_invalid)| *is_invalid);
        let ids = |keys: Vec<(String, bool)>| keys.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        let (fresh, before) = (ids(fresh), ids(before));
        for id in &fresh {
            if let Some(key) = store.api_keys.get_mut(id) {
                key.invalidation_ms = Some(now);
            }
        }
        Ok((fresh, before))
    })?;
    Ok(Response::ok(json!({
        "invalidated_api_keys": fresh, "previously_invalidated_api_keys": before, "error_count": 0,
    })))
}

fn chosen_by(body: &Value) -> Result<Chosen> {
    let mut chosen = Chosen::default();
    let bad = |key: &str| ObjectParser::parsing("invalidate_api_key").malformed(key);
    let mut is_any = false;
    for (key, value) in body.as_object().ok_or_else(|| RequestError::parsing("expected an object"))? {
        let text = || value.as_str().map(str::to_owned).ok_or_else(|| bad(key));
        match key.as_str() {
            "ids" => {
                let items = value.as_array().ok_or_else(|| bad(key))?;
                chosen.ids = items
                    .iter()
                    .map(|id| id.as_str().map(str::to_owned).ok_or_else(|| bad(key)))
                    .collect::<Result<_>>()?;
                is_any |= !chosen.ids.is_empty();
                continue;
            }
            "id" => chosen.ids = HashSet::from([text()?]),
            "name" => chosen.name = Some(NamePattern::parse(&text()?)?),
            "username" => chosen.username = Some(text()?),
            "realm_name" => chosen.realm = Some(text()?),
            "owner" => {
                // As in Elasticsearch, it may be a string.
                chosen.own = match (value, value.as_str()) {
                    (Value::Bool(own), _) => *own,
                    (_, Some("true")) => true,
                    (_, Some("false")) => false,
                    _ => return Err(bad(key)),
                };
                is_any |= chosen.own;
                continue;
            }
            other => {
                return Err(ObjectParser::parsing("invalidate_api_key").unknown(other));
            }
        }
        is_any = true;
    }
    match is_any {
        true => Ok(chosen),
        false => Err(RequestError::validation([
            "One of [api key id(s), api key name, username, realm name] must be specified if [owner] flag is false",
        ])),
    }
}

pub(super) fn query(app: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    let with_limited_by = request.flag_or("with_limited_by", false)?;
    let body = request.json()?.unwrap_or_else(|| Value::Object(Map::new()));
    let query = Query::parse(&body, &API_KEY)?;
    let own_only = access.is_for_own_keys();
    let store = app.node.security();
    let keys = store.api_keys.iter().filter(|(id, key)| !own_only || is_own(id, key, &access));
    let shown = keys.map(|(id, key)| key.shown(id, with_limited_by));
    Ok(Response::ok(query.answer(shown, "api_keys")?))
}
