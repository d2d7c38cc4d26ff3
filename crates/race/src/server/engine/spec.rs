//! Which server to start, and how.

use std::path::PathBuf;

use super::folder;
use super::running::{RunningServer, ServerProvider};
use crate::arguments;
use crate::error::Error;
use crate::model::{Params, bare_text};

/// Which server to start, and how.
#[derive(Debug, Clone, Default)]
pub struct EngineSpec {
    /// Which server.
    pub engine: Engine,
    /// Server settings, such as `indices.memory.index_buffer_size`, with their values as strings.
    pub settings: Vec<(String, String)>,
    /// `memory.limit` of the built-in server.
    pub memory_limit: Option<String>,
    /// Heap of a JVM, such as `512m`: both the initial and the maximum size.
    pub heap: Option<String>,
    /// Further options of a JVM.
    pub jvm_options: Vec<String>,
    /// Whether the server outlives this process. It then leaves the terminal's process group.
    pub is_kept: bool,
}

/// A server that this tool can start (`--engine`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Engine {
    /// The server that comes with this program.
    #[default]
    Limber,
    /// Home folder of an Elasticsearch or OpenSearch.
    Folder(PathBuf),
}

impl Engine {
    /// Reads `limber`, or the folder of a distribution.
    pub fn named(text: &str) -> Engine {
        match text {
            "limber" => Engine::Limber,
            folder => Engine::Folder(PathBuf::from(folder)),
        }
    }
}

/// Reads `--engine-setting`, which has the syntax of `--track-params`. Returns names and values for
/// [`EngineSpec::settings`].
///
/// # Errors
/// Those of [`arguments::parse`].
pub(crate) fn settings_of(text: &str) -> Result<Vec<(String, String)>, Error> {
    Ok(arguments::parse(text)?.into_iter().map(|(name, value)| (name, bare_text(&value))).collect())
}

impl EngineSpec {
    /// Starts the server and waits until it answers.
    ///
    /// Errors: `Argument` for options that this kind of server does not have, `ServerStart` when it does not
    /// start.
    pub fn start(&self, provider: &dyn ServerProvider) -> Result<RunningServer, Error> {
        match &self.engine {
            Engine::Limber if self.heap.is_some() || !self.jvm_options.is_empty() => Err(Error::Argument(
                "the built-in server has no JVM: use --memory-limit instead of --heap, and no --jvm-option"
                    .into(),
            )),
            Engine::Limber => provider.start_with(self),
            Engine::Folder(_) if self.memory_limit.is_some() => {
                Err(Error::Argument("--memory-limit is for the built-in server; use --heap for a JVM".into()))
            }
            Engine::Folder(home) => folder::start(home, self),
        }
    }

    /// Returns what races record about it, as Rally records its cars' parameters; `None` if everything is
    /// default.
    pub fn params(&self) -> Option<Params> {
        let mut params = Params::new();
        let sized = [("memory_limit", &self.memory_limit), ("heap_size", &self.heap)];
        for (name, value) in sized {
            if let Some(value) = value {
                params.insert(name.into(), value.as_str().into());
            }
        }
        if !self.jvm_options.is_empty() {
            params.insert("additional_java_settings".into(), self.jvm_options.clone().into());
        }
        for (name, value) in &self.settings {
            params.insert(name.clone(), value.as_str().into());
        }
        (!params.is_empty()).then_some(params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoServer;

    impl ServerProvider for NoServer {
        fn start_with(&self, spec: &EngineSpec) -> Result<RunningServer, Error> {
            Err(Error::ServerStart(format!("asked for {:?}", spec.settings)))
        }
    }

    #[test]
    fn options_of_the_other_kind_are_refused() {
        #[track_caller]
        fn check(spec: EngineSpec, expected: &str) {
            let error = spec.start(&NoServer).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let heap = Some("1g".to_owned());
        check(EngineSpec { heap: heap.clone(), ..EngineSpec::default() }, "has no JVM");
        let of_folder = EngineSpec { engine: Engine::Folder("x".into()), ..EngineSpec::default() };
        check(EngineSpec { memory_limit: heap, ..of_folder }, "use --heap for a JVM");
        let settings = vec![("a".to_owned(), "b".to_owned())];
        check(EngineSpec { settings, ..EngineSpec::default() }, "asked for [(\"a\", \"b\")]");
    }

    #[test]
    fn races_keep_what_was_asked_for() {
        assert_eq!(EngineSpec::default().params(), None);
        let spec = EngineSpec {
            settings: vec![("index_buffer".into(), "10%".into())],
            heap: Some("1g".into()),
            jvm_options: vec!["-XX:+UseParallelGC".into()],
            ..EngineSpec::default()
        };
        let expected = serde_json::json!({
            "heap_size": "1g", "additional_java_settings": ["-XX:+UseParallelGC"], "index_buffer": "10%"
        });
        assert_eq!(serde_json::Value::Object(spec.params().unwrap()), expected);
    }
}
