//! JSON values as the text that a setting or an option takes.

use serde_json::Value;

/// Returns a string without its quotes, and any other value as JSON.
pub fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_strings_lose_their_quotes() {
        assert_eq!(plain_text(&json!("1s")), "1s");
        assert_eq!(plain_text(&json!(1)), "1");
        assert_eq!(plain_text(&json!(["a"])), r#"["a"]"#);
    }
}
