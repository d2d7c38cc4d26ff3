//! Configuration: merges defaults, `limber.yml`, the environment and flags into one set of node settings.
//!
//! Keys are Elasticsearch's where one exists. Precedence, lowest first: defaults, file, `-E key=value`,
//! dedicated flags.

mod address;
mod sources;

use limber_text::byte_size;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use limber_engine::settings::ClusterSettings;
use limber_mapping::plain_text;
use serde_json::{Map, Value};

use crate::elasticsearch_yml::{self, Note};
use crate::http::config::Compression;
use crate::http::cors::Cors;
use crate::http::request::parse_time_ms;
use crate::log::Form;
use crate::machine;
use crate::remote::{RemoteSettings, TlsSettings};
use crate::security::{SecretsFile, SecuritySettings};
use crate::settings_file;

use self::address::http_address;
use self::sources::{add_s3_account, add_secrets};

/// Everything `limber serve` needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// `path.data`: the data folders, the main one first. There is at least one.
    pub data_paths: Vec<PathBuf>,
    /// `host:port`; port 0 means any free port.
    pub http_address: String,
    /// `network.insecure`: listen on a non-loopback address although clients need no credentials.
    pub insecure_network: bool,
    /// `log.format`.
    pub log_format: Form,
    pub memory_limit_bytes: u64,
    /// How long the process keeps freed memory while it uses little of the limit.
    pub freed_memory_keep: Duration,
    pub cluster_name: String,
    pub node_name: String,
    pub compat_version: String,
    pub max_content_bytes: usize,
    pub compression: Compression,
    /// `http.cors.*`.
    pub cors: Option<Cors>,
    /// `http.max_connections`. `None` means as many as memory and file descriptors allow.
    pub max_connections: Option<usize>,
    /// Threads that move bytes between sockets and handlers (`http.netty.worker_count`).
    pub network_threads: usize,
    pub node_attributes: Vec<(String, String)>,
    /// `reindex.remote.*` and `reindex.ssl.*`.
    pub remote: RemoteSettings,
    /// `xpack.security.*` and `http.ssl.*`.
    pub security: SecuritySettings,
    /// The file with secure settings (`path.secrets`).
    pub secrets: Option<SecretsFile>,
    /// `page.enabled`: `/` serves the page to browsers.
    pub is_page_enabled: bool,
    /// `stack.templates.enabled`: an empty node gets the built-in templates.
    pub has_stack_templates: bool,
    /// The engine's settings: flat keys, which the engine checks.
    pub engine_settings: Map<String, Value>,
    /// Settings that are accepted without effect, each with the reason.
    pub notes: Vec<Note>,
}

/// The flags of `limber serve`, as given.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub config_file: Option<PathBuf>,
    /// `--data`, once for each folder.
    pub data: Vec<PathBuf>,
    pub http: Option<String>,
    /// `--insecure-network`.
    pub insecure_network: bool,
    pub memory_limit: Option<String>,
    /// `--log-format`.
    pub log_format: Option<String>,
    /// `-E key=value`.
    pub settings: Vec<String>,
}

/// The Elasticsearch version that the server claims by default. With it, Rally's four standard tracks choose
/// branches without ES|QL.
pub const DEFAULT_COMPAT_VERSION: &str = "8.14.3";

/// All problems found in the settings, so that they are reported together.
#[derive(Debug, Default)]
struct Faults(Vec<String>);

impl Faults {
    fn add<T>(&mut self, fault: String, instead: T) -> T {
        self.0.push(fault);
        instead
    }

    fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(format!("{error:#}"))).ok()
    }

    /// Fails with the collected faults, if there are any.
    fn refuse(self) -> Result<()> {
        match self.0.as_slice() {
            [] => Ok(()),
            [one] => bail!("{one}"),
            many => bail!("{} settings cannot be used:\n  {}", many.len(), many.join("\n  ")),
        }
    }
}

