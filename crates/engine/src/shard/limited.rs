//! A shard for a request that may not see all of it: hidden fields are unmapped, hidden documents are
//! missing.
//!
//! Every read goes through [`Shard::snapshot`] or [`Shard::get`], so that no request can bypass the limits.

use std::sync::Arc;

use limber_access::{FieldRule, Limits};
use limber_mapping::Mapping;
use limber_search::{ShardSnapshot, only_matching, shown_source};
use limber_store::sync::Mutex;

use super::core::Shard;
use super::error::segment_error;
use super::get::read_stored;
use crate::api::{FoundDocument, Result};

/// How many mappings are cached. Few roles hide fields.
const SEEN_MAX: usize = 8;

/// Cached mappings for roles that hide fields.
#[derive(Default)]
pub(crate) struct SeenMappings(Mutex<Vec<Seen>>);

struct Seen {
    whole: Arc<Mapping>,
    fields: Vec<Vec<Arc<FieldRule>>>,
    seen: Arc<Mapping>,
}

impl SeenMappings {
    /// Returns the parts of `whole` that are visible with these limits.
    ///
    /// # Errors
    /// Fails only with errors of the mapping itself.
    pub(crate) fn of(&self, whole: &Arc<Mapping>, limits: &Limits) -> Result<Arc<Mapping>> {
        if limits.fields.is_empty() {
            return Ok(whole.clone());
        }
        {
            let mut kept = self.0.lock();
            kept.retain(|one| Arc::ptr_eq(&one.whole, whole));
            if let Some(known) = kept.iter().find(|one| one.fields == limits.fields) {
                return Ok(known.seen.clone());
            }
        }
        // Rules and fields may be many, so others wait neither for the lock nor for the thread.
        let rules = limits.clone();
        let seen = Arc::new(whole.seen_by(move |path| {
            limber_work::let_others_run();
            rules.allows_field(path)
        })?);
        let mut kept = self.0.lock();
        if kept.len() >= SEEN_MAX {
            kept.remove(0);
        }
        kept.push(Seen { whole: whole.clone(), fields: limits.fields.clone(), seen: seen.clone() });
        Ok(seen)
    }
}

impl Shard {
    /// Returns what is hidden of this shard from the request of this thread, which reads documents.
    ///
    /// # Errors
    /// Fails with `Forbidden` when the request must not use the index at all, or when its action is about the
    /// whole cluster and thus not about documents.
    pub(super) fn limits_of_documents(&self) -> Result<Option<Limits>> {
        if let Some(access) = limber_access::current() {
            access.check_is_on_indices(&self.index.name)?;
        }
        self.limits()
    }

    /// Returns what is hidden of this shard from the request of this thread.
    ///
    /// # Errors
    /// Fails with `Forbidden` when the request must not use the index at all.
    pub(crate) fn limits(&self) -> Result<Option<Limits>> {
        match limber_access::current() {
            None => Ok(None),
            Some(access) => access.limits(&self.index.name, None),
        }
    }

    pub(super) fn limited_snapshot(&self, limits: &Limits) -> Result<ShardSnapshot> {
        let mut snapshot = self.whole_snapshot()?;
        if let Some(query) = limits.query() {
            let now_millis = self.now_millis() as i64;
            snapshot =
                only_matching(snapshot, &query, now_millis).map_err(|error| error.to_request_error())?;
        }
        let mapping = self.index.seen.of(&snapshot.mapping, limits)?;
        Ok(ShardSnapshot { mapping, caches: None, ..snapshot })
    }

    /// Returns the visible parts of the newest version of a document, if the document is visible. Everything
    /// written is refreshed first, because a search decides about visibility.
    pub(super) fn get_limited(
        &self,
        limits: &Limits,
        id: &str,
        realtime: bool,
    ) -> Result<Option<FoundDocument>> {
        if realtime {
            self.refresh()?;
        }
        get_in(&self.limited_snapshot(limits)?, id)
    }

    /// Returns the newest version of a document with a synthetic source, also if its source is stored.
    /// Everything written is refreshed first, because that source is made of columns.
    pub(crate) fn get_forced(&self, id: &str, realtime: bool) -> Result<Option<FoundDocument>> {
        if realtime {
            self.refresh()?;
        }
        let mut snapshot = self.snapshot()?;
        force_source(&mut snapshot);
        get_in(&snapshot, id)
    }
}

/// Lets a search see synthetic sources where sources are stored.
pub(crate) fn force_source(snapshot: &mut ShardSnapshot) {
    if let Some(mapping) = snapshot.mapping.with_forced_source() {
        (snapshot.mapping, snapshot.caches) = (Arc::new(mapping), None);
    }
}

fn get_in(snapshot: &ShardSnapshot, id: &str) -> Result<Option<FoundDocument>> {
    for view in snapshot.segments.iter().rev() {
        let doc = view.segment.find_id(id.as_bytes()).map_err(|error| segment_error(&error))?;
        let Some(doc) = doc.filter(|doc| view.is_live(*doc)) else { continue };
        let found = read_stored(&view.segment, doc)?;
        let source = shown_source(&snapshot.mapping, &view.segment, doc, &found.source)
            .map_err(|error| error.to_request_error())?
            .map(|source| source.into_owned());
        view.segment.intact().map_err(|error| segment_error(&error))?;
        return Ok(Some(FoundDocument { source: source.unwrap_or_default(), ..found }));
    }
    Ok(None)
}
