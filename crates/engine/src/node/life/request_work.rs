//! Work of a request that runs on the node's own threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_work::{Entered, Work};

use crate::node::Node;

impl Node {
    /// Makes further work on this thread count as that of one request, which `cancelled` ends.
    pub(in crate::node) fn enter_work(&self, cancelled: Arc<AtomicBool>) -> Entered {
        let meter = Some(Arc::new(self.ledger.request.meter()));
        Work { meter, cancelled, ..Work::default() }.enter()
    }
}