impl Config {
    /// Reads the configuration file and overrides it with the settings of the command line. A setting that is
    /// unknown or does not parse is an error.
    pub fn load(overrides: &Overrides) -> Result<Config> {
        let mut settings = Map::new();
        match &overrides.config_file {
            Some(path) => settings_file::read(path, &mut settings)?,
            None if Path::new("limber.yml").exists() => {
                settings_file::read(Path::new("limber.yml"), &mut settings)?
            }
            None => {}
        }
        for pair in &overrides.settings {
            let Some((key, value)) = pair.split_once('=') else {
                bail!("-E takes key=value, but got [{pair}]");
            };
            settings.insert(key.trim().to_owned(), Value::String(value.trim().to_owned()));
        }
        let (notes, faults) = elasticsearch_yml::settle(&mut settings);
        let mut faults = Faults(faults);
        let secrets = SecretsFile::of(take(&mut settings, "path.secrets").as_deref());
        add_secrets(secrets.as_ref(), &mut settings, &mut faults);
        add_s3_account(&mut settings, |name| std::env::var(name).ok());
        let config =
            Config::read_settings(&mut settings, overrides, machine::usable_memory_bytes(), &mut faults);
        faults.0.extend(engine_faults(&settings));
        faults.refuse()?;
        let config = config.context("the configuration cannot be used")?;
        Ok(Config { notes, secrets, engine_settings: settings, ..config })
    }

    /// Moves the settings that it knows out of `settings` and leaves the engine's there. Percentages and the
    /// default of `memory.limit` relate to `usable_bytes`. Returns `None` if a setting is wrong; `faults`
    /// then says why.
    fn read_settings(
        settings: &mut Map<String, Value>,
        overrides: &Overrides,
        usable_bytes: u64,
        faults: &mut Faults,
    ) -> Option<Config> {
        let configured_paths = take_list(settings, "path.data");
        let data_paths = data_paths(&overrides.data, configured_paths, faults);
        let host = take_host(settings);
        let port = take(settings, "http.port").unwrap_or_else(|| "9200".into());
        let configured_limit = take(settings, "memory.limit");
        let freed_keep = take(settings, "memory.freed.keep").unwrap_or_else(|| "10m".into());
        let cluster_name = take(settings, "cluster.name").unwrap_or_else(|| "limber".into());
        let node_name = take(settings, "node.name").unwrap_or_else(host_name);
        let compat_version =
            take(settings, "compat.version").unwrap_or_else(|| DEFAULT_COMPAT_VERSION.into());
        let max_content = take(settings, "http.max_content_length").unwrap_or_else(|| "100mb".into());
        let compression = take_compression(settings, faults);
        let insecure_network =
            take_switch(settings, "network.insecure", false, faults) || overrides.insecure_network;
        let is_page_enabled = take_switch(settings, "page.enabled", true, faults);
        let has_stack_templates = take_switch(settings, "stack.templates.enabled", true, faults);
        let log_format = log_format(settings, overrides.log_format.as_deref(), faults);
        let max_connections = take_count(settings, "http.max_connections", 10_000_000, faults);
        let network_threads = take_count(settings, "http.netty.worker_count", 1024, faults)
            .unwrap_or_else(default_network_threads);
        let cors = faults.take(Cors::take(settings));
        let remote = faults.take(remote_settings(settings));
        let security = faults.take(SecuritySettings::take(settings));
        faults.take(check_version(&compat_version));
        let node_attributes = take_node_attributes(settings);
        let configured_limit = overrides.memory_limit.as_ref().or(configured_limit.as_ref());
        let memory_limit_bytes =
            memory_limit_bytes(configured_limit.map(String::as_str), usable_bytes, faults);
        let freed_keep_ms = faults
            .take(parse_time_ms("memory.freed.keep", &freed_keep).map_err(|error| Error::msg(error.reason)));
        let http_address = faults.take(http_address(overrides.http.as_deref(), &host, &port));
        let max_content_bytes = faults.take(
            parse_size(&max_content, usable_bytes)
                .with_context(|| format!("[http.max_content_length] is [{max_content}]")),
        );
        if !faults.0.is_empty() {
            return None;
        }
        Some(Config {
            data_paths,
            http_address: http_address?,
            insecure_network,
            log_format,
            memory_limit_bytes: memory_limit_bytes?,
            freed_memory_keep: Duration::from_millis(freed_keep_ms?),
            cluster_name,
            node_name,
            compat_version,
            max_content_bytes: max_content_bytes? as usize,
            compression,
            cors: cors?,
            max_connections,
            network_threads,
            node_attributes,
            remote: remote?,
            security: security?,
            is_page_enabled,
            has_stack_templates,
            secrets: None,
            engine_settings: Map::new(),
            notes: Vec::new(),
        })
    }
}

