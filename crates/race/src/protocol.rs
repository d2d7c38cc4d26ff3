//! Which media types the server understands.
//!
//! `esrally` sends Elasticsearch's vendor-specific types with the compatible major version. OpenSearch, and
//! Elasticsearch before 8, refuse them and get plain JSON.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Protocol {
    pub accept: String,
    pub content_json: String,
    pub content_ndjson: String,
}

impl Protocol {
    pub(crate) fn plain() -> Protocol {
        Protocol {
            accept: "application/json".into(),
            content_json: "application/json".into(),
            content_ndjson: "application/x-ndjson".into(),
        }
    }

    /// Chooses the types from the answer to `GET /`.
    pub(crate) fn for_server(info: &Value) -> Protocol {
        let version = &info["version"];
        let is_elasticsearch = version["distribution"].as_str().is_none_or(|name| name == "elasticsearch");
        match version_of(info) {
            Some((major, _)) if is_elasticsearch && major >= 8 => Protocol {
                accept: format!("application/vnd.elasticsearch+json; compatible-with={major}"),
                content_json: format!("application/vnd.elasticsearch+json; compatible-with={major}"),
                content_ndjson: format!("application/vnd.elasticsearch+x-ndjson; compatible-with={major}"),
            },
            _ => Protocol::plain(),
        }
    }
}

/// Returns the major and minor version, from the answer to `GET /`.
pub(crate) fn version_of(info: &Value) -> Option<(u32, u32)> {
    let mut parts = info["version"]["number"].as_str()?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next().and_then(|minor| minor.parse().ok()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn by_distribution_and_version() {
        #[track_caller]
        fn check(version: Value, expected: &str) {
            let info = json!({ "version": version });
            assert_eq!(Protocol::for_server(&info).accept, expected);
        }
        check(json!({"number": "8.14.3"}), "application/vnd.elasticsearch+json; compatible-with=8");
        check(json!({"number": "9.4.3"}), "application/vnd.elasticsearch+json; compatible-with=9");
        check(json!({"number": "7.17.1"}), "application/json");
        check(json!({"number": "3.8.0", "distribution": "opensearch"}), "application/json");
        check(json!({"number": "10.0.0", "distribution": "opensearch"}), "application/json");
        check(json!({}), "application/json");
    }
}
