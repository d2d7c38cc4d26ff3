//! The end of a shard, or of one of its cores: "when may somebody else use the folder?"

use limber_mapping::RequestError;

use super::core::{Core, Shard};

impl Shard {
    /// Closes the shard for good, because its folder is removed or its index is closed; another one may be
    /// opened in the folder. Nothing is written afterwards.
    pub(crate) fn close(&self) {
        let mut is_closed = self.is_closed.lock();
        *is_closed = true;
        if let Ok(core) = self.core() {
            self.end_core(
                &core,
                RequestError::unavailable("already_closed_exception", "this shard is closed"),
            );
        }
        let closed = RequestError::unavailable("index_closed_exception", "closed");
        self.replace_core(Err(closed));
    }

    /// Whether the shard was closed. Waits for an opening that is under way.
    pub(crate) fn is_closed(&self) -> bool {
        *self.is_closed.lock()
    }

    /// Ends what a core does to the folder: nothing is written any more when this returns.
    pub(super) fn end_core(&self, core: &Core, why: RequestError) {
        core.fail(why);
        core.translog.close();
        // A refresh, an installation of a merge or a commit that has already begun must be finished before
        // anybody else uses the folder.
        drop(core.refreshing.lock());
        drop(core.committed.lock());
    }
}
