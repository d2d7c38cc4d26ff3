//! Which policies are due: their definitions and schedules are parsed once for each state of the node, and
//! not at each look.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_store::sync::Mutex;

use super::policy::SnapshotPolicy;
use crate::notation::cron::Schedule;

/// A policy with its schedule.
pub(crate) struct Scheduled {
    pub id: String,
    pub policy: SnapshotPolicy,
    schedule: Schedule,
}

impl Scheduled {
    /// Whether a snapshot was to be taken after `seen_ms`, and by `now_ms`.
    pub(crate) fn is_due(&self, seen_ms: u64, now_ms: u64) -> bool {
        let next_ms = self.schedule.next_after(seen_ms, self.policy.modified_ms);
        next_ms.is_some_and(|next_ms| next_ms <= now_ms)
    }
}

/// What was parsed last.
#[derive(Default)]
pub(crate) struct Schedules {
    /// The version of the node's state, and its policies.
    policies: Mutex<Option<(u64, Arc<Vec<Scheduled>>)>>,
    /// The setting `slm.retention_schedule`, and its schedule if it has one.
    retention: Mutex<Option<(String, Option<Schedule>)>>,
}

impl Schedules {
    /// Returns the policies in the node's state of this version, which `read` reads.
    pub(crate) fn policies(
        &self,
        version: u64,
        read: impl FnOnce() -> BTreeMap<String, SnapshotPolicy>,
    ) -> Arc<Vec<Scheduled>> {
        let mut parsed = self.policies.lock();
        match &*parsed {
            Some((known, policies)) if *known == version => policies.clone(),
            _ => {
                let policies = Arc::new(read().into_iter().filter_map(scheduled).collect::<Vec<_>>());
                *parsed = Some((version, policies.clone()));
                policies
            }
        }
    }

    /// Whether retention was to run after `seen_ms`, and by `now_ms`, by the schedule in the settings.
    pub(crate) fn is_retention_due(&self, text: &str, seen_ms: u64, now_ms: u64) -> bool {
        let mut parsed = self.retention.lock();
        if parsed.as_ref().is_none_or(|(known, _)| known != text) {
            *parsed = Some((text.to_owned(), Schedule::parse(text).ok()));
        }
        let schedule = parsed.as_ref().and_then(|(_, schedule)| schedule.as_ref());
        let next_ms = schedule.and_then(|schedule| schedule.next_after(seen_ms, 0));
        next_ms.is_some_and(|next_ms| next_ms <= now_ms)
    }
}

/// A stored policy whose schedule cannot be read takes no snapshots, and the others do.
fn scheduled((id, policy): (String, SnapshotPolicy)) -> Option<Scheduled> {
    match policy.schedule() {
        Ok(schedule) => Some(Scheduled { id, policy, schedule }),
        Err(error) => {
            tracing::warn!(policy = id, %error, "the schedule of a policy cannot be read");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(schedule: &str) -> SnapshotPolicy {
        let body = json!({"name": "snap", "schedule": schedule, "repository": "r"});
        SnapshotPolicy::parse(&body, |name| Ok(name.to_owned())).expect("valid")
    }

    #[test]
    fn policies_are_parsed_once_for_each_version() {
        let schedules = Schedules::default();
        let mut bad = policy("1h");
        bad.schedule = "never".into();
        let first = schedules.policies(7, || {
            BTreeMap::from([
                ("a".into(), policy("1h")),
                ("bad".into(), bad),
                ("c".into(), policy("0 0 1 * * ?")),
            ])
        });
        let ids = |all: &[Scheduled]| all.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&first), ["a", "c"]);
        assert!(first[0].is_due(0, 3_600_000) && !first[0].is_due(0, 3_599_999));
        assert!(first[1].is_due(0, 3_600_000) && !first[1].is_due(3_600_000, 7_200_000));
        let again = schedules.policies(7, || unreachable!("they are known"));
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(schedules.policies(8, BTreeMap::new).len(), 0);
    }

    #[test]
    fn the_schedule_of_retention_is_the_one_that_is_set_now() {
        let schedules = Schedules::default();
        assert!(schedules.is_retention_due("1h", 0, 3_600_000));
        assert!(!schedules.is_retention_due("2h", 0, 3_600_000));
        assert!(!schedules.is_retention_due("", 0, u64::MAX));
    }
}
