//! Operations that search: once, page by page, asynchronously, or in other query languages.

pub(super) mod async_search;
pub(super) mod composite_agg;
pub(super) mod esql;
pub(super) mod field_caps;
pub(super) mod paginated_search;
pub(super) mod paging;
pub(super) mod point_in_time;
pub(super) mod scroll_search;
pub(super) mod search;
pub(super) mod sql;
pub(crate) mod terms_search;
