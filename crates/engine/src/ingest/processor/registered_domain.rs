//! `registered_domain`: "which part of this domain name did someone register?"
//!
//! Source: Elasticsearch's `RegisteredDomainProcessor` over the public suffix list. A private suffix counts
//! as a registered domain itself.

use limber_mapping::RequestError;
use psl::{List, Psl as _, Type};

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug)]
struct RegisteredDomain {
    field: FieldPath,
    /// Prefix of the target fields, with a dot at its end; empty for the root of the document.
    prefix: String,
    ignore_missing: bool,
}

/// Compiles the processor. Options: `field`; optional `target_field` (empty) and `ignore_missing` (true).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let prefix = match options.string_or("target_field", "")? {
        target if target.is_empty() => target,
        target => target + ".",
    };
    let ignore_missing = options.bool_or("ignore_missing", true)?;
    Ok(Box::new(RegisteredDomain { field, prefix, ignore_missing }))
}

impl Processor for RegisteredDomain {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        if !self.ignore_missing {
            self.field.get(document)?;
        }
        let name = string_field(document, &self.field, true, "cannot process it.")?;
        let Some(parts) = name.as_deref().and_then(Parts::of) else {
            return match self.ignore_missing {
                true => Ok(Flow::Continue),
                false => Err(RequestError::illegal_argument("unable to set domain information for document")),
            };
        };
        let named = [
            ("domain", Some(parts.domain)),
            ("registered_domain", parts.registered),
            ("top_level_domain", Some(parts.top_level)),
            ("subdomain", parts.subdomain),
        ];
        for (member, value) in named {
            if let Some(value) = value {
                let value = document.make_string(&value)?;
                FieldPath::parse(&format!("{}{member}", self.prefix))?.set(document, value)?;
            }
        }
        Ok(Flow::Continue)
    }
}

struct Parts {
    domain: String,
    registered: Option<String>,
    top_level: String,
    subdomain: Option<String>,
}

impl Parts {
    /// Splits a name; `None` when it ends in no known suffix.
    fn of(name: &str) -> Option<Parts> {
        if name.is_empty() || name.starts_with('.') || name.ends_with('.') {
            return None;
        }
        let lower = name.to_lowercase();
        let suffix = List.suffix(lower.as_bytes())?;
        let length = suffix.as_bytes().len();
        let (before, suffix_text) = lower.split_at(lower.len() - length);
        let (registered, top_level) = match suffix.typ()? {
            Type::Private => {
                let (_, top_level) = suffix_text.split_once('.')?;
                (Some(suffix_text), top_level)
            }
            Type::Icann => {
                let own = before.strip_suffix('.').map(|above| above.rfind('.').map_or(0, |dot| dot + 1));
                (own.map(|own| &lower[own..]), suffix_text)
            }
        };
        let subdomain = registered.and_then(|registered| name.strip_suffix(registered)?.strip_suffix('.'));
        Some(Parts {
            domain: name.to_owned(),
            registered: registered.map(str::to_owned),
            top_level: top_level.to_owned(),
            subdomain: subdomain.map(str::to_owned),
        })
    }
}
