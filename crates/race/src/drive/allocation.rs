//! Assigns tasks to clients, and clients to threads.
//!
//! This is Rally's allocator (`driver.py`, `Allocator`): each schedule element is a step that all clients
//! finish before the next one starts. In a `parallel` element, each task gets the next clients in order. If
//! the element has fewer clients than its tasks ask for, the remaining tasks wrap around and run on the first
//! clients, after the tasks there.

use std::time::Duration;

use crate::model::{ScheduleElement, Task};

/// One client's part in one task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocation<'a> {
    pub task: &'a Task,
    /// Index of the task within the step.
    pub task_index: usize,
    /// Counted from 0 within the task. It decides which part of a corpus the client reads.
    pub client_in_task: u32,
    /// Counted from 0 within the step. It decides how long the client waits to ramp up.
    pub client_in_step: u32,
    /// Number of clients that the step runs at the same time.
    pub clients_of_step: u32,
}

impl Allocation<'_> {
    /// Returns how long the client waits before its first request (`ramp-up-time-period`).
    pub(crate) fn ramp_up_wait(&self) -> Duration {
        let period_s = self.task.ramp_up_time_period_s.unwrap_or(0.0);
        let share = f64::from(self.client_in_step) / f64::from(self.clients_of_step.max(1));
        Duration::try_from_secs_f64(period_s * share).unwrap_or_default()
    }
}

/// A schedule element with its tasks assigned to clients.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub tasks: Vec<&'a Task>,
    /// What each client runs, in order; clients without work are left out.
    pub clients: Vec<Vec<Allocation<'a>>>,
    /// When the step ends.
    pub completion: Completion,
}

impl Step<'_> {
    /// Returns the names of its tasks, separated by commas.
    pub(crate) fn names(&self) -> String {
        self.tasks.iter().map(|task| task.name.as_str()).collect::<Vec<_>>().join(",")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The step ends when every task has ended.
    All,
    /// The step ends when all clients of that task (by index) have ended.
    Task(usize),
    /// The step ends when the first client of any task has ended.
    Any,
}

/// Returns the steps of a schedule.
pub(crate) fn steps(schedule: &[ScheduleElement]) -> Vec<Step<'_>> {
    let clients_max = schedule.iter().map(element_clients).max().unwrap_or(1).max(1);
    schedule.iter().map(|element| step(element, clients_max)).collect()
}

/// Returns the number of clients that an element asks for.
fn element_clients(element: &ScheduleElement) -> u32 {
    match element {
        ScheduleElement::Task(task) => task.clients,
        ScheduleElement::Parallel(parallel) => {
            parallel.clients.unwrap_or_else(|| parallel.tasks.iter().map(|task| task.clients).sum())
        }
    }
}

fn step(element: &ScheduleElement, clients_max: u32) -> Step<'_> {
    let (tasks, completion): (Vec<&Task>, Completion) = match element {
        ScheduleElement::Task(task) => (vec![task], Completion::All),
        ScheduleElement::Parallel(parallel) => {
            let completion = match parallel.completed_by.as_deref() {
                None => Completion::All,
                Some("any") => Completion::Any,
                Some(name) => match parallel.tasks.iter().position(|task| task.name == name) {
                    Some(index) => Completion::Task(index),
                    None => Completion::All,
                },
            };
            (parallel.tasks.iter().collect(), completion)
        }
    };
    let clients_of_step = element_clients(element);
    let mut clients: Vec<Vec<Allocation<'_>>> = Vec::new();
    let mut first = 0;
    for (task_index, task) in tasks.iter().enumerate() {
        for client_in_task in 0..task.clients {
            let client_in_step = first + client_in_task;
            let physical = (client_in_step % clients_max) as usize;
            if clients.len() <= physical {
                clients.resize_with(physical + 1, Vec::new);
            }
            clients[physical].push(Allocation {
                task,
                task_index,
                client_in_task,
                client_in_step,
                clients_of_step,
            });
        }
        first += task.clients;
    }
    Step { tasks, clients, completion }
}

/// Splits `clients` into contiguous ranges for at most `workers_max` workers. The sizes differ by at most
/// one.
pub(crate) fn worker_ranges(clients: usize, workers_max: usize) -> Vec<std::ops::Range<usize>> {
    let workers = workers_max.clamp(1, clients.max(1));
    (0..workers)
        .scan(0, |from, worker| {
            let size = clients / workers + usize::from(worker < clients % workers);
            let range = *from..*from + size;
            *from = range.end;
            Some(range)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::schedule::tests::plain_task;
    use crate::model::Parallel;

    fn task(name: &str, clients: u32) -> Task {
        let mut task = plain_task("search", serde_json::json!({}));
        (task.name, task.clients) = (name.to_owned(), clients);
        task
    }

    /// Returns each client's tasks as `name:client_in_task`.
    fn layout(step: &Step<'_>) -> Vec<String> {
        let shown =
            |allocation: &Allocation<'_>| format!("{}:{}", allocation.task.name, allocation.client_in_task);
        step.clients.iter().map(|client| client.iter().map(shown).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn parallel_tasks_follow_one_another() {
        let parallel = |clients, completed_by: Option<&str>| {
            ScheduleElement::Parallel(Parallel {
                tasks: vec![task("a", 2), task("b", 1), task("c", 2)],
                clients,
                completed_by: completed_by.map(str::to_owned),
            })
        };
        let schedule = [ScheduleElement::Task(task("first", 1)), parallel(None, Some("b"))];
        let all = steps(&schedule);
        assert_eq!(layout(&all[0]), ["first:0"]);
        assert_eq!(layout(&all[1]), ["a:0", "a:1", "b:0", "c:0", "c:1"]);
        assert_eq!(all[1].completion, Completion::Task(1));
        assert_eq!(all[1].clients[4][0].client_in_step, 4);

        let schedule = [parallel(Some(2), Some("any"))];
        let all = steps(&schedule);
        assert_eq!(layout(&all[0]), ["a:0 b:0 c:1", "a:1 c:0"]);
        assert_eq!((all[0].completion, all[0].clients[0][0].clients_of_step), (Completion::Any, 2));
    }

    #[test]
    fn workers_get_contiguous_ranges() {
        assert_eq!(worker_ranges(5, 2), [0..3, 3..5]);
        assert_eq!(worker_ranges(1, 8).first(), Some(&(0..1)));
        assert_eq!(worker_ranges(0, 8).first(), Some(&(0..0)));
    }
}
