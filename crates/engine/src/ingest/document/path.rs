//! Dotted field paths: "which value do `machine.os`, `_ingest.timestamp` or `_index` address?"
//!
//! Source: Elasticsearch's `IngestDocument.FieldPath`, whose rules and wording this follows. Elements are
//! separated by dots, an element addresses an array by its index, `_source.` and `_ingest.` choose the root,
//! and metadata appear next to the source's fields.

use limber_mapping::RequestError;
use limber_work as work;

use super::node::{Kind, NONE, Node, NodeId};
use super::value::java_type;
use super::{IngestDocument, ROOT};

/// The most elements in a path. More would nest a document too deeply.
const PART_COUNT_MAX: usize = 200;

/// Names at the root that are metadata and not fields (`IngestDocument.Metadata`).
pub const METADATA: [&str; 10] = [
    "_index",
    "_type",
    "_id",
    "_routing",
    "_version",
    "_version_type",
    "_if_seq_no",
    "_if_primary_term",
    "_dynamic_templates",
    "_op_type",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Source,
    Ingest,
    Metadata,
}

/// A parsed path. Parsed once with the pipeline, unless it is a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    text: Box<str>,
    base: Base,
    parts: Box<[Box<str>]>,
}

/// A value that was found, with its position and what is needed to unlink it.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The value.
    pub node: NodeId,
    /// The container of the value.
    pub parent: NodeId,
    /// The child before it; [`NONE`](super::node::NONE) for the first.
    pub before: NodeId,
}

impl FieldPath {
    /// Parses a dotted path, which may begin with `_source.` or `_ingest.`. An empty path, or one with too
    /// many elements, is an error.
    pub fn parse(path: &str) -> Result<FieldPath, RequestError> {
        if path.is_empty() {
            return Err(RequestError::illegal_argument("path cannot be null nor empty"));
        }
        let (mut base, rest) = if let Some(rest) = path.strip_prefix("_ingest.") {
            (Base::Ingest, rest)
        } else {
            (Base::Source, path.strip_prefix("_source.").unwrap_or(path))
        };
        // Java's `String.split` drops trailing empty strings.
        let rest = rest.trim_end_matches('.');
        if rest.is_empty() || rest.split('.').count() > PART_COUNT_MAX {
            return Err(RequestError::illegal_argument(format!("path [{path}] is not valid")));
        }
        let parts: Box<[Box<str>]> = rest.split('.').map(Box::from).collect();
        if base == Base::Source && METADATA.contains(&&*parts[0]) {
            base = Base::Metadata;
        }
        Ok(FieldPath { text: path.into(), base, parts })
    }

    /// Parses each path of a list.
    ///
    /// # Errors
    /// Those of [`FieldPath::parse`], and the request's end.
    pub fn parse_all<T: FromIterator<FieldPath>>(paths: &[String]) -> Result<T, RequestError> {
        let parse_next = |path: &String| {
            // A part of one letter takes many times its size.
            work::check_beyond_deadline()?;
            FieldPath::parse(path)
        };
        paths.iter().map(parse_next).collect()
    }

    /// Returns the path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is `_ingest.timestamp`.
    pub fn is_timestamp(&self) -> bool {
        &*self.text == "_ingest.timestamp"
    }

    fn root(&self, document: &mut IngestDocument<'_>) -> Result<NodeId, RequestError> {
        match self.base {
            Base::Source => Ok(ROOT),
            Base::Ingest => document.ingest_root(),
            Base::Metadata => document.metadata_root(),
        }
    }

    /// Returns the value, or Elasticsearch's reason why there is none.
    pub fn get(&self, document: &mut IngestDocument<'_>) -> Result<NodeId, RequestError> {
        match self.find(document)? {
            Some(found) => Ok(found.node),
            None => Err(self.why_missing(document)),
        }
    }

    /// Returns the value; `None` when it or anything on the path to it is missing.
    #[inline]
    pub fn find(&self, document: &mut IngestDocument<'_>) -> Result<Option<Found>, RequestError> {
        let root = self.root(document)?;
        Ok(self.find_below(document, root))
    }

    fn find_below(&self, document: &IngestDocument<'_>, root: NodeId) -> Option<Found> {
        let mut found = Found { node: root, parent: NONE, before: NONE };
        for part in &self.parts {
            let parent = found.node;
            let (node, before) = match document.node(parent).kind {
                Kind::Object => document.member(parent, part)?,
                Kind::Array => document.element(parent, parse_index(part)?)?,
                _ => return None,
            };
            found = Found { node, parent, before };
        }
        Some(found)
    }

