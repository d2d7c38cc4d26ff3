//! Runs processors within processors: "what does each element of this field become, and may another level of
//! them run?"

use limber_mapping::RequestError;

use super::document::IngestDocument;
use super::document::node::{Kind, Node, NodeId};
use super::document::path::FieldPath;
use super::failure::Failure;
use super::pipeline::Step;
use super::processor::Flow;
use super::run::Runner;

/// How many levels of pipelines, `foreach` and `on_failure` may run within each other. Each of the hundred
/// pipelines that may call each other may have fifty levels of its own, for which no stack suffices.
const LEVELS_MAX: u32 = 250;

impl<'p> Runner<'p> {
    /// Runs what is one level deeper.
    ///
    /// # Errors
    /// Those of `run`, and there are too many levels.
    pub(super) fn deeper<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Failure<'p>>,
    ) -> Result<T, Failure<'p>> {
        if self.depth >= LEVELS_MAX {
            let reason = format!("more than [{LEVELS_MAX}] levels of processors run within each other");
            return Err(RequestError::illegal_argument(reason).into());
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Runs `foreach`: each element becomes `_ingest._value` (and its name in an object `_ingest._key`), and
    /// what `_ingest._value` holds afterwards replaces the element.
    pub(super) fn run_each(
        &mut self,
        field: &'p FieldPath,
        ignore_missing: bool,
        step: &'p Step,
        document: &mut IngestDocument<'p>,
    ) -> Result<Flow, Failure<'p>> {
        let found = match field.find(document)? {
            Some(found) => found.node,
            None if ignore_missing => return Ok(Flow::Continue),
            None => field.get(document)?,
        };
        let kind = document.node(found).kind;
        match kind {
            Kind::Array | Kind::Object => {}
            Kind::Null if ignore_missing => return Ok(Flow::Continue),
            Kind::Null => {
                let reason = format!("field [{}] is null, cannot loop over its elements.", field.text());
                return Err(RequestError::illegal_argument(reason).into());
            }
            _ => {
                let class = super::document::value::java_type(document, found);
                let reason =
                    format!("field [{}] of type [{class}] cannot be cast to a list or map", field.text());
                return Err(RequestError::illegal_argument(reason).into());
            }
        }
        let (value_path, key_path) = (FieldPath::parse("_ingest._value")?, FieldPath::parse("_ingest._key")?);
        let outer_value = member_of(document, &value_path)?;
        let outer_key = member_of(document, &key_path)?;
        // The trace does not include inner steps.
        let trace = self.trace.take();
        let outcome = self.deeper(|runner| runner.run_items(step, found, (&value_path, &key_path), document));
        self.trace = trace;
        if kind == Kind::Object {
            key_path.set(document, outer_key)?;
        }
        value_path.set(document, outer_value)?;
        let (made, flow) = outcome.map_err(|failure| Failure { origin: None, ..failure })?;
        if flow != Flow::Dropped {
            field.set(document, made)?;
        }
        Ok(flow)
    }

    /// Returns the array or object with what each element became.
    fn run_items(
        &mut self,
        step: &'p Step,
        from: NodeId,
        (value_path, key_path): (&FieldPath, &FieldPath),
        document: &mut IngestDocument<'p>,
    ) -> Result<(Node, Flow), Failure<'p>> {
        let kind = document.node(from).kind;
        let items: Vec<NodeId> = document.children(from).collect();
        let made = document.add(Node::container(kind));
        let mut ends = Flow::Continue;
        for item in items {
            if kind == Kind::Object {
                let key = document.key(item).into_owned();
                let key = document.make_string(&key)?;
                key_path.set(document, key)?;
            }
            let value = *document.node(item);
            value_path.set(document, value)?;
            match self.run_step(step, document)? {
                Flow::Dropped => return Ok((*document.node(made), Flow::Dropped)),
                Flow::Continue => {}
                flow => ends = flow,
            }
            let value = member_of(document, value_path)?;
            if kind == Kind::Array {
                document.append_child(made, "", value)?;
                continue;
            }
            let key = member_of(document, key_path)?;
            if key.kind == Kind::Null {
                continue;
            }
            let key = super::document::value::java_text_of(document, &key);
            match document.member(made, &key) {
                Some((known, _)) => document.replace(known, value),
                None => {
                    document.append_child(made, &key, value)?;
                }
            }
        }
        Ok((*document.node(made), ends))
    }
}

/// Returns the value at a path, or null.
fn member_of(document: &mut IngestDocument<'_>, path: &FieldPath) -> Result<Node, RequestError> {
    match path.find(document)? {
        Some(found) => Ok(*document.node(found.node)),
        None => document.make_scalar(Kind::Null, "null"),
    }
}
