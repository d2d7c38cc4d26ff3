//! The state from which a node opens: "what has it stored, and how do its settings change that?"

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::Workers;
use limber_store::Ledger;
use limber_store::term_index::TermIndexCache;

use super::open::{NodeConfig, apply_limits};
use super::segment_memory::{budget_at_open, scheme_of};
use crate::analysis::{AnalysisOf, NodeAnalysis};
use crate::api::Result;
use crate::catalog::{Catalog, DataStream, NameClock, Templates};
use crate::enrich::EnrichSource;
use crate::environment::Environment;
use crate::ingest::{Registry, Resources};
use crate::node::kept_state::kept::{Content, Kept};
use crate::node::kept_state::security::KeptSecurity;
use crate::node::kept_state::state::{NodeState, Origin};
use crate::node::kept_state::state_file::STATE;
use crate::node::policy::lifecycle::Lifecycles;
use crate::settings::ClusterSettings;
use crate::snapshot::running::Snapshots;

/// The state that the node stored in its data folder, in the form in which it is used, with the memory
/// charges for it. Indices are not included, because they need the node.
pub(super) struct Restored {
    pub state: NodeState,
    pub ledger: Ledger,
    pub term_index: Arc<TermIndexCache>,
    pub settings: ClusterSettings,
    /// Data streams and templates, without indices.
    pub catalog: Catalog,
    pub snapshots: Snapshots,
    pub scripts: Arc<Scripts>,
    /// The resources that analyzers read from the node.
    pub analysis: Arc<NodeAnalysis>,
    pub pipelines: Registry,
    /// Where `enrich` processors of `pipelines` look up documents. The node sets it to itself when it opens.
    pub enrich: Arc<OnceLock<Weak<dyn EnrichSource>>>,
    /// `None` when a search may use only one processor.
    pub workers: Option<Arc<Workers>>,
    /// Charges for what requests store permanently.
    pub kept: Kept,
    /// Users, roles and keys.
    pub security: KeptSecurity,
    pub lifecycles: Lifecycles,
}

impl Restored {
    /// Reads the state of the node, and takes the settings of snapshots out of the configuration. Also
    /// returns where the state was found.
    pub(super) fn load(config: &mut NodeConfig, environment: &Environment) -> Result<(Restored, Origin)> {
        let (state, origin) = NodeState::load(environment)?;
        let ledger = Ledger::new(config.memory_limit_bytes);
        let snapshots = crate::node::snapshots::restored(&state, &mut config.settings, &ledger)?;
        let settings = ClusterSettings::new(config.settings.clone(), state.persistent_settings.clone())?;
        apply_limits(&ledger, &settings);
        ledger.segment_memory.set_limit_bytes(budget_at_open(&settings, ledger.limit_bytes)?);
        let term_index = TermIndexCache::new(ledger.segment_memory.clone(), scheme_of(&settings));
        let scripts = Arc::new(Scripts::with_outside(environment.of_scripts()));
        scripts.set_limits(settings.script_limits()?);
        scripts.set_stored(crate::node::kept_state::scripts::restored(&state.scripts));
        let mut resources = Resources::open(scripts.clone(), &environment.disk);
        resources.memory = Some(ledger.metadata.clone());
        let sets = crate::analysis::synonyms::restored(&state.synonyms);
        let (disk, pool) = (environment.disk.clone(), ledger.metadata.clone());
        let analysis = Arc::new(NodeAnalysis::new(disk, scripts.clone(), sets, pool));
        let enrich = resources.enrich.clone();
        let pipelines = Registry::new(resources);
        pipelines.restore(&state.pipelines);
        let workers = workers(config.search_processors)?;
        let kept = Kept::new(ledger.metadata.clone());
        kept.keep_always(STATE, &Content::of_state(&state.to_text()));
        let security = KeptSecurity::load(environment, &state, &kept)?;
        let (data_streams, lifecycles) = (restored_streams(&state)?, Lifecycles::restored(&state));
        let catalog = Catalog {
            templates: Templates { analysis: AnalysisOf(Some(analysis.clone())), ..state.templates.clone() },
            data_streams,
            clock: NameClock(Some(environment.clock.clone())),
            ..Catalog::default()
        };
        let restored = Restored {
            state,
            ledger,
            term_index,
            settings,
            catalog,
            snapshots,
            scripts,
            analysis,
            pipelines,
            enrich,
            workers,
            kept,
            security,
            lifecycles,
        };
        Ok((restored, origin))
    }
}

/// Starts the threads that search, if there are several processors to search on.
fn workers(processors: usize) -> Result<Option<Arc<Workers>>> {
    match processors {
        0 | 1 => Ok(None),
        several => {
            let started = Workers::start(several, Workers::WORTH_SHARING).map_err(|error| {
                let reason = format!("the threads that search do not start: {error}");
                RequestError::internal("illegal_state_exception", reason)
            })?;
            Ok(Some(Arc::new(started)))
        }
    }
}

fn restored_streams(state: &NodeState) -> Result<BTreeMap<Arc<str>, Arc<DataStream>>> {
    let streams = state.data_streams.as_object().into_iter().flatten();
    streams
        .map(|(name, body)| {
            let stream = DataStream::from_json(name, body)?;
            Ok((stream.name.clone(), Arc::new(stream)))
        })
        .collect()
}
