//! Checks that a track has the shape that Rally requires: mandatory properties, types, lower bounds.
//!
//! Rally validates against a JSON schema (`esrally/resources/track-schema.json`); the tables below are
//! equivalent. As there, unknown properties are allowed everywhere, since tracks use them for notes and
//! operation parameters.

use serde_json::Value;

use super::LoadError;

/// What a property has to be if it is present.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Flag,
    Object,
    /// An integer of at least this value.
    Integer(i64),
    /// A number of at least 0.
    Number,
    NumberOrText,
    OneOf(&'static [&'static str]),
    /// An array of strings.
    Texts,
    /// An array of at least one item of any kind.
    Items,
    Is(&'static Rules),
    /// An array of at least one object, all of them different.
    ListOf(&'static Rules),
    /// Like `ListOf`, but equal objects are allowed.
    SequenceOf(&'static Rules),
}

struct Rules {
    required: &'static [&'static str],
    properties: &'static [(&'static str, Shape)],
    /// Whether it may contain a `parallel` object.
    is_schedule_element: bool,
}

use Shape::*;

const TRACK: Rules = Rules {
    required: &[],
    properties: &[
        ("description", Text),
        ("version", Integer(1)),
        ("meta", Object),
        ("component-templates", ListOf(&COMPONENT_TEMPLATE)),
        ("composable-templates", ListOf(&TEMPLATE)),
        ("templates", ListOf(&TEMPLATE)),
        ("indices", ListOf(&INDEX)),
        ("data-streams", ListOf(&DATA_STREAM)),
        ("corpora", ListOf(&CORPUS)),
        ("operations", ListOf(&OPERATION)),
        ("challenges", ListOf(&CHALLENGE)),
        ("dependencies", Texts),
        ("challenge", Is(&CHALLENGE)),
        ("schedule", SequenceOf(&SCHEDULE_ELEMENT)),
    ],
    is_schedule_element: false,
};

const COMPONENT_TEMPLATE: Rules = Rules {
    required: &["name", "template"],
    properties: &[("name", Text), ("template", Text), ("template-path", Text)],
    is_schedule_element: false,
};

const TEMPLATE: Rules = Rules {
    required: &["name", "index-pattern", "template"],
    properties: &[
        ("name", Text),
        ("index-pattern", Text),
        ("delete-matching-indices", Flag),
        ("template", Text),
        ("template-path", Text),
    ],
    is_schedule_element: false,
};

const INDEX: Rules = Rules {
    required: &["name"],
    properties: &[("name", Text), ("body", Text), ("types", Items)],
    is_schedule_element: false,
};

const DATA_STREAM: Rules =
    Rules { required: &["name"], properties: &[("name", Text)], is_schedule_element: false };

const CORPUS: Rules = Rules {
    required: &["name", "documents"],
    properties: &[
        ("name", Text),
        ("base-url", Text),
        ("source-format", Text),
        ("includes-action-and-meta-data", Flag),
        ("target-index", Text),
        ("target-data-stream", Text),
        ("target-type", Text),
        ("meta", Object),
        ("documents", ListOf(&DOCUMENT_SET)),
    ],
    is_schedule_element: false,
};

const DOCUMENT_SET: Rules = Rules {
    required: &["source-file"],
    properties: &[
        ("base-url", Text),
        ("source-file", Text),
        ("source-format", Text),
        ("document-count", Integer(1)),
        ("includes-action-and-meta-data", Flag),
        ("compressed-bytes", Integer(1)),
        ("uncompressed-bytes", Integer(1)),
        ("target-index", Text),
        ("target-type", Text),
        ("meta", Object),
    ],
    is_schedule_element: false,
};

