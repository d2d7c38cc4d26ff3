//! `verbose_pipeline`: "what was each processor given, and what did it make of it?"
//!
//! Source: OpenSearch's `ProcessorExecutionDetail`.

use std::time::Duration;

use limber_mapping::RequestError;
use limber_search::SearchHit;
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::api::Result;

/// The name and tag of a processor, as a verbose pipeline shows them.
#[derive(Debug)]
pub(super) struct Named {
    pub kind: String,
    pub tag: Option<String>,
}

/// A search as a verbose pipeline shows it: the JSON text of each member. A tree would take many times as
/// much, and each processor shows the search twice.
#[derive(Debug, Default)]
pub(crate) struct ShownBody(Vec<(String, String)>);

impl ShownBody {
    fn of(body: &Value) -> Result<ShownBody> {
        let mut shown = ShownBody::default();
        for (name, value) in body.as_object().into_iter().flatten() {
            // The text is at most as long as the body, which the request holds.
            work::check_beyond_deadline()?;
            shown.set(name, value.to_string());
        }
        shown.set("verbose_pipeline", "true".to_owned());
        Ok(shown)
    }

    /// Removes a member and returns its JSON.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// Sets a member to this JSON; a new one is the last.
    pub(super) fn set(&mut self, name: &str, json: String) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value = json,
            None => self.0.push((name.to_owned(), json)),
        }
    }

    /// Returns the search as JSON.
    pub(super) fn json(&self) -> Result<String> {
        let length: usize = self.0.iter().map(|(name, json)| name.len() + json.len() + 4).sum();
        work::claim(length as u64)?;
        let mut out = String::with_capacity(length + 2);
        for (name, json) in &self.0 {
            out.push(if out.is_empty() { '{' } else { ',' });
            out.push_str(&Value::from(name.as_str()).to_string());
            out.push(':');
            out.push_str(json);
        }
        out.push('}');
        Ok(out)
    }
}

/// What the processors of one search did so far.
#[derive(Debug)]
pub(super) struct Verbose {
    /// The search, with the changes of the processors that ran.
    body: ShownBody,
    /// The results as JSON, without the brackets.
    results: String,
}

impl Verbose {
    pub(super) fn new(body: &Value) -> Result<Verbose> {
        Ok(Verbose { body: ShownBody::of(body)?, results: String::new() })
    }

    /// Returns the search as the next processor gets it.
    pub(super) fn body(&self) -> &ShownBody {
        &self.body
    }

    pub(super) fn body_mut(&mut self) -> &mut ShownBody {
        &mut self.body
    }

    /// Adds what a processor did. `input` and `outcome` are JSON; the output is null where it failed.
    pub(super) fn add(
        &mut self,
        named: &Named,
        took: Duration,
        input: &str,
        outcome: std::result::Result<&str, &RequestError>,
    ) -> Result<()> {
        let mut shown = Map::new();
        shown.insert("processor_name".to_owned(), named.kind.as_str().into());
        if let Some(tag) = &named.tag {
            shown.insert("tag".to_owned(), tag.as_str().into());
        }
        shown.insert("duration_millis".to_owned(), (took.as_millis() as u64).into());
        shown.insert("status".to_owned(), if outcome.is_ok() { "success" } else { "fail" }.into());
        if let Err(error) = outcome {
            shown.insert("error".to_owned(), error.reason.as_str().into());
        }
        let head = json!(shown).to_string();
        let parts = [
            if self.results.is_empty() { "" } else { "," },
            head.strip_suffix('}').unwrap_or_default(),
            ",\"input_data\":",
            input,
            ",\"output_data\":",
            outcome.unwrap_or("null"),
            "}",
        ];
        let more_bytes = parts.iter().map(|part| part.len()).sum();
        work::check_growth(self.results.len(), self.results.capacity(), more_bytes)?;
        parts.iter().for_each(|part| self.results.push_str(part));
        Ok(work::check_beyond_deadline()?)
    }

    /// Returns the JSON of the member `processor_results` of the response.
    pub(super) fn into_results(mut self) -> Result<String> {
        work::check_growth(self.results.len(), self.results.capacity(), 2)?;
        self.results.insert(0, '[');
        self.results.push(']');
        Ok(self.results)
    }
}

/// Returns hits as JSON. The node is not shown, as explanations are not what a processor changes.
pub(super) fn shown(hits: &[SearchHit]) -> Result<String> {
    let mut out = vec![b'['];
    for (at, hit) in hits.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        hit.write_json(&mut out, "", false).map_err(|error| error.to_request_error())?;
    }
    out.push(b']');
    String::from_utf8(out).map_err(|_| RequestError::internal("exception", "a hit is not UTF-8"))
}
