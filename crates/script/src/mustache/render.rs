//! Renders a template's tree with parameters.

use std::borrow::Cow;

use limber_mapping::{RequestError, java_text};
use limber_text::url;
use limber_work as work;
use serde_json::Value;

use super::parse::{Escape, Part, Template};

/// Maximum number of bytes that a template may render to. Source: Elasticsearch's
/// `mustache.max_output_size_bytes`.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Sections rendered between two checks for cancellation.
const SECTIONS_BETWEEN_CHECKS: u32 = 256;

struct Rendering<'t> {
    /// Values of the open sections, outermost first.
    scopes: Vec<Cow<'t, Value>>,
    out: String,
    escape: Escape,
    section_count: u32,
}

impl Template {
    /// Renders the template.
    ///
    /// # Errors
    /// The output is too long, or the request was cancelled.
    pub fn render(&self, parameters: &Value) -> Result<String, RequestError> {
        let mut rendering = Rendering {
            scopes: vec![Cow::Borrowed(parameters)],
            out: String::new(),
            escape: self.escape,
            section_count: 0,
        };
        rendering.parts(&self.parts)?;
        Ok(rendering.out)
    }
}

impl<'t> Rendering<'t> {
    fn parts(&mut self, parts: &[Part]) -> Result<(), RequestError> {
        parts.iter().try_for_each(|part| self.part(part))
    }

    /// Renders one part. The parser limits the depth of sections, and so the recursion.
    fn part(&mut self, part: &Part) -> Result<(), RequestError> {
        match part {
            Part::Text(text) => self.push(text),
            Part::Value(name, is_escaped) => {
                let text = self.find(name).map(|value| text_of(&value)).unwrap_or_default();
                let escape = if *is_escaped { self.escape } else { Escape::None };
                self.push(&escaped(&text, escape))
            }
            Part::Section(name, inner) => self.section(name, inner),
            Part::Inverted(name, inner) => match self.find(name).is_some_and(|value| is_something(&value)) {
                true => Ok(()),
                false => self.parts(inner),
            },
            Part::ToJson(name) => {
                let text = match self.find(name) {
                    None => String::new(),
                    Some(Cow::Borrowed(value)) => json_of(value),
                    Some(Cow::Owned(value)) => json_of(&value),
                };
                self.push(&text)
            }
            Part::Join(name, delimiter) => {
                // Written piece by piece, so that a long delimiter between many items is refused while the
                // output grows.
                match self.find(name).as_deref() {
                    Some(Value::Array(items)) => {
                        for (at, item) in items.iter().enumerate() {
                            if at > 0 {
                                self.push(delimiter)?;
                            }
                            self.push(&text_of(item))?;
                        }
                        Ok(())
                    }
                    Some(other) => self.push(&text_of(other)),
                    None => Ok(()),
                }
            }
            Part::Url(inner) => {
                let outer = std::mem::take(&mut self.out);
                let rendered = self.parts(inner);
                let text = std::mem::replace(&mut self.out, outer);
                rendered?;
                self.push(&escaped(&text, Escape::Url))
            }
        }
    }

    fn section(&mut self, name: &str, inner: &[Part]) -> Result<(), RequestError> {
        let Some(value) = self.find(name).filter(|value| is_something(value)) else { return Ok(()) };
        match value {
            // Borrowed, as nested sections would otherwise hold one copy of a long list each.
            Cow::Borrowed(Value::Array(items)) => {
                items.iter().try_for_each(|item| self.show(Cow::Borrowed(item), inner))
            }
            Cow::Owned(Value::Array(items)) => {
                items.into_iter().try_for_each(|item| self.show(Cow::Owned(item), inner))
            }
            one => self.show(one, inner),
        }
    }

    fn show(&mut self, item: Cow<'t, Value>, inner: &[Part]) -> Result<(), RequestError> {
        self.section_count += 1;
        if self.section_count.is_multiple_of(SECTIONS_BETWEEN_CHECKS) {
            work::check()?;
        }
        self.scopes.push(item);
        let shown = self.parts(inner);
        self.scopes.pop();
        shown
    }

    /// Returns the value of a name, searched for from the innermost section outwards.
    fn find(&self, name: &str) -> Option<Cow<'t, Value>> {
        if name == "." {
            return self.scopes.last().cloned();
        }
        let (first, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
        let scopes = self.scopes.iter().rev();
        let mut found = scopes.filter_map(|scope| member(scope, first));
        let mut value = found.next()?;
        for key in rest.into_iter().flat_map(|rest| rest.split('.')) {
            value = member(&value, key)?;
        }
        (!value.is_null()).then_some(value)
    }

