//! Renders the Jinja2 templates of a track with the user's parameters, and finds the parameters that they
//! have.
//!
//! The rules are Rally's (`esrally/track/loader.py`). `rally.collect` calls in their usual form are replaced
//! by the contents of the files that they name *before* Jinja sees the template. User parameters are globals
//! that cannot hide Rally's own. `track.json` can use the track's other files and the date filters; index and
//! template bodies cannot.
//!
//! minijinja replaces Jinja2, with additions for templates written for Python: no escaping by file name,
//! `length` of an undefined value is 0, Python's methods on strings, lists and dictionaries, and `copy()` and
//! a mutating `update()` on dictionaries.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, LazyLock};

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, Value};
use regex::Regex;

use super::dictionary::Dictionary;
use super::{LoadError, dates};
use crate::model::Params;
use crate::track::track_files::files::TrackFiles;

/// Names that a user's parameter cannot take (Rally's internal globals).
pub(crate) const RESERVED_NAMES: [&str; 4] = ["build_flavor", "glob", "now", "serverless_operator"];

/// Functions that Jinja2 itself defines; using one does not make it a parameter of the track.
const JINJA_GLOBALS: [&str; 6] = ["cycler", "dict", "joiner", "lipsum", "namespace", "range"];

/// `rally.collect` calls may nest (a collected file collects others). Beyond this depth, a file collects
/// itself.
const COLLECT_DEPTH_MAX: usize = 16;

/// Size limit of an assembled template. If a part collects itself twice, the size doubles with every level.
const ASSEMBLED_BYTES_MAX: usize = 64 << 20;

/// Limit on the instructions of one template. The largest public track needs about a million; the limit ends
/// endless nested loops after some seconds.
const INSTRUCTIONS_MAX: u64 = 200_000_000;

/// The macros that `{% import "rally.helpers" as rally with context %}` provides to a track, as in Rally's
/// documentation (docs/adding_tracks.rst, "Template language").
const HELPERS: &str = r#"
{%- macro collect(parts) -%}
  {%- set separate = joiner(",") -%}
  {%- for part in glob(parts) %}{{ separate() }}{% include part %}{% endfor -%}
{%- endmacro -%}
{%- macro exists_set_param(setting_name, value, default_value=None, comma=True) -%}
  {%- set chosen = value if value is defined else default_value -%}
  {%- if chosen is not none %}{{ "," if comma else "" }}"{{ setting_name }}": {{ chosen | tojson }}{% endif -%}
{%- endmacro -%}
"#;

/// What every template of a track is rendered with.
#[derive(Debug, Clone)]
pub(crate) struct TemplateContext {
    pub files: TrackFiles,
    pub params: Params,
    /// `default` or `serverless`, as the server reports it.
    pub build_flavor: String,
    pub serverless_operator: bool,
    /// Seconds since the epoch, which is the templates' `now`.
    pub now_s: f64,
}

/// A rendered template, and the variables in it that the user can set.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub text: String,
    pub variables: BTreeSet<String>,
}

impl TemplateContext {
    /// Renders the track's main file with everything that Rally provides there.
    ///
    /// # Errors
    /// `TrackInvalid` with the template's name and line for syntax and runtime errors, `Io` for a missing
    /// file.
    pub(crate) fn render_track(&self, name: &str) -> Result<Rendered, LoadError> {
        let text = self.files.read(name)?;
        let source = self.collect(&text, folder_of(name), 0)?;
        let mut environment = self.environment();
        self.add_track_extras(&mut environment);
        render(&environment, name, &source)
    }

    /// Renders the body of an index or template, with parameters only, without other files and date filters.
    pub(crate) fn render_body(&self, name: &str) -> Result<Rendered, LoadError> {
        let text = self.files.read(name)?;
        let source = self.collect(&text, "", 0)?;
        render(&self.environment(), name, &source)
    }

