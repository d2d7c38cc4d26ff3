//! Loads a track, ready to race.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::adjustments::Adjustments;
use super::reader::{TrackReader, object, optional_text};
use super::repository::Repository;
use super::template::TemplateContext;
use super::{LoadError, documents, params, schema, selection};
use crate::model::{DocumentSource, Params, Track};
use crate::track::builtin;
use crate::track::plugin::{self, PLUGIN_FILE, Plugin, PythonSettings};
use crate::track::track_files::files::TrackFiles;

/// The only version of the track format that Rally accepts.
const TRACK_VERSION: i64 = 2;

/// The location of the track.
#[derive(Debug, Clone)]
pub enum TrackSource {
    /// A folder that contains `track.json`, or such a file.
    Path(PathBuf),
    /// A track of a repository, in the version that matches the server.
    Repository { repository: Repository, track: String },
    /// A track that comes with the binary.
    BuiltIn {
        name: String,
        /// The user's own documents instead of the generated ones (`--corpus`).
        corpus: Option<PathBuf>,
    },
}

/// Which track to load, and how.
#[derive(Debug, Clone)]
pub struct TrackSpec {
    pub source: TrackSource,
    /// The user's `--track-params`.
    pub params: Params,
    /// Whether to accept parameters that the track does not have (`--ignore-unused-track-params`).
    pub ignore_unused_params: bool,
    pub test_mode: bool,
    /// The server's version, which determines the repository's branch; `None` for the newest tracks.
    pub distribution_version: Option<String>,
    /// `None` for the track's default challenge.
    pub challenge: Option<String>,
    pub include_tasks: Vec<String>,
    pub exclude_tasks: Vec<String>,
    /// Changes to the track as its author wrote it.
    pub adjustments: Adjustments,
    /// Corpora that are not beside the track are searched for in `<data_root>/<corpus name>/`, and unpacked
    /// there.
    pub data_root: Option<PathBuf>,
    /// Whether nothing may be downloaded.
    pub is_offline: bool,
    /// `default` or `serverless`; templates depend on it.
    pub build_flavor: String,
    pub serverless_operator: bool,
    /// Seconds since the epoch, which is the templates' `now`.
    pub now_s: f64,
    /// How to run the track's plugin.
    pub python: PythonSettings,
}

impl TrackSpec {
    /// Returns a specification that loads everything of the track as its author wrote it.
    pub fn new(source: TrackSource, now_s: f64) -> TrackSpec {
        TrackSpec {
            source,
            params: Params::new(),
            ignore_unused_params: false,
            test_mode: false,
            distribution_version: None,
            challenge: None,
            include_tasks: Vec::new(),
            exclude_tasks: Vec::new(),
            adjustments: Adjustments::default(),
            data_root: None,
            is_offline: false,
            build_flavor: "default".to_owned(),
            serverless_operator: false,
            now_s,
            python: PythonSettings::default(),
        }
    }
}

/// A track, and its `track.py` if the race needs it.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The track, rendered, validated and filtered.
    pub track: Track,
    /// The loaded `track.py`; its track processors have already been applied to the track.
    pub plugin: Option<Arc<Plugin>>,
}

/// Loads a track for a race: rendered, validated, filtered, with the documents that the selected challenge
/// needs present and checked.
///
/// Progress of slow steps (decompression, line counts) goes to `log` as lines.
///
/// # Errors
/// See [`LoadError`]: an invalid track, parameters that it does not have, documents that are missing or
/// wrong, or an operation of the selected challenge that is not supported.
pub(crate) fn load(spec: &TrackSpec, log: &mut dyn Write) -> Result<Loaded, LoadError> {
    let (Loaded { mut track, plugin }, used) = check(spec)?;
    let folder = track.root.clone();
    for (corpus_index, set_index) in used {
        let corpus_name = track.corpora[corpus_index].name.clone();
        let set = &mut track.corpora[corpus_index].documents[set_index];
        match &spec.source {
            TrackSource::BuiltIn { name, corpus } => {
                let documents = builtin::documents(name, &corpus_name, corpus.as_deref(), spec.test_mode)?;
                if let (Some(path), 1..) = (corpus, documents.skipped) {
                    let _ = writeln!(
                        log,
                        "[WARNING] {} lines of [{}] are in no known log format and are left out.",
                        documents.skipped,
                        path.display()
                    );
                }
                set.number_of_documents = documents.count;
                set.uncompressed_size_bytes = Some(documents.bytes.len() as u64);
                set.source = DocumentSource::Memory(documents.bytes);
            }
            TrackSource::Path(_) | TrackSource::Repository { .. } => {
                let data = spec.data_root.as_ref().map(|root| root.join(&corpus_name));
                let places = documents::DocumentSources {
                    track_folder: folder.as_deref().unwrap_or(Path::new(".")),
                    corpus_folder: data.as_deref(),
                    is_offline: spec.is_offline,
                };
                let path = documents::prepare(&track.name, set, &places, log)?;
                set.source = DocumentSource::File(path);
            }
        }
    }
    if let Some(plugin) = &plugin {
        let data_root = spec.data_root.as_deref().or(folder.as_deref()).unwrap_or(Path::new("."));
        let challenge = selection::challenge(&track, spec.challenge.as_deref())?;
        plugin.prepare_track(&track, &challenge.name, data_root)?;
    }
    Ok(Loaded { track, plugin })
}

