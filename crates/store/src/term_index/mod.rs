//! The cache of term-index pages: "give me this FST page, from memory if it is there, and never exceed the
//! budget".
//!
//! A page is one FST (or a piece of one) of about 256 KiB over the block separators of one field in one
//! segment. A field's reader opens its pages with [`TermIndexCache::open_field`] and requests one with
//! [`FieldPages::page`]; the result is pinned while it is held. A page that is not in memory costs its slot
//! of 32 bytes and its directory entry.
//!
//! - **First level** (`cache`, `policy`, `sketch`): which pages are in memory. Sharded W-TinyLFU over
//!   allocated bytes; a load reserves its bytes in the ledger's pool before it allocates them, and evicts
//!   until they fit.
//! - **Second level** (`slot`, `field`): how a reader finds its page again. The slot is the page's key, its
//!   handle and its pin count at once, so a hit is one atomic addition, which also counts the use. The
//!   policy drains these counts when it looks for a victim. A slot does not keep its page alive: eviction
//!   takes the page out of it.
//!
//! **Invariants**
//! - The pool's `used_bytes` covers every byte allocated for pages at every moment: bytes are charged
//!   before they are allocated and released after they are freed. No charge exceeds the budget. After the
//!   budget was lowered, only pages in use can exceed it; they take no new users and are freed when they
//!   are unpinned (*transients*).
//! - Memory of a page in use is never freed or moved.
//! - Nobody waits for memory. If all of the budget is in use, [`FieldPages::page`] returns `None` (a
//!   *bypass*) and the reader searches the term blocks themselves, which needs no memory. So with a budget
//!   of any size, even zero, no lookup fails or deadlocks, however many pages a thread holds.
//! - A page is loaded by one thread at a time; other threads that need it wait for that load.
//!
//! The two schemes differ only in the limit: *cached* has the budget; *native* has none, and its pages are
//! loaded when a segment opens. Switching stores the scheme and, towards cached, evicts down to the budget.

mod cache;
mod field;
mod memory;
mod policy;
mod reservation;
mod sketch;
mod slot;
mod stats;
mod sync;

pub use cache::{Scheme, TermIndexCache, next_segment_core_id};
pub use field::{FieldPages, PageRef};
pub use stats::{FieldFigures, TermIndexStats};
