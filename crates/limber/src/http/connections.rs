//! Open connections: "may one more be accepted, and which one must close?"
//!
//! A connection uses a file descriptor. Shards need theirs whatever clients do, so part of the process's
//! descriptors is never given to connections. What the rest of the process uses is measured periodically. A
//! connection beyond the limit replaces the one that has been idle longest; if none is idle, it is refused. A
//! connection on which a request arrives slowly counts as idle.
//!
//! A connection that has been used has buffers. If many have, the idle ones among them are **parked**: they
//! stay open, and get new buffers with the next request.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Descriptors reserved for logs, for segments that are written, merged or opened by name, and for sudden
/// demand between two measurements: a third of all, within these bounds. Merging a large segment writes 8
/// files, and a flush syncs files by name.
const RESERVED_MIN: u64 = 48;
const RESERVED_MAX: u64 = 4096;
/// This many connections are always allowed, so that a node that is short of descriptors can still be asked
/// what is wrong.
const CONNECTIONS_MIN: usize = 8;
/// Bytes of `memory.limit` per connection: its task, and its buffers while headers are read and responses
/// written. Bodies are charged separately.
const CONNECTION_BYTES: u64 = 24 << 10;
/// Measured memory of a connection that has been used: it keeps its buffers for reading and writing.
const USED_BYTES: u64 = 20 << 10;
/// Connections that have been used may take at most one in this many bytes of `memory.limit`. If they take
/// more, those among them on which a request arrives slowly are closed.
const USED_SHARE: u64 = 4;
/// If they take one in so many of these bytes, idle ones are parked.
const UNPARKED_SHARE: usize = 8;
/// A connection with part of a request counts as one more for each of so many bytes that have arrived, up to
/// this number: heads and the first bytes of bodies are held about twice, and other bytes are charged.
const PART_BYTES: u64 = USED_BYTES / 2;
const PARTS_MAX: usize = 4;
/// Minimum speed of a request that takes longer than [`IDLE_AFTER`] to arrive: that of bodies.
const REQUEST_BYTES_PER_SECOND: u64 = 64 << 10;
/// A connection that was used within this time is not idle: its client is between two requests.
const IDLE_AFTER: Duration = Duration::from_secs(1);
/// Maximum number of closing connections while others are accepted, because they hold their descriptors until
/// they are closed.
const CLOSING_MAX: usize = 16;
/// When an idle connection must close, one in this many of all connections closes with it, so that the search
/// for idle ones stays cheap.
const CLOSED_AT_ONCE_SHARE: usize = 32;

/// The connections of a server.
#[derive(Debug)]
pub struct Connections {
    /// `http.max_connections`, or what memory and descriptors allow.
    max: usize,
    /// How many used connections may be open before slow ones among them are closed.
    used_max: usize,
    parts: Arc<Parts>,
    /// The limit of descriptors of the process.
    descriptors_max: u64,
    /// How many connections are allowed at the moment.
    allowed: AtomicUsize,
    open: Mutex<Open>,
    total_opened: AtomicU64,
    refused: AtomicU64,
    closed_idle: AtomicU64,
    accept_failures: AtomicU64,
    started: Instant,
}

#[derive(Debug, Default)]
struct Open {
    next_id: u64,
    by_id: HashMap<u64, Arc<Connection>>,
    /// Number of connections that were asked to close.
    closing: usize,
}

/// One open connection.
#[derive(Debug)]
pub struct Connection {
    /// Requests whose response is not ready.
    in_flight: AtomicUsize,
    /// The client does not read what it is sent.
    is_write_blocked: AtomicBool,
    /// Whether bytes have arrived, so that the connection has buffers.
    is_used: AtomicBool,
    /// The time of last use, in milliseconds since the server started.
    used_ms: AtomicU64,
    /// When the request that has arrived in part began, in milliseconds since the server started and one
    /// more; 0 if there is none.
    receiving_ms: AtomicU64,
    /// How many bytes of that request have arrived.
    received_bytes: AtomicU64,
    is_closing: AtomicBool,
    asked_to_close: Notify,
    /// It was idle when it was last asked to park, and no request has begun since.
    is_parking: AtomicBool,
    asked_to_park: Notify,
    /// When the server started.
    started: Instant,
    /// How many further connections the one counts for because part of a request is held.
    held_parts: AtomicUsize,
    all_parts: Arc<Parts>,
}

