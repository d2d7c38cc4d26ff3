//! Reads a track's indices, templates and corpora from the rendered JSON.
//!
//! This follows `TrackSpecificationReader` of Rally (`esrally/track/loader.py`), with the same defaults and
//! error messages.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::template::TemplateContext;
use super::{LoadError, archives};
use crate::model::{Corpus, DocumentSet, DocumentSource, Index, Params, Template};

/// Reads one track, and collects the variables of every template that it renders.
pub(crate) struct TrackReader<'a> {
    pub track_name: &'a str,
    pub templates: &'a TemplateContext,
    /// Variables in the templates read so far that the user can set.
    pub variables: BTreeSet<String>,
}

impl TrackReader<'_> {
    /// Returns Rally's error `Track 'x' is invalid. ...`.
    pub(crate) fn error(&self, reason: impl std::fmt::Display) -> LoadError {
        LoadError::invalid(format!("Track '{}' is invalid. {reason}", self.track_name))
    }

    /// Returns a mandatory string property.
    pub(crate) fn text(
        &self,
        element: &Value,
        name: &str,
        context: Option<&str>,
    ) -> Result<String, LoadError> {
        match element.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(self.error(format!("Element '{name}' must be a string but was [{other}]."))),
            None => Err(self.missing(name, context)),
        }
    }

    pub(crate) fn missing(&self, name: &str, context: Option<&str>) -> LoadError {
        match context {
            Some(context) => self.error(format!("Mandatory element '{name}' is missing in '{context}'.")),
            None => self.error(format!("Mandatory element '{name}' is missing.")),
        }
    }

    /// Reads `indices`, with their rendered bodies and (for old tracks) document types.
    pub(crate) fn indices(&mut self, track: &Value) -> Result<Vec<(Index, Vec<String>)>, LoadError> {
        let mut indices = Vec::new();
        for element in list(track, "indices") {
            let name = self.text(element, "name", None)?;
            let body = match optional_text(element, "body") {
                Some(file) => Some(self.body(&file, &format!("definition for index {name} in {file}"))?),
                None => None,
            };
            let types = list(element, "types").iter().filter_map(Value::as_str).map(str::to_owned).collect();
            indices.push((Index { name, body }, types));
        }
        Ok(indices)
    }

    pub(crate) fn data_streams(&self, track: &Value) -> Result<Vec<String>, LoadError> {
        list(track, "data-streams").iter().map(|element| self.text(element, "name", None)).collect()
    }

    /// Reads `templates` or `composable-templates`.
    pub(crate) fn index_templates(
        &mut self,
        track: &Value,
        section: &str,
    ) -> Result<Vec<Template>, LoadError> {
        let mut templates = Vec::new();
        for element in list(track, section) {
            templates.push(Template {
                name: self.text(element, "name", None)?,
                index_pattern: self.text(element, "index-pattern", None)?,
                delete_matching_indices: element
                    .get("delete-matching-indices")
                    .and_then(Value::as_bool)
                    .unwrap_or(true),
                body: self.template_body(element, "index template")?,
            });
        }
        Ok(templates)
    }

    /// Reads `component-templates`, which match no index by themselves.
    pub(crate) fn component_templates(&mut self, track: &Value) -> Result<Vec<Template>, LoadError> {
        let mut templates = Vec::new();
        for element in list(track, "component-templates") {
            templates.push(Template {
                name: self.text(element, "name", None)?,
                index_pattern: String::new(),
                delete_matching_indices: false,
                body: self.template_body(element, "component template")?,
            });
        }
        Ok(templates)
    }

    /// Renders the file that `template` names, and selects `template-path` (`a.b.c`) in it if that is given.
    fn template_body(&mut self, element: &Value, kind: &str) -> Result<Value, LoadError> {
        let name = self.text(element, "name", None)?;
        let file = self.text(element, "template", None)?;
        let mut body = self.body(&file, &format!("definition for {kind} {name} in {file}"))?;
        if let Some(path) = optional_text(element, "template-path") {
            for field in path.split('.') {
                body = match body.get_mut(field) {
                    Some(inner) => inner.take(),
                    None => {
                        return Err(self.error(format!(
                            "[{file}] has no field [{path}] ('template-path' of {kind} [{name}])."
                        )));
                    }
                };
            }
        }
        Ok(body)
    }

    fn body(&mut self, file: &str, description: &str) -> Result<Value, LoadError> {
        let failed = |reason: String| {
            LoadError::invalid(format!("Could not load file template for '{description}': {reason}"))
        };
        let rendered = self.templates.render_body(file).map_err(|error| failed(error.to_string()))?;
        self.variables.extend(rendered.variables);
        serde_json::from_str(&rendered.text).map_err(|error| failed(error.to_string()))
    }

    /// Reads `corpora`: every document set with the values that it inherits from its corpus and, if there is
    /// only one index, from that index.
    pub(crate) fn corpora(
        &self,
        track: &Value,
        indices: &[(Index, Vec<String>)],
        data_streams: &[String],
    ) -> Result<Vec<Corpus>, LoadError> {
        let mut corpora: Vec<Corpus> = Vec::new();
        for element in list(track, "corpora") {
            let name = self.text(element, "name", None)?;
            if corpora.iter().any(|corpus| corpus.name == name) {
                return Err(self.error(format!("Duplicate document corpus name [{name}].")));
            }
            let inherited = Inherited::of(element, indices, data_streams);
            let mut documents = Vec::new();
            for set in list(element, "documents") {
                documents.push(self.document_set(set, &name, &inherited, indices, data_streams)?);
            }
            corpora.push(Corpus { name, documents, meta: object(element, "meta") });
        }
        Ok(corpora)
    }

    fn document_set(
        &self,
        set: &Value,
        corpus: &str,
        inherited: &Inherited,
        indices: &[(Index, Vec<String>)],
        data_streams: &[String],
    ) -> Result<DocumentSet, LoadError> {
        let format = optional_text(set, "source-format").unwrap_or_else(|| inherited.source_format.clone());
        if format != "bulk" {
            return Err(
                self.error(format!("Unknown source-format [{format}] in document corpus [{corpus}]."))
            );
        }
        let source_file = self.text(set, "source-file", None)?;
        let (file, archive) =
            match archives::EXTENSIONS.iter().find_map(|extension| source_file.strip_suffix(extension)) {
                Some(stem) => (stem.to_owned(), Some(source_file.clone())),
                None => (source_file.clone(), None),
            };
        let number_of_documents = set
            .get("document-count")
            .and_then(Value::as_u64)
            .ok_or_else(|| self.missing("document-count", None))?;
        let includes_action_and_meta_data = set
            .get("includes-action-and-meta-data")
            .and_then(Value::as_bool)
            .unwrap_or(inherited.includes_action_and_meta_data);

        let targets = match includes_action_and_meta_data {
            true => Targets::default(),
            false => self.targets(set, &source_file, inherited, (indices, data_streams))?,
        };
        Ok(DocumentSet {
            source: DocumentSource::File(PathBuf::from(&file)),
            file,
            archive,
            sha256: optional_text(set, "sha256"),
            base_url: optional_text(set, "base-url").or_else(|| inherited.base_url.clone()),
            includes_action_and_meta_data,
            number_of_documents,
            compressed_size_bytes: set.get("compressed-bytes").and_then(Value::as_u64),
            uncompressed_size_bytes: set.get("uncompressed-bytes").and_then(Value::as_u64),
            target_index: targets.index,
            target_data_stream: targets.data_stream,
            target_type: targets.kind,
            meta: object(set, "meta"),
        })
    }

    /// Determines where documents without action lines go.
    fn targets(
        &self,
        set: &Value,
        source_file: &str,
        inherited: &Inherited,
        (indices, data_streams): (&[(Index, Vec<String>)], &[String]),
    ) -> Result<Targets, LoadError> {
        let invalid = |reason: String| Err(LoadError::invalid(reason));
        let given =
            |name: &str, inherited: &Option<String>| optional_text(set, name).or_else(|| inherited.clone());
        let targets = Targets {
            index: given("target-index", &inherited.target_index),
            data_stream: given("target-data-stream", &inherited.target_data_stream),
            kind: given("target-type", &inherited.target_type),
        };
        if targets.data_stream.is_none() && !data_streams.is_empty() {
            return Err(self.missing("target-data-stream", Some(source_file)));
        }
        if targets.data_stream.is_some() && !indices.is_empty() {
            return invalid("target-data-stream cannot be used when using indices".to_owned());
        }
        if targets.data_stream.is_some() && targets.kind.is_some() {
            return invalid("target-type cannot be used when using data-streams".to_owned());
        }
        if targets.index.is_none() && !indices.is_empty() {
            return Err(self.missing("target-index", Some(source_file)));
        }
        if targets.index.is_some() && !data_streams.is_empty() {
            return invalid("target-index cannot be used when using data-streams".to_owned());
        }
        if targets.index.is_none() && targets.data_stream.is_none() {
            let wanted = if indices.is_empty() { "target-data-stream" } else { "target-index" };
            return invalid(format!("a {wanted} is required for {source_file}"));
        }
        Ok(targets)
    }
}

