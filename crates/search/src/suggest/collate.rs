//! `collate` of the `phrase` suggester: "does any document of this shard match the query for this
//! suggestion?"
//!
//! Source: Elasticsearch's `PhraseSuggester`.

use limber_mapping::RequestError;
use limber_script::mustache::{Escape, Template};
use serde_json::Value;

use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::query::bind_in;
use crate::request::read_query;
use crate::request::suggest::{Collate, CollateTemplate};

/// The template of a request, prepared for a shard.
pub(super) struct OpenCollate<'r> {
    collate: &'r Collate,
    template: Template,
    shard: &'r ShardSnapshot,
    context: &'r SearchContext,
}

impl<'r> OpenCollate<'r> {
    /// Prepares the template.
    ///
    /// # Errors
    /// The stored template does not exist or is invalid.
    pub(super) fn open(
        collate: &'r Collate,
        shard: &'r ShardSnapshot,
        context: &'r SearchContext,
    ) -> Result<OpenCollate<'r>> {
        let source = match &collate.template {
            CollateTemplate::Inline(source) => source.clone(),
            CollateTemplate::Stored(id) => match shard.scripts.stored(id) {
                Some(script) if script.language == "mustache" => script.source,
                _ => {
                    let reason = format!("unable to find script [{id}] in cluster state");
                    return Err(RequestError::not_found("resource_not_found_exception", reason).into());
                }
            },
        };
        let template = Template::parse(&source, Escape::Json)?;
        Ok(OpenCollate { collate, template, shard, context })
    }

    /// Whether suggestions that match nothing are shown and marked as such.
    pub(super) fn prunes(&self) -> bool {
        self.collate.prune
    }

    /// Whether a document of the shard matches the query for a suggestion.
    ///
    /// # Errors
    /// The rendered template is no query, or cannot be bound to the shard.
    pub(super) fn matches(&self, suggestion: &str) -> Result<bool> {
        self.context.check()?;
        let mut params = self.collate.params.clone();
        params.insert("suggestion".to_owned(), suggestion.into());
        let text = self.template.render(&Value::Object(params))?;
        limber_mapping::claim_parsed(text.as_bytes())?;
        let query: Value = serde_json::from_str(&text).map_err(|_| {
            RequestError::bad_request("x_content_parse_exception", "Failed to derive xcontent")
        })?;
        crate::values::json::check_depth(&query)?;
        let bound = bind_in(&read_query(&query)?, self.shard, self.context)?;
        for view in &self.shard.segments {
            if bound.matches_any(view)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
