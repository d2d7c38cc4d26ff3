//! Authentication: "are these credentials valid, and whose are they?"
//!
//! Verifying a password is slow and uses much memory, by design. So only a few are verified at a time, other
//! requests wait in a bounded queue, and valid credentials are remembered: not the credentials themselves,
//! but a keyed hash of them whose key only exists within this process.

use std::collections::HashMap;
use std::sync::Arc;

use limber_access::{
    Identity, Realm, Rights, SecretKey, ServiceAccount, Store, digest_matches, password_matches,
};
use limber_engine::Node;
use limber_mapping::{ErrorClass, RequestError};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::credentials::Credentials;
use super::settings::Anonymous;
use crate::http::queue::{Flow, Shares};

/// Maximum number of remembered credentials, and their part of `memory.limit`. Beyond one of them all are
/// forgotten.
const REMEMBERED_MAX: usize = 10_000;
const REMEMBERED_SHARE: u64 = 32;
/// Maximum number of requests that wait for the verification of a password; more are rejected. An address may
/// have as many of them as are left for others.
const WAITING_MAX: usize = 256;
/// Memory that the verification of a password uses.
const HASH_BYTES: u64 = 20 << 20;

/// An authenticated user and the user's privileges.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub identity: Arc<Identity>,
    pub rights: Arc<Rights>,
}

/// Valid credentials, and the version of the store at which they were checked.
#[derive(Clone)]
struct Remembered {
    known: Known,
    store_version: u64,
    /// The hash or digest against which they were verified.
    proof: String,
    /// The expiration time of an API key.
    expires_ms: Option<u64>,
}

pub(super) struct Authenticator {
    anonymous: Option<Anonymous>,
    key: SecretKey,
    remembered: Mutex<Bounded<[u8; 32], Remembered>>,
    /// Privileges of impersonated users and of the anonymous user.
    others: Mutex<Bounded<String, (u64, Known)>>,
    verifying: Semaphore,
    waiting: Mutex<Shares>,
}

/// A map that forgets everything when it has become too large.
struct Bounded<K, V> {
    entries: HashMap<K, (V, u64)>,
    bytes: u64,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Bounded<K, V> {
        Bounded { entries: HashMap::new(), bytes: 0 }
    }
}

impl<K: Eq + std::hash::Hash, V> Bounded<K, V> {
    fn get<Q: Eq + std::hash::Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.entries.get(key).map(|(value, _)| value)
    }

    /// Adds or replaces an entry, whose user takes some memory of the node.
    fn add(&mut self, key: K, value: V, known: &Known, node: &Node) {
        let bytes = (known.rights.memory_bytes() + known.identity.memory_bytes()) as u64;
        if let Some((_, before)) = self.entries.remove(&key) {
            self.bytes -= before;
        }
        let is_full = self.bytes + bytes > node.ledger().limit_bytes / REMEMBERED_SHARE;
        if self.entries.len() >= REMEMBERED_MAX || is_full {
            *self = Bounded::default();
        }
        self.bytes += bytes;
        self.entries.insert(key, (value, bytes));
    }
}

/// Why a request is not authenticated.
pub(super) enum Refusal {
    Missing,
    /// With the user name, if there is one.
    Wrong {
        username: String,
    },
    WrongKey {
        why: String,
    },
    Busy(RequestError),
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Refusal {
        Refusal::Busy(error)
    }
}

impl Authenticator {
    pub(super) fn new(anonymous: Option<Anonymous>, cores: usize) -> Authenticator {
        Authenticator {
            anonymous,
            key: SecretKey::default(),
            remembered: Mutex::default(),
            others: Mutex::default(),
            verifying: Semaphore::new((cores / 2).max(1)),
            waiting: Mutex::new(Shares::new(WAITING_MAX)),
        }
    }

    /// Authenticates the request of a client by its header `Authorization`.
    pub(super) async fn identify(
        &self,
        node: &Node,
        header: Option<&str>,
        client: u64,
    ) -> Result<Known, Refusal> {
        let store = node.security();
        let Some(header) = header else {
            return self.anonymous(node, &store)?.ok_or(Refusal::Missing);
        };
        let place = self.key.digest(header.as_bytes());
        let remembered = self.remembered.lock().get(&place).cloned();
        if let Some(remembered) = &remembered
            && remembered.store_version == store.version
            && remembered.expires_ms.is_none_or(|end| now_ms() < end)
        {
            return Ok(remembered.known.clone());
        }
        let proof = remembered.map(|remembered| remembered.proof);
        let fresh = match Credentials::parse(header) {
            Credentials::Basic { username, password } => {
                self.by_password(node, &store, username, password, proof, client).await?
            }
            Credentials::ApiKey { id, secret } => by_api_key(&store, &id, &secret)?,
            Credentials::ServiceToken { name, secret } => by_service_token(&store, &name, &secret)?,
            Credentials::Unreadable { scheme } => {
                return Err(Refusal::WrongKey {
                    why: format!("credentials of the scheme [{scheme}] cannot be read"),
                });
            }
        };
        let known = fresh.known.clone();
        self.remembered.lock().add(place, fresh, &known, node);
        Ok(known)
    }