/// The target of a set's documents.
#[derive(Default)]
struct Targets {
    index: Option<String>,
    data_stream: Option<String>,
    /// Mapping type.
    kind: Option<String>,
}

/// The values that a corpus passes to its document sets unless they have their own.
struct Inherited {
    base_url: Option<String>,
    source_format: String,
    includes_action_and_meta_data: bool,
    target_index: Option<String>,
    target_data_stream: Option<String>,
    target_type: Option<String>,
}

impl Inherited {
    fn of(corpus: &Value, indices: &[(Index, Vec<String>)], data_streams: &[String]) -> Inherited {
        let only_index = match indices {
            [only] => Some(only),
            _ => None,
        };
        let only_type = only_index.and_then(|(_, types)| match types.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        });
        let only_data_stream = match data_streams {
            [only] => Some(only.clone()),
            _ => None,
        };
        // A target of the corpus counts only if the track has targets of that kind, as in Rally.
        let has_indices = !indices.is_empty();
        let corpus_text = |name: &str, counts: bool| optional_text(corpus, name).filter(|_| counts);
        Inherited {
            base_url: optional_text(corpus, "base-url"),
            source_format: optional_text(corpus, "source-format").unwrap_or_else(|| "bulk".to_owned()),
            includes_action_and_meta_data: corpus
                .get("includes-action-and-meta-data")
                .and_then(Value::as_bool)
                .unwrap_or(false),
            target_index: corpus_text("target-index", has_indices)
                .or_else(|| only_index.map(|(index, _)| index.name.clone())),
            target_data_stream: corpus_text("target-data-stream", !data_streams.is_empty())
                .or(only_data_stream),
            target_type: corpus_text("target-type", has_indices).or(only_type),
        }
    }
}

/// Returns the elements of an optional array property.
pub(crate) fn list<'a>(element: &'a Value, name: &str) -> &'a [Value] {
    element.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn optional_text(element: &Value, name: &str) -> Option<String> {
    element.get(name).and_then(Value::as_str).map(str::to_owned)
}

pub(crate) fn object(element: &Value, name: &str) -> Params {
    element.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
}
