//! Jobs that wait for a thread: "whose turn is it?"
//!
//! Requests of one kind (same client, same endpoint and index) are a flow. Flows take turns, so that other
//! clients need not wait for all of a client's thousand requests. When the queue is full, the flow with the
//! most requests loses its latest one.
//!
//! Source: Nagle, "On packet switches with infinite storage" (RFC 970), section 9.

use std::collections::{HashMap, VecDeque};

/// Identifies the flow of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flow(pub u64);

/// Waiting jobs, by flow.
#[derive(Debug)]
pub struct Queue<J> {
    flows: HashMap<Flow, VecDeque<J>>,
    /// Flows that have a job, in the order of their turns.
    turns: VecDeque<Flow>,
    count: usize,
}

impl<J> Default for Queue<J> {
    fn default() -> Queue<J> {
        Queue { flows: HashMap::new(), turns: VecDeque::new(), count: 0 }
    }
}

/// The outcome of adding a job to the queue.
#[derive(Debug, PartialEq, Eq)]
pub enum Pushed<J> {
    Waits,
    /// It waits in place of this one, which was removed from a longer flow.
    InsteadOf(J),
    /// The queue is full, and no flow is long enough to give up a job for this one.
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

    /// Adds the job if fewer than `count_max` wait, or if a longer flow can give up a job.
    pub fn push(&mut self, flow: Flow, job: J, count_max: usize) -> Pushed<J> {
        let mut instead = None;
        if self.count >= count_max {
            let own = self.flows.get(&flow).map_or(0, VecDeque::len);
            let longest = self.flows.values_mut().max_by_key(|jobs| jobs.len());
            // A flow that is only one job longer would be no longer afterwards, so taking its job gains
            // nothing.
            match longest.filter(|jobs| jobs.len() > own + 1).and_then(VecDeque::pop_back) {
                Some(job) => instead = Some(job),
                None => return Pushed::Full,
            }
            self.count -= 1;
        }
        let jobs = self.flows.entry(flow).or_default();
        if jobs.is_empty() {
            self.turns.push_back(flow);
        }
        jobs.push_back(job);
        self.count += 1;
        instead.map_or(Pushed::Waits, Pushed::InsteadOf)
    }

    /// Whether a job waits whose flow may run one.
    pub fn has(&self, may_run: impl Fn(Flow) -> bool) -> bool {
        self.turns.iter().any(|flow| may_run(*flow))
    }

    /// Returns the oldest job of the next flow that may run one. Flows that may not keep their turn.
    pub fn pop(&mut self, may_run: impl Fn(Flow) -> bool) -> Option<J> {
        let place = self.turns.iter().position(|flow| may_run(*flow))?;
        let flow = self.turns.remove(place)?;
        let jobs = self.flows.get_mut(&flow)?;
        let job = jobs.pop_front();
        match jobs.is_empty() {
            true => drop(self.flows.remove(&flow)),
            false => self.turns.push_back(flow),
        }
        self.count -= usize::from(job.is_some());
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn popped(queue: &mut Queue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop(|_| true)).collect()
    }

    #[test]
    fn flows_take_turns() {
        let mut queue = Queue::default();
        for job in 0..5 {
            assert_eq!(queue.push(Flow(1), job, 100), Pushed::Waits);
        }
        queue.push(Flow(2), 10, 100);
        queue.push(Flow(3), 20, 100);
        queue.push(Flow(2), 11, 100);
        assert_eq!(queue.len(), 8);
        assert_eq!(popped(&mut queue), [0, 10, 20, 1, 11, 2, 3, 4]);
        assert!(queue.is_empty() && queue.flows.is_empty() && queue.turns.is_empty());
    }

    #[test]
    fn flows_that_may_not_run_keep_their_turns() {
        let mut queue = Queue::default();
        for (flow, job) in [(1, 10), (1, 11), (2, 20), (3, 30)] {
            queue.push(Flow(flow), job, 100);
        }
        let others = |flow: Flow| flow != Flow(1);
        assert!(queue.has(others));
        assert_eq!((queue.pop(others), queue.pop(others), queue.pop(others)), (Some(20), Some(30), None));
        assert!(!queue.has(others) && queue.len() == 2);
        assert_eq!(popped(&mut queue), [10, 11]);
    }

    #[test]
    fn the_longest_flow_loses_where_it_is_full() {
        let mut queue = Queue::default();
        for job in 0..3 {
            queue.push(Flow(1), job, 3);
        }
        assert_eq!(queue.push(Flow(1), 3, 3), Pushed::Full);
        assert_eq!(queue.push(Flow(2), 10, 3), Pushed::InsteadOf(2));
        assert_eq!(queue.push(Flow(2), 11, 3), Pushed::Full, "two and one are shared fairly");
        assert_eq!(queue.push(Flow(3), 20, 3), Pushed::InsteadOf(1));
        assert_eq!(queue.push(Flow(4), 30, 3), Pushed::Full);
        assert_eq!(popped(&mut queue), [0, 10, 20]);
    }
}
