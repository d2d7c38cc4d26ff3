//! Resolves the hosts that the user names.

use std::net::{SocketAddr, ToSocketAddrs};

use super::ClientOptions;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::http::{Address, Tls, server_name};

/// Port of `https://` without one.
const HTTPS_PORT: u16 = 443;

/// Resolves the hosts of one cluster: `host:port`, or `http://` or `https://` with host, port and an optional
/// path that precedes the path of every request.
///
/// Errors: a host that has no port, cannot be resolved, or contains credentials; files of the TLS options.
pub(crate) fn resolve(hosts: &[String], options: &ClientOptions) -> Result<Vec<Address>, Error> {
    if hosts.is_empty() {
        return Err(Error::argument("no target host is given"));
    }
    let mut config = None;
    let mut addresses = Vec::with_capacity(hosts.len());
    for host in hosts {
        let wrong = |reason: Error| reason.within(format_args!("target host [{host}]"));
        let parts = Parts::of(host, options.uses_tls).map_err(wrong)?;
        let tls = match parts.uses_tls {
            false => None,
            true => {
                let config = match &config {
                    Some(config) => config,
                    None => config.insert(options.tls.config()?),
                };
                Some(Tls { config: config.clone(), server: server_name(&parts.name).map_err(wrong)? })
            }
        };
        let answers = options.static_responses.clone();
        let sockets = match answers {
            // No request is sent, so the host need not exist.
            Some(_) => Vec::new(),
            None => sockets(&parts.authority).map_err(wrong)?,
        };
        addresses.push(Address { authority: parts.authority, sockets, prefix: parts.prefix, tls, answers });
    }
    Ok(addresses)
}

/// Returns at least one address.
fn sockets(authority: &str) -> Result<Vec<SocketAddr>, Error> {
    let found = authority
        .to_socket_addrs()
        .map_err(|error| Error::Argument(format!("{error} (expected host:port)")))?;
    let sockets: Vec<SocketAddr> = found.collect();
    if sockets.is_empty() { Err(Error::argument("the name has no address")) } else { Ok(sockets) }
}

/// Returns a connection for individual calls to the hosts of one cluster.
///
/// Errors: those of [`resolve`].
pub(crate) fn connect(hosts: &[String], options: &ClientOptions) -> Result<Cluster, Error> {
    Cluster::new(&resolve(hosts, options)?, &options.header_lines(None), options.timeout)
}

struct Parts {
    uses_tls: bool,
    /// The host without the port.
    name: String,
    authority: String,
    prefix: String,
}

impl Parts {
    fn of(host: &str, uses_tls: bool) -> Result<Parts, Error> {
        let (is_https, rest) = match host.split_once("://") {
            None => (false, host),
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            Some((other, _)) => {
                return Err(Error::Argument(format!(
                    "[{other}] is not a protocol of a server; use http or https"
                )));
            }
        };
        let (authority, path) =
            rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
        if authority.contains('@') {
            return Err(Error::argument(
                "user and password belong into --client-options: basic_auth_user, basic_auth_password",
            ));
        }
        let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
        let (name, authority) = match port_at {
            Some(at) => (&authority[..at], authority.to_owned()),
            None if is_https => (authority, format!("{authority}:{HTTPS_PORT}")),
            None => return Err(Error::argument("it has no port (expected host:port)")),
        };
        let path = path.trim_end_matches('/');
        if !path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'?' && byte != b'#') {
            return Err(Error::argument("its path cannot stand in a request"));
        }
        Ok(Parts {
            uses_tls: is_https || uses_tls,
            name: name.to_owned(),
            authority,
            prefix: if path.is_empty() { String::new() } else { format!("/{path}") },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::StaticAnswers;

    #[test]
    fn hosts() {
        #[track_caller]
        fn check(host: &str, expected: Result<(&str, &str, bool), &str>) {
            let parts = Parts::of(host, false);
            match (&parts, expected) {
                (Ok(parts), Ok(expected)) => {
                    assert_eq!((parts.authority.as_str(), parts.prefix.as_str(), parts.uses_tls), expected);
                }
                (Err(reason), Err(expected)) => assert!(reason.to_string().contains(expected), "{reason}"),
                _ => panic!("{host}: {:?}", parts.map(|parts| parts.authority)),
            }
        }
        check("127.0.0.1:9200", Ok(("127.0.0.1:9200", "", false)));
        check("http://es:9200/", Ok(("es:9200", "", false)));
        check("https://es", Ok(("es:443", "", true)));
        check("https://es:9243/search/a/", Ok(("es:9243", "/search/a", true)));
        check("[::1]:9200", Ok(("[::1]:9200", "", false)));
        check("es", Err("expected host:port"));
        check("[::1]", Err("expected host:port"));
        check("https://u:p@es:9200", Err("basic_auth_user"));
        check("ftp://es:9200", Err("[ftp] is not a protocol"));
        check("es:9200/a b", Err("its path"));
    }

    #[test]
    fn names_have_addresses() {
        let options = ClientOptions::default();
        let found = resolve(&["127.0.0.1:9200".into()], &options).unwrap();
        assert_eq!(found[0].sockets[0].port(), 9200);
        assert!(resolve(&[], &options).is_err());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("answers.json");
        std::fs::write(&file, "[]").unwrap();
        let answers = Some(StaticAnswers::read(&file).unwrap().into());
        let unasked = ClientOptions { static_responses: answers, ..ClientOptions::default() };
        assert!(resolve(&["no.such.host.invalid:1".into()], &unasked).unwrap()[0].sockets.is_empty());
        let secure = ClientOptions { uses_tls: true, ..ClientOptions::default() };
        assert!(resolve(&["127.0.0.1:9200".into()], &secure).unwrap()[0].tls.is_some());
    }
}
