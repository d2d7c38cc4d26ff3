//! Advances lifecycles: "which step is next, and may it be taken now?"
//!
//! One thread checks every index with a policy each `indices.lifecycle.poll_interval`, and an index that
//! begins its policy as soon as it exists. Each step that was taken is stored with the index, so that a
//! restart continues from there.
//!
//! Steps have the rights of the user who put the policy that defines their phase, whoever causes them: the
//! thread, a retry or a move. Source: Elasticsearch's `IndexLifecycleRunner`, `ExecuteStepsUpdateTask`,
//! `PhaseCacheManagement`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_access as access;
use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::api::*;
use crate::catalog::IndexMetadata;
use crate::lifecycle::{Action, COMPLETE, ERROR, LifecycleState, Phase, Policy, STOPPED, STOPPING};
use crate::node::Node;

/// The phase in which indices are deleted.
const DELETE: &str = "delete";
/// Retries after which an index makes no progress. Elasticsearch: `health.ilm.max_retries_per_step`.
const STAGNATING_RETRIES: u64 = 100;
/// Maximum number of steps of one index in one round, more than any policy has.
const STEPS_MAX: usize = 64;

/// How long ages are not trusted after the wall clock was set forward, by the monotonic clock. Time servers
/// and operators correct a wrong clock within minutes.
const DISTRUST_MS: u64 = 3_600_000;

/// The result of a step.
pub(in crate::node) enum Outcome {
    /// The next step may follow. The date is set if the step changes when the ages of later phases start to
    /// count.
    Done { lifecycle_date_ms: Option<u64> },
    /// The step is not done yet. The value says why, or is null.
    Waits(Value),
    /// The index is gone.
    Gone,
}

impl Outcome {
    pub(in crate::node) const DONE: Outcome = Outcome::Done { lifecycle_date_ms: None };
}

impl Node {
    /// Returns the indices whose step still fails after many retries, for the health report.
    pub fn stagnating_indices(&self) -> Vec<String> {
        let catalog = self.catalog.load();
        let managed = catalog.indices.values().filter(|index| catalog.policy_of(index).is_some());
        let stagnating = managed.filter(|index| index.lifecycle.retries > STAGNATING_RETRIES);
        stagnating.map(|index| index.name.to_string()).collect()
    }

    /// Does what is due now. Called repeatedly by the background thread, or by a test.
    pub fn lifecycle_tick(&self) {
        if let Some(set_by_ms) = self.lifecycles.wall_clock.set_by_ms(&*self.environment.clock) {
            tracing::warn!(
                set_by_seconds = set_by_ms / 1000,
                "the wall clock was set: the ages of indices, by which they are rolled over and deleted, changed by as much"
            );
            if set_by_ms > 0 {
                self.lifecycles.set_forward.note(&*self.environment.clock);
            }
        }
        let mode = self.lifecycle_mode();
        if mode == STOPPING
            && let Err(error) = self.note_lifecycles_stopped()
        {
            tracing::warn!(%error, "lifecycles are not stopped");
        }
        if mode == STOPPING || mode == STOPPED {
            return;
        }
        let interval_ms = self.settings.load().time_ms("indices.lifecycle.poll_interval").unwrap_or(600_000);
        if self.lifecycles.last_round.is_due(&*self.environment.clock, interval_ms) {
            return self.lifecycle_round();
        }
        let version = self.catalog.load().version;
        if self.lifecycles.seen_version.swap(version, Ordering::Relaxed) != version {
            self.advance_all(|index| !index.lifecycle.has_begun());
        }
    }

    /// Whether anything may be deleted because of its age. After the wall clock was set forward nothing is
    /// for an hour, so that a mistake that is corrected by then costs no data.
    pub(in crate::node) fn trusts_ages(&self) -> bool {
        self.lifecycles.set_forward.is_due(&*self.environment.clock, DISTRUST_MS)
    }

    /// Advances every index as far as it may go now. Tests without threads call it too.
    pub fn lifecycle_round(&self) {
        self.lifecycles.last_round.note(&*self.environment.clock);
        self.advance_all(|_| true);
    }

    fn advance_all(&self, is_chosen: impl Fn(&IndexMetadata) -> bool) {
        let catalog = self.catalog.load_full();
        let managed = catalog.indices.values().filter(|index| catalog.policy_of(index).is_some());
        for index in managed.filter(|index| is_chosen(index)) {
            if self.closed.load(Ordering::Acquire) {
                return;
            }
            self.advance(&index.name);
        }
    }

    /// Takes steps of an index until one has to wait.
    pub(in crate::node) fn advance(&self, name: &str) {
        for _ in 0..STEPS_MAX {
            let catalog = self.catalog.load_full();
            let Some(index) = catalog.indices.get(name) else { return };
            let Some(policy) = catalog.policy_of(index) else { return };
            let (next, goes_on) = match self.next_state(index, policy) {
                Ok(Some(next)) => next,
                Ok(None) => return,
                Err(error) => (self.failed(index, &error), false),
            };
            if let Err(error) = self.store_lifecycle(index, next) {
                tracing::warn!(index = name, %error, "the state of a lifecycle is not stored");
                return;
            }
            if !goes_on {
                return;
            }
        }
    }

