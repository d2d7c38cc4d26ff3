//! Where measurements are stored (`[reporting]` of Rally's `rally.ini`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::arguments::parse;
use crate::error::Error;
use crate::model::{Params, bare_text};
use crate::server::hosts::ClientOptions;

/// Rally's time-out for requests to a metrics store.
const TIMEOUT_S: u64 = 120;
/// All keys, in the order of the documentation.
const WORDS: [&str; 15] = [
    "datastore.type",
    "datastore.host",
    "datastore.port",
    "datastore.secure",
    "datastore.user",
    "datastore.password",
    "datastore.api_key",
    "datastore.ssl.verification_mode",
    "datastore.ssl.certificate_authorities",
    "datastore.probe.cluster_version",
    "datastore.number_of_shards",
    "datastore.number_of_replicas",
    "datastore.overwrite_existing_templates",
    "metrics.request.downsample.factor",
    "output.processingtime",
];

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reporting {
    /// Whether `metrics.ndjson` is kept in the race's folder.
    pub keeps_file: bool,
    pub datastore: Option<DatastoreConfig>,
    /// One request in this many is written; 1 for all.
    pub downsample_factor: u64,
    /// Whether the summary has rows for the processing time.
    pub shows_processing_time: bool,
}

impl Default for Reporting {
    fn default() -> Self {
        Reporting { keeps_file: false, datastore: None, downsample_factor: 1, shows_processing_time: false }
    }
}

/// An Elasticsearch-compatible server that stores measurements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DatastoreConfig {
    /// `host:port`.
    pub host: String,
    pub options: ClientOptions,
    pub number_of_shards: Option<u64>,
    pub number_of_replicas: Option<u64>,
    pub overwrites_templates: bool,
    /// Whether `GET /` is sent before anything is written.
    pub probes: bool,
}

impl Reporting {
    /// Whether documents of requests and of the server's statistics are written at all.
    pub(crate) fn wants_metrics(&self) -> bool {
        self.keeps_file || self.datastore.is_some()
    }

    /// Reads `key:value,key2:value2` or a JSON object with the keys of `[reporting]`, or the name of an
    /// `.ini` file with that section. `environment` returns a variable by name
    /// (`RALLY_REPORTING_DATASTORE_USER`, `…_PASSWORD`, `…_API_KEY` take precedence over the file's values).
    ///
    /// Errors: an unknown key, a value of the wrong kind, a file that cannot be read.
    pub(crate) fn read(
        argument: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Reporting, Error> {
        let mut words = match argument.ends_with(".ini") {
            true => section(argument)?,
            false => {
                let params = parse(argument).map_err(|error| error.within("--reporting"))?;
                params
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (key, bare_text(&value)))
                    .collect()
            }
        };
        for (key, variable) in [
            ("datastore.user", "RALLY_REPORTING_DATASTORE_USER"),
            ("datastore.password", "RALLY_REPORTING_DATASTORE_PASSWORD"),
            ("datastore.api_key", "RALLY_REPORTING_DATASTORE_API_KEY"),
        ] {
            if let Some(value) = environment(variable).filter(|value| !value.is_empty()) {
                words.insert(key.into(), value);
            }
        }
        if let Some(unknown) = words.keys().find(|key| !WORDS.contains(&key.as_str())) {
            return Err(Error::Argument(format!(
                "--reporting: [{unknown}] is not supported; there are {}",
                WORDS.join(", ")
            )));
        }
        Words(words).reporting()
    }
}