impl Config {
    /// Returns the data folder with the state of the node.
    pub fn main_data_path(&self) -> &Path {
        self.data_paths.first().map_or(Path::new("data"), PathBuf::as_path)
    }

    /// Checks that the server may listen on its address. Without users and TLS, anybody who reaches the
    /// address may read, change and delete everything. So it must be a loopback address, unless a setting
    /// states explicitly that the network is safe.
    ///
    /// # Errors
    /// The address is not a loopback address, users or TLS are missing, and `network.insecure` is not set.
    pub fn check_network(&self) -> Result<()> {
        let address = &self.http_address;
        let is_loopback = std::net::ToSocketAddrs::to_socket_addrs(address)
            .with_context(|| format!("the host of [{address}] is not known"))?
            .all(|address| address.ip().is_loopback());
        let missing = match (self.security.enabled, self.security.tls.is_some()) {
            (true, true) => return Ok(()),
            (true, false) => "TLS is off, so that everybody on the way could read passwords and documents",
            (false, _) => {
                "security is off, so that everybody who reaches it could read, change and delete everything"
            }
        };
        match (is_loopback, self.insecure_network) {
            (true, _) => Ok(()),
            (false, true) => {
                tracing::warn!(address, "INSECURE: {missing} (network.insecure is set)");
                Ok(())
            }
            (false, false) => bail!(
                "refusing to listen on [{address}]: it is not a loopback address, and {missing}. Start with --secure, which makes certificates \
                 and a password, or set [xpack.security.enabled] and [xpack.security.http.ssl.*]; or listen on 127.0.0.1; or set \
                 [network.insecure: true] (--insecure-network) where the network itself is safe"
            ),
        }
    }

    /// Returns the host of the address to listen on.
    pub fn host(&self) -> &str {
        let host = self.http_address.rsplit_once(':').map_or(self.http_address.as_str(), |(host, _)| host);
        host.trim_start_matches('[').trim_end_matches(']')
    }
}

/// Moves a setting out of `settings`, as text.
fn take(settings: &mut Map<String, Value>, key: &str) -> Option<String> {
    settings.shift_remove(key).map(|value| plain_text(&value))
}

/// Moves a setting out of `settings` that is a list, or a text with commas.
fn take_list(settings: &mut Map<String, Value>, key: &str) -> Option<Vec<String>> {
    settings.shift_remove(key).map(|value| match value {
        Value::Array(items) => items.iter().map(plain_text).collect(),
        other => plain_text(&other).split(',').map(|item| item.trim().to_owned()).collect(),
    })
}

/// Returns the data folders: those of the command line, or else of the configuration, or else `data`.
fn data_paths(given: &[PathBuf], configured: Option<Vec<String>>, faults: &mut Faults) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = match (given, configured) {
        ([], None) => vec!["data".into()],
        ([], Some(paths)) => paths.into_iter().map(PathBuf::from).collect(),
        (given, _) => given.to_vec(),
    };
    for (number, path) in paths.iter().enumerate() {
        let shown = path.display();
        if path.as_os_str().is_empty() {
            faults.0.push("[path.data] has a path that is empty".into());
        } else if paths[..number].contains(path) {
            faults.0.push(format!("[path.data] has the path [{shown}] twice"));
        }
    }
    if paths.is_empty() {
        faults.0.push("[path.data] has no path".into());
    }
    paths
}

/// Takes `http.host`, or else `network.host`.
fn take_host(settings: &mut Map<String, Value>) -> String {
    let host = take(settings, "http.host").or_else(|| take(settings, "network.host"));
    host.unwrap_or_else(|| "127.0.0.1".into())
}

/// Takes a setting that is either on or off.
fn take_switch(settings: &mut Map<String, Value>, key: &str, default: bool, faults: &mut Faults) -> bool {
    match take(settings, key).as_deref() {
        None => default,
        Some("true") => true,
        Some("false") => false,
        Some(other) => faults.add(format!("[{key}] must be [true] or [false], but was [{other}]"), default),
    }
}