    /// Does the same as [`FieldPath::find`], but refuses an index beyond the ends of an array.
    ///
    /// Source: `IngestDocument#hasField`, with `failOutOfRange`.
    pub fn find_within(&self, document: &mut IngestDocument<'_>) -> Result<Option<Found>, RequestError> {
        let root = self.root(document)?;
        let found = self.find_below(document, root);
        let mut at = root;
        for part in self.parts.iter().take_while(|_| found.is_none()) {
            let next = match document.node(at).kind {
                Kind::Object => document.member(at, part),
                Kind::Array => match part.parse::<i32>().map(usize::try_from) {
                    Err(_) => None,
                    Ok(index) => {
                        let element = index.ok().and_then(|index| document.element(at, index));
                        Some(element.ok_or_else(|| self.out_of_bounds(document, at, part))?)
                    }
                },
                _ => None,
            };
            let Some((node, _)) = next else { break };
            at = node;
        }
        Ok(found)
    }

    /// Marks every container above a value that was just found as edited.
    #[inline]
    fn mark_above(&self, document: &mut IngestDocument<'_>, found: Found) -> Result<(), RequestError> {
        if self.parts.len() > 2 {
            return self.mark_edited(document);
        }
        let root = self.root(document)?;
        document.mark_edited(root);
        document.mark_edited(found.parent);
        Ok(())
    }

    /// Marks every container above an existing value as edited.
    pub fn mark_edited(&self, document: &mut IngestDocument<'_>) -> Result<(), RequestError> {
        let mut at = self.root(document)?;
        for part in &self.parts {
            document.mark_edited(at);
            let next = match document.node(at).kind {
                Kind::Object => document.member(at, part),
                Kind::Array => parse_index(part).and_then(|index| document.element(at, index)),
                _ => None,
            };
            match next {
                Some((node, _)) => at = node,
                None => break,
            }
        }
        Ok(())
    }

    fn why_missing(&self, document: &mut IngestDocument<'_>) -> RequestError {
        let mut at = match self.root(document) {
            Ok(root) => root,
            Err(error) => return error,
        };
        for part in &self.parts {
            match self.step(document, at, part) {
                Ok(next) => at = next,
                Err(error) => return error,
            }
        }
        self.not_present(&self.parts[self.parts.len() - 1])
    }

    fn not_present(&self, part: &str) -> RequestError {
        self.error(format_args!("field [{part}] not present"))
    }

    fn error(&self, what: std::fmt::Arguments<'_>) -> RequestError {
        RequestError::illegal_argument(format!("{what} as part of path [{}]", self.text))
    }

    /// Descends one element, with the errors of `IngestDocument.resolve`.
    fn step(&self, document: &IngestDocument<'_>, at: NodeId, part: &str) -> Result<NodeId, RequestError> {
        match document.node(at).kind {
            Kind::Object => {
                document.member(at, part).map(|(node, _)| node).ok_or_else(|| self.not_present(part))
            }
            Kind::Array => {
                let index = self.index(part, false)?;
                let node = index.and_then(|index| document.element(at, index));
                node.map(|(node, _)| node).ok_or_else(|| self.out_of_bounds(document, at, part))
            }
            Kind::Null => Err(self.error(format_args!("cannot resolve [{part}] from null"))),
            _ => {
                let kind = java_type(document, at);
                Err(self.error(format_args!("cannot resolve [{part}] from object of type [{kind}]")))
            }
        }
    }

    /// Parses an array index; `None` when it is negative. `with_cause` adds Java's own exception, as setters
    /// do.
    fn index(&self, part: &str, with_cause: bool) -> Result<Option<usize>, RequestError> {
        match part.parse::<i32>() {
            Ok(index) => Ok(usize::try_from(index).ok()),
            Err(_) => {
                let error =
                    self.error(format_args!("[{part}] is not an integer, cannot be used as an index"));
                let cause = RequestError::number_format(part);
                Err(if with_cause { error.caused_by(cause) } else { error })
            }
        }
    }

    fn out_of_bounds(&self, document: &IngestDocument<'_>, array: NodeId, part: &str) -> RequestError {
        let length = document.children(array).count();
        self.error(format_args!("[{part}] is out of bounds for array with length [{length}]"))
    }

    /// Sets the value, creating missing objects on the path.
    pub fn set(&self, document: &mut IngestDocument<'_>, value: Node) -> Result<(), RequestError> {
        self.check_metadata(document, &value)?;
        let (parent, leaf) = self.make_parent(document)?;
        match document.node(parent).kind {
            Kind::Object => match document.member_or_last(parent, leaf) {
                Ok((node, _)) => {
                    document.replace(node, value);
                    document.mark_edited(parent);
                }
                Err(last) => {
                    document.append_child_after(parent, last, leaf, value)?;
                }
            },
            Kind::Array => {
                let element = self.index(leaf, true)?.and_then(|index| document.element(parent, index));
                let (node, _) = element.ok_or_else(|| self.out_of_bounds(document, parent, leaf))?;
                document.replace(node, value);
                document.mark_edited(parent);
            }
            Kind::Null => return Err(self.error(format_args!("cannot set [{leaf}] with null parent"))),
            _ => {
                let kind = java_type(document, parent);
                return Err(
                    self.error(format_args!("cannot set [{leaf}] with parent object of type [{kind}]"))
                );
            }
        }
        Ok(())
    }

