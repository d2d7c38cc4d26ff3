//! The options of the `completion` suggester.

use limber_mapping::geo::{geohash_at, geohash_bounds, parse_point};
use limber_mapping::{
    Completion, ContextKind, GEO_PRECISION_DEFAULT, ObjectParser, RequestError, geohash_of, geohash_precision,
};
use limber_text::automaton::RegexpOptions;
use serde_json::{Map, Value};

use crate::query::Fuzziness;
use crate::values::json;

#[derive(Debug, Clone)]
pub(crate) struct CompletionRequest {
    /// Whether the text is a regular expression.
    pub is_regex: bool,
    /// What the answer shows as the text, if that is not what is completed.
    pub shown_text: Option<String>,
    pub regex: RegexpOptions,
    pub fuzzy: Option<FuzzyOptions>,
    pub skip_duplicates: bool,
    /// The contexts by name, as given; the mapping decides what they mean.
    pub contexts: Map<String, Value>,
}

#[derive(Debug, Clone)]
pub(crate) struct FuzzyOptions {
    pub fuzziness: Fuzziness,
    pub transpositions: bool,
    /// Edits are not allowed for texts shorter than this.
    pub length_min: usize,
    pub prefix_length: usize,
    /// Whether edits are counted in characters instead of bytes.
    pub counts_letters: bool,
}

/// Source: Lucene's `FuzzyCompletionQuery`.
impl Default for FuzzyOptions {
    fn default() -> FuzzyOptions {
        FuzzyOptions {
            fuzziness: Fuzziness::AUTO,
            transpositions: true,
            length_min: 3,
            prefix_length: 1,
            counts_letters: false,
        }
    }
}

impl CompletionRequest {
    /// Parses the options of the suggester.
    ///
    /// # Errors
    /// Those of Elasticsearch, in its words.
    pub fn parse(options: &Map<String, Value>) -> Result<CompletionRequest, RequestError> {
        let mut request = CompletionRequest {
            is_regex: false,
            shown_text: None,
            regex: RegexpOptions::default(),
            fuzzy: None,
            skip_duplicates: false,
            contexts: Map::new(),
        };
        for (key, value) in options {
            match (key.as_str(), value) {
                ("skip_duplicates", value) => request.skip_duplicates = json::boolean(value)?,
                ("fuzzy", Value::Bool(true)) => request.fuzzy = Some(FuzzyOptions::default()),
                ("fuzzy", Value::Bool(false)) => {}
                ("fuzzy", Value::Object(members)) => request.fuzzy = Some(fuzzy(members)?),
                ("regex", Value::Object(members)) => request.regex = regex(members)?,
                ("contexts" | "context", Value::Object(members)) => request.contexts = members.clone(),
                (other, _) => {
                    return Err(ObjectParser::new("completion").unknown(other));
                }
            }
        }
        Ok(request)
    }
}

fn fuzzy(members: &Map<String, Value>) -> Result<FuzzyOptions, RequestError> {
    let mut options = FuzzyOptions::default();
    let count = |value: &Value, name: &str| {
        usize::try_from(json::int(value)?)
            .map_err(|_| RequestError::illegal_argument(format!("{name} must not be negative")))
    };
    for (key, value) in members {
        match key.as_str() {
            "fuzziness" => options.fuzziness = Fuzziness::parse(value)?,
            "transpositions" => options.transpositions = json::boolean(value)?,
            "min_length" => options.length_min = count(value, "fuzzyMinLength")?,
            "prefix_length" => options.prefix_length = count(value, "fuzzyPrefixLength")?,
            "unicode_aware" => options.counts_letters = json::boolean(value)?,
            "max_determinized_states" => {
                json::int(value)?;
            }
            other => {
                return Err(ObjectParser::new("fuzzy").unknown(other));
            }
        }
    }
    Ok(options)
}

fn regex(members: &Map<String, Value>) -> Result<RegexpOptions, RequestError> {
    let mut options = RegexpOptions::default();
    for (key, value) in members {
        match key.as_str() {
            "flags" => {
                options.flags = match value {
                    Value::Number(_) => json::int(value)? as u32,
                    other => RegexpOptions::parse_flags(&json::text(other)?)?,
                }
            }
            "max_determinized_states" => {
                options.states_max = u32::try_from(json::int(value)?).map_err(|_| {
                    RequestError::illegal_argument("maxDeterminizedStates must not be negative")
                })?;
            }
            other => {
                return Err(ObjectParser::new("regex").unknown(other));
            }
        }
    }
    Ok(options)
}

/// A prefix of the terms to search, and a factor for their weight.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scope {
    pub prefix: Vec<u8>,
    pub boost: f32,
}

/// Maximum number of contexts of one request.
const SCOPES_MAX: usize = 1024;

