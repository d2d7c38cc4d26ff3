//! Users, roles, keys and tokens: who may change them how, and what a change costs.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use limber_access::{Author, Store};
use limber_mapping::{RequestError, tree_bytes};
use limber_store::sync::Mutex;
use limber_store::{Disk, FsDisk};
use serde_json::{Map, Value};

use super::kept::Kept;
use super::main_folder::{open_error, require_node};
use super::security_files::{SecurityFiles, security_folder};
use super::state::{NodeState, Origin};
use crate::api::Result;
use crate::environment::Environment;
use crate::node::{Node, STATE_FOLDER, STATE_NAME};
use crate::shard::store_error;
use limber_store::directory::Replaced;

/// The key under which the store is charged in [`Kept`].
const SECURITY: &str = "security";
/// Bytes of an entry beside its JSON: its name, its struct and its place in the map.
const ENTRY_BYTES: i64 = 512;

/// Users, roles, keys and tokens in memory, and their files.
///
/// **Order of locks**: `rewriting`, then `files`, then `changing` of the node.
pub(in crate::node) struct KeptSecurity {
    store: ArcSwap<Store>,
    /// Held while a change is written.
    files: Mutex<Files>,
    /// Held while the store is written anew, which changes do not wait for.
    rewriting: Mutex<()>,
}

struct Files {
    /// `None` as long as the node's state contains the store, as earlier builds wrote it.
    own: Option<SecurityFiles>,
    /// Memory that the store is charged for.
    charged_bytes: u64,
}

impl KeptSecurity {
    /// Reads what the node stored, and charges for it.
    ///
    /// # Errors
    /// Fails when the files cannot be read or are damaged.
    pub(in crate::node) fn load(
        environment: &Environment,
        state: &NodeState,
        kept: &Kept,
    ) -> Result<KeptSecurity> {
        let (own, store) = read(environment, state)?;
        let charged_bytes = growth(&Store::default(), &store)?.max(0) as u64;
        kept.keep_bytes_always(SECURITY, charged_bytes);
        Ok(KeptSecurity {
            store: ArcSwap::from_pointee(store),
            files: Mutex::new(Files { own, charged_bytes }),
            rewriting: Mutex::new(()),
        })
    }
}

fn read(environment: &Environment, state: &NodeState) -> Result<(Option<SecurityFiles>, Store)> {
    match &state.security {
        Some(contained) => Ok((None, Store::from_node_state(contained)?)),
        None => {
            let (files, store) = SecurityFiles::open(&*environment.disk, &state.cluster_uuid)?;
            // The process before may have ended between the rename of a file and the fsync of its name.
            let folder = environment.folder(&security_folder(&state.cluster_uuid));
            folder.and_then(|folder| folder.sync_names()).map_err(|error| store_error(&error))?;
            Ok((Some(files), store))
        }
    }
}

/// Returns how many more bytes of memory `next` takes than `before`.
///
/// # Errors
/// The client has disconnected: a change of many entries takes long to weigh.
fn growth(before: &Store, next: &Store) -> Result<i64> {
    let bytes = |name: &str, members: Option<Map<String, Value>>| {
        members.map_or(0, |members| {
            let text = Value::Object(members).to_string();
            tree_bytes(text.as_bytes()) as i64 + name.len() as i64 + ENTRY_BYTES
        })
    };
    let mut growth = 0;
    next.for_each_change(before, |change| -> Result<()> {
        limber_work::check_beyond_deadline()?;
        growth += bytes(change.name, change.after) - bytes(change.name, change.before);
        Ok(())
    })?;
    Ok(growth)
}

impl Node {
    /// Returns the current users, roles, keys and tokens.
    pub fn security(&self) -> Arc<Store> {
        self.security.store.load_full()
    }