    /// Replaces a value that was found by this path.
    pub fn replace(
        &self,
        document: &mut IngestDocument<'_>,
        found: Found,
        value: Node,
    ) -> Result<(), RequestError> {
        self.check_metadata(document, &value)?;
        document.replace(found.node, value);
        self.mark_above(document, found)
    }

    /// Returns the container of the last element, created if necessary. Marks it and everything above it as
    /// edited.
    fn make_parent<'p>(
        &'p self,
        document: &mut IngestDocument<'_>,
    ) -> Result<(NodeId, &'p str), RequestError> {
        let mut at = self.root(document)?;
        let (leaf, parents) = self.parts.split_last().expect("a path has at least one element");
        for part in parents {
            let next = match document.node(at).kind {
                Kind::Object => match document.member_or_last(at, part) {
                    Ok((node, _)) => node,
                    Err(last) => {
                        document.append_child_after(at, last, part, Node::container(Kind::Object))?
                    }
                },
                _ => self.step(document, at, part)?,
            };
            if matches!(document.node(at).kind, Kind::Object | Kind::Array) {
                document.mark_edited(at);
            }
            at = next;
        }
        Ok((at, leaf))
    }

    /// Removes the value. Fails when there is none.
    pub fn remove(&self, document: &mut IngestDocument<'_>) -> Result<(), RequestError> {
        if self.remove_if_there(document)? { Ok(()) } else { Err(self.why_not_removed(document)) }
    }

    /// Removes the value. Returns whether there was one.
    pub fn remove_if_there(&self, document: &mut IngestDocument<'_>) -> Result<bool, RequestError> {
        let Some(found) = self.find(document)? else { return Ok(false) };
        if self.base == Base::Metadata && self.parts.len() == 1 && &*self.parts[0] == "_version" {
            return Err(RequestError::illegal_argument("_version cannot be removed"));
        }
        self.mark_above(document, found)?;
        document.unlink(found.parent, found.node, found.before);
        Ok(true)
    }

    fn why_not_removed(&self, document: &mut IngestDocument<'_>) -> RequestError {
        let mut at = match self.root(document) {
            Ok(root) => root,
            Err(error) => return error,
        };
        let (leaf, parents) = self.parts.split_last().expect("a path has at least one element");
        for part in parents {
            match self.step(document, at, part) {
                Ok(next) => at = next,
                Err(error) => return error,
            }
        }
        match document.node(at).kind {
            Kind::Object | Kind::Array => {
                self.step(document, at, leaf).err().unwrap_or_else(|| self.not_present(leaf))
            }
            Kind::Null => self.error(format_args!("cannot remove [{leaf}] from null")),
            _ => {
                let kind = java_type(document, at);
                self.error(format_args!("cannot remove [{leaf}] from object of type [{kind}]"))
            }
        }
    }

    /// Checks the type of a metadata value (`IngestDocMetadata`), which is refused when it is set, not later.
    fn check_metadata(&self, document: &IngestDocument<'_>, value: &Node) -> Result<(), RequestError> {
        if self.base != Base::Metadata || self.parts.len() > 1 {
            return Ok(());
        }
        let (wanted, fits) = match &*self.parts[0] {
            "_version" | "_if_seq_no" | "_if_primary_term" => {
                ("java.lang.Number", value.kind == Kind::Number)
            }
            "_dynamic_templates" => ("java.util.Map", value.kind == Kind::Object),
            _ => ("java.lang.String", value.kind == Kind::String),
        };
        if value.kind == Kind::Null {
            return Ok(());
        }
        if fits && &*self.parts[0] == "_version_type" {
            return check_version_type(&super::value::java_text_of(document, value));
        }
        if fits {
            return Ok(());
        }
        let kind = super::value::java_type_of(document, value);
        let text = super::value::java_text_of(document, value);
        let name = &self.parts[0];
        Err(RequestError::illegal_argument(format!(
            "{name} [{text}] is wrong type, expected assignable to [{wanted}], not [{kind}]"
        )))
    }
}

/// Values of `_version_type`.
pub const VERSION_TYPES: [&str; 3] = ["internal", "external", "external_gte"];

/// Refuses a `_version_type` that does not exist.
///
/// Source: `IngestDocMetadata#versionTypeValidator`.
fn check_version_type(text: &str) -> Result<(), RequestError> {
    match VERSION_TYPES.contains(&text) {
        true => Ok(()),
        false => Err(RequestError::illegal_argument(format!(
            "_version_type must be a null or one of [{}] but was [{text}] with type [java.lang.String]",
            VERSION_TYPES.join(", ")
        ))),
    }
}

fn parse_index(part: &str) -> Option<usize> {
    part.parse::<i32>().ok().and_then(|index| usize::try_from(index).ok())
}
