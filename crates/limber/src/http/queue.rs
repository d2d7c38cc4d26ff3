//! Jobs that wait for a thread: "whose turn is it?"
//!
//! Clients take turns, so that others need not wait for all of a client's thousand requests, of whatever
//! kinds these are. Requests of one kind (same endpoint, index and program) are a flow, and the flows of a
//! client take turns within its turns. When the queue is full, the client with the most requests loses the
//! latest one of its longest flow. A client may have as many jobs at a time as there are threads left for
//! others, and a flow as many as are left for others of its client.
//!
//! Sources: Nagle, "On packet switches with infinite storage" (RFC 970), section 9; Choudhury and Hahne,
//! "Dynamic queue length thresholds for shared-memory packet switches", 1998.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::net::IpAddr;

/// How many jobs of a flow, and of all flows that have some, may run beside others because they are long.
/// More of them would take all threads, and the jobs of others would have none.
pub(super) const FLOW_LONG_MAX: usize = 32;
const LONG_MAX: usize = 128;

/// Identifies the flow of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Whose request it is.
    pub client: u64,
    /// What tells it from others of the client.
    pub kind: u64,
}

/// Returns what tells clients without a user apart. Who has one address of IPv6 has all that begin with the
/// same 64 bits.
pub fn client_at(address: IpAddr) -> u64 {
    let mut hasher = DefaultHasher::new();
    match address.to_canonical() {
        IpAddr::V4(address) => address.hash(&mut hasher),
        IpAddr::V6(address) => address.segments()[..4].hash(&mut hasher),
    }
    hasher.finish()
}

/// Waiting jobs, by client.
#[derive(Debug)]
pub struct Queue<J> {
    clients: HashMap<u64, Waiting<J>>,
    /// Clients that have a job, in the order of their turns.
    turns: VecDeque<u64>,
    longest: Longest,
    count: usize,
}

/// The waiting jobs of a client, by flow.
#[derive(Debug)]
struct Waiting<J> {
    flows: HashMap<u64, VecDeque<J>>,
    /// Flows that have a job, in the order of their turns.
    turns: VecDeque<u64>,
    longest: Longest,
    count: usize,
}

/// Those with more than one job, by their number of jobs: only they can lose one to others.
#[derive(Debug, Default)]
struct Longest(BTreeSet<(usize, u64)>);

impl<J> Default for Queue<J> {
    fn default() -> Queue<J> {
        Queue { clients: HashMap::new(), turns: VecDeque::new(), longest: Longest::default(), count: 0 }
    }
}

impl<J> Default for Waiting<J> {
    fn default() -> Waiting<J> {
        Waiting { flows: HashMap::new(), turns: VecDeque::new(), longest: Longest::default(), count: 0 }
    }
}

/// The outcome of adding a job to the queue.
#[derive(Debug, PartialEq, Eq)]
pub enum Pushed<J> {
    Waits,
    /// It waits in place of this one, which was removed from a client or flow with more jobs.
    InsteadOf(J),
    /// The queue is full, and nobody has enough jobs to give up one for this one.
    Full,
}

impl<J> Queue<J> {
    /// Returns the number of waiting jobs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the job if fewer than `count_max` wait, or if others with more jobs can give up one.
    pub fn push(&mut self, flow: Flow, job: J, count_max: usize) -> Pushed<J> {
        let mut instead = None;
        if self.count >= count_max {
            instead = self.give_up_for(flow);
            if instead.is_none() {
                return Pushed::Full;
            }
        }
        let client = self.clients.entry(flow.client).or_default();
        if client.count == 0 {
            self.turns.push_back(flow.client);
        }
        client.push(flow.kind, job);
        self.longest.note(flow.client, client.count - 1, client.count);
        self.count += 1;
        instead.map_or(Pushed::Waits, Pushed::InsteadOf)
    }

