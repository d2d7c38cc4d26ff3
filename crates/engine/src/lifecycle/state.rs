//! How far an index has come in its policy.
//!
//! Source: Elasticsearch's `LifecycleExecutionState`.

use serde_json::{Value, json};

use super::ERROR;

/// How far an index has come in its policy. Stored with its metadata; empty before the policy begins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LifecycleState {
    /// The phase; `new` before the first one.
    pub phase: String,
    /// The action that is being carried out.
    pub action: String,
    /// The next step of the action.
    pub step: String,
    /// When the phase began, in milliseconds since 1970.
    pub phase_ms: u64,
    /// When the action began, in milliseconds since 1970.
    pub action_ms: u64,
    /// When the step began, in milliseconds since 1970.
    pub step_ms: u64,
    /// The ages of later phases count from this time, once the index was rolled over.
    pub lifecycle_date_ms: Option<u64>,
    /// The phase as the policy defined it when the phase began:
    /// `{"policy", "phase_definition", "version", "modified_date_in_millis"}`.
    pub phase_execution: Value,
    /// The step that failed. `step` is `ERROR` then.
    pub failed_step: Option<String>,
    /// How often the failed step was retried.
    pub retries: u64,
    /// Why the index waits, or what failed; null when there is nothing to report.
    pub step_info: Value,
}

impl LifecycleState {
    pub(crate) fn has_begun(&self) -> bool {
        !self.phase.is_empty()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.step == ERROR
    }

    /// Returns the state at another step, without the information about the previous step.
    pub(crate) fn at(&self, phase: &str, action: &str, step: &str, now_ms: u64) -> LifecycleState {
        let mut next = self.clone();
        if phase != self.phase {
            (next.phase, next.phase_ms) = (phase.to_owned(), now_ms);
        }
        if phase != self.phase || action != self.action {
            (next.action, next.action_ms) = (action.to_owned(), now_ms);
        }
        (next.step, next.step_ms) = (step.to_owned(), now_ms);
        (next.failed_step, next.step_info, next.retries) = (None, Value::Null, 0);
        next
    }

    pub(crate) fn failed(&self, info: Value, now_ms: u64) -> LifecycleState {
        let failed_step = Some(self.step.clone());
        LifecycleState {
            failed_step,
            retries: self.retries,
            step_info: info,
            ..self.at(&self.phase, &self.action, ERROR, now_ms)
        }
    }

    /// Returns the state at the failed step again.
    pub(crate) fn retried(&self, now_ms: u64) -> LifecycleState {
        let step = self.failed_step.clone().unwrap_or_default();
        LifecycleState { retries: self.retries + 1, ..self.at(&self.phase, &self.action, &step, now_ms) }
    }

    /// Returns the state with another author of the phase that is carried out, or without one (null).
    pub(crate) fn with_author(mut self, author: Value) -> LifecycleState {
        if let Some(execution) = self.phase_execution.as_object_mut() {
            match author.is_null() {
                true => execution.shift_remove("author"),
                false => execution.insert("author".into(), author),
            };
        }
        self
    }

    /// Renders the state as `index.json` stores it; null before the policy begins.
    pub(crate) fn to_json(&self) -> Value {
        if *self == LifecycleState::default() {
            return Value::Null;
        }
        json!({
            "phase": self.phase, "action": self.action, "step": self.step,
            "phase_ms": self.phase_ms, "action_ms": self.action_ms, "step_ms": self.step_ms,
            "lifecycle_date_ms": self.lifecycle_date_ms,
            "phase_execution": self.phase_execution,
            "failed_step": self.failed_step, "retries": self.retries, "step_info": self.step_info,
        })
    }

    pub(crate) fn from_json(value: &Value) -> LifecycleState {
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| value[key].as_u64().unwrap_or(0);
        LifecycleState {
            phase: text("phase"),
            action: text("action"),
            step: text("step"),
            phase_ms: number("phase_ms"),
            action_ms: number("action_ms"),
            step_ms: number("step_ms"),
            lifecycle_date_ms: value["lifecycle_date_ms"].as_u64(),
            phase_execution: value["phase_execution"].clone(),
            failed_step: value["failed_step"].as_str().map(str::to_owned),
            retries: number("retries"),
            step_info: value["step_info"].clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other() {
        let state = LifecycleState::default().at("hot", "rollover", "check-rollover-ready", 5);
        assert_eq!((state.phase_ms, state.action_ms, state.step_ms), (5, 5, 5));
        let next = state.at("hot", "rollover", "attempt-rollover", 7);
        assert_eq!((next.phase_ms, next.action_ms, next.step_ms), (5, 5, 7));
        let failed = next.failed(json!({"reason": "x"}), 9);
        assert!(failed.has_failed() && failed.failed_step.as_deref() == Some("attempt-rollover"));
        let retried = failed.retried(11);
        assert_eq!(
            (&*retried.step, retried.retries, &retried.step_info),
            ("attempt-rollover", 1, &Value::Null)
        );
        assert_eq!(retried.failed(Value::Null, 12).retries, 1);
        for state in [LifecycleState::default(), failed, retried] {
            assert_eq!(LifecycleState::from_json(&state.to_json()), state);
        }
    }
}
