//! The clusters that the user names.

use serde_json::{Map, Value};

use super::ClientOptions;
use crate::arguments::parse;
use crate::error::Error;
use crate::model::Params;

/// Name of the cluster that is raced.
pub(crate) const DEFAULT_CLUSTER: &str = "default";

/// A cluster as the user described it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClusterTarget {
    pub name: String,
    pub hosts: Vec<String>,
    pub options: ClientOptions,
}

/// Returns the clusters of `--target-hosts` with their `--client-options` (if `None`, Rally's default
/// `timeout:60` for all). The cluster that is raced comes first.
///
/// Errors: an argument has neither form, an option is wrong, or the two arguments name different clusters.
pub(crate) fn clusters(
    target_hosts: &str,
    client_options: Option<&str>,
) -> Result<Vec<ClusterTarget>, Error> {
    let hosts = hosts_by_cluster(target_hosts)?;
    let mut options = match client_options {
        Some(argument) => options_by_cluster(argument)?,
        None => hosts.iter().map(|(name, _)| (name.clone(), ClientOptions::default())).collect(),
    };
    let names = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.join(", ")
    };
    let hosts_names = names(hosts.iter().map(|(name, _)| name.as_str()).collect());
    let options_names = names(options.iter().map(|(name, _)| name.as_str()).collect());
    if hosts_names != options_names {
        return Err(Error::Argument(format!(
            "--target-hosts and --client-options must name the same clusters, but the hosts are those of \
             [{hosts_names}] and the options those of [{options_names}]"
        )));
    }
    if !hosts.iter().any(|(name, _)| name == DEFAULT_CLUSTER) {
        return Err(Error::Argument(format!(
            "--target-hosts has no cluster [{DEFAULT_CLUSTER}], which is the one that is raced"
        )));
    }
    let mut found: Vec<ClusterTarget> = Vec::with_capacity(hosts.len());
    for (name, hosts) in hosts {
        let at = options
            .iter()
            .position(|(known, _)| *known == name)
            .ok_or_else(|| Error::argument("the names are the same"))?;
        found.push(ClusterTarget { hosts, options: options.swap_remove(at).1, name });
    }
    found.sort_by_key(|cluster| cluster.name != DEFAULT_CLUSTER);
    Ok(found)
}

/// Reads `host:port,host:port`, or a JSON object (or the name of a `.json` file with one) of lists of hosts.
fn hosts_by_cluster(argument: &str) -> Result<Vec<(String, Vec<String>)>, Error> {
    let is_object = argument.trim_start().starts_with('{') || argument.ends_with(".json");
    if !is_object {
        let hosts = argument.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned);
        return Ok(vec![(DEFAULT_CLUSTER.to_owned(), hosts.collect())]);
    }
    let object = parse(argument).map_err(|error| error.within("--target-hosts"))?;
    object
        .into_iter()
        .map(|(name, hosts)| {
            let list = host_list(&name, hosts)?;
            Ok((name, list))
        })
        .collect()
}

fn host_list(cluster: &str, hosts: Value) -> Result<Vec<String>, Error> {
    let list = match hosts {
        Value::Array(list) => list,
        single => vec![single],
    };
    let wrong = |host: &Value| {
        Error::Argument(format!(
            "--target-hosts: [{host}] of cluster [{cluster}] is neither host:port nor an object of host and port"
        ))
    };
    list.iter().map(|host| host_text(host).ok_or_else(|| wrong(host))).collect()
}

/// Rally's clients also accept `{"host": "…", "port": 9200, "use_ssl": true, "url_prefix": "…"}`.
fn host_text(host: &Value) -> Option<String> {
    let Value::Object(parts) = host else { return host.as_str().map(str::to_owned) };
    let known = ["host", "port", "use_ssl", "url_prefix"];
    if parts.keys().any(|key| !known.contains(&key.as_str())) {
        return None;
    }
    let protocol =
        if parts.get("use_ssl").is_some_and(|flag| *flag == Value::Bool(true)) { "https" } else { "http" };
    let prefix = parts.get("url_prefix").map_or(Some(""), Value::as_str)?.trim_matches('/');
    Some(format!("{protocol}://{}:{}/{prefix}", parts.get("host")?.as_str()?, parts.get("port")?.as_u64()?))
}