/// The parts of requests that all connections hold: many clients can send them before the next measurement.
#[derive(Debug)]
struct Parts {
    held: AtomicUsize,
    max: usize,
}

/// Counters of [`Connections`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionStats {
    pub current_open: usize,
    pub total_opened: u64,
    pub allowed: usize,
    pub refused: u64,
    pub closed_idle: u64,
    /// How often the system had no descriptor for a connection.
    pub accept_failures: u64,
}

/// What happens to a new connection.
pub enum Verdict {
    Admitted(Admission),
    /// Idle connections are closing: try again in a moment.
    Later,
    /// The limit is reached, and no connection is idle.
    Refused,
}

/// The slot of an open connection, released on drop.
pub struct Admission {
    pub connections: Arc<Connections>,
    id: u64,
    pub connection: Arc<Connection>,
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock();
        open.by_id.remove(&self.id);
        self.connection.hold_parts(0);
        open.closing -= usize::from(self.connection.is_closing.load(Ordering::Relaxed));
    }
}

impl Connections {
    /// `asked_max` is `http.max_connections`, if set.
    pub fn new(asked_max: Option<usize>, descriptors_max: u64, memory_limit_bytes: u64) -> Connections {
        let by_memory = (memory_limit_bytes / CONNECTION_BYTES) as usize;
        let by_descriptors = descriptors_max.saturating_sub(reserved(descriptors_max)) as usize;
        let max = asked_max
            .unwrap_or(by_memory)
            .min(by_descriptors)
            .max(CONNECTIONS_MIN.min(asked_max.unwrap_or(usize::MAX)));
        let used_max = (memory_limit_bytes / USED_SHARE / USED_BYTES) as usize;
        Connections {
            max,
            used_max,
            parts: Arc::new(Parts { held: AtomicUsize::new(0), max: used_max }),
            descriptors_max,
            allowed: AtomicUsize::new(max),
            open: Mutex::default(),
            total_opened: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            closed_idle: AtomicU64::new(0),
            accept_failures: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// Returns the limit that applies while the rest of the process uses few descriptors.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Admits a new connection if there is a slot, and closes idle ones if there is none.
    pub fn admit(self: &Arc<Self>) -> Verdict {
        let mut open = self.open.lock();
        let allowed = self.allowed.load(Ordering::Relaxed);
        if open.closing >= CLOSING_MAX && open.by_id.len() >= allowed {
            return Verdict::Later;
        }
        if open.alive() >= allowed && self.close_idle(&mut open, 1 + allowed / CLOSED_AT_ONCE_SHARE) == 0 {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Verdict::Refused;
        }
        let id = open.next_id;
        open.next_id += 1;
        let connection = Arc::new(Connection {
            in_flight: AtomicUsize::new(0),
            is_write_blocked: AtomicBool::new(false),
            is_used: AtomicBool::new(false),
            used_ms: AtomicU64::new(self.now_ms()),
            receiving_ms: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            is_closing: AtomicBool::new(false),
            asked_to_close: Notify::new(),
            is_parking: AtomicBool::new(false),
            asked_to_park: Notify::new(),
            started: self.started,
            held_parts: AtomicUsize::new(0),
            all_parts: self.parts.clone(),
        });
        open.by_id.insert(id, connection.clone());
        self.total_opened.fetch_add(1, Ordering::Relaxed);
        Verdict::Admitted(Admission { connections: self.clone(), id, connection })
    }

    /// Updates the limit to the number of descriptors that the process has open. Asks idle connections to
    /// close if the rest of the process needs their descriptors. If too many have buffers, idle ones are
    /// parked, and if still too many have, those with slow requests are closed.
    pub fn adjust_to(&self, descriptors_open: u64) {
        let mut open = self.open.lock();
        let others = descriptors_open.saturating_sub(open.by_id.len() as u64);
        let free = self.descriptors_max.saturating_sub(reserved(self.descriptors_max)).saturating_sub(others);
        let allowed = (free as usize).max(CONNECTIONS_MIN).min(self.max);
        self.allowed.store(allowed, Ordering::Relaxed);
        let surplus = open.alive().saturating_sub(allowed);
        self.close_idle(&mut open, surplus);
        self.close_used(&mut open);
    }

    /// Asks connections with buffers to park or to close until the others fit.
    fn close_used(&self, open: &mut Open) {
        if open.alive() <= self.used_max / UNPARKED_SHARE.max(1 + PARTS_MAX) {
            return;
        }
        let weight = |open: &Open| -> usize {
            let left = open.by_id.values().filter(|connection| !connection.is_parking());
            left.map(|connection| connection.weight()).sum()
        };
        let mut used = weight(open);
        if used > self.used_max / UNPARKED_SHARE {
            let now_ms = self.now_ms();
            open.by_id.values().filter(|connection| connection.has_idle_buffers(now_ms)).for_each(
                |connection| {
                    connection.is_parking.store(true, Ordering::Relaxed);
                    connection.asked_to_park.notify_one();
                },
            );
            used = weight(open);
        }
        let mut surplus = used.saturating_sub(self.used_max);
        if surplus == 0 {
            return;
        }
        self.close_while(open, |connection| {
            let weight = connection.weight();
            let closes = surplus > 0 && weight > 0 && !connection.is_parking();
            surplus -= weight.min(surplus);
            closes
        });
    }

    /// Counts a failure to accept because no descriptor was free, and closes some idle connections.
    pub fn note_accept_failure(&self) {
        self.accept_failures.fetch_add(1, Ordering::Relaxed);
        let mut open = self.open.lock();
        let count = 1 + open.alive() / CLOSED_AT_ONCE_SHARE;
        self.close_idle(&mut open, count);
    }

    /// Returns the current counters, for `_nodes/stats/http`.
    pub fn stats(&self) -> ConnectionStats {
        ConnectionStats {
            current_open: self.open.lock().by_id.len(),
            total_opened: self.total_opened.load(Ordering::Relaxed),
            allowed: self.allowed.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            closed_idle: self.closed_idle.load(Ordering::Relaxed),
            accept_failures: self.accept_failures.load(Ordering::Relaxed),
        }
    }

    /// Asks up to `count` idle connections to close, starting with those idle longest. Returns their number.
    fn close_idle(&self, open: &mut Open, count: usize) -> usize {
        if count == 0 {
            return 0;
        }
        let mut left = count;
        self.close_while(open, |_| {
            let closes = left > 0;
            left -= usize::from(closes);
            closes
        })
    }

    /// Asks those idle connections to close for which `closes` returns true. It is asked in the order of how
    /// long they have been idle, the longest first. Returns the number of closed ones.
    fn close_while(&self, open: &mut Open, mut closes: impl FnMut(&Connection) -> bool) -> usize {
        let now_ms = self.now_ms();
        let idle =
            |connection: &Arc<Connection>| Some((connection.idle_since_ms(now_ms)?, connection.clone()));
        let mut idle: Vec<(u64, Arc<Connection>)> = open.by_id.values().filter_map(idle).collect();
        idle.sort_unstable_by_key(|(since_ms, _)| *since_ms);
        idle.retain(|(_, connection)| closes(connection));
        for (_, connection) in &idle {
            connection.is_closing.store(true, Ordering::Relaxed);
            connection.asked_to_close.notify_one();
        }
        let closed = idle.len();
        open.closing += closed;
        self.closed_idle.fetch_add(closed as u64, Ordering::Relaxed);
        closed
    }

    /// Asks every connection to close as soon as its request is answered.
    pub fn ask_all_to_close(&self) {
        let mut open = self.open.lock();
        let asked = open
            .by_id
            .values()
            .filter(|connection| !connection.is_closing.swap(true, Ordering::Relaxed))
            .inspect(|connection| connection.asked_to_close.notify_one())
            .count();
        open.closing += asked;
    }

    fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Marks the start of a request on the connection, which is not idle until the guard is dropped.
    pub fn begin_request<'c>(&'c self, connection: &'c Connection) -> RequestGuard<'c> {
        connection.in_flight.fetch_add(1, Ordering::Relaxed);
        connection.is_parking.store(false, Ordering::Relaxed);
        RequestGuard { connections: self, connection }
    }
}

/// Exists for the duration of a request.
pub struct RequestGuard<'c> {
    connections: &'c Connections,
    connection: &'c Connection,
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        self.connection.used_ms.store(self.connections.now_ms(), Ordering::Relaxed);
        self.connection.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Open {
    fn alive(&self) -> usize {
        self.by_id.len() - self.closing
    }
}

impl Connection {
    /// Whether a request is being answered, or the client has not read a response yet.
    pub fn is_busy(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) > 0 || self.is_write_blocked.load(Ordering::Relaxed)
    }

    /// Completes when the connection is asked to park.
    pub async fn asked_to_park(&self) {
        self.asked_to_park.notified().await;
    }

    /// Whether the connection was idle when it was asked to park, and still is.
    pub fn is_parking(&self) -> bool {
        self.is_parking.load(Ordering::Relaxed) && !self.is_busy()
    }

    /// Notes that the connection will not be parked.
    pub fn stop_parking(&self) {
        self.is_parking.store(false, Ordering::Relaxed);
    }

    /// Notes that the connection has no buffers any more.
    pub fn note_parked(&self) {
        self.stop_parking();
        self.is_used.store(false, Ordering::Relaxed);
    }

    fn has_idle_buffers(&self, now_ms: u64) -> bool {
        self.is_used.load(Ordering::Relaxed)
            && self.receiving_ms.load(Ordering::Relaxed) == 0
            && self.idle_since_ms(now_ms).is_some()
    }

    /// Completes when the connection is asked to close.
    pub async fn asked_to_close(&self) {
        self.asked_to_close.notified().await;
    }

    /// Since when the connection has been idle, or a request has been arriving too slowly. `None` if it is
    /// in use or closing.
    fn idle_since_ms(&self, now_ms: u64) -> Option<u64> {
        if self.is_closing.load(Ordering::Relaxed) {
            return None;
        }
        let (since_ms, is_idle) = match self.slow_since_ms(now_ms) {
            Some(since_ms) => (since_ms, true),
            None => (self.used_ms.load(Ordering::Relaxed), !self.is_busy()),
        };
        (is_idle && now_ms.checked_sub(since_ms)? >= IDLE_AFTER.as_millis() as u64).then_some(since_ms)
    }

    /// When the request began that has been arriving too slowly.
    fn slow_since_ms(&self, now_ms: u64) -> Option<u64> {
        let since_ms = self.receiving_ms.load(Ordering::Relaxed).checked_sub(1)?;
        let enough_bytes = now_ms.saturating_sub(since_ms) * REQUEST_BYTES_PER_SECOND / 1_000;
        let is_slow = self.received_bytes.load(Ordering::Relaxed) < enough_bytes;
        (is_slow && !self.is_write_blocked.load(Ordering::Relaxed)).then_some(since_ms)
    }

    /// Whether a request is arriving slowly, so that nobody waits for a response yet.
    pub fn is_slow(&self) -> bool {
        let now_ms = self.now_ms();
        let since_ms = self.slow_since_ms(now_ms);
        since_ms.is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= IDLE_AFTER.as_millis() as u64)
    }

