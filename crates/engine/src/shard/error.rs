//! Converts errors of lower layers to errors of the API.

use limber_mapping::{ErrorClass, RequestError};
pub(crate) use limber_search::store_error;
use limber_store::Error as StoreError;

/// Converts the failure of a write. A full disk is reported like the flood stage, whatever the watermark
/// says.
///
/// Source: `IndexMetadata#INDEX_READ_ONLY_ALLOW_DELETE_BLOCK`.
pub(crate) fn disk_error(error: &StoreError, index: &str) -> RequestError {
    if error.is_disk_full() {
        return RequestError::new(
            ErrorClass::TooManyRequests,
            "cluster_block_exception",
            format!(
                "index [{index}] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has \
                 read-only-allow-delete block; for more information, see https://www.elastic.co/docs/troubleshoot];"
            ),
        )
        .caused_by(RequestError::internal("i_o_exception", error.to_string()));
    }
    store_error(error)
}

pub(crate) fn segment_error(error: &limber_segment::Error) -> RequestError {
    match error {
        limber_segment::Error::Store(error) => store_error(error),
        limber_segment::Error::ImmenseTerm { .. } | limber_segment::Error::TermFrequency { .. } => {
            RequestError::illegal_argument(error.to_string())
        }
        limber_segment::Error::Corrupt { .. } => {
            RequestError::internal("corrupt_index_exception", error.to_string())
        }
        other => RequestError::internal("exception", other.to_string()),
    }
}