/// Reads the section `[reporting]` of a file. Lines are `key = value`; `#` and `;` begin comments; empty
/// values count as absent.
fn section(file: &str) -> Result<BTreeMap<String, String>, Error> {
    let path = match file.strip_prefix("~/") {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => file.into(),
    };
    let content =
        std::fs::read_to_string(&path).map_err(|error| Error::at(&path)(error).within("--reporting"))?;
    let (mut words, mut is_inside) = (BTreeMap::new(), false);
    for line in content.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_inside = name == "reporting";
        } else if is_inside
            && !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once(['=', ':'])
            && !value.trim().is_empty()
        {
            words.insert(key.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    Ok(words)
}

struct Words(BTreeMap<String, String>);

impl Words {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool, Error> {
        match self.get(key).map(str::to_lowercase).as_deref() {
            None => Ok(default),
            Some("true" | "yes" | "y" | "on" | "t" | "1") => Ok(true),
            Some("false" | "no" | "n" | "off" | "f" | "0") => Ok(false),
            Some(other) => {
                Err(Error::Argument(format!("--reporting: [{key}] cannot be [{other}]; it is true or false")))
            }
        }
    }

    fn number(&self, key: &str, min: u64) -> Result<Option<u64>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.parse::<u64>().ok().filter(|number| *number >= min);
        number
            .map(Some)
            .ok_or_else(|| Error::Argument(format!("--reporting: [{key}] must be >= {min} but is [{value}]")))
    }

    fn reporting(&self) -> Result<Reporting, Error> {
        let shows_processing_time = self.flag("output.processingtime", false)?;
        let downsample_factor = self.number("metrics.request.downsample.factor", 1)?.unwrap_or(1);
        let (keeps_file, datastore) = match self.get("datastore.type").unwrap_or("in-memory") {
            "in-memory" => (false, None),
            "file" => (true, None),
            "elasticsearch" => (false, Some(self.datastore()?)),
            other => {
                return Err(Error::Argument(format!(
                    "--reporting: [datastore.type] cannot be [{other}]; it is in-memory, file or elasticsearch"
                )));
            }
        };
        Ok(Reporting { keeps_file, datastore, downsample_factor, shows_processing_time })
    }

    fn datastore(&self) -> Result<DatastoreConfig, Error> {
        let needed = |key: &str| {
            self.get(key).ok_or_else(|| {
                Error::Argument(format!("--reporting: [datastore.type] elasticsearch needs [{key}]"))
            })
        };
        let mut options = Params::new();
        let mut set = |key: &str, value: Value| options.insert(key.to_owned(), value);
        set("timeout", json!(TIMEOUT_S));
        set("use_ssl", json!(self.flag("datastore.secure", false)?));
        let mode = self.get("datastore.ssl.verification_mode").unwrap_or("full");
        set("verify_certs", json!(mode != "none"));
        if let Some(file) = self.get("datastore.ssl.certificate_authorities") {
            set("ca_certs", json!(file));
        }
        match (self.get("datastore.user"), self.get("datastore.password"), self.get("datastore.api_key")) {
            (Some(_), _, Some(_)) => {
                return Err(Error::argument(
                    "--reporting: [datastore.user] and [datastore.api_key] exclude each other",
                ));
            }
            (Some(_), None, None) => {
                return Err(Error::argument(
                    "--reporting: no [datastore.password] for [datastore.user]; \
                            RALLY_REPORTING_DATASTORE_PASSWORD may hold it, too",
                ));
            }
            (Some(user), Some(password), None) => {
                set("basic_auth_user", json!(user));
                set("basic_auth_password", json!(password));
            }
            (None, _, Some(key)) => {
                set("api_key", json!(key));
            }
            (None, _, None) => {}
        }
        Ok(DatastoreConfig {
            host: format!("{}:{}", needed("datastore.host")?, needed("datastore.port")?),
            options: ClientOptions::from_params(&options).map_err(|reason| reason.within("--reporting"))?,
            number_of_shards: self.number("datastore.number_of_shards", 1)?,
            number_of_replicas: self.number("datastore.number_of_replicas", 0)?,
            overwrites_templates: self.flag("datastore.overwrite_existing_templates", false)?,
            probes: self.flag("datastore.probe.cluster_version", true)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str) -> Result<Reporting, Error> {
        Reporting::read(argument, &|_| None)
    }

    #[test]
    fn words_of_rally_ini() {
        let file = read("datastore.type:file,metrics.request.downsample.factor:10").unwrap();
        assert_eq!((file.keeps_file, file.downsample_factor, file.datastore), (true, 10, None));
        assert_eq!(read("").unwrap(), Reporting::default());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rally.ini");
        let ini = "[system]\nenv.name = local\n[reporting]\n# a store\ndatastore.type = elasticsearch\ndatastore.host = es.example\n\
                   datastore.port = 9243\ndatastore.secure = False\ndatastore.user = u\ndatastore.password =\n\
                   datastore.number_of_replicas = 0\n[tracks]\ndatastore.type = in-memory\n";
        std::fs::write(&path, ini).unwrap();
        let password = |name: &str| (name == "RALLY_REPORTING_DATASTORE_PASSWORD").then(|| "p".to_owned());
        let store = Reporting::read(path.to_str().unwrap(), &password).unwrap().datastore.unwrap();
        assert_eq!(
            (store.host.as_str(), store.number_of_replicas, store.probes),
            ("es.example:9243", Some(0), true)
        );
        assert_eq!(store.options.authorization.as_deref(), Some("Basic dTpw"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let check = |argument: &str, expected: &str| {
            let reason = read(argument).unwrap_err().to_string();
            assert!(reason.contains(expected), "{reason}");
        };
        let store = "datastore.type:elasticsearch,datastore.host:'h',datastore.port:1,";
        check("datastore.type:opensearch", "it is in-memory, file or elasticsearch");
        check("datastore.type:elasticsearch", "needs [datastore.host]");
        check("datastore.kind:x", "[datastore.kind] is not supported");
        check(&format!("{store}datastore.user:'u'"), "no [datastore.password]");
        check(&format!("{store}datastore.number_of_shards:0"), "must be >= 1");
        check("output.processingtime:'maybe'", "[output.processingtime] cannot be [maybe]");
        check("/no/such/rally.ini", "/no/such/rally.ini");
    }
}