    /// Changes them durably, or not at all. The change takes memory and disk for what it changes, and not for
    /// what else is stored.
    ///
    /// # Errors
    /// Fails with the errors of `change`, when there are too many entries, when memory for them is short, or
    /// when the change cannot be written.
    pub fn change_security<T>(&self, change: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        let mut files = self.security.files.lock();
        let before = self.security.store.load_full();
        let mut next = (*before).clone();
        let outcome = change(&mut next)?;
        next.tidy(self.environment.clock.now_millis())?;
        if next == *before {
            return Ok(outcome);
        }
        next.version += 1;
        self.move_security(&mut files)?;
        let charged_bytes = files.charged_bytes.saturating_add_signed(growth(&before, &next)?);
        self.kept.keep_bytes(SECURITY, charged_bytes)?;
        let refused = |error: &limber_store::Error| self.state_refused(error);
        let written = match &mut files.own {
            Some(own) => own.append(&self.environment, &before, &next, refused),
            None => Err(RequestError::internal("illegal_state_exception", "users and keys have no files")),
        };
        if let Err(error) = written {
            self.kept.keep_bytes_always(SECURITY, files.charged_bytes);
            return Err(error);
        }
        files.charged_bytes = charged_bytes;
        self.security.store.store(Arc::new(next));
        Ok(outcome)
    }

    /// Writes files of their own for users and keys that an earlier build stored in the node's state, and
    /// removes them from the state.
    fn move_security(&self, files: &mut Files) -> Result<()> {
        if files.own.is_some() {
            return Ok(());
        }
        let _changing = self.changing.lock();
        // A state in doubt may be one that refers to the files.
        self.settle_locked()?;
        let store = self.security.store.load_full();
        let own = SecurityFiles::create(&self.environment, self.cluster_uuid(), &store)
            .map_err(|error| self.state_refused(&error))?;
        self.change_state(|state| state.security = None)?;
        files.own = Some(own);
        Ok(())
    }

    /// Ends a doubt about a change of users and keys, moves them out of the node's state, and writes their
    /// store anew if that is worth it.
    pub(in crate::node) fn security_round(&self) {
        let _rewriting = self.security.rewriting.lock();
        let mut files = self.security.files.lock();
        if let Err(error) = self.move_security(&mut files) {
            tracing::debug!(%error, "users and keys have no files of their own yet");
        }
        let Some(own) = &mut files.own else { return };
        if let Err(error) = own.settle(&self.environment) {
            tracing::debug!(%error, "a change of users and keys is still in doubt");
        }
        if let Err(error) = own.note_newest(&self.environment, self.security().version) {
            tracing::debug!(%error, "the newest change of users and keys is not noted yet");
        }
        if !own.wants_whole() {
            return;
        }
        let rewrite = own.rewrite(self.security());
        drop(files);
        match rewrite.run(&self.environment) {
            Ok((version, bytes)) => {
                if let Some(own) = &mut self.security.files.lock().own {
                    own.rewritten(version, bytes);
                }
            }
            Err(error) => tracing::warn!(%error, "the files of users and keys are not compacted yet"),
        }
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
    require_node(path)?;
    let disk: Arc<dyn Disk> = Arc::new(FsDisk::open(path).map_err(|error| open_error(&error))?);
    let environment = Environment::system(disk);
    let folder = environment.folder(STATE_FOLDER).map_err(|error| store_error(&error))?;
    if !folder.exists(STATE_NAME).map_err(|error| store_error(&error))? {
        let reason = format!("[{}] holds no node: start a server on it first", path.display());
        return Err(RequestError::illegal_argument(reason));
    }
    let (mut state, origin) = NodeState::load(&environment)?;
    if matches!(origin, Origin::Unlisted { .. }) {
        let reason = format!("[{}] is of an earlier version: start a server on it first", path.display());
        return Err(RequestError::illegal_argument(reason));
    }
    let (own, before) = read(&environment, &state)?;
    let mut next = before.clone();
    next.set_password(user, "password", &Value::from(password))?;
    next.set_enabled(user, true)?;
    next.version += 1;
    match own {
        Some(mut own) => own.append(&environment, &before, &next, store_error),
        None => {
            SecurityFiles::create(&environment, &state.cluster_uuid, &next)
                .map_err(|error| store_error(&error))?;
            state.security = None;
            state.version += 1;
            match state.replace(&environment) {
                Replaced::Done => Ok(()),
                Replaced::Untouched(error) | Replaced::Unknown(error) => Err(store_error(&error)),
            }
        }
    }
}
