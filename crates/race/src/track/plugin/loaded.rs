//! A loaded `track.py`: what it registers, its effects on the track, and its processes during the race.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde_json::{Value, json};

use super::process::Process;
use super::scripts::Scripts;
use super::{PluginError, PythonSettings, track_json};
use crate::model::{DocumentSource, Track};
use crate::protocol::Protocol;

/// A track's plugin, loaded in at least one process.
#[derive(Debug)]
pub(crate) struct Plugin {
    folder: PathBuf,
    settings: PythonSettings,
    scripts: Arc<Scripts>,
    param_sources: BTreeSet<String>,
    runners: BTreeSet<String>,
    schedulers: BTreeSet<String>,
    track_processors: u64,
    /// The origin of the plugin's `esrally` modules: `shim` or `installed`.
    esrally: String,
    /// Processes that are not in use at the moment.
    idle: Mutex<Vec<Running>>,
    image: OnceLock<Image>,
}

/// The track as it is sent to processes.
#[derive(Debug)]
struct Image {
    bytes: Vec<u8>,
    /// Whether it is pickled Python objects, made by the track processors, instead of JSON.
    is_pickled: bool,
    challenge: String,
}

#[derive(Debug)]
struct Running {
    process: Arc<Process>,
    /// Whether it has received the track.
    is_ready: bool,
}

impl Plugin {
    /// Imports the `track.py` of `folder`.
    ///
    /// # Errors
    /// [`PluginError`]: no Python, a missing module, an exception.
    pub(crate) fn load(folder: &Path, settings: &PythonSettings) -> Result<Plugin, PluginError> {
        let scripts = Scripts::write().map_err(|error| {
            PluginError::Python(format!(
                "cannot write Limber's Python files to the temporary folder: {error}"
            ))
        })?;
        let mut plugin = Plugin {
            folder: folder.to_owned(),
            settings: settings.clone(),
            scripts: Arc::new(scripts),
            param_sources: BTreeSet::new(),
            runners: BTreeSet::new(),
            schedulers: BTreeSet::new(),
            track_processors: 0,
            esrally: String::new(),
            idle: Mutex::default(),
            image: OnceLock::new(),
        };
        let (process, registered) = plugin.start()?;
        let names = |name: &str| {
            let names = registered[name].as_array().into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect::<BTreeSet<_>>()
        };
        plugin.param_sources = names("param_sources");
        plugin.runners = names("runners");
        plugin.schedulers = names("schedulers");
        plugin.track_processors = registered["track_processors"].as_u64().unwrap_or(0);
        plugin.esrally = registered["esrally"].as_str().unwrap_or_default().to_owned();
        plugin.put_back(Running { process, is_ready: false });
        Ok(plugin)
    }

