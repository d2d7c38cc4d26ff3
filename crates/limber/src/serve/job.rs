//! The part of a request that runs on a pool: "what does the handler answer to this body?"

use std::any::Any;
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use limber_access::Access;
use limber_mapping::RequestError;
use limber_race::thread_time;
use limber_work::{Entered, Work};
use tokio::sync::oneshot;

use super::body::Received;
use crate::http::back_pressure::RunningSearch;
use crate::http::media::{self, Format};
use crate::http::pools::{LongJob, PoolName};
use crate::http::positions;
use crate::http::queue::Flow;
use crate::http::refusal::circuit_breaking;
use crate::http::render::{HttpResponse, Shape};
use crate::http::request::{Method, Request};
use crate::rest::{App, Route, check_body, is_stream};

/// What a handler answers, or why there is no answer.
pub(super) type Outcome = Result<HttpResponse, RequestError>;

/// A request whose body has arrived.
pub(super) struct Job {
    pub body: Received,
    pub route: &'static Route,
    pub method: Method,
    /// The flow that it belongs to in its pool.
    pub flow: Flow,
    /// Its body is filled from `body` before the handler runs.
    pub request: Request,
    /// The form of the response.
    pub shape: Shape,
    pub app: Arc<App>,
}

impl Job {
    /// Runs the handler and sends its outcome, on a thread of the route's pool. `search` is what back
    /// pressure knows of a search.
    pub(super) fn run(
        mut self,
        access: Option<Arc<Access>>,
        work: Work,
        search: Option<Arc<RunningSearch>>,
        sender: oneshot::Sender<Outcome>,
    ) {
        // The client has disconnected, so requests that are still wanted run first.
        if self.route.pool == PoolName::Search && work.cancelled.load(Ordering::Relaxed) {
            return;
        }
        let slot = Rc::new(GivenUpTurn(Cell::new(None)));
        let given_up = slot.clone();
        let (app, pool, flow) = (self.app.clone(), self.route.pool, self.flow);
        let begin_long = move || app.pools.get(pool).begin_long(flow);
        let _access = access.map(Access::enter);
        // Under overload every write takes long, most of it without a processor. If they all gave up their
        // turns for that, ever more of them would run at the same time, and take still longer.
        let begun = (self.route.pool == PoolName::Write).then(thread_time).flatten();
        let entered = work.enter().when_long(move || {
            let used = begun.zip(thread_time()).map(|(begun, now)| now.saturating_sub(begun));
            let left = used.map(|used| limber_work::LONG.saturating_sub(used)).filter(|left| !left.is_zero());
            if left.is_none() {
                given_up.0.set(limber_work::give_up_turn().map(|turn| (turn, begin_long())));
            }
            left
        });
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| self.outcome(&entered)));
        let outcome = outcome.unwrap_or_else(|panic| Err(error_of_panic(&self.request.uri, &*panic)));
        let ended = search.and_then(|search| search.refusal()).filter(|_| outcome.is_err());
        let _ = sender.send(ended.map_or(outcome, Err));
    }

    /// Brings the body into the form that handlers read, runs the handler and renders its response.
    fn outcome(&mut self, entered: &Entered) -> Outcome {
        self.body.decompress(&self.app)?;
        let is_json = self.body.format.is_json();
        let is_tree = self.route.pool != PoolName::Write || !is_json;
        let is_stream = !is_json && is_stream(self.route);
        let tree_bytes =
            if is_tree { media::tree_bytes(self.body.format, &self.body.bytes, is_stream) } else { 0 };
        if let Some(charge) = &mut self.body.charge.charge {
            charge.grow(tree_bytes, "<json_tree>").map_err(|error| circuit_breaking(&error))?;
        }
        let _copies = copies_of(self.route, tree_bytes + self.body.bytes.len() as u64)
            .filter(|_| self.body.charge.is_charged)
            .map(|bytes| self.app.node.ledger().request.charge(bytes, "<json_tree_copies>"))
            .transpose()
            .map_err(|error| circuit_breaking(&error))?;
        let json = media::body_to_json(self.body.format, &self.body.bytes, is_stream)?;
        let sent = std::mem::take(&mut self.body.bytes);
        self.request.body = json.map_or(sent, Bytes::from);
        check_body(self.route, self.method, &self.request)?;
        let response =
            (self.route.handler)(&self.app, &self.request).map_err(|error| self.with_position(error))?;
        // If code that cannot return errors was refused memory, the response is wrong.
        entered.refusal().map_or(Ok(()), Err)?;
        self.shape.render(response, &self.app.node.ledger().request)
    }

    /// Adds to an error of a parser where in the body it is. A template is parsed after it was rendered, so
    /// its errors have no position in the body.
    fn with_position(&self, error: RequestError) -> RequestError {
        let is_one = self.body.format == Format::Json && !is_stream(self.route);
        match is_one && !self.route.path.contains("/template") {
            true => positions::placed(error, &self.request.body),
            false => error,
        }
    }
}

/// Logs a panic and returns the error that the client gets.
fn error_of_panic(uri: &str, panic: &(dyn Any + Send)) -> RequestError {
    let what = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    tracing::error!(uri, panic = what, "a request panicked");
    RequestError::internal("exception", format!("the request failed unexpectedly: {what}"))
}

/// Holds the guard of a long job that has given up its turn in the pool.
struct GivenUpTurn(Cell<Option<(limber_work::GivenUp, LongJob)>>);

/// Returns how many bytes of copies are held while a metadata request is carried out, besides the tree of
/// its body (`tree_bytes`): the body is stored as settings, planned twice in a catalog, serialized and
/// checked. Measured: seven to ten times the tree for lists of short words. `None` for small bodies, which
/// are not charged for copies.
fn copies_of(route: &Route, tree_bytes: u64) -> Option<u64> {
    const COPIES: u64 = 7;
    const LITTLE_BYTES: u64 = 1 << 20;
    (route.pool == PoolName::Management && tree_bytes > LITTLE_BYTES).then_some(tree_bytes * COPIES)
}
