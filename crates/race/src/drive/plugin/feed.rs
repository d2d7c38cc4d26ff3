//! The parameters of one client, requested in batches while earlier ones are used.
//!
//! The number of requested sets doubles as long as the source keeps up. A task with few requests therefore
//! costs few calls of `params()`, and a long one an exchange with Python for every few hundred requests. The
//! bytes of the waiting sets are bounded.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::drive::operation::Pending;
use crate::error::Error;
use crate::model::Params;
use crate::track::plugin::PluginError;
use crate::track::plugin::process::{Answer, Conversation, Process};

/// Largest number of parameter sets requested at once.
const BATCH_MAX: u64 = 512;
/// Bytes of parameters that may wait for all clients of a process together, and the least that one answer may
/// have.
const WAITING_BYTES_MAX: u64 = 32 << 20;
const ANSWER_BYTES_MIN: u64 = 64 << 10;
const ANSWER_BYTES_MAX: u64 = 1 << 20;
/// Stands for "no separate body".
const NO_BODY: u32 = u32::MAX;

/// How the parameter `body` is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// It is a parameter like the others, and the operation reads it.
    Within,
    /// It is sent as it is, separately from the other parameters.
    Apart,
    /// Like [`Body::Apart`], but a list in it is a list of lines.
    Lines,
    /// Like [`Body::Apart`], unless the search has parameters that change its body.
    OfSearch,
    /// No parameters leave Python: a runner of the plugin uses them there.
    Kept,
}

impl Body {
    fn as_str(self) -> &'static str {
        match self {
            Body::Within => "never",
            Body::Apart => "always",
            Body::Lines => "lines",
            Body::OfSearch => "search",
            Body::Kept => "keep",
        }
    }
}

/// The parameters of one request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ParamSet {
    pub params: Params,
    pub body: Option<Vec<u8>>,
    /// The source's progress before it returned this set.
    progress: Option<f64>,
}

pub(super) struct Feed {
    process: Arc<Process>,
    id: u64,
    body: Body,
    ready: VecDeque<ParamSet>,
    asked: Option<(Conversation, u64)>,
    /// Number of sets to request next.
    batch: u64,
    /// Largest number of sets to request. It is one if something else may change the source between two
    /// requests.
    batch_max: u64,
    bytes_max: u64,
    /// Number of sets still to be requested; `None` for no end.
    left: Option<u64>,
    is_over: bool,
}

impl Feed {
    /// `count` is the number of requests that the client sends, if it is known. `clients` is the number of
    /// clients that share the process. `is_ahead` says whether parameters may be requested before the
    /// previous requests were sent.
    pub(super) fn new(
        process: Arc<Process>,
        id: u64,
        body: Body,
        count: Option<u64>,
        clients: usize,
        is_ahead: bool,
    ) -> Feed {
        let bytes_max =
            (WAITING_BYTES_MAX / 2 / clients.max(1) as u64).clamp(ANSWER_BYTES_MIN, ANSWER_BYTES_MAX);
        let batch_max = if is_ahead { BATCH_MAX } else { 1 };
        Feed {
            process,
            id,
            body,
            ready: VecDeque::new(),
            asked: None,
            batch: 1,
            batch_max,
            bytes_max,
            left: count,
            is_over: false,
        }
    }

