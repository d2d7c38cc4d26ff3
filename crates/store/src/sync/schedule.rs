//! Which thread runs next: drawn from a seed, in one of several ways, since each finds other bugs.

use crate::random::SplitMix64;

/// How a simulation chooses the next thread. Equal schedules yield equal runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Seed of all random choices of the run.
    pub seed: u64,
    /// How the next thread is chosen.
    pub switch_policy: SwitchPolicy,
    /// Maximum time that a step takes on the simulated clock.
    pub step_nanos_max: u64,
    /// Whether waits for a notification sometimes end without one.
    pub wakes_without_reason: bool,
}

/// How a scheduling point chooses the next thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchPolicy {
    /// At one in `switch_one_in` points another thread is drawn uniformly.
    Uniform {
        /// Average number of points per change of threads.
        switch_one_in: u64,
    },
    /// The thread with the highest priority runs; at one in `demote_one_in` points it gets the lowest one.
    /// Finds bugs that need a few unlikely switches far apart. Source: Burckhardt et al., "A Randomized
    /// Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
    Priorities {
        /// Average number of points per loss of priority.
        demote_one_in: u64,
    },
}

impl Schedule {
    /// Draws all fields of a schedule from the seed.
    pub fn from_seed(seed: u64) -> Schedule {
        let mut random = random_of(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let switch_policy = match random.below(5) {
            0 => SwitchPolicy::Uniform { switch_one_in: 1 },
            1 => SwitchPolicy::Uniform { switch_one_in: 4 },
            2 => SwitchPolicy::Uniform { switch_one_in: 30 },
            3 => SwitchPolicy::Priorities { demote_one_in: 20 },
            _ => SwitchPolicy::Priorities { demote_one_in: 300 },
        };
        Schedule {
            seed,
            switch_policy,
            step_nanos_max: [2_000, 200_000, 4_000_000][random.below(3) as usize],
            wakes_without_reason: random.one_in(4),
        }
    }
}

/// Uses other numbers than a simulated disk draws from the same seed.
fn random_of(seed: u64) -> SplitMix64 {
    SplitMix64::new(seed ^ 0x5851_f42d_4c95_7f2d)
}

/// The state of a schedule during a run.
pub(super) struct Chooser {
    pub random: SplitMix64,
    switch_policy: SwitchPolicy,
    /// Indexed by thread.
    priorities: Vec<i64>,
    lowest: i64,
}

impl Chooser {
    /// Creates the state before the first step.
    pub fn new(schedule: &Schedule) -> Chooser {
        Chooser {
            random: random_of(schedule.seed),
            switch_policy: schedule.switch_policy,
            priorities: Vec::new(),
            lowest: 0,
        }
    }

    /// Adds a thread; its number is the count of those before it.
    pub fn add_thread(&mut self) {
        let priority = (self.random.draw() >> 2) as i64;
        self.priorities.push(priority);
    }

    /// Chooses one of `ready`, which must not be empty. `running` had the turn before.
    pub fn choose(&mut self, ready: &[usize], running: Option<usize>) -> usize {
        let stays = running.filter(|thread| ready.contains(thread));
        match self.switch_policy {
            SwitchPolicy::Uniform { switch_one_in } => match stays {
                Some(thread) if !self.random.one_in(switch_one_in) => thread,
                _ => ready[self.random.below(ready.len() as u64) as usize],
            },
            SwitchPolicy::Priorities { demote_one_in } => {
                if let Some(thread) = stays
                    && self.random.one_in(demote_one_in)
                {
                    self.lowest -= 1;
                    self.priorities[thread] = self.lowest;
                }
                let highest = ready.iter().copied().max_by_key(|thread| self.priorities[*thread]);
                highest.unwrap_or(ready[0])
            }
        }
    }
}