/// Loads the track's `track.py` and runs its track processors, if racing the challenge needs them.
fn load_plugin(
    spec: &TrackSpec,
    place: &ResolvedTrack,
    track: &mut Track,
    challenge: &str,
) -> Result<Option<Arc<Plugin>>, LoadError> {
    let Some(folder) = place.folder.as_deref().filter(|_| place.files.has(PLUGIN_FILE)) else {
        return Ok(None);
    };
    let text = place.files.read(PLUGIN_FILE)?;
    if !plugin::needs_python(&text, selection::challenge(track, Some(challenge))?) {
        return Ok(None);
    }
    let plugin = Arc::new(Plugin::load(folder, &spec.python)?);
    plugin.process_track(track, challenge)?;
    Ok(Some(plugin))
}

/// Document sets of a track as indices of corpus and set.
pub(crate) type DocumentSets = Vec<(usize, usize)>;

/// Reads a track and checks everything that its selected challenge needs, except for its documents. Also
/// returns the document sets that it reads.
///
/// # Errors
/// Those of [`load`], except for documents.
pub(crate) fn check(spec: &TrackSpec) -> Result<(Loaded, DocumentSets), LoadError> {
    if spec.build_flavor == "serverless" {
        // Rally leaves out tasks that serverless does not allow; racing all of them would measure something
        // else.
        return Err(LoadError::NotSupported(
            "racing against build flavor [serverless] is not supported yet".to_owned(),
        ));
    }
    let place = ResolvedTrack::of(spec)?;
    let mut track = read_at(spec, &place)?;
    let name = selection::challenge(&track, spec.challenge.as_deref())?.name.clone();
    let plugin = load_plugin(spec, &place, &mut track, &name)?;
    let challenge = selection::challenge(&track, Some(&name))?;
    selection::check_supported(challenge, &place.files, plugin.as_deref())?;
    let used = selection::used_document_sets(&track, challenge, plugin.as_deref())?;
    Ok((Loaded { track, plugin }, used))
}

/// Returns the track's name and the JSON that its templates give, unchecked.
///
/// # Errors
/// Those of [`read`] for templates and JSON.
pub(crate) fn render(spec: &TrackSpec) -> Result<(String, Value), LoadError> {
    let place = ResolvedTrack::of(spec)?;
    let (json, _) = rendered(&templates(spec, &place), &place)?;
    Ok((place.track_name, json))
}

/// Returns the track's JSON, and the variables that its templates read.
fn rendered(
    templates: &TemplateContext,
    place: &ResolvedTrack,
) -> Result<(Value, BTreeSet<String>), LoadError> {
    let rendered = templates.render_track(&place.file)?;
    Ok((parse(&place.file, &rendered.text)?, rendered.variables))
}

fn templates(spec: &TrackSpec, place: &ResolvedTrack) -> TemplateContext {
    TemplateContext {
        files: place.files.clone(),
        params: spec.params.clone(),
        build_flavor: spec.build_flavor.clone(),
        serverless_operator: spec.serverless_operator,
        now_s: spec.now_s,
    }
}

/// Reads a track without its documents, which is enough to list and describe it.
///
/// # Errors
/// Those of [`load`], except for documents and unsupported operations.
pub(crate) fn read(spec: &TrackSpec) -> Result<Track, LoadError> {
    read_at(spec, &ResolvedTrack::of(spec)?)
}

fn read_at(spec: &TrackSpec, place: &ResolvedTrack) -> Result<Track, LoadError> {
    let templates = templates(spec, place);
    let (json, variables) = rendered(&templates, place)?;
    check_version(&place.track_name, &json)?;
    schema::check(&place.track_name, &json)?;

    let mut reader = TrackReader { track_name: &place.track_name, templates: &templates, variables };
    let indices = reader.indices(&json)?;
    let data_streams = reader.data_streams(&json)?;
    if !indices.is_empty() && !data_streams.is_empty() {
        return Err(LoadError::invalid("indices and data-streams cannot both be specified".to_owned()));
    }
    let track_templates = reader.index_templates(&json, "templates")?;
    let composable_templates = reader.index_templates(&json, "composable-templates")?;
    let component_templates = reader.component_templates(&json)?;
    let corpora = reader.corpora(&json, &indices, &data_streams)?;
    let challenges = reader.challenges(&json)?;
    if !spec.ignore_unused_params {
        params::check_used(&spec.params, &reader.variables)?;
    }
    let mut track = Track {
        name: place.track_name.clone(),
        description: optional_text(&json, "description").unwrap_or_default(),
        root: place.folder.clone(),
        revision: place.revision.clone(),
        indices: indices.into_iter().map(|(index, _)| index).collect(),
        data_streams,
        templates: track_templates,
        composable_templates,
        component_templates,
        corpora,
        challenges,
        meta: object(&json, "meta"),
        params: spec.params.clone(),
    };
    selection::filter_tasks(&mut track, &spec.include_tasks, &spec.exclude_tasks)?;
    if spec.test_mode {
        selection::apply_test_mode(&mut track);
    }
    spec.adjustments.apply(&mut track)?;
    Ok(track)
}

