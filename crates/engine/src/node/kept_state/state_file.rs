//! Changes the node's state durably: "is it durable, and if that is unknown, what may still be done?"
//!
//! After a rename or fsync that failed, the file on disk may be the old or the new one. The change is
//! refused, so the old state is written again before the caller learns of the failure. If that fails too, the
//! state is in doubt: all changes of metadata are refused, and so are writes to indices that may be gone
//! after a crash, until the old state can be written. Every change and every background round tries that.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::RequestError;

use super::kept::Content;
use super::state::NodeState;
use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::node::Node;
use crate::node::index::live::index_folder;
use crate::shard::store_error;
use limber_store::directory::Replaced;

/// The key under which the state is charged in [`Kept`](super::kept::Kept).
pub(in crate::node) const STATE: &str = "state";

/// The folders whose fate a change of the state decides.
#[derive(Debug, Default, Clone)]
pub(in crate::node) struct AtStake {
    pub deleted: BTreeSet<Arc<str>>,
    pub created: BTreeSet<Arc<str>>,
}

/// A failed change that a crash might bring back.
#[derive(Debug, Clone)]
pub(in crate::node) struct Doubt {
    error: RequestError,
    at_stake: AtStake,
}

impl Node {
    /// Changes and stores the node's state. If storing fails, nothing changes. Called with `changing` held.
    pub(in crate::node) fn change_state(&self, change: impl FnOnce(&mut NodeState)) -> Result<()> {
        let mut next = (*self.state.load_full()).clone();
        change(&mut next);
        self.write_state(next, AtStake::default())
    }

    /// Makes `next` the node's state. Called with `changing` held.
    pub(in crate::node) fn write_state(&self, mut next: NodeState, at_stake: AtStake) -> Result<()> {
        self.settle_locked()?;
        next.version = self.state.load().version + 1;
        self.forget_what_is_done(&mut next);
        let text = next.to_text();
        self.kept.keep(STATE, &Content::of_state(&text))?;
        match next.replace_by(&text, &self.environment) {
            Replaced::Done => {
                self.state.store(Arc::new(next));
                Ok(())
            }
            Replaced::Untouched(error) => Err(self.state_refused(&error)),
            Replaced::Unknown(error) => {
                let error = self.state_refused(&error);
                self.in_doubt.store(true, Ordering::Release);
                *self.doubt.lock() = Some(Doubt { error: error.clone(), at_stake });
                match self.settle_locked() {
                    Ok(()) => Err(error),
                    Err(unsettled) => {
                        tracing::error!(error = %unsettled, "the node's state is in doubt");
                        Err(unsettled)
                    }
                }
            }
        }
    }

    pub(in crate::node) fn state_refused(&self, error: &limber_store::Error) -> RequestError {
        if error.is_disk_full() {
            self.note_full_disk();
        }
        store_error(error)
    }

    /// Drops tombstones of folders that are gone, and pending metadata that the indices' own files contain.
    /// Returns whether there were any.
    pub(in crate::node) fn forget_what_is_done(&self, next: &mut NodeState) -> bool {
        let count = next.tombstones.len() + next.pending.len();
        let mut buried = self.buried.lock();
        next.tombstones.retain(|uuid| !buried.contains(uuid));
        // Once the durable state has no tombstone for an index, it need not be remembered as buried.
        let durable = self.state.load();
        buried.retain(|uuid| durable.tombstones.contains(uuid));
        drop(buried);
        next.pending.retain(|uuid, pending| match self.index_files.get(uuid) {
            Some(file) => file.durable() < pending.version(),
            None => true,
        });
        next.tombstones.len() + next.pending.len() < count
    }

    /// Whether it is unknown which state a crash would leave.
    pub(in crate::node) fn is_state_in_doubt(&self) -> bool {
        self.in_doubt.load(Ordering::Acquire)
    }

    /// Ends a doubt, if there is one, by writing the state again.
    ///
    /// # Errors
    /// Fails with `Unavailable` while that is impossible; no metadata may be changed then.
    pub(in crate::node) fn settle_state(&self) -> Result<()> {
        match self.is_state_in_doubt() {
            false => Ok(()),
            true => {
                let _changing = self.changing.lock();
                self.settle_locked()
            }
        }
    }

    /// Called with `changing` held.
    pub(in crate::node) fn settle_locked(&self) -> Result<()> {
        // The doubt is copied, because writers read it and must not wait for the disk.
        let Some(doubt) = self.doubt.lock().clone() else { return Ok(()) };
        let mut again = (*self.state.load_full()).clone();
        again.version += 1;
        match again.replace(&self.environment) {
            Replaced::Done => {
                self.state.store(Arc::new(again));
                for uuid in &doubt.at_stake.created {
                    if let Err(error) = self.environment.disk.remove_folder(&index_folder(uuid)) {
                        tracing::warn!(%uuid, %error, "what is left of a creation is removed at the next start");
                    }
                }
            }
            Replaced::Untouched(_) | Replaced::Unknown(_) => {
                return Err(RequestError::unavailable("illegal_state_exception",
                    "no metadata changes until the node's state [state/node.json] can be written again after a failure",
                )
                .caused_by(doubt.error));
            }
        }
        *self.doubt.lock() = None;
        self.in_doubt.store(false, Ordering::Release);
        Ok(())
    }

    /// Whether the folder of an index whose creation failed must stay, because the state on disk may list the
    /// index.
    pub(in crate::node) fn may_be_listed(&self, uuid: &str) -> bool {
        self.doubt.lock().as_ref().is_some_and(|doubt| doubt.at_stake.created.contains(uuid))
    }

    /// Refuses writes to an index if its deletion failed and it may be gone after a crash.
    pub(in crate::node) fn check_is_not_in_doubt(&self, index: &IndexMetadata) -> Result<()> {
        if !self.is_state_in_doubt() {
            return Ok(());
        }
        let doubt = self.doubt.lock();
        match doubt.as_ref().filter(|doubt| doubt.at_stake.deleted.contains(&index.uuid)) {
            None => Ok(()),
            Some(doubt) => Err(RequestError::unavailable(
                "illegal_state_exception",
                format!(
                    "index [{}] takes no writes: its deletion failed and could not be taken back yet",
                    index.name
                ),
            )
            .caused_by(doubt.error.clone())),
        }
    }
}
