//! How an index expression is resolved.

use limber_mapping::RequestError;

use super::Result;

/// How an index expression is resolved (`ignore_unavailable`, `allow_no_indices`, `expand_wildcards`).
///
/// Source: `org.elasticsearch.action.support.IndicesOptions`. Every endpoint has its own default; start from
/// one of the constants and apply the URL's parameters with [`IndicesOptions::apply`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndicesOptions {
    /// Named indices that do not exist or are closed are skipped instead of being an error.
    pub ignore_unavailable: bool,
    /// An expression that matches no index is not an error.
    pub allow_no_indices: bool,
    /// Wildcards match open indices.
    pub expand_open: bool,
    /// Wildcards match closed indices.
    pub expand_closed: bool,
    /// Wildcards match hidden indices and data streams too.
    pub expand_hidden: bool,
    /// A closed index named in the expression is an error (`index_closed_exception`).
    pub forbid_closed_indices: bool,
    /// Aliases may be used as index names. Without this an alias is refused: "The provided expression [x]
    /// matches an alias, ...".
    pub resolve_aliases: bool,
    /// Data streams and their aliases stand for their backing indices. Without this they are treated as
    /// missing.
    pub data_streams: bool,
}

impl IndicesOptions {
    /// Searches and counts: `strictExpandOpenAndForbidClosed`.
    pub const SEARCH: IndicesOptions = IndicesOptions {
        ignore_unavailable: false,
        allow_no_indices: true,
        expand_open: true,
        expand_closed: false,
        expand_hidden: false,
        forbid_closed_indices: true,
        resolve_aliases: true,
        data_streams: true,
    };
    /// Refresh, flush, force merge, statistics: `strictExpandOpenAndForbidClosed`.
    pub const BROADCAST: IndicesOptions = IndicesOptions::SEARCH;
    /// Get index, get mapping, get settings, get alias, open, close: `strictExpandOpen` (closed indices only
    /// by name).
    pub const METADATA: IndicesOptions =
        IndicesOptions { forbid_closed_indices: false, ..IndicesOptions::SEARCH };
    /// Put mapping, put settings, exists, get settings: `strictExpand` (open and closed indices).
    pub const METADATA_OPEN_CLOSED: IndicesOptions =
        IndicesOptions { expand_closed: true, ..IndicesOptions::METADATA };
    /// Delete index: open and closed indices; refuses aliases and treats data streams as missing.
    pub const DELETE: IndicesOptions = IndicesOptions {
        resolve_aliases: false,
        data_streams: false,
        ..IndicesOptions::METADATA_OPEN_CLOSED
    };
    /// Cluster health, cluster state: lenient, includes every index.
    pub const LENIENT: IndicesOptions = IndicesOptions {
        ignore_unavailable: true,
        expand_closed: true,
        expand_hidden: true,
        forbid_closed_indices: false,
        ..IndicesOptions::SEARCH
    };

    /// Applies the URL's parameters; `expand_wildcards` is a comma-separated list of `open`, `closed`,
    /// `hidden`, `none` and `all`.
    pub fn apply(
        mut self,
        ignore_unavailable: Option<bool>,
        allow_no_indices: Option<bool>,
        expand_wildcards: Option<&str>,
    ) -> Result<IndicesOptions> {
        if let Some(value) = ignore_unavailable {
            self.ignore_unavailable = value;
            if value {
                self.forbid_closed_indices = false;
            }
        }
        if let Some(value) = allow_no_indices {
            self.allow_no_indices = value;
        }
        if let Some(list) = expand_wildcards {
            (self.expand_open, self.expand_closed, self.expand_hidden) = (false, false, false);
            for word in list.split(',').map(str::trim) {
                match word {
                    "open" => self.expand_open = true,
                    "closed" => self.expand_closed = true,
                    "hidden" => self.expand_hidden = true,
                    "none" => {
                        (self.expand_open, self.expand_closed, self.expand_hidden) = (false, false, false)
                    }
                    "all" => (self.expand_open, self.expand_closed, self.expand_hidden) = (true, true, true),
                    other => {
                        return Err(RequestError::illegal_argument(format!(
                            "No valid expand wildcard value [{other}]"
                        )));
                    }
                }
            }
        }
        Ok(self)
    }
}
