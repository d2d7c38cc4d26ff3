//! The address to listen on, from a flag or from settings. A mistake in its form is named before a name is
//! looked up.

use std::net::Ipv6Addr;

use anyhow::{Result, bail};

/// Returns the address to listen on. A flag with a port alone is combined with the configured host.
///
/// # Errors
/// It is not `host:port`.
pub(super) fn http_address(flag: Option<&str>, host: &str, port: &str) -> Result<String> {
    let is_port = |flag: &&str| !flag.is_empty() && flag.bytes().all(|byte| byte.is_ascii_digit());
    let (address, named) = match flag {
        None => (format!("{host}:{port}"), "the address of [http.host] and [http.port]"),
        Some(flag) if is_port(&flag) => (format!("{host}:{flag}"), "the address of [http.host] and [--http]"),
        Some(address) => (address.to_owned(), "[--http]"),
    };
    if let Some((scheme, rest)) = address.split_once("://") {
        let advice = match scheme {
            "https" => "; --secure or [xpack.security.http.ssl.*] turns TLS on",
            _ => "",
        };
        bail!(
            "{named} is [{address}], but must be HOST:PORT, such as [{}]{advice}",
            rest.trim_end_matches('/')
        );
    }
    if address.starts_with("[\"") {
        bail!("{named} is [{address}], but the server listens on one address only");
    }
    let Some((host, port)) = address.rsplit_once(':') else {
        bail!("{named} is [{address}], but must be HOST:PORT or a port, such as [{address}:9200]");
    };
    if port.parse::<u16>().is_err() {
        let advice = if port.contains('-') { ": a range of ports is not supported" } else { "" };
        bail!("{named} is [{address}], but [{port}] is not a port from 0 to 65535{advice}");
    }
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    if host.contains(':') && !is_bracketed && host.parse::<Ipv6Addr>().is_err() {
        bail!("{named} is [{address}], but [{host}] is not a host; an IPv6 address is written as [::1]:9200");
    }
    match host {
        "" | "*" => bail!("{named} is [{address}], which has no host; [0.0.0.0:{port}] is all addresses"),
        _ if host.starts_with('_') && host.ends_with('_') => {
            bail!(
                "{named} is [{address}], but names such as [{host}] are not supported; write the IP address"
            )
        }
        _ => Ok(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(flag: Option<&str>, host: &str, port: &str) -> Result<String, String> {
        http_address(flag, host, port).map_err(|error| error.to_string())
    }

    #[test]
    fn addresses_have_a_host_and_a_port() {
        let check = |flag, expected: &str| {
            assert_eq!(address(flag, "127.0.0.1", "9200").as_deref(), Ok(expected), "{flag:?}");
        };
        check(None, "127.0.0.1:9200");
        check(Some("9300"), "127.0.0.1:9300");
        check(Some("localhost:0"), "localhost:0");
        check(Some("[::1]:9200"), "[::1]:9200");
        check(Some("::1:9200"), "::1:9200");
        let refused = |flag: &str, part: &str| {
            let told = address(Some(flag), "127.0.0.1", "9200").expect_err(flag);
            assert!(told.contains(part) && told.starts_with(&format!("[--http] is [{flag}]")), "{told}");
        };
        refused("http://127.0.0.1:9200/", "such as [127.0.0.1:9200]");
        refused("https://es:9200", "--secure");
        refused("localhost", "such as [localhost:9200]");
        refused("localhost:", "[] is not a port");
        refused("localhost:99999", "[99999] is not a port");
        refused("localhost:9200/x", "[9200/x] is not a port");
        refused(":9200", "[0.0.0.0:9200] is all addresses");
        refused("a:b:9200", "[a:b] is not a host");
        let settings = |host, port, part: &str| {
            let told = address(None, host, port).expect_err("refused");
            assert!(told.contains(part) && told.contains("[http.host]"), "{told}");
        };
        settings("127.0.0.1", "9200-9300", "a range of ports is not supported");
        settings("_site_", "9200", "[_site_] are not supported");
        settings(r#"["a","b"]"#, "9200", "one address only");
    }
}
