//! Stores measurements in an Elasticsearch-compatible server.
//!
//! Documents are kept in a file until the race is over, so that the store does not affect the race, and are
//! then sent in bulks of bounded size (Rally sends them during the race). Indices and templates are those of
//! `esrally` 2.13 (`EsMetricsStore`, `EsRaceStore`, `EsResultsStore`): `rally-metrics-`, `rally-races-` and
//! `rally-results-` with year and month.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::reporting::DatastoreConfig;
use super::templates::{self, METRICS, RACES, RESULTS};
use crate::error::Error;
use crate::http::cluster::{Answer, Cluster};
use crate::http::{HttpError, Method};
use crate::server::hosts::connect;

/// A bulk is sent when it reaches this number of documents or bytes.
const BULK_DOCUMENTS_MAX: usize = 5_000;
const BULK_BYTES_MAX: usize = 5 << 20;
/// Like Rally, retry ten times and double the pause each time.
const RETRIES_MAX: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
const RETRIED_STATUSES: [u16; 4] = [429, 502, 503, 504];

/// An open metrics store.
pub(crate) struct Datastore {
    cluster: Cluster,
    host: String,
    /// `YYYY-MM` of the race.
    month: String,
    config: DatastoreConfig,
    /// Pause before the first retry.
    first_pause: Duration,
}

impl Datastore {
    /// Connects, and creates the template and the index of the metrics if they are missing. `race_timestamp`
    /// is `YYYYMMDDTHHMMSSZ`.
    ///
    /// Errors: the store does not answer or refuses a request; the message says which.
    pub(crate) fn open(config: &DatastoreConfig, race_timestamp: &str) -> Result<Datastore, Error> {
        Datastore::open_with(config, race_timestamp, FIRST_PAUSE)
    }

    pub(super) fn open_with(
        config: &DatastoreConfig,
        race_timestamp: &str,
        first_pause: Duration,
    ) -> Result<Datastore, Error> {
        let cluster = connect(std::slice::from_ref(&config.host), &config.options)
            .map_err(|error| error.within("metrics store"))?;
        let month = match (race_timestamp.get(..4), race_timestamp.get(4..6)) {
            (Some(year), Some(month)) => format!("{year}-{month}"),
            _ => {
                return Err(Error::Argument(format!(
                    "metrics store: [{race_timestamp}] is not the time of a race"
                )));
            }
        };
        let mut store =
            Datastore { cluster, host: config.host.clone(), month, config: config.clone(), first_pause };
        if config.probes {
            store.expect("GET /", &[200], |cluster| cluster.get("/"))?;
        }
        store.ensure_metrics()?;
        Ok(store)
    }

    fn ensure_metrics(&mut self) -> Result<(), Error> {
        let path = format!("/_index_template/{METRICS}");
        let found = self.expect(&format!("GET {path}"), &[200, 404], |cluster| cluster.get(&path))?;
        if found.status == 404 || self.config.overwrites_templates {
            self.put_template(METRICS)?;
        }
        let index = self.index(METRICS);
        // 400 means that the index exists.
        self.expect(&format!("PUT /{index}"), &[200, 400], |cluster| {
            cluster.put(&format!("/{index}"), &json!({}))
        })?;
        Ok(())
    }

    fn put_template(&mut self, name: &str) -> Result<(), Error> {
        let (path, body) = (format!("/_index_template/{name}"), templates::template(name, &self.config));
        self.expect(&format!("PUT {path}"), &[200], |cluster| cluster.put(&path, &body)).map(|_| ())
    }

    fn index(&self, name: &str) -> String {
        format!("{name}-{}", self.month)
    }

    /// Sends the documents of a file, one per line, to the index of the metrics. Returns their number.
    ///
    /// Errors: the file cannot be read, or the store refuses documents or does not answer.
    pub(crate) fn send_file(&mut self, file: &Path) -> Result<u64, Error> {
        let unreadable = Error::at(file);
        let reader = BufReader::with_capacity(1 << 16, File::open(file).map_err(&unreadable)?);
        let index = self.index(METRICS);
        let (mut lines, mut bytes, mut sent) = (Vec::new(), 0, 0);
        for line in reader.lines() {
            let line = line.map_err(&unreadable)?;
            bytes += line.len();
            lines.push(line);
            if lines.len() >= BULK_DOCUMENTS_MAX || bytes >= BULK_BYTES_MAX {
                sent += lines.len() as u64;
                self.bulk(&index, std::mem::take(&mut lines))?;
                bytes = 0;
            }
        }
        sent += lines.len() as u64;
        self.bulk(&index, lines)?;
        self.refresh(&index)?;
        Ok(sent)
    }