/// Takes a setting that is a number from 1 to `most`. `None` if it is not set, is 0, or is not valid.
fn take_count(
    settings: &mut Map<String, Value>,
    key: &str,
    most: usize,
    faults: &mut Faults,
) -> Option<usize> {
    let count = take(settings, key).filter(|count| count != "0")?;
    match count.parse() {
        Ok(number) if (1..=most).contains(&number) => Some(number),
        _ => faults.add(format!("[{key}] must be a number from 0 to {most}, but was [{count}]"), None),
    }
}

/// Takes `http.compression`.
fn take_compression(settings: &mut Map<String, Value>, faults: &mut Faults) -> Compression {
    match take(settings, "http.compression").as_deref() {
        None | Some("auto") => Compression::ExceptLoopback,
        Some("true") => Compression::Always,
        Some("false") => Compression::Never,
        Some(other) => faults.add(
            format!("[http.compression] must be [auto], [true] or [false], but was [{other}]"),
            Compression::Never,
        ),
    }
}

/// Takes `log.format`, which the flag of the command line replaces.
fn log_format(settings: &mut Map<String, Value>, flag: Option<&str>, faults: &mut Faults) -> Form {
    let configured = take(settings, "log.format");
    match flag.or(configured.as_deref()) {
        None | Some("text") => Form::Text,
        Some("json") => Form::Json,
        Some(other) => {
            faults.add(format!("[log.format] must be [text] or [json], but was [{other}]"), Form::Text)
        }
    }
}

/// Takes `node.attr.*`, as pairs of a name and a value.
fn take_node_attributes(settings: &mut Map<String, Value>) -> Vec<(String, String)> {
    let attribute_keys: Vec<String> =
        settings.keys().filter(|key| key.starts_with("node.attr.")).cloned().collect();
    attribute_keys
        .into_iter()
        .filter_map(|key| {
            let value = settings.shift_remove(&key)?;
            Some((key["node.attr.".len()..].to_owned(), plain_text(&value)))
        })
        .collect()
}

/// Returns `memory.limit` in bytes; half of the usable memory if it is not set.
fn memory_limit_bytes(configured: Option<&str>, usable_bytes: u64, faults: &mut Faults) -> Option<u64> {
    let bytes = faults.take(match configured {
        Some(size) => parse_size(size, usable_bytes).with_context(|| format!("[memory.limit] is [{size}]")),
        None => Ok(usable_bytes / 2),
    })?;
    faults.take(check_memory_limit(configured, bytes, usable_bytes));
    Some(bytes)
}

/// Checks the memory limit. `text` is the setting as the user wrote it, if set.
fn check_memory_limit(text: Option<&str>, limit_bytes: u64, usable_bytes: u64) -> Result<()> {
    let shown = |bytes: u64| match bytes >> 30 {
        0..=3 => format!("{}mb", bytes >> 20),
        _ => format!("{:.1}gb", bytes as f64 / f64::from(1 << 30)),
    };
    let given = text.map_or_else(|| shown(limit_bytes), str::to_owned);
    if limit_bytes < MEMORY_LIMIT_BYTES_MIN {
        bail!("[memory.limit] is [{given}], but at least {} are needed", shown(MEMORY_LIMIT_BYTES_MIN));
    }
    if limit_bytes > usable_bytes {
        bail!(
            "[memory.limit] is [{given}], but this machine (or the cgroup that limits this process) has {}",
            shown(usable_bytes)
        );
    }
    Ok(())
}

/// The end of Elasticsearch's message about an unknown setting, in the variant without plugins.
const NO_PLUGINS: &str = " please check that any required plugins are installed, or check the breaking changes documentation for removed settings";

/// Returns all faults in the engine's settings, before a data folder is opened or created.
fn engine_faults(settings: &Map<String, Value>) -> Vec<String> {
    // The settings of S3 clients are checked as a whole when the node opens.
    let checked = settings.iter().filter(|(key, _)| !key.starts_with("s3."));
    checked
        .filter_map(|(key, value)| {
            let one = Map::from_iter([(key.clone(), value.clone())]);
            let reason = ClusterSettings::new(one, Map::new()).err()?.reason;
            Some(reason.replace(NO_PLUGINS, ""))
        })
        .collect()
}

