//! Actions: reading and writing documents.

use super::lookup::Row;

/// The rows of these routes.
pub(super) const ROWS: &[Row] = &[
    ("POST PUT", "/_bulk", "indices:data/write/bulk"),
    ("POST PUT", "/{index}/_bulk", "indices:data/write/bulk"),
    ("PUT POST", "/{index}/_doc/{id}", "indices:data/write/index"),
    ("POST", "/{index}/_doc", "indices:data/write/index"),
    ("PUT POST", "/{index}/_create/{id}", "indices:data/write/index"),
    ("POST", "/{index}/_update/{id}", "indices:data/write/update"),
    ("DELETE", "/{index}/_doc/{id}", "indices:data/write/delete"),
    ("GET", "/{index}/_doc/{id}", "indices:data/read/get"),
    ("GET", "/{index}/_source/{id}", "indices:data/read/get"),
    ("GET POST", "/_mget", "indices:data/read/mget"),
    ("GET POST", "/{index}/_mget", "indices:data/read/mget"),
    ("POST", "/{index}/_delete_by_query", "indices:data/write/delete/byquery"),
    ("POST", "/{index}/_update_by_query", "indices:data/write/update/byquery"),
    ("POST", "/_delete_by_query/{task}/_rethrottle", "cluster:admin/reindex/rethrottle"),
    ("POST", "/_update_by_query/{task}/_rethrottle", "cluster:admin/reindex/rethrottle"),
    ("POST", "/_reindex/{task}/_rethrottle", "cluster:admin/reindex/rethrottle"),
    ("POST", "/_reindex", "indices:data/write/reindex"),
];
