//! What to race, where, and how.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::conduct::watch::WatchConfig;
use crate::drive::client::OnError;
use crate::model::Params;
use crate::record::RaceStore;
use crate::record::measurements::RunPosition;
use crate::server::hosts::ClientOptions;
use crate::track::load::TrackSpec;

/// The car of a server that was already running.
pub(crate) const EXTERNAL_CAR: &str = "external";

/// The configuration of a race.
#[derive(Debug, Clone)]
pub(crate) struct RaceConfig {
    pub track: TrackSpec,
    /// `host:port` of every node that requests are sent to.
    pub hosts: Vec<String>,
    /// Rally's word for the server's configuration: [`EXTERNAL_CAR`] for one that was already running.
    pub car: String,
    /// The parameters with which the race started the server, if it did.
    pub car_params: Option<Params>,
    pub client: ClientOptions,
    pub watch: WatchConfig,
    pub on_error: OnError,
    pub checks_assertions: bool,
    pub race_id: String,
    pub user_tags: Params,
    pub provenance: Provenance,
    pub store: RaceStore,
    /// A signal handler sets it to end the race.
    pub is_cancelled: Arc<AtomicBool>,
}

impl RaceConfig {
    /// Returns a race with the command's defaults on a server that was already running. The hosts are still
    /// empty.
    pub(crate) fn new(track: TrackSpec, store: RaceStore, race_id: String) -> RaceConfig {
        RaceConfig {
            track,
            hosts: Vec::new(),
            car: EXTERNAL_CAR.to_owned(),
            car_params: None,
            client: ClientOptions::default(),
            watch: WatchConfig::default(),
            on_error: OnError::Continue,
            checks_assertions: false,
            race_id,
            user_tags: Params::new(),
            provenance: Provenance::default(),
            store,
            is_cancelled: Arc::default(),
        }
    }
}

/// The origin of a race: how the server was started, and the race's position in a series.
#[derive(Debug, Clone, Default)]
pub(crate) struct Provenance {
    pub place: Option<RunPosition>,
    /// Settings of a server that this tool started.
    pub engine_settings: Params,
    /// Whether the server was started for this race alone, so that its memory peak belongs to the race.
    pub is_fresh_server: bool,
    /// The race's timestamp in seconds since 1970; `None` for now.
    pub started_s: Option<i64>,
}
