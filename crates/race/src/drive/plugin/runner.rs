//! A runner of the plugin: Python decides what to send, the client's own connections send it, and the times
//! of these requests count.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::feed::Feed;
use super::operation::Shared;
use super::schedule::PluginSchedule;
use crate::drive::exchange::Exchange;
use crate::drive::operation::{Answer, Failure, Outcome, Pending, Runner};
use crate::error::Error;
use crate::http::{HttpError, Method, Request};
use crate::record::sample::{Details, ErrorNote};
use crate::track::plugin::{Lease, PluginError, process, unit};

/// Request headers that belong to the connection, or to the Python client that is replaced here.
const OWN_HEADERS: [&str; 7] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "user-agent",
    "accept-encoding",
    "x-elastic-client-meta",
];

pub(super) struct PythonRunner {
    pub shared: Arc<Shared>,
    pub lease: Arc<Lease>,
    pub id: u64,
    /// Reports when the parameters, which stay in Python, are ready.
    pub feed: Feed,
    pub schedule: Option<PluginSchedule>,
}

impl Runner for PythonRunner {
    fn pending(&mut self) -> Option<Pending<'_>> {
        self.feed.pending()
    }

    fn prepare(&mut self) -> Result<bool, Error> {
        Ok(self.feed.take().is_some())
    }

    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut conversation =
                self.lease.process.converse(json!({"request": "run", "id": self.id}), b"")?;
            loop {
                let said = conversation.next().await?;
                if said.header["done"].as_bool() == Some(true) {
                    return outcome(&said.header, self.shared.keeps_meta);
                }
                if said.header["mark"].as_bool() == Some(true) {
                    exchange.mark();
                    continue;
                }
                let mut answer = Map::from_iter([
                    ("request".to_owned(), json!("answer")),
                    ("call".to_owned(), said.header["call"].clone()),
                ]);
                let payload = self.send(&said, exchange, &mut answer).await?;
                conversation.reply(answer, &payload);
            }
        })
    }

    fn progress(&self) -> Option<f64> {
        self.feed.progress()
    }

    fn take_schedule(&mut self) -> Option<PluginSchedule> {
        self.schedule.take()
    }
}

impl PythonRunner {
    /// Sends one request of the runner. Returns the answer's body, and writes into `answer` how the request
    /// went.
    async fn send(
        &self,
        said: &process::Answer,
        exchange: &mut Exchange,
        answer: &mut Map<String, Value>,
    ) -> Result<Vec<u8>, Failure> {
        let request = self.request(said)?;
        let timeout =
            said.header["timeout_s"].as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let failure = match exchange.send_as_is(&request, &said.payload, timeout).await {
            Ok(response) => match response.text() {
                Ok(text) => {
                    answer.insert("status".into(), json!(response.status));
                    return Ok(text.into_owned());
                }
                Err(error) => error,
            },
            Err(error) => error,
        };
        let failure = match failure {
            HttpError::Timeout => json!({"kind": "timeout"}),
            HttpError::Connection(description) | HttpError::Tls(description) => {
                json!({"kind": "connection", "description": description})
            }
            HttpError::Protocol(description) => json!({"kind": "transport", "description": description}),
        };
        answer.insert("failure".into(), failure);
        Ok(Vec::new())
    }

    fn request(&self, said: &process::Answer) -> Result<Request, Error> {
        let method = said.header["method"].as_str().unwrap_or_default();
        let method = Method::from_name(method)
            .ok_or_else(|| Error::Parameter(format!("method [{method}] is not supported")))?;
        let target = said.header["target"].as_str().unwrap_or_default();
        if !target.starts_with('/') {
            return Err(Error::Parameter(format!("the path [{target}] of a request must begin with [/]")));
        }
        let mut builder = Request::builder(method, target).header("accept-encoding", "gzip, deflate");
        for (name, value) in said.header["headers"].as_object().into_iter().flatten() {
            if name == "authorization" && self.shared.has_authorization {
                return Err(Error::parameter(
                    "a runner of the plugin has credentials of its own, and --client-options name others; \
                    race without basic_auth_user, basic_auth_password and api_key",
                ));
            }
            if !OWN_HEADERS.contains(&name.as_str()) {
                builder = builder.header(name, value.as_str().unwrap_or_default());
            }
        }
        Ok(builder.build())
    }
}

impl From<PluginError> for Failure {
    fn from(error: PluginError) -> Failure {
        Error::Plugin(error).into()
    }
}

/// Returns the outcome that the runner returned, or how its request failed in Rally's words.
fn outcome(said: &Value, keeps_meta: bool) -> Result<Outcome, Failure> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(failure) = said.get("failure") {
        let description = text(&failure["description"]).unwrap_or_default();
        return Err(match failure["kind"].as_str() {
            Some("timeout") => Failure::Timeout,
            Some("connection") => Failure::Connection { description },
            Some("api") => {
                Failure::Api { status: failure["status"].as_u64().unwrap_or_default() as u16, description }
            }
            _ => Failure::Transport { description },
        });
    }
    let is_success = said["success"].as_bool().unwrap_or(true);
    let error = match is_success {
        true => None,
        false => Some(Box::new(ErrorNote {
            kind: unit(said["error_type"].as_str().unwrap_or("Unknown"))?,
            status: said["http_status"].as_u64().map(|status| status as u16),
            description: text(&said["error_description"]).unwrap_or_else(|| "no description".into()),
        })),
    };
    let mut details = Details {
        throughput: said["throughput"].as_f64(),
        completion: match said["completed"].as_bool() {
            Some(true) => Some(1.0),
            _ => said["progress"].as_f64().filter(|share| *share < 1.0),
        },
        ..Details::default()
    };
    if keeps_meta {
        details.meta = said["meta"].as_object().cloned().unwrap_or_default();
    }
    Ok(Outcome {
        details: (details != Details::default()).then(|| Box::new(details)),
        unit: unit(said["unit"].as_str().unwrap_or("ops"))?,
        took: said["took_ms"].as_f64().and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok()),
        error,
        is_success,
        ..Outcome::ops(said["weight"].as_u64().unwrap_or(1))
    })
}
