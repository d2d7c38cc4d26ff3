//! The version type of a write, or of a request that names a document: "how does the version in the request
//! relate to the document's?"
//!
//! Source: Elasticsearch's `VersionType`.

use limber_mapping::RequestError;

/// How the version in a request relates to the document's version (`version_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VersionType {
    /// The node counts versions; a version in a request must equal the document's.
    #[default]
    Internal,
    /// The client assigns versions; that of a write must be greater than the document's.
    External,
    /// The client assigns versions; that of a write must not be less than the document's.
    ExternalGte,
}

impl VersionType {
    /// Parses the parameter. Any other word is an error.
    pub fn parse(text: &str) -> Result<VersionType, RequestError> {
        match text {
            "internal" => Ok(VersionType::Internal),
            "external" | "external_gt" => Ok(VersionType::External),
            "external_gte" => Ok(VersionType::ExternalGte),
            other => Err(RequestError::illegal_argument(format!("No version type match [{other}]"))),
        }
    }

    /// Parses the parameter of a request that may lack it; the default is `internal`.
    pub fn parse_or_default(text: Option<&str>) -> Result<VersionType, RequestError> {
        text.map_or(Ok(VersionType::default()), VersionType::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names() {
        let check = |text: Option<&str>, expected: Result<VersionType, &str>| {
            let found = VersionType::parse_or_default(text).map_err(|error| error.reason);
            assert_eq!(found, expected.map_err(str::to_owned), "{text:?}");
        };
        check(None, Ok(VersionType::Internal));
        check(Some("internal"), Ok(VersionType::Internal));
        check(Some("external"), Ok(VersionType::External));
        check(Some("external_gt"), Ok(VersionType::External));
        check(Some("external_gte"), Ok(VersionType::ExternalGte));
        check(Some("force"), Err("No version type match [force]"));
    }
}
