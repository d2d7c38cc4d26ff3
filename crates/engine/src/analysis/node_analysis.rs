//! What the analyzers of indices read from the node: files of the configuration folder, synonym sets and
//! token filter scripts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use limber_mapping::RequestError;
use limber_mapping::analysis::{AnalysisResources, Analyzers, Declaration, FileFault, TokenPredicate};
use limber_script::{ContextScript, Script, ScriptContext, Scripts};
use limber_store::{Disk, Pool};
use serde_json::Value;

use crate::analysis::shared::{self, SharedAnalyzers};
use crate::analysis::synonyms::SynonymSet;

/// The folder below the data folder that users put their files in.
const FOLDER: &str = "config";
/// Largest analysis file in bytes. It is limited because a file is read again for every index that names
/// it.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The node, as analyzers see it.
pub(crate) struct NodeAnalysis {
    disk: Arc<dyn Disk>,
    scripts: Arc<Scripts>,
    sets: ArcSwap<BTreeMap<String, SynonymSet>>,
    shared: SharedAnalyzers,
}

impl fmt::Debug for NodeAnalysis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("NodeAnalysis").finish_non_exhaustive()
    }
}

impl NodeAnalysis {
    /// Gives analyzers the files of the data folder, the node's scripts, and the synonym `sets` by name.
    /// `pool` is charged for their memory.
    pub fn new(
        disk: Arc<dyn Disk>,
        scripts: Arc<Scripts>,
        sets: BTreeMap<String, SynonymSet>,
        pool: Arc<Pool>,
    ) -> NodeAnalysis {
        let shared = SharedAnalyzers::new(pool);
        NodeAnalysis { disk, scripts, sets: ArcSwap::from_pointee(sets), shared }
    }

    /// Returns the synonym sets by name.
    pub fn sets(&self) -> Arc<BTreeMap<String, SynonymSet>> {
        self.sets.load_full()
    }

    /// Replaces all synonym sets.
    pub fn set_sets(&self, sets: BTreeMap<String, SynonymSet>) {
        self.shared.forget_with(|| self.sets.store(Arc::new(sets)));
    }

    /// Returns the folder at the path `parts`, if every folder on the path exists. Creates none.
    fn folder(&self, parts: &[&str]) -> Option<String> {
        let mut folder = FOLDER.to_owned();
        for part in parts {
            let names = self.disk.folders(&folder).ok()?;
            if !names.iter().any(|name| name == part) {
                return None;
            }
            folder = format!("{folder}/{part}");
        }
        Some(folder)
    }
}

impl AnalysisResources for NodeAnalysis {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileFault> {
        shared::note_changeable();
        let failed = |error: limber_store::Error| FileFault::Failed(error.to_string());
        let parts: Vec<&str> = path.split('/').collect();
        let Some((name, folders)) = parts.split_last().filter(|(name, _)| !name.is_empty()) else {
            return Err(FileFault::IsFolder);
        };
        let is_there = self.disk.folders("").is_ok_and(|names| names.iter().any(|known| known == FOLDER));
        let folder = self.folder(folders).filter(|_| is_there).ok_or(FileFault::Missing)?;
        if self.folder(&parts).is_some() {
            return Err(FileFault::IsFolder);
        }
        let directory = self.disk.folder(&folder).map_err(failed)?;
        if !directory.exists(name).map_err(failed)? {
            return Err(FileFault::Missing);
        }
        let length = directory.len(name).map_err(failed)?;
        if length > FILE_BYTES_MAX {
            return Err(FileFault::TooLong);
        }
        directory.read(name, 0, length as usize).map_err(failed)
    }

    fn files(&self, folder: &str) -> Vec<String> {
        shared::note_changeable();
        let parts: Vec<&str> = folder.split('/').collect();
        let directory = self.folder(&parts).and_then(|folder| self.disk.folder(&folder).ok());
        directory.and_then(|directory| directory.list().ok()).unwrap_or_default()
    }

    fn synonyms(&self, set: &str) -> Option<Vec<String>> {
        let sets = self.sets.load();
        Some(sets.get(set)?.rules().map(|(_, synonyms)| synonyms.to_owned()).collect())
    }

    fn predicate(&self, script: &Value) -> Result<Arc<dyn TokenPredicate>, RequestError> {
        shared::note_changeable();
        let script = Script::parse(script)?;
        Ok(Arc::new(ContextScript::compile(&self.scripts, &script, ScriptContext::TokenFilter)?))
    }

    fn shared(
        &self,
        declaration: Declaration<'_>,
        make: &mut dyn FnMut() -> Result<Analyzers, RequestError>,
    ) -> Result<Arc<Analyzers>, RequestError> {
        self.shared.get(declaration, make)
    }
}

/// Resources for code that analyzes nothing: every requested resource exists and is empty.
#[derive(Debug)]
pub(crate) struct NoAnalysis;

#[derive(Debug)]
struct EveryToken;

impl TokenPredicate for EveryToken {
    fn accepts(&self, _: limber_mapping::analysis::SeenToken<'_>) -> Result<bool, RequestError> {
        Ok(true)
    }
}

impl AnalysisResources for NoAnalysis {
    fn read(&self, _: &str) -> Result<Vec<u8>, FileFault> {
        Ok(Vec::new())
    }

    fn files(&self, _: &str) -> Vec<String> {
        vec!["none.aff".to_owned(), "none.dic".to_owned()]
    }

    fn synonyms(&self, _: &str) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn predicate(&self, _: &Value) -> Result<Arc<dyn TokenPredicate>, RequestError> {
        Ok(Arc::new(EveryToken))
    }
}

/// The node's analysis resources, as a member of structures that are compared and stored. `None` means that
/// nothing is analyzed.
#[derive(Clone, Default)]
pub(crate) struct AnalysisOf(pub Option<Arc<dyn AnalysisResources>>);

impl AnalysisOf {
    /// Returns the node's resources, or [`NoAnalysis`] while there are none.
    pub fn get(&self) -> Arc<dyn AnalysisResources> {
        self.0.clone().unwrap_or_else(|| Arc::new(NoAnalysis))
    }
}

impl fmt::Debug for AnalysisOf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("AnalysisOf")
    }
}

impl PartialEq for AnalysisOf {
    fn eq(&self, _: &AnalysisOf) -> bool {
        true
    }
}