fn remote_settings(settings: &mut Map<String, Value>) -> Result<RemoteSettings> {
    let mut list = |key: &str| match settings.shift_remove(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(plain_text).collect(),
        Some(value) => plain_text(&value)
            .split(',')
            .map(|item| item.trim().to_owned())
            .filter(|item| !item.is_empty())
            .collect(),
    };
    let mut allowed = list("reindex.remote.whitelist");
    // OpenSearch's name for the same setting.
    allowed.extend(list("reindex.remote.allowlist"));
    let certificate_authorities =
        list("reindex.ssl.certificate_authorities").into_iter().map(PathBuf::from).collect();
    let mut take = |key: &str| take(settings, key);
    let tls = TlsSettings {
        certificate_authorities,
        verification_mode: take("reindex.ssl.verification_mode"),
        certificate: take("reindex.ssl.certificate").map(PathBuf::from),
        key: take("reindex.ssl.key").map(PathBuf::from),
    };
    RemoteSettings::new(allowed, &tls)
}

/// Returns the default number of network threads. They only move bytes; the handlers run on the bounded
/// pools.
fn default_network_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(4)
}

/// Below this limit the pools cannot hold even one bulk request.
const MEMORY_LIMIT_BYTES_MIN: u64 = 64 << 20;

/// Returns the paths with commas between them, for people.
pub fn shown_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn check_version(version: &str) -> Result<()> {
    let parts: Vec<&str> = version.split('.').collect();
    if parts.len() != 3 || parts.iter().any(|part| part.parse::<u32>().is_err()) {
        bail!("[compat.version] must look like 8.14.3, but was [{version}]");
    }
    Ok(())
}

/// Parses Elasticsearch's byte sizes (`512mb`, `2gb`, `1024`) and percentages of `whole_bytes`.
pub fn parse_size(text: &str, whole_bytes: u64) -> Result<u64> {
    match byte_size::share(text, whole_bytes) {
        Some(share) => share.map_err(|_| anyhow::anyhow!("[{text}] must lie between 0% and 100%")),
        None => byte_size::parse_with_default_unit(text)
            .map(i64::unsigned_abs)
            .map_err(|_| anyhow::anyhow!("[{text}] is not a size such as 512mb, 2gb or 50%")),
    }
}

fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "limber".into(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Config {
        fn from_settings(
            mut settings: Map<String, Value>,
            overrides: &Overrides,
            usable_bytes: u64,
        ) -> Result<Config> {
            let mut faults = Faults::default();
            let config = Config::read_settings(&mut settings, overrides, usable_bytes, &mut faults);
            faults.refuse()?;
            Ok(Config { engine_settings: settings, ..config.expect("no fault, so that there is one") })
        }
    }

    #[test]
    fn sizes() {
        let check = |text: &str, expected: u64| {
            assert_eq!(parse_size(text, 1000).expect("valid"), expected, "{text}")
        };
        check("512mb", 512 << 20);
        check("2GB", 2 << 30);
        check("1.5k", 1536);
        check("77", 77);
        check("10%", 100);
        assert!(parse_size("2 apples", 1000).is_err());
        assert!(parse_size("110%", 1000).is_err());
    }

    #[test]
    fn the_account_of_the_environment_is_the_default_client() {
        let variable = |name: &str| (name != "AWS_SESSION_TOKEN").then(|| name.to_lowercase());
        let mut settings = Map::new();
        add_s3_account(&mut settings, variable);
        assert_eq!(settings.len(), 2);
        assert_eq!(settings["s3.client.default.access_key"], "aws_access_key_id");
        let mut configured =
            Map::from_iter([("s3.client.default.access_key".to_owned(), Value::from("mine"))]);
        add_s3_account(&mut configured, variable);
        assert_eq!(configured.len(), 1);
    }

    #[test]
    fn flags_win_over_settings() {
        let overrides = Overrides {
            http: Some("127.0.0.1:0".into()),
            settings: Vec::new(),
            memory_limit: Some("256mb".into()),
            ..Overrides::default()
        };
        let settings = Map::from_iter([
            ("memory.limit".to_owned(), Value::from("1gb")),
            ("node.attr.testattr".to_owned(), Value::from("test")),
            ("indices.memory.index_buffer_size".to_owned(), Value::from("20%")),
        ]);
        let config = Config::from_settings(settings, &overrides, 4 << 30).expect("valid");
        assert_eq!(config.memory_limit_bytes, 256 << 20);
        assert_eq!(config.node_attributes, [("testattr".to_owned(), "test".to_owned())]);
        assert_eq!(config.engine_settings.keys().collect::<Vec<_>>(), ["indices.memory.index_buffer_size"]);
        let wrong = Map::from_iter([("compat.version".to_owned(), "8".into())]);
        assert!(Config::from_settings(wrong, &overrides, 4 << 30).is_err());
    }

    #[test]
    fn data_folders_are_a_list_a_text_or_flags() {
        let paths = |given: &[&str], configured: Value| {
            let overrides =
                Overrides { data: given.iter().map(PathBuf::from).collect(), ..Overrides::default() };
            let mut settings = Map::new();
            if !configured.is_null() {
                settings.insert("path.data".to_owned(), configured);
            }
            let config = Config::from_settings(settings, &overrides, 4 << 30);
            config.map(|config| shown_paths(&config.data_paths)).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(paths(&[], Value::Null).as_deref(), Ok("data"));
        assert_eq!(paths(&[], "/a".into()).as_deref(), Ok("/a"));
        assert_eq!(paths(&[], "/a, /b".into()).as_deref(), Ok("/a, /b"));
        assert_eq!(paths(&[], serde_json::json!(["/a", "/b"])).as_deref(), Ok("/a, /b"));
        assert_eq!(paths(&["/c,d", "/e"], "/a".into()).as_deref(), Ok("/c,d, /e"));
        assert!(paths(&[], "/a,/b,/a".into()).expect_err("refused").contains("[/a] twice"));
        assert!(paths(&[], "/a,".into()).expect_err("refused").contains("empty"));
        assert!(paths(&[], serde_json::json!([])).expect_err("refused").contains("has no path"));
    }

    /// Returns `packaging/limber.yml` with all of its commented-out defaults enabled.
    fn sample() -> Map<String, Value> {
        let sample = include_str!("../../../packaging/limber.yml");
        let is_setting = |line: &&str| {
            let key = line.split(':').next().unwrap_or_default();
            key.contains('.') && !key.contains(' ')
        };
        let lines = sample.lines().filter_map(|line| line.strip_prefix('#')).filter(is_setting);
        let text = lines.collect::<Vec<_>>().join("\n");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("limber.yml");
        std::fs::write(&file, text).expect("written");
        let mut settings = Map::new();
        settings_file::read(&file, &mut settings).expect("YAML");
        settings
    }

    #[test]
    fn the_sample_configuration_names_every_setting_and_each_is_known() {
        let settings = sample();
        let texts = limber_engine::settings::flatten(&Value::Object(settings.clone())).expect("settings");
        for definition in limber_engine::settings::ClusterSettings::definitions() {
            let key = match definition.key {
                "logger.*" => "logger._root",
                "cluster.metadata.*" => "cluster.metadata.administrator",
                "cluster.routing.allocation.awareness.force.*" => {
                    "cluster.routing.allocation.awareness.force.zone.values"
                }
                "cluster_manager.throttling.thresholds.*" => {
                    "cluster_manager.throttling.thresholds.put-mapping.value"
                }
                key => key,
            };
            let given = texts.get(key).unwrap_or_else(|| panic!("[{key}] is missing from the sample"));
            definition.check(key, given).unwrap_or_else(|error| panic!("{}", error.reason));
        }
        let mut settings: Map<String, Value> =
            settings.into_iter().filter(|(key, _)| !key.starts_with("reindex.ssl.")).collect();
        // `load` reads these first.
        settings.retain(|key, _| !key.starts_with("s3.") && key != "path.secrets");
        let config = Config::from_settings(settings, &Overrides::default(), 4 << 30).expect("valid");
        let unknown: Vec<&String> = config
            .engine_settings
            .keys()
            .filter(|key| !limber_engine::settings::ClusterSettings::knows(key))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?} are no settings");
        assert_eq!(config.http_address, "127.0.0.1:9200");
        let port = Overrides { http: Some("9300".into()), ..Overrides::default() };
        let config = Config::from_settings(Map::new(), &port, 4 << 30).expect("valid");
        assert_eq!(config.http_address, "127.0.0.1:9300");
    }

    #[test]
    fn other_machines_are_let_in_by_name_only() {
        let check = |address: &str, is_insecure: bool| {
            let overrides = Overrides {
                http: Some(address.into()),
                insecure_network: is_insecure,
                ..Overrides::default()
            };
            Config::from_settings(Map::new(), &overrides, 4 << 30).expect("valid").check_network().is_ok()
        };
        for loopback in ["127.0.0.1:9200", "127.8.9.1:0", "localhost:9200", "[::1]:9200"] {
            assert!(check(loopback, false) && check(loopback, true), "{loopback}");
        }
        for other in ["0.0.0.0:9200", "[::]:9200", "10.1.2.3:0"] {
            assert!(!check(other, false) && check(other, true), "{other}");
        }
        let set = Map::from_iter([("network.insecure".to_owned(), Value::from(true))]);
        let config = Config::from_settings(set, &Overrides::default(), 4 << 30).expect("valid");
        assert!(config.insecure_network);
    }

    #[test]
    fn the_memory_limit_comes_from_flag_setting_file_or_what_is_usable() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("limber.yml");
        std::fs::write(&file, "memory:\n  limit: 300mb\n").expect("written");
        let check = |flag: Option<&str>, pairs: &[&str], expected_bytes: u64| {
            let overrides = Overrides {
                config_file: Some(file.clone()),
                memory_limit: flag.map(str::to_owned),
                settings: pairs.iter().map(|pair| (*pair).to_owned()).collect(),
                ..Overrides::default()
            };
            let config = Config::load(&overrides).expect("valid");
            assert_eq!(config.memory_limit_bytes, expected_bytes, "{flag:?} {pairs:?}");
        };
        check(Some("100mb"), &["memory.limit=200mb"], 100 << 20);
        check(None, &["memory.limit=200mb"], 200 << 20);
        check(None, &[], 300 << 20);

        let limit = |text: Option<&str>| {
            let overrides = Overrides { memory_limit: text.map(str::to_owned), ..Overrides::default() };
            Config::from_settings(Map::new(), &overrides, 4 << 30).map(|config| config.memory_limit_bytes)
        };
        assert_eq!(limit(None).expect("half"), 2 << 30);
        assert_eq!(limit(Some("25%")).expect("a share"), 1 << 30);
        let refused = |text: &str| limit(Some(text)).expect_err("refused").to_string();
        assert_eq!(refused("1mb"), "[memory.limit] is [1mb], but at least 64mb are needed");
        assert!(refused("500gb").ends_with("has 4.0gb"), "{}", refused("500gb"));
        assert!(limit(Some("lots")).is_err());
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let settings = |pairs: &[(&str, &str)]| {
            Map::from_iter(pairs.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))))
        };
        let fine = settings(&[("path.repo", "/r"), ("s3.client.default.endpoint", "e")]);
        assert!(engine_faults(&fine).is_empty());
        let wrong =
            ["no.such=1", "indices.memory.index_bufer_size=5%", "memory.limit=1mb", "page.enabled=maybe"];
        let one_node = ["bootstrap.memory_lock=true", "discovery.seed_hosts=a,b", "path.repo=/r"];
        let overrides = Overrides {
            settings: wrong.iter().chain(&one_node).map(|pair| (*pair).to_owned()).collect(),
            ..Overrides::default()
        };
        let error = Config::load(&overrides).expect_err("refused").to_string();
        for part in [
            "6 settings",
            "unknown setting [no.such]\n",
            "did you mean [indices.memory.index_buffer_size]?",
            "[memory.limit] is [1mb]",
            "[page.enabled] must be",
            "[bootstrap.memory_lock] cannot be [true]",
            "[discovery.seed_hosts] cannot be [a,b]",
        ] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains("exception"), "{error}");
    }
}