    fn push(&mut self, text: &str) -> Result<(), RequestError> {
        if self.out.len() + text.len() > OUTPUT_BYTES_MAX {
            return Err(RequestError::bad_request(
                "general_script_exception",
                "Error running [query-template] script",
            )
            .caused_by(RequestError::bad_request(
                "size_limit_exceeded_exception",
                format!("Size limit of [{OUTPUT_BYTES_MAX}] bytes exceeded"),
            )));
        }
        self.out.push_str(text);
        Ok(())
    }
}

/// Returns a member by its name, an item by its index, or the number of items.
fn member<'v>(value: &Cow<'v, Value>, key: &str) -> Option<Cow<'v, Value>> {
    fn of<'v>(value: &'v Value, key: &str) -> Option<Cow<'v, Value>> {
        match value {
            Value::Object(members) => members.get(key).map(Cow::Borrowed),
            Value::Array(items) if key == "size" => Some(Cow::Owned(items.len().into())),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?).map(Cow::Borrowed),
            _ => None,
        }
    }
    match value {
        Cow::Borrowed(value) => of(value, key),
        Cow::Owned(value) => of(value, key).map(|found| Cow::Owned(found.into_owned())),
    }
}

/// Whether a section is shown for this value.
fn is_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// Returns a value as `toJson` writes it: strings without quotes, as in Elasticsearch.
fn json_of(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => value.to_string(),
        other => text_of(other),
    }
}

/// Returns a value as Java prints it.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let shown: Vec<String> =
                items.iter().enumerate().map(|(at, item)| format!("{at}={}", text_of(item))).collect();
            format!("{{{}}}", shown.join(", "))
        }
        Value::Object(members) => {
            let shown: Vec<String> =
                members.iter().map(|(name, item)| format!("{name}={}", text_of(item))).collect();
            format!("{{{}}}", shown.join(", "))
        }
        other => java_text(other),
    }
}

fn escaped(text: &str, escape: Escape) -> Cow<'_, str> {
    match escape {
        Escape::None => Cow::Borrowed(text),
        Escape::Json => {
            let quoted = Value::from(text).to_string();
            Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
        }
        Escape::Url => {
            let mut out = String::with_capacity(text.len());
            url::push_form_encoded(&mut out, text);
            Cow::Owned(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(source: &str, parameters: Value, expected: &str) {
        let template = Template::parse(source, Escape::Json).expect(source);
        assert_eq!(template.render(&parameters).expect(source), expected, "{source}");
    }

    #[test]
    fn values_sections_and_functions() {
        check(r#"{"q":"{{q}}"}"#, json!({"q": "a\"b"}), r#"{"q":"a\"b"}"#);
        check("{{{q}}}{{&q}}{{! no }}", json!({"q": "\"x"}), "\"x\"x");
        check("{{a.b.1}} {{a.b.size}} {{none}}", json!({"a": {"b": [1, 2]}}), "2 2 ");
        check("{{#a}}[{{.}}]{{/a}}", json!({"a": ["x", 2]}), "[x][2]");
        check("{{#a}}{{n}}{{o}},{{/a}}", json!({"a": [{"n": 1}, {"n": 2}], "o": "!"}), "1!,2!,");
        check("{{#a}}yes{{/a}}{{^a}}no{{/a}}", json!({"a": false}), "no");
        check("{{#a}}yes{{/a}}{{^a}}no{{/a}}", json!({"a": true}), "yes");
        check("{{#toJson}}a{{/toJson}}", json!({"a": {"b": ["x", 1]}}), r#"{"b":["x",1]}"#);
        check("{{#join}}a{{/join}}", json!({"a": ["x", 1]}), "x,1");
        check("{{#join delimiter='||'}}a{{/join delimiter='||'}}", json!({"a": ["x", "y"]}), "x||y");
        check("{{#url}}{{host}}/a b{{/url}}", json!({"host": "h"}), "h%2Fa+b");
        check("{{=( )=}}(a){{a}}", json!({"a": 1}), "1{{a}}");
        check("{{a}} {{b}}", json!({"a": 1e10, "b": 0.5}), "1.0E10 0.5");
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for source in ["{{#a}}", "{{/a}}", "{{#a}}{{/b}}", "{{a", "{{}}", "{{>a}}"] {
            assert!(Template::parse(source, Escape::Json).is_err(), "{source}");
        }
        let deep = "{{#a}}".repeat(200) + &"{{/a}}".repeat(200);
        assert!(Template::parse(&deep, Escape::Json).is_err());
        let wide = Template::parse("{{#a}}{{#a}}{{#a}}xxxxxxxxxxxxxxxx{{/a}}{{/a}}{{/a}}", Escape::Json);
        let many = json!({"a": vec![1; 1000]});
        assert!(wide.expect("sections").render(&many).is_err(), "too long");
    }
}
