//! Stores, shows, verifies, cleans up and deletes repositories.
//!
//! Source: Elasticsearch's `RepositoriesService`, `TransportCleanupRepositoryAction`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use limber_mapping::{ErrorClass, RequestError};
use limber_store::Ledger;
use limber_store::repository::Blobs;
use limber_store::sync::Mutex;
use serde_json::{Map, Value, json};

use crate::api::Result;
use crate::node::Node;
use crate::node::kept_state::state::NodeState;
use crate::settings::ClusterSettings;
use crate::snapshot::definition::{Definition, Locations};
use crate::snapshot::errors::{concurrent_modification, repository_error, repository_missing};
use crate::snapshot::names::{Chosen, check_repository_name};
use crate::snapshot::repository::Repository;
use crate::snapshot::running::{Registered, Snapshots};

/// Maximum number of repositories of a node. All definitions are in one file.
const REPOSITORIES_MAX: usize = 1_000;

/// Opens the repositories that the node's state defines; takes their allowed locations out of the settings. A
/// repository that cannot be opened (its folder is no longer in `path.repo`) is shown, and its use fails with
/// the reason.
pub(in crate::node) fn restored(
    state: &NodeState,
    settings: &mut Map<String, Value>,
    ledger: &Ledger,
) -> Result<Snapshots> {
    let mut locations = Locations::take(settings, Vec::new())?;
    let roots = ClusterSettings::new(settings.clone(), Map::new())?.list("path.repo");
    for root in roots.iter().filter(|root| !root.is_empty() && *root != "[]") {
        // A relative folder is resolved now, because the working directory may change later.
        let root = std::path::absolute(PathBuf::from(root)).map_err(|error| {
            RequestError::illegal_argument(format!("[path.repo] holds [{root}], which is no folder: {error}"))
        })?;
        locations.roots.push(root);
    }
    let mut repositories = BTreeMap::new();
    for (name, body) in state.repositories().as_object().into_iter().flatten() {
        let Some(definition) = Definition::from_json(body) else {
            tracing::error!(repository = name, "the definition of a repository cannot be read");
            continue;
        };
        let opened = definition
            .open(name, &locations)
            .map(|opened| Arc::new(Repository::new(name, opened, ledger.clone())));
        if let Err(error) = &opened {
            tracing::warn!(repository = name, %error, "the repository cannot be used");
        }
        repositories.insert(name.clone(), Registered { definition, opened });
    }
    Ok(Snapshots {
        locations: Mutex::new(Arc::new(locations)),
        repositories: Mutex::new(repositories),
        ..Snapshots::default()
    })
}

impl Node {
    /// Carries out `PUT /_snapshot/{repository}`. With `verify` it is written to and read from before it is
    /// registered.
    pub fn put_repository(&self, name: &str, body: &Value, verify: bool) -> Result<()> {
        check_repository_name(name)?;
        let definition = Definition::parse(name, body)?;
        let failed = |error: RequestError| match error.kind {
            "repository_exception" => repository_error(name, "failed to create repository").caused_by(error),
            _ => error,
        };
        let locations = self.snapshots.locations.lock().clone();
        let opened = definition.open(name, &locations).map_err(failed)?;
        let repository = Arc::new(Repository::new(name, opened, self.ledger.clone()));
        if verify {
            repository.verify(&self.environment)?;
        }
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let mut repositories = self.snapshots.repositories.lock();
        self.check_is_unused(name, repositories.get(name))?;
        if !repositories.contains_key(name) && repositories.len() >= REPOSITORIES_MAX {
            let why = format!("there are [{REPOSITORIES_MAX}] repositories already");
            return Err(RequestError::illegal_argument(why));
        }
        self.change_state(|state| state.put_repository(name, definition.to_json()))?;
        repositories.insert(name.to_owned(), Registered { definition, opened: Ok(repository) });
        Ok(())
    }

    /// Replaces the keys of the S3 accounts in `secure` (`s3.client.<name>.*`), and opens the repositories
    /// again that use S3.
    ///
    /// # Errors
    /// A setting is unknown; nothing is changed then. A repository is in use: it keeps its keys, and the
    /// others are opened again.
    pub fn reload_secure_settings(&self, secure: &Map<String, Value>) -> Result<()> {
        let _changing = self.changing.lock();
        let mut repositories = self.snapshots.repositories.lock();
        let mut in_use = Ok(());
        let locations = {
            let mut locations = self.snapshots.locations.lock();
            *locations = Arc::new(locations.with_secrets(secure)?);
            locations.clone()
        };
        for (name, registered) in repositories.iter_mut().filter(|(_, one)| one.definition.kind == "s3") {
            if let Err(error) = self.check_is_unused(name, Some(&*registered)) {
                in_use = Err(error);
                continue;
            }
            let opened = registered.definition.open(name, &locations);
            if let Err(error) = &opened {
                tracing::warn!(repository = name, %error, "the repository cannot be used");
            }
            registered.opened =
                opened.map(|opened| Arc::new(Repository::new(name, opened, self.ledger.clone())));
        }
        in_use
    }

    /// Registers a repository with this name on the given blobs. For tests.
    pub fn put_repository_on(&self, name: &str, blobs: Arc<dyn Blobs>) -> Result<()> {
        let definition = Definition { kind: "fs".to_owned(), settings: Map::new() };
        let opened = definition.opened(blobs)?;
        let repository = Arc::new(Repository::new(name, opened, self.ledger.clone()));
        let registered = Registered { definition, opened: Ok(repository) };
        self.snapshots.repositories.lock().insert(name.to_owned(), registered);
        Ok(())
    }

