//! Analyzers that several indices use: "has another index declared the same?"
//!
//! Indices of a template have equal declarations, and a filter with many synonyms takes much memory. Their
//! analyzers are made once, as long as nothing that they were made of can have changed: whoever has read a
//! file or compiled a script has analyzers of its own, and a change of synonym sets ends all sharing.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Weak};

use limber_mapping::RequestError;
use limber_mapping::analysis::{Analyzers, Declaration};
use limber_store::Pool;
use limber_store::sync::Mutex;
use limber_work::Work;

use crate::shard::store_error;

/// Analyzers that take less are not charged, because the number of indices is limited.
const UNCHARGED_BYTES: u64 = 16 << 10;
/// At this many declarations those that no index uses any more are dropped.
const SWEPT_FROM: usize = 64;

thread_local! {
    /// How often this thread has used a resource whose content may change without notice.
    static CHANGEABLE_USES: Cell<u64> = const { Cell::new(0) };
}

/// Notes that this thread uses a resource whose content may change without notice.
pub(super) fn note_changeable() {
    CHANGEABLE_USES.set(CHANGEABLE_USES.get() + 1);
}

/// The shared analyzers of a node.
pub(super) struct SharedAnalyzers {
    pool: Arc<Pool>,
    hasher: RandomState,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Counts the changes of synonym sets.
    generation: u64,
    /// By the hash of the declaration, which the analyzers hold themselves.
    by_hash: HashMap<u64, Weak<Analyzers>>,
    swept_at: usize,
}

impl SharedAnalyzers {
    /// `pool` is charged for the analyzers.
    pub(super) fn new(pool: Arc<Pool>) -> SharedAnalyzers {
        SharedAnalyzers { pool, hasher: RandomState::new(), known: Mutex::default() }
    }

    /// Carries out a change of what analyzers are made of. All later ones are made anew.
    pub(super) fn forget_with(&self, change: impl FnOnce()) {
        // The lock keeps others from taking analyzers of before the change after it.
        let mut known = self.known.lock();
        change();
        *known = Known { generation: known.generation + 1, ..Known::default() };
    }

    /// Returns the analyzers of an equal declaration, or those that `make` makes.
    ///
    /// # Errors
    /// Those of `make`, and `TooManyRequests` if there is not enough memory. Outside of a request there
    /// always is, because the declaration was accepted before.
    pub(super) fn get(
        &self,
        declaration: Declaration<'_>,
        make: &mut dyn FnMut() -> Result<Analyzers, RequestError>,
    ) -> Result<Arc<Analyzers>, RequestError> {
        let hash = self.hasher.hash_one(declaration.analysis.to_string());
        let generation = {
            let known = self.known.lock();
            if let Some(analyzers) = known.by_hash.get(&hash).and_then(Weak::upgrade)
                && analyzers.declaration() == declaration
            {
                return Ok(analyzers);
            }
            known.generation
        };
        let (allocated, changeable) = (limber_work::allocated_bytes(), CHANGEABLE_USES.get());
        let mut analyzers = make()?;
        let bytes = u64::try_from(limber_work::allocated_bytes() - allocated).unwrap_or(0);
        if bytes > UNCHARGED_BYTES {
            let charge = match Work::current() {
                Some(_) => self.pool.charge(bytes, "<analyzers>").map_err(|error| store_error(&error))?,
                None => self.pool.charge_always(bytes),
            };
            analyzers = analyzers.with_charge(Arc::new(charge));
        }
        let analyzers = Arc::new(analyzers);
        let mut known = self.known.lock();
        if changeable == CHANGEABLE_USES.get() && generation == known.generation {
            known.add(hash, &analyzers);
        }
        Ok(analyzers)
    }
}

impl Known {
    fn add(&mut self, hash: u64, analyzers: &Arc<Analyzers>) {
        if self.by_hash.len() >= SWEPT_FROM.max(2 * self.swept_at) {
            self.by_hash.retain(|_, analyzers| analyzers.strong_count() > 0);
            self.swept_at = self.by_hash.len();
        }
        self.by_hash.insert(hash, Arc::downgrade(analyzers));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shared() -> SharedAnalyzers {
        SharedAnalyzers::new(limber_store::Ledger::new(1 << 28).metadata.clone())
    }

    fn get(shared: &SharedAnalyzers, declared: &str, reads: bool) -> Arc<Analyzers> {
        let analysis = json!({"filter": {declared: {"type": "lowercase"}}});
        let limits = Analyzers::built_in().declaration().limits;
        let mut make = || {
            if reads {
                note_changeable();
            }
            Analyzers::parse(&analysis, limits, Analyzers::built_in().resources())
        };
        shared.get(Declaration { analysis: &analysis, limits }, &mut make).expect("there is room")
    }

    #[test]
    fn equal_declarations_share_their_analyzers_until_sets_change() {
        let shared = shared();
        let first = get(&shared, "a", false);
        assert!(Arc::ptr_eq(&first, &get(&shared, "a", false)));
        assert!(!Arc::ptr_eq(&first, &get(&shared, "b", false)));
        shared.forget_with(|| ());
        let later = get(&shared, "a", false);
        assert!(!Arc::ptr_eq(&first, &later));
        assert!(Arc::ptr_eq(&later, &get(&shared, "a", false)));
    }

    #[test]
    fn analyzers_of_files_and_scripts_are_not_shared() {
        let shared = shared();
        let first = get(&shared, "a", true);
        assert!(!Arc::ptr_eq(&first, &get(&shared, "a", true)));
    }

    #[test]
    fn declarations_without_an_index_are_forgotten() {
        let shared = shared();
        let kept = get(&shared, "kept", false);
        (0..1_000).for_each(|number| drop(get(&shared, &number.to_string(), false)));
        assert!(shared.known.lock().by_hash.len() <= SWEPT_FROM + 1);
        assert!(Arc::ptr_eq(&kept, &get(&shared, "kept", false)));
    }
}