const OPERATION: Rules = Rules {
    required: &["name", "operation-type"],
    properties: &[
        ("name", Text),
        ("meta", Object),
        ("operation-type", Text),
        ("request-timeout", Number),
        ("bulk-size", Integer(1)),
        ("pipeline", Text),
        ("conflicts", OneOf(&["sequential", "random"])),
        ("cache", Flag),
        ("index", Text),
        ("type", Text),
        ("pages", Integer(1)),
        ("results-per-page", Integer(1)),
        ("mode", OneOf(&["blocking", "polling"])),
        ("poll-period", Integer(1)),
    ],
    is_schedule_element: false,
};

const CHALLENGE: Rules = Rules {
    required: &["name", "schedule"],
    properties: &[
        ("name", Text),
        ("default", Flag),
        ("meta", Object),
        ("description", Text),
        ("cluster-settings", Object),
        ("schedule", SequenceOf(&SCHEDULE_ELEMENT)),
    ],
    is_schedule_element: false,
};

/// A task, or a `parallel` element with tasks; a task in it cannot be parallel again.
const SCHEDULE_ELEMENT: Rules =
    Rules { required: &[], properties: TASK_PROPERTIES, is_schedule_element: true };

const TASK_PROPERTIES: &[(&str, Shape)] = &[
    ("name", Text),
    ("meta", Object),
    ("clients", Integer(1)),
    ("warmup-iterations", Integer(0)),
    ("iterations", Integer(1)),
    ("ramp-up-time-period", Integer(0)),
    ("warmup-time-period", Integer(0)),
    ("time-period", Integer(1)),
    ("schedule", Text),
    ("target-throughput", NumberOrText),
    ("target-interval", Number),
    ("ignore-response-error-level", Text),
    ("run-on-serverless", Flag),
];

const PARALLEL: Rules = Rules {
    required: &["tasks"],
    properties: &[
        ("clients", Integer(1)),
        ("warmup-iterations", Integer(0)),
        ("iterations", Integer(1)),
        ("ramp-up-time-period", Integer(0)),
        ("warmup-time-period", Integer(0)),
        ("time-period", Integer(1)),
        ("completed-by", Text),
        ("tasks", SequenceOf(&PARALLEL_TASK)),
    ],
    is_schedule_element: false,
};

const PARALLEL_TASK: Rules =
    Rules { required: &["operation"], properties: TASK_PROPERTIES, is_schedule_element: false };

/// Checks a rendered `track.json`.
///
/// # Errors
/// `TrackInvalid` with the first violation found and the path to it.
pub(crate) fn check(track_name: &str, track: &Value) -> Result<(), LoadError> {
    check_object(track, &TRACK, &mut Vec::new()).map_err(|violation| {
        LoadError::invalid(format!(
            "Track '{track_name}' is invalid.\n\nError details: {}\nPath: {}",
            violation.reason, violation.path
        ))
    })
}

struct Violation {
    reason: String,
    path: String,
}

fn violation(path: &[String], reason: String) -> Violation {
    Violation { reason, path: if path.is_empty() { "(top level)".to_owned() } else { path.join(".") } }
}

fn check_object(value: &Value, rules: &Rules, path: &mut Vec<String>) -> Result<(), Violation> {
    let Some(object) = value.as_object() else {
        return Err(violation(path, format!("{} is not of type 'object'", excerpt(value))));
    };
    for name in rules.required {
        if !object.contains_key(*name) {
            return Err(violation(path, format!("'{name}' is a required property")));
        }
    }
    for (name, shape) in rules.properties {
        if let Some(property) = object.get(*name) {
            path.push((*name).to_owned());
            check_shape(property, *shape, path)?;
            path.pop();
        }
    }
    Ok(())
}

