//! `suggest` in a search: names, texts, and the suggester of each entry.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::completion::CompletionRequest;
use super::phrase::PhraseRequest;
use super::words::WordOptions;
use crate::values::json;

/// A parsed `suggest`.
#[derive(Debug, Clone)]
pub struct Suggest {
    pub(crate) entries: Vec<Suggestion>,
}

#[derive(Debug, Clone)]
pub(crate) struct Suggestion {
    pub name: String,
    pub text: String,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Term(Common, WordOptions),
    Phrase(Common, Box<PhraseRequest>),
    Completion(Common, Box<CompletionRequest>),
}

impl Kind {
    /// Returns the name of the suggester, shown by `typed_keys`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Kind::Term(..) => "term",
            Kind::Phrase(..) => "phrase",
            Kind::Completion(..) => "completion",
        }
    }
}

/// Options that every suggester has.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    pub field: String,
    pub analyzer: Option<String>,
    /// Maximum number of options of an entry.
    pub size: usize,
    /// Maximum number of options that a shard returns.
    pub shard_size: usize,
}

/// Default size. Source: `SuggestionSearchContext`.
const SIZE_DEFAULT: usize = 5;

/// Maximum number of options that one suggestion may request; their memory is charged as they are collected.
const SIZE_MAX: i32 = 10_000;

impl Suggest {
    /// Parses the value of `suggest`.
    ///
    /// # Errors
    /// Those of Elasticsearch, in its words.
    pub(crate) fn parse(body: &Value) -> Result<Suggest, RequestError> {
        let Value::Object(members) = body else { return Err(json::unknown_key("suggest", body)) };
        let global = match members.get("text") {
            None => None,
            Some(Value::Object(_)) => None,
            Some(text) => Some(json::text(text)?),
        };
        let mut entries = Vec::new();
        for (name, value) in members {
            limber_work::check_beyond_deadline()?;
            match value {
                Value::Object(body) => entries.push(suggestion(name, body, global.as_deref())?),
                _ if name == "text" => {}
                other => {
                    let token = json::token(other);
                    let reason = format!("unexpected token [{token}] after [{name}]");
                    return Err(RequestError::parsing(reason));
                }
            }
        }
        Ok(Suggest { entries })
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn suggestion(
    name: &str,
    body: &Map<String, Value>,
    global: Option<&str>,
) -> Result<Suggestion, RequestError> {
    let (mut text, mut prefix, mut regex, mut kind) = (None, None, None, None);
    for (key, value) in body {
        match (key.as_str(), value) {
            ("text", value) => text = Some(json::text(value)?),
            ("prefix", value) => prefix = Some(json::text(value)?),
            ("regex", value) => regex = Some(json::text(value)?),
            (suggester, Value::Object(options)) => kind = Some(kind_of(suggester, options)?),
            (other, _) => {
                return Err(RequestError::parsing(format!("suggestion does not support [{other}]")));
            }
        }
    }
    let Some(mut kind) = kind else {
        return Err(RequestError::bad_request("parse_exception", "missing suggestion object"));
    };
    if let Kind::Completion(_, request) = &mut kind {
        request.shown_text = text.clone().filter(|_| prefix.is_some());
        request.is_regex = prefix.is_none() && text.is_none() && regex.is_some();
    }
    let text = prefix.or(text).or(regex).or_else(|| global.map(str::to_owned));
    let text = text.ok_or_else(|| RequestError::illegal_argument("The required text option is missing"))?;
    Ok(Suggestion { name: name.to_owned(), text, kind })
}

fn kind_of(suggester: &str, options: &Map<String, Value>) -> Result<Kind, RequestError> {
    let mut rest = Map::new();
    let common = Common::parse(options, &mut rest)?;
    match suggester {
        "term" => Ok(Kind::Term(common, WordOptions::parse(&rest, "term")?)),
        "phrase" => Ok(Kind::Phrase(common, Box::new(PhraseRequest::parse(&rest)?))),
        "completion" => Ok(Kind::Completion(common, Box::new(CompletionRequest::parse(&rest)?))),
        other => Err(ObjectParser::no_named_object(other)),
    }
}

impl Common {
    /// Parses the common options; options specific to a suggester are moved to `rest`.
    fn parse(options: &Map<String, Value>, rest: &mut Map<String, Value>) -> Result<Common, RequestError> {
        let (mut field, mut analyzer, mut size, mut shard_size) = (None, None, None, None);
        for (key, value) in options {
            match key.as_str() {
                "field" => field = Some(json::text(value)?),
                "analyzer" => analyzer = Some(json::text(value)?),
                "size" => size = Some(positive("size", value)?),
                "shard_size" => shard_size = Some(positive("shardSize", value)?),
                _ => {
                    rest.insert(key.clone(), value.clone());
                }
            }
        }
        let Some(field) = field else {
            let reason = "the required field option [field] is missing";
            return Err(RequestError::bad_request("parse_exception", reason));
        };
        let size = size.unwrap_or(SIZE_DEFAULT);
        let shard_size = shard_size.unwrap_or(size.max(SIZE_DEFAULT)).max(size);
        Ok(Common { field, analyzer, size, shard_size })
    }
}

fn positive(name: &str, value: &Value) -> Result<usize, RequestError> {
    match json::int(value)? {
        number @ 1..=SIZE_MAX => Ok(number as usize),
        number if number > SIZE_MAX => {
            let reason = format!("[{name}] must be at most [{SIZE_MAX}], got [{number}]");
            Err(RequestError::illegal_argument(reason))
        }
        _ => Err(RequestError::illegal_argument(format!("{name} must be positive"))),
    }
}