/// A track's source, resolved to files.
struct ResolvedTrack {
    track_name: String,
    files: TrackFiles,
    /// Name of the main file in `files`.
    file: String,
    folder: Option<PathBuf>,
    /// Commit of the repository, if there is one.
    revision: Option<String>,
}

impl ResolvedTrack {
    fn of(spec: &TrackSpec) -> Result<ResolvedTrack, LoadError> {
        match &spec.source {
            TrackSource::BuiltIn { name, .. } => Ok(ResolvedTrack {
                files: builtin::files(name)?,
                track_name: name.clone(),
                file: "track.json".to_owned(),
                folder: None,
                revision: None,
            }),
            TrackSource::Path(path) => ResolvedTrack::on_disk(path),
            TrackSource::Repository { repository, track } => {
                let checkout = repository.checkout(spec.distribution_version.as_deref())?;
                if !checkout.folder.join(track).join("track.json").is_file() {
                    return Err(LoadError::NotFound(format!(
                        "Cannot load track [{track}] of [{}]; it has: {}.",
                        repository.path.display(),
                        checkout.track_names()?.join(", ")
                    )));
                }
                let place = ResolvedTrack::on_disk(&checkout.folder.join(track))?;
                Ok(ResolvedTrack { track_name: track.clone(), revision: checkout.revision, ..place })
            }
        }
    }

    fn on_disk(path: &Path) -> Result<ResolvedTrack, LoadError> {
        let not_a_track = |reason: String| Err(LoadError::NotFound(reason));
        if !path.exists() {
            return not_a_track(format!("Track path {} does not exist", path.display()));
        }
        let full = path.canonicalize().map_err(LoadError::at(path))?;
        let name_of = |path: Option<&std::ffi::OsStr>| {
            path.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        if full.is_dir() {
            if !full.join("track.json").is_file() {
                return not_a_track(format!("Could not find track.json in {}", path.display()));
            }
            return Ok(ResolvedTrack {
                track_name: name_of(full.file_name()),
                files: TrackFiles::Folder(full.clone()),
                file: "track.json".to_owned(),
                folder: Some(full),
                revision: None,
            });
        }
        if full.extension().is_none_or(|extension| extension != "json") {
            return not_a_track(format!("{} has to be a JSON file", path.display()));
        }
        let folder = full.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(ResolvedTrack {
            track_name: name_of(full.file_stem()),
            files: TrackFiles::Folder(folder.clone()),
            file: name_of(full.file_name()),
            folder: Some(folder),
            revision: None,
        })
    }
}

/// Parses the rendered track. The error shows the lines around the mistake, since the user never sees the
/// rendered text otherwise.
fn parse(file: &str, text: &str) -> Result<Value, LoadError> {
    serde_json::from_str(text).map_err(|error| {
        const CONTEXT_LINES: usize = 3;
        let lines: Vec<&str> = text.lines().collect();
        let line = error.line().saturating_sub(1).min(lines.len().saturating_sub(1));
        let mut shown = String::new();
        for (position, content) in
            lines.iter().enumerate().skip(line.saturating_sub(CONTEXT_LINES)).take(2 * CONTEXT_LINES)
        {
            shown.push_str(content);
            shown.push('\n');
            if position == line {
                shown.push_str(&"-".repeat(error.column().saturating_sub(1)));
                shown.push_str("^ Error is here\n");
            }
        }
        LoadError::invalid(format!(
            "Could not load '{file}': {error}. Lines containing the error:\n\n{shown}"
        ))
    })
}

fn check_version(track: &str, json: &Value) -> Result<(), LoadError> {
    let version = match json.get("version") {
        None => return Ok(()),
        Some(Value::String(text)) => text.parse::<i64>().ok(),
        Some(other) => other.as_i64().or_else(|| other.as_f64().map(|number| number as i64)),
    };
    match version {
        Some(TRACK_VERSION) => Ok(()),
        Some(version) if version < TRACK_VERSION => Err(LoadError::invalid(format!(
            "Track {track} is on version {version} but needs to be updated at least to version {TRACK_VERSION} to work with the \
             current version of Rally."
        ))),
        Some(version) => Err(LoadError::invalid(format!(
            "Track {track} requires a newer version of Rally. Please upgrade Rally (supported track version: {TRACK_VERSION}, \
             required track version: {version})."
        ))),
        None => Err(LoadError::invalid(format!(
            "version identifier for track {track} must be numeric but was [{}]",
            json["version"]
        ))),
    }
}
