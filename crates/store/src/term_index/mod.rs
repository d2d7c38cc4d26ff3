//! The cache of term-index pages: "give me this FST page, from memory when it is there, and never over the
//! budget".
//!
//! A page is one FST (or a piece of one) of about 256 KiB over the block separators of one field in one
//! segment. A field's reader opens its pages with [`TermIndexCache::open_field`] and asks
//! [`FieldPages::page`] for one; the answer is pinned while it is held. What a page costs while it is not in
//! memory is its slot of 32 bytes and its directory entry.
//!
//! - **First level** (`cache`, `policy`, `sketch`): who is in memory. Sharded W-TinyLFU over allocated bytes;
//!   a load reserves its bytes in the ledger's pool before it allocates them and evicts until they fit.
//! - **Second level** (`slot`, `field`): how a reader finds its page again. The slot is at once the page's
//!   key, its handle and its pin count, so a hit is one atomic addition, which counts the use as well; the
//!   policy drains the counts when it looks for a victim. The slot never keeps a page: eviction takes the
//!   page out of it.
//!
//! **Invariants**
//! - The pool's `used_bytes` covers every byte allocated for pages, at every instant: bytes are charged
//!   before they are allocated and given back after they are freed. No charge is made beyond the budget.
//!   After a shrink, pages in use are all that can exceed the new budget, and they go when they are let go
//!   (*transients*: they take no new users).
//! - Memory of a page in use is never freed or moved.
//! - Nobody waits for memory. When all of the budget is in use, [`FieldPages::page`] says so (`None`, a
//!   *bypass*) and the reader searches the term blocks themselves, which needs no memory. So a budget of any
//!   size, zero included, neither fails a look-up nor deadlocks, however many pages a thread holds.
//! - A page is loaded by one thread at a time; others that need it wait for that load.
//!
//! The two schemes differ in the limit only: *cached* has the budget, *native* has none and its pages are
//! loaded when a segment opens. Switching is a store and, towards cached, evicting down.

mod cache;
mod field;
mod memory;
mod policy;
mod sketch;
mod slot;
mod stats;
mod sync;

pub use cache::{Scheme, TermIndexCache, next_segment_core_id};
pub use field::{FieldPages, PageRef};
pub use stats::{FieldFigures, TermIndexStats};