/// Returns the prefixes of a field's terms for the requested contexts.
///
/// # Errors
/// Those of Elasticsearch, in its words.
pub(crate) fn scopes(request: &CompletionRequest, field: &Completion) -> Result<Vec<Scope>, RequestError> {
    if field.contexts.is_empty() {
        if request.contexts.is_empty() {
            return Ok(vec![Scope { prefix: Vec::new(), boost: 1.0 }]);
        }
        return Err(RequestError::illegal_argument("suggester [completion] doesn't expect any context"));
    }
    let mut scopes = Vec::new();
    for (name, value) in &request.contexts {
        let number = field.contexts.iter().position(|context| context.name == *name).ok_or_else(|| {
            let known: Vec<&str> = field.contexts.iter().map(|context| context.name.as_str()).collect();
            RequestError::illegal_argument(format!(
                "Unknown context name [{name}], must be one of [{}]",
                known.join(", ")
            ))
        })?;
        let is_one = match (value, field.contexts[number].kind) {
            // Coordinates are a point; an empty list has no context.
            (Value::Array(items), ContextKind::Geo { .. }) => {
                !items.is_empty() && items.iter().all(Value::is_number)
            }
            (Value::Array(_), ContextKind::Category) => false,
            _ => true,
        };
        let items =
            if is_one { std::slice::from_ref(value) } else { value.as_array().map_or(&[][..], |l| l) };
        for item in items {
            for (text, is_prefix, boost) in asked(item, field.contexts[number].kind)? {
                let mut prefix = field.context_prefix(number, &text);
                if is_prefix {
                    prefix.pop();
                }
                scopes.push(Scope { prefix, boost });
            }
        }
        if scopes.len() > SCOPES_MAX {
            return Err(RequestError::illegal_argument(format!("more than [{SCOPES_MAX}] contexts")));
        }
    }
    match scopes.is_empty() {
        true => Err(RequestError::illegal_argument("Missing mandatory contexts in context query")),
        false => Ok(scopes),
    }
}

/// Parses one requested context: its values, whether longer values are included, and the boost.
fn asked(value: &Value, kind: ContextKind) -> Result<Vec<(String, bool, f32)>, RequestError> {
    let mut boost = 1;
    let mut is_prefix = false;
    let mut given = value;
    let mut asked_precision = None;
    let mut neighbours = Vec::new();
    if let Value::Object(members) = value
        && members.contains_key("context")
    {
        for (key, value) in members {
            match (key.as_str(), kind) {
                ("context", _) => given = value,
                ("boost", _) => boost = json::int(value)?,
                ("prefix", ContextKind::Category) => is_prefix = json::boolean(value)?,
                ("precision", ContextKind::Geo { .. }) => {
                    asked_precision = Some(geohash_precision(Some(value))?)
                }
                ("neighbours", ContextKind::Geo { .. }) => {
                    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                    for item in list {
                        neighbours.push(geohash_precision(Some(item))?);
                    }
                }
                (other, _) => {
                    let reason = format!("context query {}", ObjectParser::unknown_words(other));
                    return Err(RequestError::bad_request("x_content_parse_exception", reason));
                }
            }
        }
    }
    if boost <= 0 {
        return Err(RequestError::illegal_argument("boost must be greater than 0"));
    }
    let boost = boost as f32;
    match kind {
        ContextKind::Category => {
            let text = json::scalar_text(given).ok_or_else(|| {
                RequestError::parsing("category context must be an object, string, number or boolean")
            })?;
            Ok(vec![(text, is_prefix, boost)])
        }
        ContextKind::Geo { precision } => {
            let point = parse_point(given, true)?.checked("")?;
            let length = precision.min(asked_precision.unwrap_or(GEO_PRECISION_DEFAULT));
            let own = geohash_of(&point, length);
            let mut cells = Vec::new();
            if neighbours.is_empty() && own.len() == precision {
                add_around(&own, &mut cells)?;
            }
            for length in neighbours.into_iter().filter(|length| *length < own.len()) {
                let outer = own[..length].to_owned();
                add_around(&outer, &mut cells)?;
                cells.push(outer);
            }
            cells.push(own);
            cells.sort_unstable();
            cells.dedup();
            Ok(cells
                .into_iter()
                .map(|cell| {
                    let is_prefix = cell.len() < precision;
                    (cell, is_prefix, boost)
                })
                .collect())
        }
    }
}

/// Adds the cells around a cell.
fn add_around(cell: &str, cells: &mut Vec<String>) -> Result<(), RequestError> {
    let bounds = geohash_bounds(cell)?;
    let (width, height) = (bounds.east - bounds.west, bounds.north - bounds.south);
    let (longitude, latitude) = ((bounds.east + bounds.west) / 2.0, (bounds.north + bounds.south) / 2.0);
    for (across, up) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)] {
        let north = latitude + height * f64::from(up);
        if !(-90.0..=90.0).contains(&north) {
            continue;
        }
        let mut east = longitude + width * f64::from(across);
        if east > 180.0 {
            east -= 360.0;
        } else if east < -180.0 {
            east += 360.0;
        }
        cells.push(geohash_at(north, east).chars().take(cell.len()).collect());
    }
    Ok(())
}