fn check_shape(value: &Value, shape: Shape, path: &mut Vec<String>) -> Result<(), Violation> {
    let fits = |fits: bool, kind: &str| -> Result<(), Violation> {
        if fits {
            Ok(())
        } else {
            Err(violation(path, format!("{} is not of type '{kind}'", excerpt(value))))
        }
    };
    let at_least = |minimum: f64| -> Result<(), Violation> {
        if value.as_f64().is_some_and(|number| number < minimum) {
            return Err(violation(path, format!("{value} is less than the minimum of {minimum}")));
        }
        Ok(())
    };
    match shape {
        Text => fits(value.is_string(), "string"),
        Flag => fits(value.is_boolean(), "boolean"),
        Object => fits(value.is_object(), "object"),
        Integer(minimum) => {
            fits(value.is_i64() || value.is_u64(), "integer")?;
            at_least(minimum as f64)
        }
        Number => {
            fits(value.is_number(), "number")?;
            at_least(0.0)
        }
        NumberOrText => {
            fits(value.is_number() || value.is_string(), "number', 'string")?;
            at_least(0.0)
        }
        OneOf(names) => {
            if value.as_str().is_some_and(|text| names.contains(&text)) {
                return Ok(());
            }
            Err(violation(path, format!("{} is not one of {names:?}", excerpt(value))))
        }
        Texts => {
            fits(value.as_array().is_some_and(|items| items.iter().all(Value::is_string)), "array of strings")
        }
        Items => {
            fits(value.as_array().is_some_and(|items| !items.is_empty()), "array with at least one item")
        }
        Is(rules) => check_object(value, rules, path),
        ListOf(rules) | SequenceOf(rules) => {
            let Some(items) = value.as_array() else { return fits(false, "array") };
            if items.is_empty() {
                return Err(violation(path, "[] should be non-empty".to_owned()));
            }
            if matches!(shape, ListOf(_)) && has_duplicates(items) {
                return Err(violation(path, format!("{} has non-unique elements", excerpt(value))));
            }
            for (position, item) in items.iter().enumerate() {
                path.push(position.to_string());
                check_object(item, rules, path)?;
                if let (true, Some(parallel)) = (rules.is_schedule_element, item.get("parallel")) {
                    path.push("parallel".to_owned());
                    check_object(parallel, &PARALLEL, path)?;
                    path.pop();
                }
                path.pop();
            }
            Ok(())
        }
    }
}

fn has_duplicates(items: &[Value]) -> bool {
    let mut texts: Vec<String> = items.iter().map(Value::to_string).collect();
    texts.sort_unstable();
    texts.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns the value for an error message, shortened because it can be long (such as a list of corpora).
fn excerpt(value: &Value) -> String {
    const CHARS_MAX: usize = 200;
    let text = value.to_string();
    if text.chars().count() <= CHARS_MAX {
        return text;
    }
    text.chars().take(CHARS_MAX).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_reason(track: Value, expected: &str) {
        let error = check("t", &track).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn violations_are_named_with_their_path() {
        check_reason(json!([]), "[] is not of type 'object'");
        check_reason(json!({"schedule": []}), "[] should be non-empty\nPath: schedule");
        check_reason(
            json!({"operations": [{"name": "a"}]}),
            "'operation-type' is a required property\nPath: operations.0",
        );
        check_reason(
            json!({"schedule": [{"parallel": {"tasks": [{"clients": 2}]}}]}),
            "'operation' is a required property\nPath: schedule.0.parallel.tasks.0",
        );
        check_reason(
            json!({"schedule": [{"operation": "x", "clients": 0}]}),
            "0 is less than the minimum of 1",
        );
        check_reason(
            json!({"schedule": [{"operation": "x", "clients": 1.5}]}),
            "1.5 is not of type 'integer'",
        );
        check_reason(json!({"indices": [{"name": "a"}, {"name": "a"}]}), "has non-unique elements");
        check_reason(
            json!({"corpora": [{"name": "c", "documents": [{"source-file": "f", "document-count": 0}]}]}),
            "minimum of 1\nPath: corpora.0.documents.0.document-count",
        );
    }

    #[test]
    fn a_track_may_carry_notes() {
        check("t", &json!({"#TODO": 1, "schedule": [{"operation": {"operation-type": "x"}, "note": []}]}))
            .unwrap();
    }
}
