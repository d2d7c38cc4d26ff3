//! Responses of the other server, which are not trusted: every size is checked against a limit first.

use std::borrow::Cow;

use limber_engine::{ByQueryFailure, Result, SourceBatch};
use limber_mapping::{ErrorClass, RequestError};
use limber_search::SearchHit;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Maximum length of a scroll id, which is sent back with every request. Elasticsearch's grow by about 80
/// bytes per shard.
const SCROLL_ID_BYTES_MAX: usize = 1 << 20;
/// Maximum bytes of shard failures that are copied into the response.
const FAILURES_BYTES_MAX: usize = 256 << 10;

/// The version of the other server's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub major: u32,
    pub minor: u32,
}

impl Version {
    /// Parses the body of `GET /`.
    pub(super) fn parse(body: &[u8]) -> Result<Version> {
        #[derive(Deserialize)]
        struct Main {
            version: Numbers,
        }
        #[derive(Deserialize)]
        struct Numbers {
            number: String,
            distribution: Option<String>,
        }
        let main: Main = serde_json::from_slice(body).map_err(|error| not_elasticsearch(&error))?;
        let mut parts = main.version.number.split(['.', '-']).map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) else {
            let shown: String = main.version.number.chars().take(64).collect();
            let reason = format!("the remote's version [{shown}] is not understood");
            return Err(RequestError::internal("exception", reason));
        };
        match main.version.distribution.as_deref() {
            // OpenSearch was forked from Elasticsearch 7.10.
            Some("opensearch") => Ok(Version { major: 7, minor: 10 }),
            _ if major < 6 => Err(RequestError::unsupported(format_args!(
                "reindex from a remote of version [{major}.{minor}], before 6.0,"
            ))),
            _ => Ok(Version { major, minor }),
        }
    }
}

/// A page of search results.
#[derive(Debug)]
pub(super) struct Page {
    pub scroll_id: Option<String>,
    pub batch: SourceBatch,
}

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(borrow, rename = "_scroll_id")]
    scroll_id: Option<Cow<'a, str>>,
    #[serde(default)]
    timed_out: bool,
    #[serde(borrow, rename = "_shards")]
    shards: Option<RawShards<'a>>,
    #[serde(borrow)]
    hits: RawHits<'a>,
}

#[derive(Deserialize)]
struct RawShards<'a> {
    #[serde(borrow)]
    failures: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawHits<'a> {
    #[serde(borrow)]
    total: Option<&'a RawValue>,
    #[serde(borrow)]
    hits: &'a RawValue,
}

#[derive(Deserialize)]
struct RawHit<'a> {
    #[serde(borrow, rename = "_index")]
    index: Cow<'a, str>,
    #[serde(rename = "_id")]
    id: Option<String>,
    #[serde(rename = "_version")]
    version: Option<i64>,
    #[serde(rename = "_routing")]
    routing: Option<String>,
    #[serde(borrow, rename = "_source")]
    source: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Total {
    /// The form before 7.0.
    Number(u64),
    Object {
        value: u64,
    },
}

impl Page {
    /// Parses a page with at most `hits_max` documents.
    pub(super) fn parse(body: &[u8], hits_max: usize) -> Result<Page> {
        let parse_error = |error: serde_json::Error| not_elasticsearch(&error);
        let page: RawPage<'_> = serde_json::from_slice(body).map_err(parse_error)?;
        if page.scroll_id.as_ref().is_some_and(|id| id.len() > SCROLL_ID_BYTES_MAX) {
            let reason = format!("the remote's scroll id has more than {SCROLL_ID_BYTES_MAX} bytes");
            return Err(RequestError::internal("exception", reason));
        }
        let total = match page.hits.total {
            None => None,
            Some(total) if total.get().len() > 1024 => return Err(too_strange("[total] of the hits")),
            Some(total) => Some(serde_json::from_str(total.get()).map_err(parse_error)?),
        };
        let total = match total {
            Some(Total::Number(value) | Total::Object { value }) => value,
            None => return Err(too_strange("missing [total] of the hits")),
        };
        let failures = match page.shards.and_then(|shards| shards.failures) {
            None => Vec::new(),
            Some(failures) if failures.get().len() > FAILURES_BYTES_MAX => {
                return Err(too_strange("list of failed shards"));
            }
            Some(failures) => serde_json::from_str::<Vec<Value>>(failures.get())
                .map_err(parse_error)?
                .into_iter()
                .map(shard_failure)
                .collect(),
        };
        let mut deserializer = serde_json::Deserializer::from_str(page.hits.hits.get());
        let hits = Hits { max: hits_max }.deserialize(&mut deserializer).map_err(parse_error)?;
        let batch = SourceBatch { total, hits, failures, timed_out: page.timed_out, charge: None };
        Ok(Page { scroll_id: page.scroll_id.map(Cow::into_owned), batch })
    }
}

/// Deserializes the list of hits. A list longer than requested is refused before it takes memory.
struct Hits {
    max: usize,
}