    /// Returns what the plugin registers: (title, names).
    pub(crate) fn registered(&self) -> [(&'static str, Vec<String>); 5] {
        let names = |names: &BTreeSet<String>| names.iter().cloned().collect();
        let esrally = match self.esrally.as_str() {
            "installed" => "installed package",
            _ => "Limber's own part",
        };
        [
            ("Parameter sources", names(&self.param_sources)),
            ("Runners", names(&self.runners)),
            ("Schedulers", names(&self.schedulers)),
            ("Track processors", vec![self.track_processors.to_string()]),
            ("Modules of esrally", vec![esrally.to_owned()]),
        ]
    }

    pub(crate) fn has_param_source(&self, name: &str) -> bool {
        self.param_sources.contains(name)
    }

    pub(crate) fn has_runner(&self, operation_type: &str) -> bool {
        self.runners.contains(operation_type)
    }

    pub(crate) fn has_scheduler(&self, name: &str) -> bool {
        self.schedulers.contains(name)
    }

    /// Lets the track processors change `track`. `challenge` is the one that is raced.
    pub(crate) fn process_track(&self, track: &mut Track, challenge: &str) -> Result<(), PluginError> {
        let image = Image {
            bytes: track_json::to_json(track).to_string().into_bytes(),
            is_pickled: false,
            challenge: challenge.to_owned(),
        };
        let mut running = self.take()?;
        self.give_track(&running.process, &image, None)?;
        if self.track_processors > 0 {
            let answer = self.ask(&running.process, json!({"request": "process_track"}))?;
            let changed: Value = serde_json::from_slice(&answer.payload).map_err(|error| {
                PluginError::Ended(format!(
                    "the track after the plugin's track processors cannot be read: {error}"
                ))
            })?;
            track_json::take_changes(track, &changed)?;
        }
        running.is_ready = false;
        self.put_back(running);
        Ok(())
    }

    /// Returns (corpus, document file) for each file that the plugin's parameter sources read.
    pub(crate) fn used_documents(&self) -> Result<Vec<(String, String)>, PluginError> {
        let running = self.take()?;
        let answer = self.ask(&running.process, json!({"request": "used_corpora"}))?;
        self.put_back(running);
        let mut used = Vec::new();
        for corpus in answer.header["corpora"].as_array().into_iter().flatten() {
            let name = corpus["name"].as_str().unwrap_or_default();
            for file in corpus["files"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                used.push((name.to_owned(), file.to_owned()));
            }
        }
        Ok(used)
    }

    /// Sends the paths of the documents, runs the track processors' preparation, and keeps the resulting
    /// track for the processes that race. This has no time limit, because the plugin may generate its
    /// documents here.
    pub(crate) fn prepare_track(
        &self,
        track: &Track,
        challenge: &str,
        data_root: &Path,
    ) -> Result<(), PluginError> {
        let mut running = self.take()?;
        let mut files = Vec::new();
        for corpus in &track.corpora {
            for set in &corpus.documents {
                if let DocumentSource::File(path) = &set.source
                    && path.is_absolute()
                {
                    files.push(json!([corpus.name, set.file, path]));
                }
            }
        }
        let limit = Some(self.settings.time_limit);
        let files = Value::Array(files).to_string();
        running.process.ask(json!({"request": "files"}), files.as_bytes(), limit)?;
        let request = json!({"request": "prepare_track", "data_root": data_root});
        let answer = running.process.ask(request, b"", None)?;
        // A process that loads the plugin again has the same classes, so it can receive the pickled track as
        // it is.
        let image = Image { bytes: answer.payload, is_pickled: true, challenge: challenge.to_owned() };
        let _ = self.image.set(image);
        running.is_ready = false;
        self.put_back(running);
        Ok(())
    }

    /// Returns the process of this thread. It stays the same until all holders of its lease are gone.
    pub(crate) fn lease(self: &Arc<Self>, protocol: &Protocol) -> Result<Arc<Lease>, PluginError> {
        thread_local! {
            static LEASED: RefCell<Weak<Lease>> = const { RefCell::new(Weak::new()) };
        }
        let held = LEASED.with_borrow(Weak::upgrade);
        if let Some(lease) = held.filter(|lease| Arc::ptr_eq(&lease.plugin, self)) {
            return Ok(lease);
        }
        let mut running = self.take()?;
        if !running.is_ready {
            let image =
                self.image.get().ok_or_else(|| PluginError::Ended("the track is not prepared".into()))?;
            self.give_track(&running.process, image, Some(protocol))?;
            running.is_ready = true;
        }
        let lease = Arc::new(Lease { plugin: Arc::clone(self), process: running.process });
        LEASED.set(Arc::downgrade(&lease));
        Ok(lease)
    }

    fn start(&self) -> Result<(Arc<Process>, Value), PluginError> {
        let process = Arc::new(Process::start(&self.settings, Arc::clone(&self.scripts))?);
        let limit_s = self.settings.time_limit.as_secs_f64();
        let request = json!({"request": "load", "folder": self.folder, "limit_s": limit_s});
        let answer = self.ask(&process, request)?;
        Ok((process, answer.header))
    }

    fn ask(&self, process: &Process, request: Value) -> Result<super::process::Answer, PluginError> {
        process.ask(request, b"", Some(self.settings.time_limit))
    }

    fn give_track(
        &self,
        process: &Process,
        image: &Image,
        protocol: Option<&Protocol>,
    ) -> Result<(), PluginError> {
        let mut request =
            json!({"request": "track", "pickled": image.is_pickled, "challenge": image.challenge});
        if let Some(protocol) = protocol {
            request["protocol"] =
                json!({"content_json": protocol.content_json, "content_ndjson": protocol.content_ndjson});
        }
        process.ask(request, &image.bytes, Some(self.settings.time_limit)).map(drop)
    }

    fn take(&self) -> Result<Running, PluginError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(running) => Ok(running),
            None => Ok(Running { process: self.start()?.0, is_ready: false }),
        }
    }

    fn put_back(&self, running: Running) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(running);
    }
}

/// A process used by one thread. Dropping the lease returns the process to the plugin.
pub(crate) struct Lease {
    plugin: Arc<Plugin>,
    pub process: Arc<Process>,
}

impl Lease {
    /// Returns an id for one client's part in one task, which no process has used.
    pub(crate) fn new_id() -> u64 {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        COUNT.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.plugin.put_back(Running { process: Arc::clone(&self.process), is_ready: true });
    }
}
