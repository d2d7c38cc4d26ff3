//! The description of a race: `race.json` in Rally's layout (`Race` in `esrally/metrics.py`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Params, bare_text};
use crate::record::results::Results;
use crate::record::scope::Scope;
use crate::record::store::StoreError;

/// One race. It is written with Rally's keys in Rally's order; races that Rally itself wrote can also be
/// read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Race {
    /// Version of the tool that raced.
    pub rally_version: String,
    #[serde(default)]
    pub rally_revision: Option<String>,
    pub environment: String,
    pub race_id: String,
    /// `YYYYMMDDTHHMMSSZ`, UTC; see [`timestamp`].
    pub race_timestamp: String,
    pub pipeline: String,
    #[serde(default)]
    pub user_tags: Map<String, Value>,
    pub track: String,
    pub car: Car,
    #[serde(default)]
    pub cluster: Cluster,
    /// Kept as it was written, so that nothing is lost when a race of another version is listed; see
    /// [`Race::results`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_revision: Option<String>,
    /// `None` for a challenge made from a bare schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub track_params: Option<Params>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub car_params: Option<Params>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub plugin_params: Option<Params>,
    /// Not part of Rally's layout; `None` for a race of Rally or of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

fn is_empty(params: &Option<Params>) -> bool {
    params.as_ref().is_none_or(Map::is_empty)
}

/// Rally's word for a server's configuration; `external` for a server that was already running.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Car {
    List(Vec<String>),
    Name(String),
}

/// The server under test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Cluster {
    /// Build hash.
    pub revision: Option<String>,
    /// Such as `8.14.3`.
    pub distribution_version: Option<String>,
    /// Such as `default`, `oss`, `serverless`.
    pub distribution_flavor: Option<String>,
    pub team_revision: Option<String>,
}

impl Race {
    /// Returns the typed results; all are absent if the race has none.
    ///
    /// # Errors
    /// `Results` when they are not in Rally's layout.
    pub fn results(&self) -> Result<Results, StoreError> {
        let Some(results) = &self.results else { return Ok(Results::default()) };
        Results::deserialize(results)
            .map_err(|error| StoreError::Results { race_id: self.race_id.clone(), reason: error.to_string() })
    }

    pub(crate) fn set_results(&mut self, results: &Results) {
        self.results =
            Some(serde_json::to_value(results).expect("results hold only texts, numbers, lists and objects"));
    }

    /// Returns the name of the server's configuration: Rally's "car", with its mixins.
    pub fn car_name(&self) -> String {
        match &self.car {
            Car::List(names) => names.join("+"),
            Car::Name(name) => name.clone(),
        }
    }

    /// Returns `k=v, k=v`, sorted by key.
    pub fn user_tags_text(&self) -> String {
        let mut tags: Vec<(&String, &Value)> = self.user_tags.iter().collect();
        tags.sort_by_key(|(key, _)| *key);
        tags.iter().map(|(key, value)| format!("{key}={}", bare_text(value))).collect::<Vec<_>>().join(", ")
    }

    /// Returns `YYYY-MM-DD HH:MM:SS`, or the timestamp as it is if it has another form.
    pub fn timestamp_readable(&self) -> String {
        let t = &self.race_timestamp;
        if !is_timestamp(t) {
            return t.clone();
        }
        format!("{}-{}-{} {}:{}:{}", &t[..4], &t[4..6], &t[6..8], &t[9..11], &t[11..13], &t[13..15])
    }
}

/// Formats seconds since the epoch as `YYYYMMDDTHHMMSSZ`.
pub(crate) fn timestamp(epoch_s: i64) -> String {
    jiff::Timestamp::from_second(epoch_s).unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string()
}

pub(super) fn is_timestamp(text: &str) -> bool {
    text.len() == 16
        && text.bytes().enumerate().all(|(position, byte)| match position {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}