    /// How many used connections this one counts for; 0 if it has no buffers, or is closing.
    fn weight(&self) -> usize {
        if !self.is_used.load(Ordering::Relaxed) || self.is_closing.load(Ordering::Relaxed) {
            return 0;
        }
        1 + self.held_parts.load(Ordering::Relaxed)
    }

    /// Whether more of a request may be read: the beginning of one always, and what is charged. If others
    /// hold too much, what lies between waits until they are complete, or closed because they are slow.
    pub(super) fn may_receive(&self) -> bool {
        let is_beginning = self.receiving_ms.load(Ordering::Relaxed) == 0
            || self.received_bytes.load(Ordering::Relaxed) < PART_BYTES / 2;
        is_beginning
            || self.held_parts.load(Ordering::Relaxed) == PARTS_MAX
            || self.all_parts.held.load(Ordering::Relaxed) < self.all_parts.max
    }

    fn hold_parts(&self, count: usize) {
        let before = self.held_parts.swap(count, Ordering::Relaxed);
        match count.checked_sub(before) {
            Some(more) => self.all_parts.held.fetch_add(more, Ordering::Relaxed),
            None => self.all_parts.held.fetch_sub(before - count, Ordering::Relaxed),
        };
    }

    fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Notes that bytes have arrived. `is_part`: the request to which they belong is not complete.
    pub(super) fn note_bytes(&self, count: usize, is_part: bool) {
        self.is_used.store(true, Ordering::Relaxed);
        if !is_part {
            self.receiving_ms.store(0, Ordering::Relaxed);
            self.hold_parts(0);
            return;
        }
        if self.receiving_ms.load(Ordering::Relaxed) == 0 {
            self.received_bytes.store(0, Ordering::Relaxed);
            self.receiving_ms.store(self.now_ms() + 1, Ordering::Relaxed);
        }
        let received = self.received_bytes.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
        self.hold_parts(((received / PART_BYTES) as usize).min(PARTS_MAX));
    }