impl<'de> DeserializeSeed<'de> for Hits {
    type Value = Vec<SearchHit>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Hits {
    type Value = Vec<SearchHit>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "at most {} hits", self.max)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> std::result::Result<Self::Value, A::Error> {
        let mut hits = Vec::new();
        while let Some(hit) = sequence.next_element::<RawHit<'de>>()? {
            if hits.len() == self.max {
                return Err(A::Error::custom(format_args!(
                    "more hits than the {} that were asked for",
                    self.max
                )));
            }
            hits.push(SearchHit {
                index: (*hit.index).into(),
                id: hit.id,
                version: hit.version.and_then(|version| u64::try_from(version).ok()),
                routing: hit.routing,
                source: hit.source.map(|source| source.get().as_bytes().to_vec()),
                ..SearchHit::default()
            });
        }
        Ok(hits)
    }
}

/// Converts a shard failure to the form shown among the failures of the response.
fn shard_failure(failure: Value) -> ByQueryFailure {
    let status = failure["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| (400..600).contains(status)).unwrap_or(500);
    let shown = json!({
        "index": failure["index"], "shard": failure["shard"], "node": failure["node"], "reason": failure["reason"],
    });
    ByQueryFailure { class: ErrorClass::Remote(status), shown }
}

/// Returns Elasticsearch's error for a response that is not Elasticsearch's.
pub(super) fn not_elasticsearch(error: &serde_json::Error) -> RequestError {
    // The message says where the response is malformed, but does not quote it.
    let place = format!("{:?} at line {} column {}", error.classify(), error.line(), error.column());
    RequestError::internal(
        "exception",
        "Error parsing the response, remote is likely not an Elasticsearch instance",
    )
    .caused_by(RequestError::internal("x_content_parse_exception", place))
}

fn too_strange(what: &str) -> RequestError {
    RequestError::internal("exception", format!("the remote's answer is not understood: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_decide_what_is_sent() {
        let check = |body: Value, expected: std::result::Result<(u32, u32), &str>| match Version::parse(
            body.to_string().as_bytes(),
        ) {
            Ok(version) => assert_eq!(Ok((version.major, version.minor)), expected),
            Err(error) => {
                assert!(expected.is_err_and(|part| error.reason.contains(part)), "{}", error.reason)
            }
        };
        check(json!({"version": {"number": "6.8.23", "build_flavor": "oss"}}), Ok((6, 8)));
        check(json!({"version": {"number": "9.4.3"}}), Ok((9, 4)));
        check(json!({"version": {"number": "8.0.0-rc1"}}), Ok((8, 0)));
        check(json!({"version": {"number": "3.8.0", "distribution": "opensearch"}}), Ok((7, 10)));
        check(json!({"version": {"number": "5.6.16"}}), Err("before 6.0"));
        check(json!({"version": {"number": "new"}}), Err("is not understood"));
        check(json!({"name": "x"}), Err("remote is likely not an Elasticsearch instance"));
        assert!(Version::parse(b"<html>").is_err());
    }

    #[test]
    fn pages_of_every_version_are_read_and_bounded() {
        let page = |text: &str| Page::parse(text.as_bytes(), 2);
        let six = r#"{"_scroll_id":"a\u0062c","timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"total":7,"max_score":null,"hits":[
            {"_index":"i","_type":"t","_id":"1","_version":3,"_routing":"r","_source": {"a": 1.10},"sort":[0]},
            {"_index":"i","_type":"t","_id":"\u00e9","_source":null}]}}"#;
        let found = page(six).expect("valid");
        assert_eq!((found.scroll_id.as_deref(), found.batch.total), (Some("abc"), 7));
        let first = &found.batch.hits[0];
        assert_eq!((first.version, first.routing.as_deref()), (Some(3), Some("r")));
        assert_eq!(first.source.as_deref(), Some(&br#"{"a": 1.10}"#[..]), "byte for byte");
        assert_eq!(found.batch.hits[1].id.as_deref(), Some("é"));
        assert_eq!(found.batch.hits[1].source, None);
        let seven = r#"{"_scroll_id":"x","hits":{"total":{"value":0,"relation":"eq"},"hits":[]},"_shards":{"failures":[{"shard":1,"index":"i","reason":{"type":"x"}}]},"timed_out":true}"#;
        let found = page(seven).expect("valid");
        assert!(found.batch.timed_out && found.batch.hits.is_empty());
        assert_eq!(found.batch.failures[0].shown["shard"], 1);

        for broken in [
            "",
            "{}",
            "[]",
            "<html>",
            r#"{"hits":{"total":1,"hits":{}}}"#,
            r#"{"hits":{"hits":[]}}"#,
            &six[..six.len() - 9],
        ] {
            assert!(page(broken).is_err(), "{broken}");
        }
        let many = format!(r#"{{"hits":{{"total":3,"hits":[{}]}}}}"#, [r#"{"_index":"i"}"#; 3].join(","));
        assert!(page(&many).is_err());
        let long = format!(
            r#"{{"_scroll_id":"{}","hits":{{"total":0,"hits":[]}}}}"#,
            "x".repeat(SCROLL_ID_BYTES_MAX + 1)
        );
        assert!(page(&long).expect_err("refused").reason.contains("scroll id"));
    }
}