    fn failed(&self, index: &IndexMetadata, error: &RequestError) -> LifecycleState {
        tracing::warn!(index = %index.name, step = %index.lifecycle.step, %error, "a step of a lifecycle failed");
        let info = json!({"type": error.kind, "reason": error.reason});
        index.lifecycle.failed(info, self.now_millis())
    }

    /// Returns the state after the current one, and whether to continue; `None` when the index is gone or
    /// there is nothing to do.
    fn next_state(
        &self,
        index: &Arc<IndexMetadata>,
        policy_name: &str,
    ) -> Result<Option<(LifecycleState, bool)>> {
        let (state, now_ms) = (&index.lifecycle, self.now_millis());
        let policy = self.policy(policy_name);
        if !state.has_begun() {
            // Without a policy nothing begins; `_ilm/explain` reports that.
            return Ok(policy.map(|_| (state.at("new", COMPLETE, COMPLETE, now_ms), true)));
        }
        if state.step == ERROR {
            return Ok(Some((state.retried(now_ms), true)));
        }
        if state.step == COMPLETE {
            let next = policy.and_then(|policy| next_phase(index, policy_name, &policy, now_ms));
            return Ok(next.filter(|(next, _)| next.phase != DELETE || self.trusts_ages()));
        }
        let (phase, execution) = current_phase(state, policy_name, policy.as_deref())?;
        let Some(action) = phase.action(&state.action) else {
            let reason = format!("phase [{}] has no action [{}]", phase.name, state.action);
            return Err(RequestError::internal("illegal_state_exception", reason));
        };
        self.check_author(index, action, &execution["author"])?;
        match access::aside(|| self.take_step(index, policy_name, &phase, action))? {
            Outcome::Gone => Ok(None),
            Outcome::Waits(info) => Ok(Some((
                LifecycleState { step_info: info, phase_execution: execution, ..state.clone() },
                false,
            ))),
            Outcome::Done { lifecycle_date_ms } => {
                let mut next = next_step(state, &phase, action, now_ms);
                next.lifecycle_date_ms = lifecycle_date_ms.or(next.lifecycle_date_ms);
                next.phase_execution = execution;
                Ok(Some((next, true)))
            }
        }
    }
}

/// Returns the state at the first step of the next phase, if the index is old enough for it.
fn next_phase(
    index: &IndexMetadata,
    policy_name: &str,
    policy: &Policy,
    now_ms: u64,
) -> Option<(LifecycleState, bool)> {
    let state = &index.lifecycle;
    let phase = policy.phase_after(&state.phase)?;
    if now_ms.saturating_sub(index.lifecycle_date_ms()) < phase.min_age_ms {
        return None;
    }
    let mut next = state.at(phase.name, COMPLETE, COMPLETE, now_ms);
    if let Some(action) = phase.actions.iter().find(|action| !action.steps().is_empty()) {
        next = state.at(phase.name, action.name(), action.steps()[0], now_ms);
    }
    next.phase_execution = execution_of(policy_name, policy, phase);
    Some((next, true))
}

/// Returns the phase as the index keeps it while it is carried out, with the author of the policy: what one
/// user defined is not done with the rights of another who changes the policy later.
pub(in crate::node) fn execution_of(policy_name: &str, policy: &Policy, phase: &Phase) -> Value {
    let mut execution = json!({
        "policy": policy_name,
        "phase_definition": phase.to_json(),
        "version": policy.version,
        "modified_date_in_millis": policy.modified_ms,
    });
    if !policy.author.is_null() {
        execution["author"] = policy.author.clone();
    }
    execution
}

/// Returns the phase as it was when it began, or as the policy defines it now if the actions are the same,
/// and its definition for display.
fn current_phase(
    state: &LifecycleState,
    policy_name: &str,
    policy: Option<&Policy>,
) -> Result<(Phase, Value)> {
    let begun = Phase::parse(&state.phase, &state.phase_execution["phase_definition"])?;
    let is_newer = |policy: &&Policy| {
        state.phase_execution["policy"] == policy_name && state.phase_execution["version"] != policy.version
    };
    let changed = policy.filter(is_newer).and_then(|policy| Some((policy, policy.phase(begun.name)?)));
    let names = |phase: &Phase| phase.actions.iter().map(Action::name).collect::<Vec<_>>();
    match changed {
        Some((policy, phase)) if names(phase) == names(&begun) => {
            Ok((phase.clone(), execution_of(policy_name, policy, phase)))
        }
        _ => Ok((begun, state.phase_execution.clone())),
    }
}

/// Returns the state at the step after the current one: the next one of its action, the first one of the next
/// action, or the end of the phase.
fn next_step(state: &LifecycleState, phase: &Phase, action: &Action, now_ms: u64) -> LifecycleState {
    let mut steps = action.steps().iter().skip_while(|step| **step != state.step).skip(1);
    if let Some(step) = steps.next() {
        return state.at(phase.name, action.name(), step, now_ms);
    }
    let mut later = phase.actions.iter().skip_while(|other| other.name() != action.name()).skip(1);
    match later.find(|action| !action.steps().is_empty()) {
        Some(action) => state.at(phase.name, action.name(), action.steps()[0], now_ms),
        None => state.at(phase.name, COMPLETE, COMPLETE, now_ms),
    }
}