    /// Takes a job from the client with the most of them, or from a longer flow of the same client.
    fn give_up_for(&mut self, flow: Flow) -> Option<J> {
        let own = self.clients.get(&flow.client);
        let loser = self.longest.beyond(own.map_or(0, |own| own.count)).or_else(|| {
            let of_kind = own?.flows.get(&flow.kind).map_or(0, VecDeque::len);
            own?.longest.beyond(of_kind).map(|_| flow.client)
        })?;
        let client = self.clients.get_mut(&loser)?;
        let job = client.pop_latest()?;
        self.longest.note(loser, client.count + 1, client.count);
        self.count -= 1;
        Some(job)
    }

    /// Whether a job waits that may run.
    pub fn has(&self, shares: &Shares) -> bool {
        self.turns.iter().any(|client| self.place_in(*client, shares).is_some())
    }

    /// Returns the oldest job of the next client and flow that may run one. Those that may not keep their
    /// turns.
    pub fn pop(&mut self, shares: &Shares) -> Option<(Flow, J)> {
        let mut turns = self.turns.iter().enumerate();
        let (place, key, place_in) = turns.find_map(|(place, client)| {
            self.place_in(*client, shares).map(|place_in| (place, *client, place_in))
        })?;
        self.turns.remove(place);
        let client = self.clients.get_mut(&key)?;
        let (kind, job) = client.pop(place_in)?;
        let left = client.count;
        self.longest.note(key, left + 1, left);
        match left {
            0 => drop(self.clients.remove(&key)),
            _ => self.turns.push_back(key),
        }
        self.count -= 1;
        Some((Flow { client: key, kind }, job))
    }

    /// Returns which of the client's flows is the next that may run a job.
    fn place_in(&self, client: u64, shares: &Shares) -> Option<usize> {
        let waiting = self.clients.get(&client).filter(|_| shares.has_room_for_client(client))?;
        waiting.turns.iter().position(|kind| shares.has_room_for_flow(Flow { client, kind: *kind }))
    }
}

impl<J> Waiting<J> {
    fn push(&mut self, kind: u64, job: J) {
        let jobs = self.flows.entry(kind).or_default();
        if jobs.is_empty() {
            self.turns.push_back(kind);
        }
        jobs.push_back(job);
        self.longest.note(kind, jobs.len() - 1, jobs.len());
        self.count += 1;
    }

    /// Takes the oldest job of the flow at a place among the turns.
    fn pop(&mut self, place: usize) -> Option<(u64, J)> {
        let kind = self.turns.remove(place)?;
        let jobs = self.flows.get_mut(&kind)?;
        let job = jobs.pop_front()?;
        self.longest.note(kind, jobs.len() + 1, jobs.len());
        match jobs.is_empty() {
            true => drop(self.flows.remove(&kind)),
            false => self.turns.push_back(kind),
        }
        self.count -= 1;
        Some((kind, job))
    }

    /// Takes the latest job of the longest flow. If all flows have one job, the last in turn loses it.
    fn pop_latest(&mut self) -> Option<J> {
        let kind = self.longest.beyond(0).or_else(|| self.turns.back().copied())?;
        let jobs = self.flows.get_mut(&kind)?;
        let job = jobs.pop_back()?;
        self.longest.note(kind, jobs.len() + 1, jobs.len());
        if jobs.is_empty() {
            self.flows.remove(&kind);
            self.turns.pop_back();
        }
        self.count -= 1;
        Some(job)
    }
}

impl Longest {
    /// Notes that the number of jobs of `key` has changed.
    fn note(&mut self, key: u64, before: usize, now: usize) {
        if before > 1 {
            self.0.remove(&(before, key));
        }
        if now > 1 {
            self.0.insert((now, key));
        }
    }

    /// Returns the one with the most jobs, if they are more than one beyond `count`: taking a job from one
    /// that would then have fewer gains nothing.
    fn beyond(&self, count: usize) -> Option<u64> {
        self.0.last().filter(|(most, _)| *most > count + 1).map(|(_, key)| *key)
    }
}

/// What clients and flows have of a pool's threads: "may one more of their jobs run?"
#[derive(Debug)]
pub struct Shares {
    /// Maximum number of jobs that have begun, those that wait included.
    count_max: usize,
    count: usize,
    /// The number of jobs that have begun, by client and by flow.
    clients: HashMap<u64, usize>,
    flows: HashMap<Flow, usize>,
    /// The number of jobs that are long and run beside others, by flow.
    long: HashMap<Flow, usize>,
    long_count: usize,
}

