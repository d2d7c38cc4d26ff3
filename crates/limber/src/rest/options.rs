//! Query parameters that many endpoints share.

use limber_engine::{IndicesOptions, RefreshPolicy, Result, VersionType};
use limber_work as work;

use crate::http::request::Request;

/// The parameters that [`indices_options`] reads, followed by further ones.
macro_rules! with_indices_options {
    ($($more:literal),* $(,)?) => {
        &["ignore_unavailable", "allow_no_indices", "expand_wildcards", "ignore_throttled", $($more),*]
    };
}
pub(super) use with_indices_options;

/// The parameters of a search in a URL, followed by further ones.
macro_rules! with_search_options {
    ($($more:literal),* $(,)?) => {
        $crate::rest::options::with_indices_options![
            "_source",
            "_source_exclude_vectors",
            "_source_excludes",
            "_source_includes",
            "allow_partial_search_results",
            "cancel_after_time_interval",
            "analyze_wildcard",
            "analyzer",
            "batched_reduce_size",
            "ccs_minimize_roundtrips",
            "default_operator",
            "df",
            "docvalue_fields",
            "explain",
            "from",
            "include_named_queries_score",
            "lenient",
            "max_concurrent_shard_requests",
            "preference",
            "q",
            "request_cache",
            "rest_total_hits_as_int",
            "routing",
            "search_pipeline",
            "verbose_pipeline",
            "search_type",
            "seq_no_primary_term",
            "size",
            "sort",
            "stats",
            "stored_fields",
            "terminate_after",
            "timeout",
            "track_scores",
            "track_total_hits",
            "typed_keys",
            "version",
            $($more),*
        ]
    };
}
pub(super) use with_search_options;

/// Returns `default` as changed by `ignore_unavailable`, `allow_no_indices` and `expand_wildcards`.
pub fn indices_options(request: &Request, default: IndicesOptions) -> Result<IndicesOptions> {
    if request.param("ignore_throttled").is_some() {
        work::warn(
            "[ignore_throttled] parameter is deprecated because frozen indices have been deprecated. Consider cold or frozen tiers in \
             place of frozen indices.",
        );
        request.flag("ignore_throttled")?;
    }
    default.apply(
        request.flag("ignore_unavailable")?,
        request.flag("allow_no_indices")?,
        request.param("expand_wildcards"),
    )
}

/// Reads the parameter `refresh`. Without it nothing is refreshed.
pub fn refresh_policy(request: &Request) -> Result<RefreshPolicy> {
    request.param("refresh").map_or(Ok(RefreshPolicy::None), RefreshPolicy::parse)
}

/// Reads the parameter `version_type`. The default is `internal`.
pub fn version_type(request: &Request) -> Result<VersionType> {
    VersionType::parse_or_default(request.param("version_type"))
}

/// Reads the parameter `local` of requests that use the node's own state anyway, and warns that it has no
/// effect. `requests` names them in the warning.
pub fn warn_of_local(request: &Request, requests: &str) -> Result<()> {
    if let Some(local) = request.flag("local")? {
        work::warn(format!(
            "the [?local={local}] query parameter to {requests} requests has no effect and will be removed in a future version"
        ));
    }
    Ok(())
}