    /// Stores the race and its results. `race` is the contents of `race.json`; for `results` see
    /// [`super::results::documents`].
    pub(crate) fn send_race(&mut self, race_id: &str, race: &Value, results: &[Value]) -> Result<(), Error> {
        // As in Rally, the mappings are always updated.
        self.put_template(RACES)?;
        let index = self.index(RACES);
        let path = format!("/{index}/_doc/{race_id}");
        self.expect(&format!("PUT {path}"), &[200, 201], |cluster| cluster.put(&path, race))?;
        self.put_template(RESULTS)?;
        let results_index = self.index(RESULTS);
        self.bulk(&results_index, results.iter().map(Value::to_string).collect())?;
        self.refresh(&format!("{index},{results_index}"))
    }

    fn refresh(&mut self, indices: &str) -> Result<(), Error> {
        let path = format!("/{indices}/_refresh");
        self.expect(&format!("POST {path}"), &[200], |cluster| {
            cluster.post_within(&path, &Value::Null, cluster.timeout())
        })
        .map(|_| ())
    }

    /// Sends documents until the store has accepted each of them.
    fn bulk(&mut self, index: &str, mut documents: Vec<String>) -> Result<(), Error> {
        let action = format!("{}\n", json!({ "index": { "_index": index } }));
        let mut pause = self.first_pause;
        for _ in 0..=RETRIES_MAX {
            if documents.is_empty() {
                return Ok(());
            }
            let body: String =
                documents.iter().flat_map(|line| [action.as_str(), line.as_str(), "\n"]).collect();
            let answer = self.expect("POST /_bulk", &[200], |cluster| {
                cluster.send_text(Method::Post, "/_bulk", "application/x-ndjson", body.clone().into_bytes())
            })?;
            if answer.body["errors"] != true {
                return Ok(());
            }
            documents = self.refused(documents, &answer.body)?;
            if !documents.is_empty() {
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
        Err(Error::Answer(format!(
            "metrics store [{}]: it does not take {} documents",
            self.host,
            documents.len()
        )))
    }

    /// Returns the documents that may be sent again.
    ///
    /// Errors: the store will never accept one of them.
    fn refused(&self, documents: Vec<String>, answer: &Value) -> Result<Vec<String>, Error> {
        let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut again = Vec::new();
        for (document, item) in documents.into_iter().zip(items) {
            let outcome = &item["index"];
            let status =
                outcome["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(200);
            match status {
                200..300 => {}
                status if RETRIED_STATUSES.contains(&status) => again.push(document),
                status => {
                    return Err(Error::Answer(format!(
                        "metrics store [{}]: it refuses a document with status {status}: {}",
                        self.host, outcome["error"]
                    )));
                }
            }
        }
        Ok(again)
    }

    /// Repeats a request until its answer is one that waiting would not change.
    fn expect(
        &mut self,
        what: &str,
        expected: &[u16],
        mut ask: impl FnMut(&mut Cluster) -> Result<Answer, HttpError>,
    ) -> Result<Answer, Error> {
        let call = format!("metrics store [{}]: {what}", self.host);
        let mut pause = self.first_pause;
        for attempt in 0..=RETRIES_MAX {
            let reason = match ask(&mut self.cluster) {
                Ok(answer) if expected.contains(&answer.status) => return Ok(answer),
                Ok(answer) if RETRIED_STATUSES.contains(&answer.status) => {
                    format!("status {}", answer.status)
                }
                Ok(answer) => {
                    let advice = match answer.status {
                        401 => " (is the password right?)",
                        403 => " (the user needs more rights)",
                        _ => "",
                    };
                    return Err(answer.refused(format_args!("{call}{advice}")));
                }
                Err(error @ (HttpError::Tls(_) | HttpError::Protocol(_))) => {
                    return Err(Error::no_answer(call)(error));
                }
                Err(error) => error.to_string(),
            };
            if attempt == RETRIES_MAX {
                return Err(Error::NoAnswer { call, reason: format!("{reason}, {RETRIES_MAX} times") });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
        Err(Error::NoAnswer { call, reason: "no answer".into() })
    }
}
