//! What analysis needs of the node: files in the user's configuration folder, synonym sets, scripts over
//! tokens.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::registry::{Analyzers, Declaration};
use crate::RequestError;

/// The interface of the node to analyzers.
pub trait AnalysisResources: Debug + Send + Sync {
    /// Returns the bytes of a file. `path` is relative to the configuration folder, with slashes.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileFault>;

    /// Returns the names of the files in a folder below the configuration folder; empty if it does not exist.
    fn files(&self, folder: &str) -> Vec<String>;

    /// Returns the rules of a synonym set; `None` if it does not exist.
    fn synonyms(&self, set: &str) -> Option<Vec<String>>;

    /// Compiles a script that decides to which tokens a filter applies.
    ///
    /// # Errors
    /// It does not compile.
    fn predicate(&self, script: &Value) -> Result<Arc<dyn TokenPredicate>, RequestError>;

    /// Returns the analyzers that `make` makes of a declaration, or those that were made of an equal one. A
    /// node charges their memory.
    ///
    /// # Errors
    /// Those of `make`, and `TooManyRequests` if there is not enough memory.
    fn shared(
        &self,
        _declaration: Declaration<'_>,
        make: &mut dyn FnMut() -> Result<Analyzers, RequestError>,
    ) -> Result<Arc<Analyzers>, RequestError> {
        make().map(Arc::new)
    }
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFault {
    /// There is no such file.
    Missing,
    /// The path is a folder.
    IsFolder,
    /// It is longer than analysis allows.
    TooLong,
    /// The system returned this error.
    Failed(String),
}

/// A token from the point of view of scripts.
#[derive(Debug, Clone, Copy)]
pub struct SeenToken<'a> {
    /// Its text.
    pub term: &'a str,
    /// Its type, such as `<ALPHANUM>`.
    pub kind: &'a str,
    /// From 0, counting gaps.
    pub position: u32,
    /// Number of positions since the previous token.
    pub position_increment: u32,
    /// Number of positions that it spans.
    pub position_length: u32,
    /// Byte offset of its start in the value.
    pub start_offset: u32,
    /// Byte offset of its end.
    pub end_offset: u32,
    /// Whether stemmers leave it unchanged.
    pub is_keyword: bool,
}

/// Decides to which tokens a filter applies.
pub trait TokenPredicate: Debug + Send + Sync {
    /// Whether the filter applies to this token.
    ///
    /// # Errors
    /// The script failed.
    fn accepts(&self, token: SeenToken<'_>) -> Result<bool, RequestError>;
}

/// Used if there is no node: no files, no synonym sets, no scripts.
#[derive(Debug)]
struct Nothing;

impl AnalysisResources for Nothing {
    fn read(&self, _: &str) -> Result<Vec<u8>, FileFault> {
        Err(FileFault::Missing)
    }

    fn files(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn synonyms(&self, _: &str) -> Option<Vec<String>> {
        None
    }

    fn predicate(&self, _: &Value) -> Result<Arc<dyn TokenPredicate>, RequestError> {
        Err(RequestError::unsupported("a script over tokens outside of a node"))
    }
}

static NOTHING: LazyLock<Arc<dyn AnalysisResources>> = LazyLock::new(|| Arc::new(Nothing));

/// Returns resources without a node.
pub(super) fn nothing() -> &'static Arc<dyn AnalysisResources> {
    &NOTHING
}

thread_local! {
    static FAILURE: RefCell<Option<RequestError>> = const { RefCell::new(None) };
}

/// Stores the error of a component until the caller of the analysis [takes](take_failure) it. Returns false,
/// so that analysis stops.
pub(super) fn fail(error: RequestError) -> bool {
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
    false
}

/// Returns the error of an analyzer on this thread since the last call.
pub fn take_failure() -> Option<RequestError> {
    FAILURE.take()
}

/// Normalizes a path below the configuration folder; `None` if it leads out of it.
fn inside(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    if path.starts_with('/') || path.contains(['\\', '\0']) {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // A part that leads upwards is refused even if the target is inside.
            ".." => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the bytes of a file that a setting names.
pub(super) fn bytes_of(
    resources: &dyn AnalysisResources,
    path: &str,
    setting: &str,
) -> Result<Vec<u8>, RequestError> {
    let Some(inner) = inside(path) else {
        let reason = format!("Access denied trying to read file {setting}: {path}");
        return Err(RequestError::illegal_argument(reason));
    };
    let failed = |kind: &'static str, cause: String| {
        RequestError::illegal_argument(format!("IOException while reading {setting}: config/{inner}"))
            .caused_by(RequestError::bad_request(kind, cause))
    };
    resources.read(&inner).map_err(|fault| match fault {
        FileFault::Missing => failed("no_such_file_exception", format!("config/{inner}")),
        FileFault::IsFolder => failed("i_o_exception", "Is a directory".to_owned()),
        FileFault::TooLong => failed("i_o_exception", "the file is too long".to_owned()),
        FileFault::Failed(reason) => failed("i_o_exception", reason),
    })
}

/// Returns the text of a file that a setting names.
pub(super) fn text_of(
    resources: &dyn AnalysisResources,
    path: &str,
    setting: &str,
) -> Result<String, RequestError> {
    let bytes = bytes_of(resources, path, setting)?;
    limber_work::claim(bytes.len() as u64)?;
    String::from_utf8(bytes).map_err(|_| {
        RequestError::illegal_argument(format!(
            "Unsupported character encoding detected while reading {setting}: config/{path} - files must be UTF-8 encoded"
        ))
        .caused_by(RequestError::bad_request("malformed_input_exception", "Input length = 1"))
    })
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn paths_do_not_lead_out_of_the_folder() {
        assert_eq!(inside("analysis/./words.txt").as_deref(), Some("analysis/words.txt"));
        for path in ["/etc/passwd", "../x", "a/../../x", "a/../x", "a\\..\\x", "a\0b"] {
            assert_eq!(inside(path), None, "{path}");
        }
    }
}