fn options_by_cluster(argument: &str) -> Result<Vec<(String, ClientOptions)>, Error> {
    let params = parse(argument).map_err(|error| error.within("--client-options"))?;
    let is_by_cluster =
        !params.is_empty() && (params.contains_key(DEFAULT_CLUSTER) || params.values().all(is_options));
    if !is_by_cluster {
        return Ok(vec![(DEFAULT_CLUSTER.to_owned(), ClientOptions::from_params(&params)?)]);
    }
    let read = |(name, options): (String, Value)| {
        let options: Params = match options {
            Value::Object(options) => options,
            other => {
                return Err(Error::Argument(format!(
                    "--client-options: [{other}] of cluster [{name}] is not an object of options"
                )));
            }
        };
        let options = ClientOptions::from_params(&options)
            .map_err(|reason| reason.within(format_args!("cluster [{name}]")))?;
        Ok((name, options))
    };
    params.into_iter().map(read).collect()
}

/// Whether this is the options of a cluster, and not a single option that is an object (`headers`).
fn is_options(value: &Value) -> bool {
    let is_flat = |options: &Map<String, Value>| options.keys().all(|key| !key.contains('-'));
    value.as_object().is_some_and(is_flat)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hosts: &str, options: Option<&str>) -> Vec<(String, Vec<String>, u64)> {
        let found = clusters(hosts, options).unwrap();
        found.into_iter().map(|one| (one.name, one.hosts, one.options.timeout.as_secs())).collect()
    }

    fn expect(name: &str, hosts: &[&str], timeout_s: u64) -> (String, Vec<String>, u64) {
        (name.into(), hosts.iter().map(|host| (*host).to_owned()).collect(), timeout_s)
    }

    #[test]
    fn one_cluster_or_several() {
        assert_eq!(check("a:1, b:2", None), [expect("default", &["a:1", "b:2"], 60)]);
        assert_eq!(check("a:1", Some("timeout:9")), [expect("default", &["a:1"], 9)]);
        assert_eq!(check("a:1", Some(r#"{"timeout": 7}"#)), [expect("default", &["a:1"], 7)]);
        let two = r#"{"remote": ["c:3", {"host": "d", "port": 4, "use_ssl": true}], "default": "a:1"}"#;
        assert_eq!(
            check(two, None),
            [expect("default", &["a:1"], 60), expect("remote", &["c:3", "https://d:4/"], 60)]
        );
        let options = r#"{"default": {"timeout": 5}, "remote": {}}"#;
        assert_eq!(check(two, Some(options))[0].2, 5);
    }

    #[test]
    fn files_hold_either_form() {
        let folder = tempfile::tempdir().unwrap();
        let (hosts, options) = (folder.path().join("hosts.json"), folder.path().join("options.json"));
        std::fs::write(&hosts, r#"{"default": ["a:1"], "other": ["b:2"]}"#).unwrap();
        std::fs::write(&options, r#"{"default": {"timeout": 3}, "other": {"timeout": 4}}"#).unwrap();
        let found = check(hosts.to_str().unwrap(), options.to_str());
        assert_eq!(found, [expect("default", &["a:1"], 3), expect("other", &["b:2"], 4)]);
    }

    #[test]
    fn clusters_that_do_not_fit_are_refused() {
        let fails = |hosts: &str, options: Option<&str>, expected: &str| {
            let reason = clusters(hosts, options).unwrap_err();
            assert!(reason.to_string().contains(expected), "{reason}");
        };
        let two = r#"{"default": ["a:1"], "remote": ["b:2"]}"#;
        fails(two, Some("timeout:5"), "must name the same clusters");
        fails(two, Some(r#"{"default": {}, "remote": {"x": 1}}"#), "cluster [remote]: client option [x]");
        fails(r#"{"remote": ["b:2"]}"#, None, "no cluster [default]");
        fails(r#"{"default": [7]}"#, None, "neither host:port");
        fails("/no/such/hosts.json", None, "--target-hosts");
    }
}