    pub(super) fn set_write_blocked(&self, is_blocked: bool) {
        self.is_write_blocked.store(is_blocked, Ordering::Relaxed);
    }
}

fn reserved(descriptors_max: u64) -> u64 {
    (descriptors_max / 3).clamp(RESERVED_MIN, RESERVED_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Idle connections that have been used are parked when there are too many of them, until they are used
    /// again.
    #[test]
    fn idle_connections_with_buffers_are_parked() {
        let open = connections(None, 20_000);
        let open = Arc::new(Connections { used_max: 2, ..Arc::into_inner(open).expect("one owner") });
        let admissions: Vec<Admission> = (0..5).filter_map(|_| admitted(&open)).collect();
        for (n, admission) in admissions.iter().enumerate() {
            idle_for_ms(&open, admission, 4_000 - n as u64 * 1_000);
            if n > 0 {
                admission.connection.note_bytes(100, false);
            }
        }
        open.adjust_to(5);
        let parking = || -> Vec<bool> { admissions.iter().map(|one| one.connection.is_parking()).collect() };
        assert_eq!(parking(), [false, true, true, true, false]);
        assert_eq!(open.stats().closed_idle, 0);
        drop(open.begin_request(&admissions[1].connection));
        admissions[2].connection.note_parked();
        assert_eq!(parking(), [false, false, false, true, false]);
        assert_eq!(admissions[2].connection.weight(), 0);
    }

    /// A client that sends most of a request and then waits makes room like an idle one, and counts for more.
    /// A client that sends fast keeps its connection.
    #[test]
    fn connections_with_slow_requests_are_closed() {
        let open = connections(None, 20_000);
        let open = Arc::new(Connections { used_max: 12, ..Arc::into_inner(open).expect("one owner") });
        let admissions: Vec<Admission> = (0..4).filter_map(|_| admitted(&open)).collect();
        let _requests: Vec<RequestGuard<'_>> =
            admissions.iter().map(|admission| open.begin_request(&admission.connection)).collect();
        for (n, admission) in admissions.iter().enumerate() {
            let bytes = if n == 1 { 100 << 20 } else { 40 << 10 };
            admission.connection.note_bytes(bytes, true);
            let since_ms = open.now_ms() - 10_000 + n as u64;
            admission.connection.receiving_ms.store(since_ms, Ordering::Relaxed);
        }
        open.adjust_to(4);
        let closing = || -> Vec<bool> {
            admissions.iter().map(|one| one.connection.is_closing.load(Ordering::Relaxed)).collect()
        };
        assert_eq!(closing(), [true, false, true, false]);
        // When the request is complete, a response is awaited.
        admissions[3].connection.note_bytes(1, false);
        assert!(admissions[3].connection.is_busy() && !admissions[3].connection.is_slow());
        open.close_idle(&mut open.open.lock(), 4);
        assert_eq!(closing(), [true, false, true, false]);
    }

    /// When clients hold as many parts of requests as fit, those that hold more than the beginning of one
    /// must wait, and those whose bodies are charged need not.
    #[test]
    fn parts_of_requests_wait_for_room() {
        let open = connections(None, 20_000);
        let parts = Arc::new(Parts { held: AtomicUsize::new(0), max: 6 });
        let open = Arc::new(Connections { parts, ..Arc::into_inner(open).expect("one owner") });
        let admissions: Vec<Admission> = (0..4).filter_map(|_| admitted(&open)).collect();
        let may_receive = || admissions.iter().map(|one| one.connection.may_receive()).collect::<Vec<_>>();
        for (admission, bytes) in admissions.iter().zip([45 << 10, 8 << 10, 25 << 10, 2 << 10]) {
            admission.connection.note_bytes(bytes, true);
        }
        assert_eq!(open.parts.held.load(Ordering::Relaxed), 6);
        assert_eq!(may_receive(), [true, false, false, true]);
        admissions[0].connection.note_bytes(1, false);
        assert_eq!(may_receive(), [true; 4]);
        drop(admissions);
        assert_eq!(open.parts.held.load(Ordering::Relaxed), 0);
    }

    const GB: u64 = 1 << 30;

    /// Creates connections as if the server had been running for a minute.
    fn connections(asked_max: Option<usize>, descriptors_max: u64) -> Arc<Connections> {
        let started = Instant::now() - Duration::from_secs(60);
        Arc::new(Connections { started, ..Connections::new(asked_max, descriptors_max, GB) })
    }

    fn admitted(connections: &Arc<Connections>) -> Option<Admission> {
        match connections.admit() {
            Verdict::Admitted(admission) => Some(admission),
            Verdict::Refused => None,
            Verdict::Later => panic!("few are closing"),
        }
    }

    fn idle_for_ms(connections: &Connections, admission: &Admission, ms: u64) {
        admission.connection.used_ms.store(connections.now_ms() - ms, Ordering::Relaxed);
    }

    #[test]
    fn how_many_there_may_be() {
        let check = |asked: Option<usize>, descriptors: u64, expected: usize| {
            assert_eq!(Connections::new(asked, descriptors, GB).max(), expected, "{asked:?} {descriptors}");
        };
        check(None, 1 << 20, 43_690);
        check(None, 20_000, 15_904);
        check(None, 1024, 683);
        check(None, 128, 80);
        check(None, 32, CONNECTIONS_MIN);
        check(Some(5), 1 << 20, 5);
        check(Some(100_000), 1024, 683);
        check(Some(100_000), 1 << 20, 100_000);
    }

    #[test]
    fn the_one_that_is_idle_longest_makes_room_and_none_that_works_does() {
        let connections = connections(Some(3), 1024);
        let all: Vec<Admission> = (0..3).map(|_| admitted(&connections).expect("there is room")).collect();
        assert!(admitted(&connections).is_none(), "all were used just now");
        idle_for_ms(&connections, &all[0], 5_000);
        idle_for_ms(&connections, &all[1], 9_000);
        idle_for_ms(&connections, &all[2], 7_000);
        let request = connections.begin_request(&all[1].connection);
        all[0].connection.set_write_blocked(true);
        let fourth = admitted(&connections).expect("in the place of the third");
        assert!(all[2].connection.is_closing.load(Ordering::Relaxed));
        assert!(admitted(&connections).is_none());
        drop(request);
        drop(all);
        drop(fourth);
        let stats = connections.stats();
        assert_eq!((stats.current_open, stats.total_opened, stats.refused, stats.closed_idle), (0, 4, 2, 1));
        assert_eq!(connections.open.lock().closing, 0);
    }

    #[test]
    fn few_are_on_their_way_out_at_a_time() {
        let connections = connections(Some(40), 1024);
        let all: Vec<Admission> = (0..40).map(|_| admitted(&connections).expect("there is room")).collect();
        all.iter().for_each(|admission| idle_for_ms(&connections, admission, 2_000));
        let mut more = Vec::new();
        while let Verdict::Admitted(admission) = connections.admit() {
            more.push(admission);
        }
        let closing = connections.open.lock().closing;
        assert!((CLOSING_MAX..CLOSING_MAX + 2).contains(&closing) && more.len() <= closing, "{closing}");
        assert!(matches!(connections.admit(), Verdict::Later));
        drop(all);
        assert!(matches!(connections.admit(), Verdict::Admitted(_)));
    }

    #[test]
    fn connections_make_room_for_shards() {
        let connections = connections(None, 128);
        let all: Vec<Admission> = (0..60).map(|_| admitted(&connections).expect("there is room")).collect();
        connections.adjust_to(60 + 20);
        assert_eq!(connections.stats().allowed, 60);
        all.iter().for_each(|admission| idle_for_ms(&connections, admission, 2_000));
        connections.adjust_to(60 + 40);
        let stats = connections.stats();
        assert_eq!((stats.allowed, stats.closed_idle), (40, 20));
        // They are closing already, so no other connection is asked to close.
        connections.adjust_to(60 + 40);
        assert_eq!(connections.stats().closed_idle, 20);
        connections.adjust_to(128);
        assert_eq!(connections.stats().allowed, 12);
        connections.adjust_to(1_000);
        assert_eq!(connections.stats().allowed, CONNECTIONS_MIN);
    }
}