impl Shares {
    /// Nobody has a thread yet. `count_max`: how many jobs may have begun and not ended.
    pub fn new(count_max: usize) -> Shares {
        Shares {
            count_max,
            count: 0,
            clients: HashMap::new(),
            flows: HashMap::new(),
            long: HashMap::new(),
            long_count: 0,
        }
    }

    /// Notes that a job has begun.
    pub fn begin(&mut self, flow: Flow) {
        *self.clients.entry(flow.client).or_default() += 1;
        *self.flows.entry(flow).or_default() += 1;
        self.count += 1;
    }

    /// Notes that a job has begun, if there is a place for it. Returns whether there was.
    pub fn try_begin(&mut self, flow: Flow) -> bool {
        let has_place = self.left() > 0 && self.has_room_for_client(flow.client);
        if has_place {
            self.begin(flow);
        }
        has_place
    }

    /// Notes that a job has ended.
    pub fn end(&mut self, flow: Flow) {
        count_down(&mut self.clients, flow.client);
        count_down(&mut self.flows, flow);
        self.count -= 1;
    }

    /// Notes that a job is long and runs beside others.
    pub fn begin_long(&mut self, flow: Flow) {
        *self.long.entry(flow).or_default() += 1;
        self.long_count += 1;
    }

    /// Notes that a long job has ended.
    pub fn end_long(&mut self, flow: Flow) {
        count_down(&mut self.long, flow);
        self.long_count -= 1;
    }

    fn left(&self) -> usize {
        self.count_max.saturating_sub(self.count)
    }

    /// Whether a client has fewer jobs than there are threads left.
    fn has_room_for_client(&self, client: u64) -> bool {
        self.clients.get(&client).is_none_or(|count| *count < self.left())
    }

    /// Whether a flow has fewer jobs than its client may still have, and not too many long ones.
    fn has_room_for_flow(&self, flow: Flow) -> bool {
        let of_client = self.clients.get(&flow.client).copied().unwrap_or(0);
        let left = self.left().saturating_sub(of_client);
        self.flows.get(&flow).is_none_or(|count| *count < left)
            && self.long.get(&flow).is_none_or(|count| *count < FLOW_LONG_MAX && self.long_count < LONG_MAX)
    }
}

