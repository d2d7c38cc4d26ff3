//! Users, roles, keys and tokens, a part of the node's state.

use std::path::Path;
use std::sync::Arc;

use limber_access::{Author, Store};
use limber_mapping::RequestError;
use limber_store::directory::Replaced;
use limber_store::{Disk, FsDisk};
use serde_json::Value;

use super::state::NodeState;
use crate::api::Result;
use crate::environment::Environment;
use crate::node::{Node, STATE_FOLDER, STATE_NAME};
use crate::shard::store_error;

impl Node {
    /// Returns the current users, roles, keys and tokens.
    pub fn security(&self) -> Arc<Store> {
        self.security.load_full()
    }

    /// Changes them durably, or not at all.
    ///
    /// # Errors
    /// Fails with the errors of `change`, when there are too many entries, or when the state cannot be
    /// written.
    pub fn change_security<T>(&self, change: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        let _changing = self.changing.lock();
        let mut next = (*self.security.load_full()).clone();
        let outcome = change(&mut next)?;
        next.version += 1;
        next.tidy(self.environment.clock.now_millis())?;
        let kept = next.to_json();
        self.change_state(|state| state.security = kept)?;
        self.security.store(Arc::new(next));
        Ok(outcome)
    }

    /// Returns the author of what the request of this thread changes, in the form in which the state keeps
    /// it. Null if everything is allowed.
    pub(in crate::node) fn author(&self) -> Result<Value> {
        match limber_access::current() {
            None => Ok(Value::Null),
            Some(access) => Ok(self.security().author(&access.identity)?.to_json()),
        }
    }

    /// Runs `work` with the rights of an author, as the action `action`. Without an author (null) the server
    /// works for itself: nobody asked for it, or security was off then.
    ///
    /// # Errors
    /// Fails with the errors of `work`, and with `Forbidden` when the author may not carry out the action at
    /// all.
    pub(in crate::node) fn on_behalf_of<T>(
        &self,
        author: &Value,
        action: &'static str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if author.is_null() {
            return limber_access::aside(work);
        }
        let author = Author::from_json(author)?;
        let _entered = self.security().access_of_author(&author, action)?.enter();
        work()
    }
}

/// Refuses to read, write or delete an index under an action of the whole cluster, whose names are not
/// checked.
///
/// # Errors
/// Fails with `Forbidden`.
pub(in crate::node) fn check_is_on_indices(index: &str) -> Result<()> {
    limber_access::current().map_or(Ok(()), |access| access.check_is_on_indices(index))
}

/// Refuses an operation on an index of which parts are hidden from the request of this thread.
///
/// # Errors
/// Fails with `BadRequest` and the reason `why`.
pub(in crate::node) fn check_sees_all(index: &str, why: &str) -> Result<()> {
    limber_access::current().map_or(Ok(()), |access| access.check_unlimited(index, None, why))
}

/// Changes the password of a user in a data folder that no server uses. The folder is locked meanwhile.
///
/// # Errors
/// Fails when the folder holds no node or is in use, when there is no such user, or when the password is not
/// valid.
pub fn set_password_offline(path: &Path, user: &str, password: &str) -> Result<()> {
    let disk: Arc<dyn Disk> = Arc::new(FsDisk::open(path).map_err(|error| match error {
        limber_store::Error::Locked { path } => RequestError::internal(
            "illegal_state_exception",
            format!("the data folder {} is in use by another process", path.display()),
        ),
        other => store_error(&other),
    })?);
    let environment = Environment::system(disk);
    let folder = environment.folder(STATE_FOLDER).map_err(|error| store_error(&error))?;
    if !folder.exists(STATE_NAME).map_err(|error| store_error(&error))? {
        let reason = format!("[{}] holds no node: start a server on it first", path.display());
        return Err(RequestError::illegal_argument(reason));
    }
    let (mut state, _) = NodeState::load(&environment)?;
    let mut store = Store::from_json(&state.security)?;
    store.set_password(user, "password", &Value::from(password))?;
    store.set_enabled(user, true)?;
    store.version += 1;
    state.security = store.to_json();
    state.version += 1;
    match state.replace(&environment) {
        Replaced::Done => Ok(()),
        Replaced::Untouched(error) | Replaced::Unknown(error) => Err(store_error(&error)),
    }
}