    /// Verifies a password. `proof` is the hash against which this same password was verified before.
    async fn by_password(
        &self,
        node: &Node,
        store: &Store,
        username: String,
        password: String,
        proof: Option<String>,
        client: u64,
    ) -> Result<Remembered, Refusal> {
        let found = store.user(&username);
        let hash = found.as_ref().and_then(|(user, _)| user.password_hash.clone());
        let is_right = match (&hash, &proof) {
            (Some(hash), Some(proof)) if hash == proof => true,
            _ => self.verify(node, password, hash.clone(), client).await?,
        };
        match found {
            Some((user, realm)) if is_right && user.enabled => {
                let identity = Arc::new(user.identity(&username, realm));
                let rights = Arc::new(store.rights_of(&identity)?);
                let proof = hash.unwrap_or_default();
                Ok(Remembered {
                    known: Known { identity, rights },
                    store_version: store.version,
                    proof,
                    expires_ms: None,
                })
            }
            _ => Err(Refusal::Wrong { username }),
        }
    }

    async fn verify(
        &self,
        node: &Node,
        password: String,
        hash: Option<String>,
        client: u64,
    ) -> Result<bool, Refusal> {
        let busy = || {
            let reason = "rejected execution of request: too many passwords are waiting to be verified";
            Refusal::Busy(RequestError::new(
                ErrorClass::TooManyRequests,
                "es_rejected_execution_exception",
                reason,
            ))
        };
        let waiting = Waiting::begin(&self.waiting, client).ok_or_else(busy)?;
        let _permit = self.verifying.acquire().await.map_err(|_| busy())?;
        let charge = node
            .ledger()
            .request
            .charge(HASH_BYTES, "<password>")
            .map_err(|error| Refusal::Busy(crate::http::refusal::circuit_breaking(&error)))?;
        let verifying = tokio::task::spawn_blocking(move || {
            let _charge = charge;
            password_matches(&password, hash.as_deref())
        });
        let outcome = verifying.await.unwrap_or(false);
        drop(waiting);
        Ok(outcome)
    }

    fn anonymous(&self, node: &Node, store: &Store) -> Result<Option<Known>, Refusal> {
        let Some(anonymous) = &self.anonymous else { return Ok(None) };
        let identity = || Identity {
            username: anonymous.username.clone(),
            roles: anonymous.roles.clone(),
            full_name: None,
            email: None,
            metadata: serde_json::Map::new(),
            realm: Realm::ANONYMOUS,
            authentication: limber_access::AuthenticationType::Anonymous,
            run_by: None,
        };
        Ok(Some(self.other("anonymous".into(), node, store, identity)?))
    }

    /// Returns the user `name` whom `by` impersonates. `None` if that user does not exist or is disabled.
    pub(super) fn acting_as(
        &self,
        node: &Node,
        store: &Store,
        by: &Known,
        name: &str,
    ) -> Result<Option<Known>, RequestError> {
        let Some((user, realm)) = store.user(name).filter(|(user, _)| user.enabled) else { return Ok(None) };
        let identity =
            || Identity { run_by: Some(Box::new((*by.identity).clone())), ..user.identity(name, realm) };
        self.other(format!("{}\n{name}", by.identity.owner()), node, store, identity).map(Some)
    }

    fn other(
        &self,
        place: String,
        node: &Node,
        store: &Store,
        identity: impl FnOnce() -> Identity,
    ) -> Result<Known, RequestError> {
        let mut others = self.others.lock();
        if let Some((version, known)) = others.get(&place)
            && *version == store.version
        {
            return Ok(known.clone());
        }
        let identity = Arc::new(identity());
        let rights = Arc::new(store.rights_of(&identity)?);
        let known = Known { identity, rights };
        others.add(place, (store.version, known.clone()), &known, node);
        Ok(known)
    }
}

/// Counts a request that waits for the verification of its password.
struct Waiting<'w> {
    all: &'w Mutex<Shares>,
    flow: Flow,
}

impl Waiting<'_> {
    fn begin(all: &Mutex<Shares>, client: u64) -> Option<Waiting<'_>> {
        let flow = Flow { client, kind: 0 };
        let has_place = all.lock().try_begin(flow);
        has_place.then(|| Waiting { all, flow })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.all.lock().end(self.flow);
    }
}

fn by_api_key(store: &Store, id: &str, secret: &str) -> Result<Remembered, Refusal> {
    let refused = |why: &str| Refusal::WrongKey { why: format!("API key: {why} [{id}]") };
    let Some(key) = store.api_keys.get(id) else { return Err(refused("unable to find apikey with id")) };
    if !digest_matches(secret, &key.digest) {
        return Err(refused("invalid credentials for API key"));
    }
    if key.invalidation_ms.is_some() {
        return Err(refused("api key has been invalidated"));
    }
    if !key.is_valid(now_ms()) {
        return Err(refused("api key is expired"));
    }
    let rights = Arc::new(store.rights_of_key(key)?);
    let known = Known { identity: Arc::new(key.identity(id)), rights };
    Ok(Remembered {
        known,
        store_version: store.version,
        proof: String::new(),
        expires_ms: key.expiration_ms,
    })
}

fn by_service_token(store: &Store, name: &str, secret: &str) -> Result<Remembered, Refusal> {
    let refused =
        || Refusal::WrongKey { why: format!("failed to authenticate service account token [{name}]") };
    let token = store.service_tokens.get(name).ok_or_else(refused)?;
    let mut parts = name.splitn(3, '/');
    let (namespace, service) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let account = ServiceAccount::find(namespace, service).ok_or_else(refused)?;
    if !digest_matches(secret, &token.digest) {
        return Err(refused());
    }
    let identity = Arc::new(account.identity(parts.next().unwrap_or_default()));
    let rights = Arc::new(store.rights_of_service(account, &identity)?);
    Ok(Remembered {
        known: Known { identity, rights },
        store_version: store.version,
        proof: String::new(),
        expires_ms: None,
    })
}

/// Returns the wall clock in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}
