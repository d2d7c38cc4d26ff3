//! The options of the `phrase` suggester.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::collate::Collate;
use super::smoothing::Smoothing;
use super::words::WordOptions;
use crate::values::json;

/// Words of a text that are looked at. Source: `NoisyChannelSpellChecker#DEFAULT_TOKEN_LIMIT`.
const TOKENS: usize = 10;
/// `token_limit` at most: sentences are found by a recursion over their words.
const TOKENS_MAX: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct PhraseRequest {
    pub max_errors: f32,
    pub confidence: f32,
    pub real_word_likelihood: f64,
    pub separator: String,
    /// Words that the language model looks at together, 1 to 3.
    pub gram_size: usize,
    /// Whether a word must be in the index for its sentence to get suggestions.
    pub force_unigrams: bool,
    /// What is put around words that were changed.
    pub highlight: Option<(String, String)>,
    pub smoothing: Smoothing,
    /// Texts of more words get no suggestions.
    pub token_limit: usize,
    /// What sentences are held against.
    pub collate: Option<Collate>,
    /// Empty: one on the field itself.
    pub generators: Vec<Generator>,
}

/// `direct_generator`: where like words come from.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    pub field: String,
    pub size: usize,
    pub options: WordOptions,
    pub pre_filter: Option<String>,
    pub post_filter: Option<String>,
}

impl PhraseRequest {
    /// # Errors
    /// In Elasticsearch's words.
    pub fn parse(options: &Map<String, Value>) -> Result<PhraseRequest, RequestError> {
        let mut request = PhraseRequest {
            max_errors: 1.0,
            confidence: 1.0,
            real_word_likelihood: 0.95,
            separator: " ".to_owned(),
            gram_size: 1,
            force_unigrams: true,
            highlight: None,
            smoothing: Smoothing::StupidBackoff { discount: 0.4 },
            token_limit: TOKENS,
            collate: None,
            generators: Vec::new(),
        };
        for (key, value) in options {
            request.take(key, value)?;
        }
        Ok(request)
    }

    fn take(&mut self, key: &str, value: &Value) -> Result<(), RequestError> {
        match key {
            "max_errors" => {
                self.max_errors = json::float(value)?;
                if self.max_errors <= 0.0 {
                    return Err(RequestError::illegal_argument("max_error must be > 0.0"));
                }
            }
            "confidence" => {
                self.confidence = json::float(value)?;
                if self.confidence < 0.0 {
                    return Err(RequestError::illegal_argument("confidence must be >= 0.0"));
                }
            }
            "real_word_error_likelihood" => {
                self.real_word_likelihood = f64::from(json::float(value)?);
                if self.real_word_likelihood <= 0.0 {
                    return Err(RequestError::illegal_argument("real_word_error_likelihood must be > 0.0"));
                }
            }
            "separator" => self.separator = json::text(value)?,
            "gram_size" => match json::int(value)? {
                size if size < 1 => {
                    return Err(RequestError::illegal_argument("gramSize must be >= 1"));
                }
                size => self.gram_size = (size as usize).min(3),
            },
            "force_unigrams" => self.force_unigrams = json::boolean(value)?,
            "token_limit" => match usize::try_from(json::int(value)?) {
                Ok(0) | Err(_) => return Err(RequestError::illegal_argument("token_limit must be >= 1")),
                Ok(limit) if limit > TOKENS_MAX => {
                    let what = format_args!("a [token_limit] of more than [{TOKENS_MAX}] in [phrase]");
                    return Err(RequestError::unsupported(what));
                }
                Ok(limit) => self.token_limit = limit,
            },
            "highlight" => self.highlight = Some(highlight(value)?),
            "smoothing" => self.smoothing = Smoothing::parse(value)?,
            "direct_generator" => {
                let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                for generator in list {
                    self.generators.push(Generator::parse(generator)?);
                }
            }
            "collate" => self.collate = Collate::parse(value)?,
            other => {
                return Err(RequestError::bad_request(
                    "parse_exception",
                    format!("suggester[phrase] doesn't support field [{other}]"),
                ));
            }
        }
        Ok(())
    }
}

fn highlight(value: &Value) -> Result<(String, String), RequestError> {
    let tag = |name: &str| value.get(name).map(json::text).transpose();
    match (tag("pre_tag")?, tag("post_tag")?) {
        (Some(pre), Some(post)) => Ok((pre, post)),
        _ => Err(RequestError::illegal_argument("Pre and post tag must both be null or both not be null.")),
    }
}

impl Generator {
    fn parse(value: &Value) -> Result<Generator, RequestError> {
        let Value::Object(members) = value else { return Err(json::unknown_key("direct_generator", value)) };
        let (mut field, mut size, mut options) = (None, 5, WordOptions::default());
        let (mut pre_filter, mut post_filter) = (None, None);
        for (key, value) in members {
            match key.as_str() {
                "field" => field = Some(json::text(value)?),
                "size" => size = json::int(value)?.max(1) as usize,
                "pre_filter" => pre_filter = Some(json::text(value)?),
                "post_filter" => post_filter = Some(json::text(value)?),
                key => {
                    if !options.take(key, value)? {
                        let reason = format!("[direct_generator] unknown field [{key}]");
                        return Err(RequestError::bad_request("x_content_parse_exception", reason));
                    }
                }
            }
        }
        let Some(field) = field else {
            return Err(ObjectParser::required("field"));
        };
        Ok(Generator { field, size, options, pre_filter, post_filter })
    }
}
