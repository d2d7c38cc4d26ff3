//! The right of a request to what it does: "may it touch this name, and which part of it may it see?"
//!
//! An [`Access`] says who sends a request and which action it carries out. It is set on each thread of the
//! request. Names are checked where they are resolved. Indices that are reached through an alias or a data
//! stream are recorded, so that they may be opened.

use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use limber_mapping::RequestError;
use parking_lot::Mutex;

use crate::cluster::is_cluster_action;
use crate::reach::{Limits, Reach};
use crate::rights::{ClusterVerdict, Rights};
use crate::{Identity, Result, denial};

thread_local! {
    static CURRENT: RefCell<Option<Arc<Access>>> = const { RefCell::new(None) };
}

/// The right of an identity to carry out one action during one request.
#[derive(Debug)]
pub struct Access {
    /// The identity that sends the request.
    pub identity: Arc<Identity>,
    /// Its rights, compiled from its roles.
    pub rights: Arc<Rights>,
    action: &'static str,
    /// Indices that were reached through an alias or data stream.
    reached: Mutex<HashMap<String, Reach>>,
}

impl Access {
    /// Grants a request that carries out `action`. An action on indices is refused here only if it is allowed
    /// on no name at all; the names that the request touches are checked later with [`Access::check`].
    ///
    /// # Errors
    /// `Forbidden`, with Elasticsearch's message.
    pub fn grant(identity: Arc<Identity>, rights: Arc<Rights>, action: &'static str) -> Result<Arc<Access>> {
        Access::grant_on(identity, rights, action, "")
    }

    /// Grants a request as [`Access::grant`] does. `named` are the indices in its path, separated by
    /// commas, which the error lists.
    ///
    /// # Errors
    /// `Forbidden`, with the names.
    pub fn grant_on(
        identity: Arc<Identity>,
        rights: Arc<Rights>,
        action: &'static str,
        named: &str,
    ) -> Result<Arc<Access>> {
        let access = Access { identity, rights, action, reached: Mutex::default() };
        let is_granted = match is_cluster_action(action) {
            true => access.rights.cluster(action) != ClusterVerdict::Denied,
            false => access.rights.any_index(action),
        };
        if !is_granted {
            let named: Vec<&str> =
                named.split(',').filter(|name| !name.is_empty() && !name.contains('*')).collect();
            return Err(access.denied(if is_cluster_action(action) { &[] } else { &named }));
        }
        Ok(Arc::new(access))
    }

    /// Sets the access on this thread until the guard drops.
    pub fn enter(self: Arc<Self>) -> Entered {
        Entered::replacing(Some(self))
    }

