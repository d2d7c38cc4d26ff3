//! The races that are kept on this machine, in the folder of `limber race`.

use limber_race::{RaceData, RaceFilter, RaceStore, StoreError, limber_folder, report_page};
use serde_json::{Value, json};

/// Maximum number of races listed, newest first.
const RACES_MAX: usize = 500;

/// Returns the store of races. `None` if neither environment variable says where it is.
fn store() -> Option<RaceStore> {
    let folder = limber_folder(std::env::var_os("LIMBER_HOME"), std::env::var_os("HOME"))?;
    Some(RaceStore::new(&folder))
}

/// Lists the races, newest first.
///
/// # Errors
/// `Io`: the folder exists but cannot be read.
pub fn list() -> Result<Value, StoreError> {
    let Some(store) = store() else { return Ok(json!({"races": []})) };
    let all = store.list(&RaceFilter::default())?;
    let left_out = all.len().saturating_sub(RACES_MAX);
    let races: Vec<Value> = all
        .iter()
        .take(RACES_MAX)
        .map(|race| {
            let version = race.cluster.distribution_version.as_deref().unwrap_or_default();
            json!({
                "race_id": race.race_id,
                "started": race.timestamp_readable(),
                "track": race.track,
                "challenge": race.challenge,
                "server": format!("{} {version}", race.car_name()).trim(),
                "tags": race.user_tags_text(),
            })
        })
        .collect();
    Ok(json!({"races": races, "left_out": left_out}))
}

/// Returns the race's report as `limber report` writes it.
///
/// # Errors
/// `NotFound` and other errors of the store.
pub fn report(race_id: &str) -> Result<String, StoreError> {
    let store = store().ok_or_else(|| StoreError::NotFound(race_id.to_owned()))?;
    Ok(report_page(&[RaceData::read(&store, race_id)?]))
}