    /// Replaces `{{ rally.collect(parts="pattern") }}` by the contents of the files, joined by commas. The
    /// pattern is relative to the file with the call.
    fn collect(&self, text: &str, folder: &str, depth: usize) -> Result<String, LoadError> {
        static CALL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"\{\{ +rally\.collect\(parts="(.+?)"\) +\}\}"#).expect("the pattern is a constant")
        });
        if depth > COLLECT_DEPTH_MAX {
            return Err(LoadError::invalid(format!(
                "rally.collect calls are nested deeper than {COLLECT_DEPTH_MAX} levels; does a file collect itself?"
            )));
        }
        let mut assembled = String::with_capacity(text.len());
        let mut end = 0;
        for call in CALL.captures_iter(text) {
            let whole = call.get(0).expect("group 0 is the match");
            assembled.push_str(&text[end..whole.start()]);
            end = whole.end();
            let pattern = join(folder, &call[1]);
            for (position, file) in self.files.glob(&pattern).iter().enumerate() {
                if position > 0 {
                    assembled.push_str(",\n");
                }
                let part = self.files.read(file)?;
                assembled.push_str(&self.collect(&part, folder_of(&pattern), depth + 1)?);
                if assembled.len() > ASSEMBLED_BYTES_MAX {
                    return Err(LoadError::invalid("the assembled template is larger than 64 MB".to_owned()));
                }
            }
        }
        assembled.push_str(&text[end..]);
        Ok(assembled)
    }

    fn environment(&self) -> Environment<'static> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_unknown_method_callback(python_method);
        environment.set_fuel(Some(INSTRUCTIONS_MAX));
        environment.add_filter("length", |value: &Value| value.len().unwrap_or(0));
        environment.add_function("joiner", minijinja_contrib::globals::joiner);
        environment.add_function("cycler", minijinja_contrib::globals::cycler);
        for (name, value) in &self.params {
            environment.add_global(name.clone(), Value::from(Serde(value)));
        }
        environment.add_global("build_flavor", self.build_flavor.clone());
        environment.add_global("serverless_operator", self.serverless_operator);
        environment
            .add_template("rally.helpers", HELPERS)
            .expect("the helpers are a constant that the tests render");
        environment
    }

    fn add_track_extras(&self, environment: &mut Environment<'static>) {
        let files = self.files.clone();
        environment.add_function("glob", move |pattern: String| files.glob(&pattern));
        environment.add_global("now", self.now_s);
        environment.add_filter("days_ago", dates::days_ago);
        environment.add_filter("get_start_date", dates::get_start_date);
        environment.add_filter("get_end_date", dates::get_end_date);
        let files = self.files.clone();
        environment.set_loader(move |name| match files.read_inside(name) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Ok(None),
        });
    }
}

fn render(environment: &Environment<'_>, name: &str, source: &str) -> Result<Rendered, LoadError> {
    let describe = |error: Error| {
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            reason.push_str(": ");
            reason.push_str(&inner.to_string());
            cause = inner.source();
        }
        match error.kind() {
            ErrorKind::SyntaxError => {
                LoadError::invalid(format!("Could not load '{name}' due to Jinja Syntax Exception. {reason}"))
            }
            _ => LoadError::invalid(format!("Could not load '{name}'. {reason}")),
        }
    };
    let template = environment.template_from_named_str(name, source).map_err(describe)?;
    let variables = variables_of(environment, source)
        .into_iter()
        .filter(|variable| {
            !JINJA_GLOBALS.contains(&variable.as_str()) && !RESERVED_NAMES.contains(&variable.as_str())
        })
        .collect();
    let text = template.render(()).map_err(describe)?;
    Ok(Rendered { text, variables })
}

/// Returns the names that a template reads without having set them before, even if it sets them afterwards.
///
/// For `{% set shards = shards | default(5) %}`, minijinja treats the target as set while it analyses the
/// right side. Jinja2 reads the right side first, and tracks declare their parameters in this form. The right
/// sides are therefore moved in front of their assignments.
fn variables_of(environment: &Environment<'_>, source: &str) -> HashSet<String> {
    static SET: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?s)\{%[-+]?\s*set\s+([\w.,\s]+?)\s*=(.*?)[-+]?%\}").expect("the pattern is a constant")
    });
    let right_sides_first = SET.replace_all(source, "{{ ($2) }}{% set $1 = 0 %}");
    let found = |source: &str| Some(environment.template_from_str(source).ok()?.undeclared_variables(false));
    found(&right_sides_first).or_else(|| found(source)).unwrap_or_default()
}

/// Implements Python's methods that templates call: a dictionary's `copy`, then the methods of minijinja's
/// Python compatibility.
fn python_method(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    if method == "copy" && args.is_empty() && value.kind() == minijinja::value::ValueKind::Map {
        return Ok(Value::from_dyn_object(Arc::new(Dictionary::copy_of(value)?)));
    }
    if method == "append" || method == "update" {
        // Values are immutable here. Ignoring the call would load a different track than Rally does.
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{method}() works only on a dictionary made by copy()"),
        ));
    }
    minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
}

fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(files: &'static [(&'static str, &'static str)], params: serde_json::Value) -> TemplateContext {
        TemplateContext {
            files: TrackFiles::Embedded(files),
            params: params.as_object().cloned().unwrap_or_default(),
            build_flavor: "default".to_owned(),
            serverless_operator: false,
            now_s: 1_760_608_800.5,
        }
    }

    fn check(source: &'static str, params: serde_json::Value, expected: serde_json::Value) {
        let files: &'static [(&str, &str)] = Box::leak(Box::new([
            ("track.json", source),
            ("parts/a.json", r#"{"a": {{ shards | default(1) }}}"#),
            ("parts/b.json", r#"{"b": [{{ rally.collect(parts="deep/*.json") }}]}"#),
            ("parts/deep/c.json", r#""c""#),
            ("parts/deep/d.json", r#""d""#),
        ]));
        let rendered = context(files, params).render_track("track.json").unwrap();
        let json: serde_json::Value = serde_json::from_str(&rendered.text).expect(&rendered.text);
        assert_eq!(json, expected, "{source}");
    }

    #[test]
    fn parts_are_collected_before_rendering() {
        let expected = serde_json::json!([{"a": 5}, {"b": ["c", "d"]}]);
        check(r#"[{{ rally.collect(parts="parts/*.json") }}]"#, serde_json::json!({"shards": 5}), expected);
    }

    #[test]
    fn the_collect_macro_includes_files() {
        check(
            r#"{% import "rally.helpers" as rally with context %}[{{rally.collect(parts="parts/deep/*.json")}}]"#,
            serde_json::json!({}),
            serde_json::json!(["c", "d"]),
        );
    }

    #[test]
    fn optional_settings_are_set_only_when_given() {
        let source = r#"{% import "rally.helpers" as rally with context %}{"x": 1
            {{ rally.exists_set_param("index.codec", codec) }}
            {{ rally.exists_set_param("index.flag", flag, default_value=false) }}
            {{ rally.exists_set_param("index.none", missing) }} }"#;
        check(
            source,
            serde_json::json!({"codec": "best"}),
            serde_json::json!({"x": 1, "index.codec": "best", "index.flag": false}),
        );
        check(source, serde_json::json!({}), serde_json::json!({"x": 1, "index.flag": false}));
    }

    #[test]
    fn python_habits_work() {
        check(
            r#"[{% for k, v in {"a": 1}.items() %}"{{ k }}{{ v }}"{% endfor %}, {{ nothing | length }}, {{ 7 // 2 }}, "{{ "%03d" | format(7) }}"]"#,
            serde_json::json!({}),
            serde_json::json!(["a1", 0, 3, "007"]),
        );
        check(
            r#"{% set base = {"a": 1} %}{% set more = base.copy() %}{% set _ = more.update({"b": 2}) %}[{{ base | tojson }}, {{ more | tojson }}]"#,
            serde_json::json!({}),
            serde_json::json!([{"a": 1}, {"a": 1, "b": 2}]),
        );
    }

    #[test]
    fn dates_count_from_now() {
        check(
            r#"[{{ "15-10-2025" | days_ago(now) }}, "{{ now | get_start_date }}", "{{ now | get_end_date(2) }}"]"#,
            serde_json::json!({}),
            serde_json::json!([1, "2025-10-16", "2025-10-18"]),
        );
    }

    #[test]
    fn variables_are_what_the_user_may_set() {
        let rendered = context(
            &[("t", r#"{% set y = x | default(1) %}{{ y }}{{ now }}{% for i in range(3) %}{{ i }}{{ z.a }}{% endfor %}"#)],
            serde_json::json!({"x": 2, "z": {"a": 3}}),
        )
        .render_track("t")
        .unwrap();
        assert_eq!(rendered.variables.into_iter().collect::<Vec<_>>(), ["x", "z"]);
        let own_default = context(
            &[("t", r#"{%- set shards = shards | default(5) -%}{% set own = 1 %}{{ shards }}{{ own }}"#)],
            serde_json::json!({}),
        );
        assert_eq!(
            own_default.render_track("t").unwrap().variables.into_iter().collect::<Vec<_>>(),
            ["shards"]
        );
    }

    #[test]
    fn endless_work_ends_with_an_error() {
        let source = "{% for a in range(90000) %}{% for b in range(90000) %}{{ a }}{% endfor %}{% endfor %}";
        let files: &'static [(&str, &str)] = Box::leak(Box::new([("t", source)]));
        let context = context(files, serde_json::json!({}));
        let mut environment = context.environment();
        environment.set_fuel(Some(100_000));
        let error = render(&environment, "t", source).unwrap_err();
        assert!(error.to_string().contains("out of fuel"), "{error}");
    }

    #[test]
    fn a_part_that_collects_itself_ends_with_an_error() {
        let files: &[(&str, &str)] = &[("t", r#"{{ rally.collect(parts="t") }}"#)];
        let error = context(Box::leak(files.to_vec().into_boxed_slice()), serde_json::json!({}))
            .render_track("t")
            .unwrap_err();
        assert!(error.to_string().contains("collect itself"), "{error}");
    }
}
