//! Reads `--telemetry-params`.

use std::time::Duration;

use serde_json::Value;

use super::device::Watched;
use crate::error::Error;
use crate::model::Params;
use crate::server::hosts::DEFAULT_CLUSTER;

/// Index of a cluster, and the names chosen in it; `None` for all.
pub(super) type OfCluster = (usize, Option<Vec<String>>);

/// The parameters. Errors name the parameter.
pub(crate) struct Parameters<'a>(pub &'a Params);

impl Parameters<'_> {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a number of seconds above 0.
    pub(crate) fn interval(&self, name: &str, default_s: u64) -> Result<Duration, Error> {
        let Some(value) = self.get(name) else { return Ok(Duration::from_secs(default_s)) };
        let interval = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        interval.filter(|interval| !interval.is_zero()).ok_or_else(|| {
            Error::Argument(format!(
                "The telemetry parameter '{name}' must be greater than zero but was {value}."
            ))
        })
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Error> {
        match self.get(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(Error::Argument(format!(
                "The telemetry parameter '{name}' must be true or false but was {other}."
            ))),
        }
    }

    /// Returns the strings of a list, or of a string with commas.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<String>>, Error> {
        self.get(name).map(|value| texts(name, value)).transpose()
    }

    /// Returns lists of strings with their cluster (an index into `clusters`). The parameter is an object by
    /// cluster name or, if `takes_text`, a string for the default cluster. Without the parameter, every
    /// cluster has no list.
    pub(crate) fn by_cluster(
        &self,
        name: &str,
        clusters: &[Watched],
        takes_text: bool,
    ) -> Result<Vec<OfCluster>, Error> {
        let position = |cluster: &str| clusters.iter().position(|one| one.name == cluster);
        match self.get(name) {
            None | Some(Value::Bool(false)) => {
                Ok((0..clusters.len()).map(|cluster| (cluster, None)).collect())
            }
            Some(Value::Object(object)) => {
                let one = |(cluster, value): (&String, &Value)| match position(cluster) {
                    Some(index) => Ok((index, Some(texts(name, value)?))),
                    None => {
                        let mut known: Vec<&str> = clusters.iter().map(|one| one.name.as_str()).collect();
                        known.sort_unstable();
                        Err(Error::Argument(format!(
                            "The telemetry parameter '{name}' must be a JSON Object with keys matching the cluster names \
                             [{}] specified in --target-hosts but it had [{cluster}].",
                            known.join(",")
                        )))
                    }
                };
                object.iter().map(one).collect()
            }
            Some(value @ Value::String(_)) if takes_text => {
                Ok(vec![(position(DEFAULT_CLUSTER).unwrap_or(0), Some(texts(name, value)?))])
            }
            Some(other) => Err(Error::Argument(format!(
                "The telemetry parameter '{name}' must be a JSON Object by cluster but was {other}."
            ))),
        }
    }
}

fn texts(name: &str, value: &Value) -> Result<Vec<String>, Error> {
    let wrong = || {
        Error::Argument(format!(
            "The telemetry parameter '{name}' must be a comma-separated string or a list but was {value}."
        ))
    };
    match value {
        Value::String(text) => {
            Ok(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect())
        }
        Value::Array(list) => {
            list.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>().ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}