    /// Returns what has to be awaited before [`Feed::take`] has an answer; usually nothing.
    pub(super) fn pending(&mut self) -> Option<Pending<'_>> {
        match self.advance() {
            Err(error) => Some(Box::pin(std::future::ready(Err(Error::Plugin(error))))),
            Ok(()) if !self.ready.is_empty() || self.is_over => None,
            Ok(()) => Some(Box::pin(async { Ok(self.wait().await?) })),
        }
    }

    /// Returns the next parameters; `None` when they have run out.
    pub(super) fn take(&mut self) -> Option<ParamSet> {
        self.ready.pop_front()
    }

    /// Returns the source's progress as of the next parameters.
    pub(super) fn progress(&self) -> Option<f64> {
        self.ready.front().and_then(|set| set.progress)
    }

    /// Receives sets that have arrived, and requests more early enough.
    fn advance(&mut self) -> Result<(), PluginError> {
        if let Some((conversation, count)) = &mut self.asked
            && let Some(answer) = conversation.try_next()
        {
            let count = *count;
            self.asked = None;
            self.accept(answer?, count)?;
        }
        let is_time = self.asked.is_none() && self.ready.len() as u64 <= self.batch / 2;
        if is_time && !self.is_over && self.left != Some(0) {
            let count = self.batch.min(self.left.unwrap_or(u64::MAX));
            self.left = self.left.map(|left| left - count);
            let request = json!({
                "request": "next",
                "id": self.id,
                "count": count,
                "bytes_max": self.bytes_max,
                "body_apart": self.body.as_str(),
            });
            self.asked = Some((self.process.converse(request, b"")?, count));
        }
        // Everything that was wanted has arrived and been used.
        self.is_over |= self.asked.is_none() && self.ready.is_empty() && self.left == Some(0);
        Ok(())
    }

    async fn wait(&mut self) -> Result<(), PluginError> {
        while self.ready.is_empty() && !self.is_over {
            let Some((mut conversation, count)) = self.asked.take() else { return self.advance() };
            let answer = conversation.next().await?;
            self.accept(answer, count)?;
            self.advance()?;
        }
        Ok(())
    }

    fn accept(&mut self, answer: Answer, asked: u64) -> Result<(), PluginError> {
        let progress = answer.header["progress"].as_array().map(Vec::as_slice).unwrap_or_default();
        let sets = match self.body {
            Body::Kept => progress.iter().map(|_| ParamSet::default()).collect(),
            _ => param_sets(&answer.payload)?,
        };
        let given = sets.len() as u64;
        if given < asked {
            self.left = self.left.map(|left| left + asked - given);
        }
        // A source that returned fewer sets than requested is slow or has large sets. Request the next few
        // early.
        self.batch = if given < asked { given.max(1) } else { (asked * 2).min(self.batch_max) };
        for (mut set, progress) in sets.into_iter().zip(progress) {
            set.progress = progress.as_f64();
            self.ready.push_back(set);
        }
        self.is_over |= answer.header["end"].as_bool() == Some(true);
        if self.is_over {
            self.left = Some(0);
        }
        Ok(())
    }
}

/// Reads sets of parameters. Each has the length of its parameters and the length of its body (or
/// [`NO_BODY`]), 4 bytes each in little endian, then both as JSON.
fn param_sets(payload: &[u8]) -> Result<Vec<ParamSet>, PluginError> {
    let broken =
        || PluginError::Ended("the Python process of the track's plugin sent broken parameters".into());
    let mut rest = payload;
    let mut take = |bytes: usize| {
        let (taken, left) = rest.split_at_checked(bytes)?;
        rest = left;
        Some(taken)
    };
    let mut sets = Vec::new();
    while let Some(lengths) = take(8) {
        let length =
            |at: usize| u32::from_le_bytes([lengths[at], lengths[at + 1], lengths[at + 2], lengths[at + 3]]);
        let params = take(length(0) as usize).ok_or_else(broken)?;
        let body = match length(4) {
            NO_BODY => None,
            bytes => Some(take(bytes as usize).ok_or_else(broken)?.to_vec()),
        };
        let params = match serde_json::from_slice(params) {
            Ok(Value::Object(params)) => params,
            _ => return Err(broken()),
        };
        sets.push(ParamSet { params, body, progress: None });
    }
    match rest {
        [] => Ok(sets),
        _ => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_one_after_the_other() {
        let set = |params: &str, body: Option<&str>| {
            let lengths = [params.len() as u32, body.map_or(NO_BODY, |body| body.len() as u32)];
            let lengths: Vec<u8> = lengths.iter().flat_map(|length| length.to_le_bytes()).collect();
            [&lengths[..], params.as_bytes(), body.unwrap_or_default().as_bytes()].concat()
        };
        let payload = [set(r#"{"a":1}"#, None), set("{}", Some("[]")), set("{}", Some(""))].concat();
        let sets = param_sets(&payload).unwrap();
        assert_eq!(sets[0].params["a"], json!(1));
        let bodies: Vec<Option<&[u8]>> = sets.iter().map(|set| set.body.as_deref()).collect();
        assert_eq!(bodies, [None, Some(&b"[]"[..]), Some(&b""[..])]);
        for cut in [1, 9, payload.len() - 1] {
            assert!(param_sets(&payload[..cut]).is_err(), "{cut}");
        }
        assert!(param_sets(&set("[]", None)).is_err());
    }
}
