//! Deletes index patterns on servers that forbid it (`runner.py`, `set_destructive_requires_name`).
//!
//! The transient setting `action.destructive_requires_name` is read, switched off, and restored after the
//! deletions, whether they succeeded or not.

use std::time::Duration;

use serde_json::{Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Failure, Plan};
use crate::error::Error;
use crate::http::{Method, Request};

const SETTING: &str = "action.destructive_requires_name";

pub(in crate::drive::operation) struct DestructiveSetting {
    get: Request,
    put: Request,
    timeout: Option<Duration>,
}

impl DestructiveSetting {
    pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<DestructiveSetting, Error> {
        let put = plan.request(Method::Put, "/_cluster/settings")?;
        Ok(DestructiveSetting {
            get: plan.request(Method::Get, "/_cluster/settings")?.query("flat_settings", "true").build(),
            put: put.header("content-type", &plan.protocol.content_json).build(),
            timeout: plan.timeout()?,
        })
    }

    /// Sets the value and returns the previous one, or null if there was none.
    pub(in crate::drive::operation) async fn set(
        &self,
        exchange: &mut Exchange,
        value: Value,
    ) -> Result<Value, Failure> {
        let settings = exchange.send(&self.get, self.timeout).await?.json()?;
        let transient = settings["transient"].as_object().ok_or_else(|| Failure::Transport {
            description: "GET /_cluster/settings answered without [transient]".into(),
        })?;
        let before = transient.get(SETTING).cloned().unwrap_or(Value::Null);
        let body = json!({ "transient": { SETTING: value } }).to_string();
        exchange.send_body(&self.put, body.as_bytes(), self.timeout).await?;
        Ok(before)
    }
}
