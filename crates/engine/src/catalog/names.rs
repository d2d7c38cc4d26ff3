//! Rules for names: "may an index or alias be called this?", and the errors about names.
//!
//! Source: `MetadataCreateIndexService#validateIndexOrAliasName`, `IndexNotFoundException`.

use limber_mapping::RequestError;

use crate::api::Result;

/// Longest index or alias name in bytes.
const NAME_BYTES_MAX: usize = 255;

/// Maximum number of names and patterns in one expression.
const PARTS_MAX: usize = 10_000;

/// Refuses a comma-separated expression with too many names and patterns. Called before it is taken apart: a
/// name of one letter takes many times its size as a part, and each is compared with all that there is.
pub(crate) fn check_part_count(expression: &str) -> Result<()> {
    if expression.len() > PARTS_MAX && expression.split(',').count() > PARTS_MAX {
        let reason = format!("more than [{PARTS_MAX}] names in one expression");
        return Err(RequestError::illegal_argument(reason));
    }
    Ok(())
}

/// Characters that no name may contain, in Elasticsearch's order.
pub(super) const FORBIDDEN: &[char] = &[' ', '"', '*', ',', '/', '<', '>', '?', '\\', '|'];

fn invalid(kind: &'static str, what: &str, name: &str, why: String) -> RequestError {
    let separator = if what == "alias" { ':' } else { ',' };
    let error = RequestError::bad_request(kind, format!("Invalid {what} name [{name}]{separator} {why}"));
    if kind == "invalid_index_name_exception" {
        return error.with("index_uuid", "_na_").with("index", name);
    }
    error
}

fn check(name: &str, kind: &'static str, what: &str) -> Result<()> {
    let refuse = |why: &str| Err(invalid(kind, what, name, why.to_owned()));
    if name.is_empty() {
        return refuse("must not be empty");
    }
    if name.contains(FORBIDDEN) {
        return refuse(&format!("must not contain the following characters {}", forbidden_list()));
    }
    if name.contains('#') {
        return refuse("must not contain '#'");
    }
    if name.contains(':') {
        return refuse("must not contain ':'");
    }
    if name.starts_with(['_', '-', '+']) {
        return refuse("must not start with '_', '-', or '+'");
    }
    if name.len() > NAME_BYTES_MAX {
        return refuse(&format!("{what} name is too long, ({} > {NAME_BYTES_MAX})", name.len()));
    }
    if name == "." || name == ".." {
        return refuse("must not be '.' or '..'");
    }
    if name.chars().any(char::is_control) {
        return refuse("must not contain control characters");
    }
    Ok(())
}

/// Returns the characters that no name may contain, as messages list them.
pub(super) fn forbidden_list() -> String {
    let list: Vec<String> = FORBIDDEN.iter().map(|character| format!("'{character}'")).collect();
    format!("[{}]", list.join(","))
}

/// Checks that an index may have this name.
pub fn check_index_name(name: &str) -> Result<()> {
    check(name, "invalid_index_name_exception", "index")?;
    if name.chars().any(char::is_uppercase) {
        return Err(invalid("invalid_index_name_exception", "index", name, "must be lowercase".into()));
    }
    Ok(())
}

/// Checks that an alias may have this name.
pub fn check_alias_name(name: &str) -> Result<()> {
    check(name, "invalid_alias_name_exception", "alias")
}

/// Checks that a data stream may have this name.
///
/// Source: `MetadataCreateDataStreamService#createDataStream`.
pub fn check_data_stream_name(name: &str) -> Result<()> {
    let refused = |why: &str| Err(RequestError::illegal_argument(format!("data_stream [{name}] {why}")));
    if let Err(error) = check(name, "invalid_index_name_exception", "index") {
        let whole = format!("Invalid index name [{name}], ");
        return refused(error.reason.strip_prefix(&whole).unwrap_or(&error.reason));
    }
    if name.chars().any(char::is_uppercase) {
        return refused("must be lowercase");
    }
    if name.starts_with(".ds-") {
        return refused("must not start with '.ds-'");
    }
    Ok(())
}

/// Makes the error for a data stream's name in a request that does not support data streams.
pub fn not_a_data_stream(name: &str) -> RequestError {
    index_not_found(name).with("excluded_ds", "true")
}

/// Makes an `index_not_found_exception` (`NotFound`).
pub fn index_not_found(name: &str) -> RequestError {
    let mut reason = format!("no such index [{name}]");
    if name.starts_with('-') {
        reason.push_str(
            " and if you intended to exclude this index, ensure that you use wildcards that include it before \
             explicitly excluding it",
        );
    }
    index_not_found_because(name, reason)
}

/// Makes an `index_not_found_exception` (`NotFound`) with its own reason.
pub fn index_not_found_because(name: &str, reason: String) -> RequestError {
    RequestError::not_found("index_not_found_exception", reason)
        .with("resource.type", "index_or_alias")
        .with("resource.id", name)
        .with("index_uuid", "_na_")
        .with("index", name)
}

/// Makes an `index_closed_exception` (`BadRequest`).
pub fn index_closed(name: &str, uuid: &str) -> RequestError {
    RequestError::bad_request("index_closed_exception", "closed").with("index_uuid", uuid).with("index", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_in_elasticsearchs_words() {
        let check = |name: &str, expected: &str| match check_index_name(name) {
            Ok(()) => assert_eq!(expected, "ok", "{name}"),
            Err(error) => {
                assert_eq!(error.reason, format!("Invalid index name [{name}], {expected}"));
                assert_eq!(error.metadata["index_uuid"], "_na_");
            }
        };
        check("logs-2024.01", "ok");
        check(".hidden", "ok");
        check("été", "ok");
        check("Logs", "must be lowercase");
        check("_x", "must not start with '_', '-', or '+'");
        check("-x", "must not start with '_', '-', or '+'");
        check("a#b", "must not contain '#'");
        check("a:b", "must not contain ':'");
        check("..", "must not be '.' or '..'");
        check("", "must not be empty");
        check(
            "a b",
            r#"must not contain the following characters [' ','"','*',',','/','<','>','?','\','|']"#,
        );
        check(&"x".repeat(256), "index name is too long, (256 > 255)");
        assert!(check_alias_name("Upper").is_ok());
        assert!(check_alias_name("a/b").is_err());
    }
}