    /// Checks that nothing uses a repository. Called with the repositories locked: what begins to use one
    /// says so under the same lock ([`Node::use_repository`]).
    fn check_is_unused(&self, name: &str, registered: Option<&Registered>) -> Result<()> {
        let is_written = || {
            let opened = registered?.opened.as_ref().ok()?;
            opened.writing.try_lock().is_none().then_some("it is being written to")
        };
        match self.snapshots.is_used(name).or_else(is_written) {
            None => Ok(()),
            Some(why) => Err(RequestError::new(
                ErrorClass::Conflict,
                "repository_conflict_exception",
                format!("[{name}] trying to modify or unregister repository that is currently used ({why})"),
            )),
        }
    }

    /// Returns the repository with this name if it is usable.
    pub(super) fn repository(&self, name: &str) -> Result<Arc<Repository>> {
        match self.snapshots.repositories.lock().get(name) {
            None => Err(repository_missing(name)),
            Some(registered) => registered.opened.clone(),
        }
    }

    /// Calls `register`, which says that a repository is in use, unless the repository has been replaced or
    /// unregistered since it was found. From then on it is neither, as long as what was registered is there,
    /// or the caller holds the repository's lock for writing.
    ///
    /// # Errors
    /// Fails with the errors of `register`, and when the repository is no longer the registered one.
    pub(super) fn use_repository<T>(
        &self,
        repository: &Arc<Repository>,
        register: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let repositories = self.snapshots.repositories.lock();
        let registered =
            repositories.get(&*repository.name).ok_or_else(|| repository_missing(&repository.name))?;
        match &registered.opened {
            Ok(opened) if Arc::ptr_eq(opened, repository) => register(),
            _ => Err(concurrent_modification(&repository.name, "it was registered again meanwhile")),
        }
    }

    /// Returns the names of the repositories that match an expression, in order.
    pub(super) fn repository_names(&self, expression: &str) -> Result<Vec<String>> {
        let chosen = Chosen::parse(expression);
        let repositories = self.snapshots.repositories.lock();
        if !chosen.is_all()
            && let Some(missing) = chosen.concrete().find(|name| !repositories.contains_key(*name))
        {
            return Err(repository_missing(missing));
        }
        Ok(repositories.keys().filter(|name| chosen.takes(name)).cloned().collect())
    }

    /// Returns the body of `GET /_snapshot/{repositories}`.
    pub fn get_repositories(&self, expression: &str) -> Result<Value> {
        let names = self.repository_names(expression)?;
        let repositories = self.snapshots.repositories.lock();
        let mut shown = Map::new();
        for name in names {
            let Some(registered) = repositories.get(&name) else { continue };
            let mut body = json!({"type": registered.definition.kind});
            if let Ok(repository) = &registered.opened
                && let Some(uuid) = &*repository.uuid.lock()
            {
                body["uuid"] = uuid.as_str().into();
            }
            body["settings"] = Value::Object(registered.definition.settings.clone());
            shown.insert(name, body);
        }
        Ok(Value::Object(shown))
    }

    /// Returns the name and type of each repository, in order.
    pub fn repository_types(&self) -> Vec<(String, String)> {
        let repositories = self.snapshots.repositories.lock();
        repositories.iter().map(|(name, one)| (name.clone(), one.definition.kind.clone())).collect()
    }

    /// Carries out `DELETE /_snapshot/{repositories}`: unregisters them without touching their content.
    pub fn delete_repositories(&self, expression: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        // Here `_all` and lists are names like any other, and only `*` may match nothing.
        let names = match expression {
            "*" => self.repository_names("")?,
            _ if expression == "_all" || expression.contains(',') => Vec::new(),
            _ => self.repository_names(expression)?,
        };
        if names.is_empty() && expression != "*" {
            return Err(repository_missing(expression));
        }
        let mut repositories = self.snapshots.repositories.lock();
        for name in &names {
            self.check_is_unused(name, repositories.get(name))?;
        }
        self.change_state(|state| names.iter().for_each(|name| state.delete_repository(name)))?;
        repositories.retain(|name, _| !names.contains(name));
        Ok(())
    }

    /// Returns the body of `POST /_snapshot/{repository}/_verify`.
    pub fn verify_repository(&self, name: &str) -> Result<Value> {
        self.repository(name)?.verify(&self.environment)?;
        Ok(json!({"nodes": {self.node_id(): {"name": self.config.node_name}}}))
    }

    /// Returns the body of `POST /_snapshot/{repository}/_cleanup`.
    pub fn cleanup_repository(&self, name: &str) -> Result<Value> {
        let repository = self.repository(name)?;
        repository.check_writable("cannot run cleanup on readonly repository")?;
        let _writing = repository.writing.lock();
        self.use_repository(&repository, || Ok(()))?;
        let root = repository.root()?;
        let garbage = repository.garbage(&root, None)?;
        let deleted = match garbage.is_empty() {
            true => Default::default(),
            false => {
                // Another writer that is about to reference some of the garbage finds that the root has
                // changed, and gives up.
                repository.publish(root, &self.environment, self.node_id())?;
                repository.sweep(&garbage)
            }
        };
        Ok(json!({"results": {"deleted_bytes": deleted.bytes, "deleted_blobs": deleted.blobs}}))
    }
}