    /// Returns the action that is carried out.
    pub fn action(&self) -> &'static str {
        self.action
    }

    /// Whether the API keys of other users are off limits.
    pub fn is_for_own_keys(&self) -> bool {
        self.rights.cluster(self.action) == ClusterVerdict::OwnKeys
    }

    /// Whether the request may name an index, alias or data stream.
    pub fn allows(&self, name: &str) -> bool {
        is_cluster_action(self.action) || self.rights.reach(self.action, name).is_some()
    }

    /// Whether an index was reached through an alias or data stream, so that its own name may be resolved
    /// from then on.
    pub fn has_reached(&self, index: &str) -> bool {
        self.reached.lock().contains_key(index)
    }

    /// Refuses all names that the request may not use, in one error.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        let denied: Vec<&str> = names.into_iter().filter(|name| !self.allows(name)).collect();
        if denied.is_empty() { Ok(()) } else { Err(self.denied(&denied)) }
    }

    /// Checks names like [`Access::check`], for a second action of the same request.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check_action<'n>(
        &self,
        action: &'static str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<()> {
        // Actions of the whole cluster include what they do to indices.
        if is_cluster_action(self.action) {
            return Ok(());
        }
        let denied: Vec<&str> =
            names.into_iter().filter(|name| self.rights.reach(action, name).is_none()).collect();
        match denied.is_empty() {
            true => Ok(()),
            false => Err(denial::denied(&self.identity, &self.rights.role_names(), action, &denied)),
        }
    }

    /// Refuses an action on the cluster, as a second action of the same request.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check_cluster_action(&self, action: &'static str) -> Result<()> {
        match self.rights.cluster(action) {
            ClusterVerdict::Allowed => Ok(()),
            _ => Err(denial::denied(&self.identity, &self.rights.role_names(), action, &[])),
        }
    }

    /// Records that `index` was reached through an alias or data stream (`by`) that the request may use.
    pub fn note_reached(&self, index: &str, by: &str) {
        if is_cluster_action(self.action) {
            return;
        }
        let Some(reach) = self.rights.reach(self.action, by) else { return };
        let mut reached = self.reached.lock();
        match reached.get_mut(index) {
            Some(known) => known.or(&reach),
            None => drop(reached.insert(index.to_owned(), reach)),
        }
    }

    /// Returns what is hidden of an index that is opened, or `None` if all of it is visible. `stream` is
    /// the data stream that it belongs to.
    ///
    /// # Errors
    /// `Forbidden` if the index was neither named nor reached through an allowed name.
    pub fn limits(&self, index: &str, stream: Option<&str>) -> Result<Option<Limits>> {
        if is_cluster_action(self.action) {
            return Ok(None);
        }
        let mut reach: Option<Reach> = self.reached.lock().get(index).cloned();
        for name in [Some(index), stream].into_iter().flatten() {
            match (&mut reach, self.rights.reach(self.action, name)) {
                (Some(whole), Some(other)) => whole.or(&other),
                (None, other) => reach = other,
                (Some(_), None) => {}
            }
        }
        match reach {
            Some(reach) => Ok(reach.limits()),
            None => Err(self.denied(&[index])),
        }
    }

    /// Refuses to read, write or delete `index` under an action of the whole cluster, whose names are not
    /// checked. Code that needs it enters an action on indices ([`acting`]), or works [`aside`].
    ///
    /// # Errors
    /// `Forbidden` with the name.
    pub fn check_is_on_indices(&self, index: &str) -> Result<()> {
        match is_cluster_action(self.action) {
            true => Err(self.denied(&[index])),
            false => Ok(()),
        }
    }

    /// Returns the error `Forbidden` for names that the action may not touch; without names, for the action
    /// itself.
    pub fn denied(&self, names: &[&str]) -> RequestError {
        denial::denied(&self.identity, &self.rights.role_names(), self.action, names)
    }

    /// Refuses an operation that is impossible if parts of an index are hidden.
    ///
    /// # Errors
    /// `BadRequest` with `why`.
    pub fn check_unlimited(&self, index: &str, stream: Option<&str>, why: &str) -> Result<()> {
        match self.limits(index, stream)? {
            None => Ok(()),
            Some(_) => Err(RequestError::bad_request("security_exception", why)),
        }
    }
}

/// Guard: while it lives, its thread has an access, or none.
#[derive(Debug)]
#[must_use = "the access is left when this drops"]
pub struct Entered {
    before: Option<Arc<Access>>,
    _of_this_thread: PhantomData<*const ()>,
}

/// See [`acting`].
pub type Acting = Entered;

impl Entered {
    fn replacing(next: Option<Arc<Access>>) -> Entered {
        let before = CURRENT.with_borrow_mut(|current| std::mem::replace(current, next));
        Entered { before, _of_this_thread: PhantomData }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| *current = self.before.take());
    }
}

/// Returns the access of this thread; `None` means that everything is allowed.
pub fn current() -> Option<Arc<Access>> {
    CURRENT.with_borrow(Option::clone)
}

/// Makes this thread carry out `action` for the same identity until the guard drops. Has no effect if
/// everything is allowed.
pub fn acting(action: &'static str) -> Acting {
    let next = current().map(|access| match access.action == action {
        true => access,
        false => Arc::new(Access {
            identity: access.identity.clone(),
            rights: access.rights.clone(),
            action,
            reached: Mutex::default(),
        }),
    });
    Entered::replacing(next)
}

/// Runs `work` without an access: what the server does for itself needs no privilege.
pub fn aside<T>(work: impl FnOnce() -> T) -> T {
    let _entered = Entered::replacing(None);
    work()
}

/// Wraps `work` for another thread, so that it runs there with the access of this thread.
pub fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let access = current();
    move || {
        let _entered = Entered::replacing(access);
        work()
    }
}
