//! Parses a template into a tree.

use limber_mapping::RequestError;

/// How `{{ }}` escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// For the inside of a JSON string.
    Json,
    /// Without escaping.
    None,
    /// For an HTML form, or a query parameter of a URL.
    Url,
}

impl Escape {
    /// Returns the escaping for a script's option `content_type`.
    ///
    /// # Errors
    /// The media type is not known.
    pub fn of_media_type(name: &str) -> Result<Escape, RequestError> {
        let plain = name.split(';').next().unwrap_or_default().trim();
        Escape::of_plain_media_type(plain).ok_or_else(|| {
            RequestError::illegal_argument(format!("No encoder found for media type [{name}]"))
        })
    }

    /// Returns the escaping for a media type without parameters; `None` if it is not known.
    pub fn of_plain_media_type(name: &str) -> Option<Escape> {
        match name {
            "application/json" => Some(Escape::Json),
            "text/plain" => Some(Escape::None),
            "application/x-www-form-urlencoded" => Some(Escape::Url),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Text(String),
    /// A name, which may have dots, and whether its value is escaped.
    Value(String, bool),
    Section(String, Vec<Part>),
    /// Shown where its name has no value.
    Inverted(String, Vec<Part>),
    ToJson(String),
    Join(String, String),
    Url(Vec<Part>),
}

/// A compiled template.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    pub(super) parts: Vec<Part>,
    pub(super) escape: Escape,
}

/// Largest nesting of sections.
const DEPTH_MAX: usize = 100;

/// A section that is not closed yet: its name, whether it is inverted, and the parts before it.
struct Open {
    name: String,
    is_inverted: bool,
    before: Vec<Part>,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// `general_script_exception` for an invalid template, and for partials.
    pub fn parse(source: &str, escape: Escape) -> Result<Template, RequestError> {
        let refuse = |what: String| invalid(source, what);
        let (mut parts, mut open): (Vec<Part>, Vec<Open>) = (Vec::new(), Vec::new());
        let (mut start, mut end) = ("{{".to_owned(), "}}".to_owned());
        let mut rest = source;
        while let Some(at) = rest.find(&start) {
            // A tag of five bytes becomes a part of a hundred.
            limber_work::check_beyond_deadline()?;
            if at > 0 {
                parts.push(Part::Text(rest[..at].to_owned()));
            }
            rest = &rest[at + start.len()..];
            let is_raw = start == "{{" && rest.starts_with('{');
            let close = if is_raw { "}}}" } else { end.as_str() };
            let stop = rest
                .find(close)
                .ok_or_else(|| refuse("Improperly closed variable in query-template:1".into()))?;
            let inside = rest[usize::from(is_raw)..stop].trim();
            let after = stop + close.len();
            if is_raw {
                parts.push(Part::Value(inside.to_owned(), false));
            } else if let Some(delimiters) = inside.strip_prefix('=').and_then(|text| text.strip_suffix('='))
            {
                let mut words = delimiters.split_whitespace();
                let (Some(first), Some(second)) = (words.next(), words.next()) else {
                    return Err(refuse(format!("Invalid delimiter string: {delimiters}")));
                };
                rest = &rest[after..];
                (start, end) = (first.to_owned(), second.to_owned());
                continue;
            } else {
                tag(inside, &mut parts, &mut open).map_err(refuse)?;
            }
            if open.len() > DEPTH_MAX {
                return Err(RequestError::illegal_argument(format!(
                    "sections in a template are more than [{DEPTH_MAX}] deep"
                )));
            }
            rest = &rest[after..];
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        match open.last() {
            Some(section) => {
                Err(refuse(format!("Failed to close '{}' tag @[query-template:1]", section.name)))
            }
            None => Ok(Template { parts, escape }),
        }
    }
}

/// Returns the error about a template that is not valid.
pub fn invalid(source: &str, what: impl Into<String>) -> RequestError {
    RequestError::bad_request(
        "general_script_exception",
        format!("Failed to compile inline script [{source}] using lang [mustache]"),
    )
    .caused_by(RequestError::bad_request("mustache_exception", what))
}

/// Parses what is between two delimiters.
fn tag(inside: &str, parts: &mut Vec<Part>, open: &mut Vec<Open>) -> Result<(), String> {
    let mut letters = inside.chars();
    let first = letters.next().ok_or("Empty mustache")?;
    let name = letters.as_str().trim();
    match first {
        '!' => {}
        '#' | '^' => open.push(Open {
            name: name.to_owned(),
            is_inverted: first == '^',
            before: std::mem::take(parts),
        }),
        '/' => {
            let Some(section) = open.pop() else { return Err(format!("Unexpected close tag {name}")) };
            if section.name != name {
                return Err(format!(
                    "Mismatched start/end tags: {} != {name} in query-template:1",
                    section.name
                ));
            }
            let inner = std::mem::replace(parts, section.before);
            parts.push(section_of(section.name, section.is_inverted, inner)?);
        }
        '>' | '<' | '$' => {
            return Err(format!("Cannot expand '{name}' because partial templates are not supported"));
        }
        '&' => parts.push(Part::Value(name.to_owned(), false)),
        _ => parts.push(Part::Value(inside.to_owned(), true)),
    }
    Ok(())
}

/// Returns a closed section as one of the functions or as a plain section.
fn section_of(name: String, is_inverted: bool, inner: Vec<Part>) -> Result<Part, String> {
    if is_inverted {
        return Ok(Part::Inverted(name, inner));
    }
    let argument = |inner: &[Part]| match inner {
        [Part::Text(text)] => Ok(text.trim().to_owned()),
        _ => Err(format!("Mustache function [{name}] must contain one and only one identifier")),
    };
    if name.eq_ignore_ascii_case("toJson") {
        return Ok(Part::ToJson(argument(&inner)?));
    }
    if name.eq_ignore_ascii_case("join") {
        return Ok(Part::Join(argument(&inner)?, ",".to_owned()));
    }
    if let Some(delimiter) = delimiter_of(&name) {
        return Ok(Part::Join(argument(&inner)?, delimiter));
    }
    if name.eq_ignore_ascii_case("url") {
        return Ok(Part::Url(inner));
    }
    Ok(Part::Section(name, inner))
}

/// Returns the string in `join delimiter='...'`.
fn delimiter_of(name: &str) -> Option<String> {
    let rest = name.strip_prefix("join")?.trim_start().strip_prefix("delimiter")?.trim_start();
    let quoted = rest.strip_prefix('=')?.trim();
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    Some(inner.to_owned())
}
