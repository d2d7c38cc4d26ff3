//! What is known of transforms besides what is stored: "is one running, and may it still write?"
//!
//! A transform that was deleted or reset may be there again, under the same name, before a run of the earlier
//! one has noticed. So whatever a run changes is changed only as long as that run is the one in progress.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use limber_mapping::RequestError;
use limber_store::sync::Mutex;

use crate::api::Result;

/// State of transforms that is not stored.
#[derive(Default)]
pub(in crate::node) struct Transforms {
    by_id: Mutex<HashMap<String, Live>>,
}

/// One transform's state since the node was opened.
#[derive(Debug, Default, Clone)]
pub(in crate::node) struct Live {
    /// The run in progress, or the request that keeps others from beginning; `None` when there is none.
    pub run: Option<Arc<Run>>,
    /// When the next run begins, by the monotonic clock.
    pub due_ms: u64,
    pub stats: RunStats,
    /// Why the last run failed.
    pub failure: Option<String>,
    /// The source's state at the last check.
    pub source: Option<SourceState>,
    /// When the source was last checked for changes, in milliseconds since 1970.
    pub checked_millis: Option<u64>,
    /// The destination includes documents up to this time, by the monotonic clock.
    pub done_until_ms: u64,
}

/// A state of a transform's source.
#[derive(Debug, Clone, Copy)]
pub(in crate::node) struct SourceState {
    pub hash: u64,
    /// When the state was first seen, by the monotonic clock.
    pub seen_ms: u64,
    /// The same moment in milliseconds since 1970, which is only shown.
    pub seen_millis: u64,
}

/// The counters in `_transform/{id}/_stats`.
#[derive(Debug, Default, Clone)]
pub(in crate::node) struct RunStats {
    pub pages: u64,
    pub documents_read: u64,
    pub documents_written: u64,
    pub documents_deleted: u64,
    pub triggers: u64,
    pub search_ms: u64,
    pub searches: u64,
    pub search_failures: u64,
    pub index_ms: u64,
    pub indexing: u64,
    pub index_failures: u64,
    pub delete_ms: u64,
}

/// One run of a transform.
#[derive(Debug, Default)]
pub(in crate::node) struct Run {
    /// Set when the run is to end.
    pub cancelled: Arc<AtomicBool>,
    /// Held while the run changes its destination. Who sets `cancelled` and then takes this lock knows that
    /// the run changes nothing any more.
    writing: Mutex<()>,
}

impl Run {
    /// Changes the destination by `write`.
    ///
    /// # Errors
    /// Fails with the errors of `write`, and, without calling it, when the run is to end.
    pub(in crate::node) fn writing<T>(&self, write: impl FnOnce() -> Result<T>) -> Result<T> {
        let _writing = self.writing.lock();
        match self.is_cancelled() {
            true => Err(RequestError::bad_request("task_cancelled_exception", "the transform was stopped")),
            false => write(),
        }
    }

    pub(in crate::node) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Keeps runs of a transform from beginning until it is dropped.
#[must_use = "runs may begin as soon as it is dropped"]
pub(in crate::node) struct Reserved<'t> {
    transforms: &'t Transforms,
    id: String,
    own: Arc<Run>,
    /// The run that was in progress.
    before: Option<Arc<Run>>,
}

impl Reserved<'_> {
    /// Waits until the run that was in progress changes nothing any more.
    pub(in crate::node) fn settle(&self) {
        if let Some(before) = &self.before {
            drop(before.writing.lock());
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut by_id = self.transforms.by_id.lock();
        if by_id.get(&self.id).is_some_and(|live| live.is_run(&self.own)) {
            by_id.remove(&self.id);
        }
    }
}

impl Live {
    fn is_run(&self, run: &Arc<Run>) -> bool {
        self.run.as_ref().is_some_and(|now| Arc::ptr_eq(now, run))
    }
}

impl Transforms {
    pub(in crate::node) fn change<T>(&self, id: &str, change: impl FnOnce(&mut Live) -> T) -> T {
        change(self.by_id.lock().entry(id.to_owned()).or_default())
    }

    /// Changes the state of a transform if this run of it is still the one in progress.
    pub(in crate::node) fn change_in<T>(
        &self,
        id: &str,
        run: &Arc<Run>,
        change: impl FnOnce(&mut Live) -> T,
    ) -> Option<T> {
        let mut by_id = self.by_id.lock();
        by_id.get_mut(id).filter(|live| live.is_run(run)).map(change)
    }

    pub(in crate::node) fn live(&self, id: &str) -> Live {
        self.by_id.lock().get(id).cloned().unwrap_or_default()
    }

    /// Begins a run if one is due and none is in progress.
    pub(in crate::node) fn begin_run(&self, id: &str, now_ms: u64) -> Option<Arc<Run>> {
        self.change(id, |live| {
            if live.run.is_some() || live.due_ms > now_ms {
                return None;
            }
            live.run = Some(Arc::default());
            live.run.clone()
        })
    }

    /// Ends the run in progress. It may still write its current page.
    pub(in crate::node) fn end_run(&self, id: &str) {
        if let Some(run) = self.by_id.lock().get(id).and_then(|live| live.run.as_ref()) {
            run.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the run in progress, forgets what is known of the transform, and lets no run begin until the
    /// result is dropped.
    pub(in crate::node) fn reserve(&self, id: &str) -> Reserved<'_> {
        let own = Arc::<Run>::default();
        let reserved = Live { run: Some(own.clone()), ..Live::default() };
        let before = self.by_id.lock().insert(id.to_owned(), reserved).and_then(|live| live.run);
        if let Some(before) = &before {
            before.cancelled.store(true, Ordering::Relaxed);
        }
        Reserved { transforms: self, id: id.to_owned(), own, before }
    }
}