/// Counts one less of `key`, and forgets a key of which there are none.
fn count_down<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: K) {
    if let Entry::Occupied(mut entry) = counts.entry(key) {
        *entry.get_mut() -= 1;
        if *entry.get() == 0 {
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flow of a client that has one.
    fn of(client: u64) -> Flow {
        Flow { client, kind: 0 }
    }

    /// A flow of a client that has many.
    fn kind(kind: u64) -> Flow {
        Flow { client: 0, kind }
    }

    fn shares() -> Shares {
        Shares::new(100)
    }

    fn popped(queue: &mut Queue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop(&shares()).map(|(_, job)| job)).collect()
    }

    #[test]
    fn clients_take_turns_and_so_do_the_flows_of_a_client() {
        for flow in [of, kind] {
            let mut queue = Queue::default();
            for job in 0..5 {
                assert_eq!(queue.push(flow(1), job, 100), Pushed::Waits);
            }
            queue.push(flow(2), 10, 100);
            queue.push(flow(3), 20, 100);
            queue.push(flow(2), 11, 100);
            assert_eq!(queue.len(), 8);
            assert_eq!(popped(&mut queue), [0, 10, 20, 1, 11, 2, 3, 4]);
            assert!(queue.is_empty() && queue.clients.is_empty() && queue.turns.is_empty());
            assert!(queue.longest.0.is_empty());
        }
    }

    #[test]
    fn a_client_gains_no_turns_by_many_flows() {
        let mut queue = Queue::default();
        for job in 0..4_u32 {
            queue.push(kind(u64::from(job)), job, 100);
        }
        queue.push(of(1), 10, 100);
        queue.push(of(1), 11, 100);
        assert_eq!(popped(&mut queue), [0, 10, 1, 11, 2, 3]);
    }

    #[test]
    fn those_that_may_not_run_keep_their_turns() {
        for flow in [of, kind] {
            let mut queue = Queue::default();
            for (number, job) in [(1, 10), (1, 11), (2, 20), (3, 30)] {
                queue.push(flow(number), job, 100);
            }
            let mut without_1 = shares();
            (0..FLOW_LONG_MAX).for_each(|_| without_1.begin_long(flow(1)));
            let mut next = || queue.pop(&without_1).map(|(_, job)| job);
            assert_eq!((next(), next(), next()), (Some(20), Some(30), None));
            assert!(!queue.has(&without_1) && queue.len() == 2);
            assert_eq!(popped(&mut queue), [10, 11]);
        }
    }

    #[test]
    fn the_longest_loses_where_it_is_full() {
        for flow in [of, kind] {
            let mut queue = Queue::default();
            for job in 0..3 {
                queue.push(flow(1), job, 3);
            }
            assert_eq!(queue.push(flow(1), 3, 3), Pushed::Full);
            assert_eq!(queue.push(flow(2), 10, 3), Pushed::InsteadOf(2));
            assert_eq!(queue.push(flow(2), 11, 3), Pushed::Full, "two and one are shared fairly");
            assert_eq!(queue.push(flow(3), 20, 3), Pushed::InsteadOf(1));
            assert_eq!(queue.push(flow(4), 30, 3), Pushed::Full);
            assert_eq!(popped(&mut queue), [0, 10, 20]);
        }
    }

    #[test]
    fn a_client_with_many_flows_loses_to_others() {
        let mut queue = Queue::default();
        for job in 0..3_u32 {
            queue.push(kind(u64::from(job)), job, 3);
        }
        assert_eq!(queue.push(of(1), 10, 3), Pushed::InsteadOf(2));
        assert_eq!(queue.push(of(1), 11, 3), Pushed::Full);
        assert_eq!(queue.push(kind(9), 9, 3), Pushed::Full, "all flows have one job");
        assert_eq!(popped(&mut queue), [0, 10, 1]);
        assert!(queue.clients.is_empty() && queue.longest.0.is_empty());
    }

    #[test]
    fn a_client_has_as_many_threads_as_are_left() {
        let mut shares = Shares::new(9);
        let begun = |shares: &mut Shares, client: u64| {
            let mut count = 0;
            while shares.has_room_for_client(client) && count < 100 {
                shares.begin(Flow { client, kind: count });
                count += 1;
            }
            count
        };
        assert_eq!(begun(&mut shares, 1), 5, "the others have four");
        assert_eq!(begun(&mut shares, 2), 2);
        assert_eq!(begun(&mut shares, 3), 1);
        (0..5).for_each(|kind| shares.end(Flow { client: 1, kind }));
        assert!(shares.has_room_for_client(2) && shares.clients.len() == 2 && shares.flows.len() == 3);
    }

    #[test]
    fn clients_leave_places_to_others() {
        let mut shares = Shares::new(8);
        let all = |client| (0..100).filter(|_| shares.try_begin(of(client))).count();
        assert_eq!([1, 2, 3, 4, 5].map(all), [4, 2, 1, 1, 0]);
    }

    #[test]
    fn clients_are_networks_of_ipv6() {
        let at = |address: &str| client_at(address.parse().expect("an address"));
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
        assert_eq!(at("10.0.0.1"), at("::ffff:10.0.0.1"));
    }

    #[test]
    fn a_flow_leaves_threads_to_others_of_its_client() {
        let mut shares = Shares::new(9);
        let mut count = 0;
        while shares.has_room_for_client(0) && shares.has_room_for_flow(kind(1)) {
            shares.begin(kind(1));
            count += 1;
        }
        assert_eq!(count, 3, "as many threads are left for its client, and as many for others");
        assert!(shares.has_room_for_client(0) && shares.has_room_for_flow(kind(2)));
    }
}
