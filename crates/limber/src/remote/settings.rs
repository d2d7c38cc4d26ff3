//! `reindex.remote.whitelist` and `reindex.ssl.*`: which servers are allowed, and which certificates TLS
//! trusts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use limber_mapping::RequestError;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

/// The configuration for remote servers.
#[derive(Clone, Default)]
pub struct RemoteSettings {
    /// `host:port`, where `*` stands for any characters.
    allowed: Vec<String>,
    tls: TlsConfig,
}

/// Omits the keys.
impl std::fmt::Debug for RemoteSettings {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RemoteSettings").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

/// `reindex.ssl.*` as given.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    /// Certificate files (PEM) that are trusted instead of Mozilla's authorities.
    pub certificate_authorities: Vec<PathBuf>,
    /// `full` (the default) or `none`.
    pub verification_mode: Option<String>,
    /// Files (PEM) with the certificate that this server presents.
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

impl RemoteSettings {
    /// Checks the list and reads the files.
    ///
    /// # Errors
    /// As in Elasticsearch, a list that allows every address is refused. A file cannot be read.
    pub fn new(allowed: Vec<String>, tls: &TlsSettings) -> Result<RemoteSettings> {
        if allowed.iter().any(|pattern| !pattern.is_empty() && pattern.bytes().all(|byte| byte == b'*')) {
            bail!(
                "Refusing to start because whitelist [{}] accepts all addresses. This would allow users to reindex-from-remote any URL they like \
                 effectively having Limber make HTTP GETs for them.",
                allowed.join(", ")
            );
        }
        Ok(RemoteSettings { allowed, tls: tls_config(tls)? })
    }

    /// Returns the TLS configuration: the trusted certificates and the one that this server presents.
    pub fn tls(&self) -> TlsConfig {
        self.tls.clone()
    }

    /// # Errors
    /// 400 for a server that is not listed.
    pub(super) fn check(&self, host: &str, port: u16) -> Result<(), RequestError> {
        let asked = format!("{host}:{port}");
        if self.allowed.iter().any(|pattern| matches(pattern.as_bytes(), asked.as_bytes())) {
            return Ok(());
        }
        Err(RequestError::illegal_argument(format!("[{asked}] not whitelisted in reindex.remote.whitelist")))
    }
}

/// Whether the pattern, in which `*` stands for any bytes, matches the whole string.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // The position after the last star, and the position in the string up to which that star matches.
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(byte) if *byte == text[seen] => (at, seen) = (at + 1, seen + 1),
            _ => match star {
                None => return false,
                Some((star_at, upto)) => {
                    star = Some((star_at, upto + 1));
                    (at, seen) = (star_at + 1, upto + 1);
                }
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

fn tls_config(settings: &TlsSettings) -> Result<TlsConfig> {
    let verifies = match settings.verification_mode.as_deref() {
        None | Some("full") => true,
        Some("none") => false,
        Some("certificate") => bail!(
            "[reindex.ssl.verification_mode] [certificate] is not supported by Limber yet, only [full] and [none]"
        ),
        Some(other) => bail!("[reindex.ssl.verification_mode] must be [full] or [none], but was [{other}]"),
    };
    let mut builder = TlsConfig::builder().disable_verification(!verifies);
    if !settings.certificate_authorities.is_empty() {
        let mut trusted = Vec::new();
        for file in &settings.certificate_authorities {
            trusted.extend(certificates("reindex.ssl.certificate_authorities", file)?);
        }
        builder = builder.root_certs(RootCerts::new_with_certs(&trusted));
    }
    match (&settings.certificate, &settings.key) {
        (None, None) => {}
        (Some(certificate), Some(key)) => {
            let chain = certificates("reindex.ssl.certificate", certificate)?;
            let secret = PrivateKey::from_pem(&read("reindex.ssl.key", key)?).map_err(|_| {
                anyhow::anyhow!("[reindex.ssl.key]: {} holds no private key in PEM form", key.display())
            })?;
            builder = builder.client_cert(Some(ClientCert::new_with_certs(&chain, secret)));
        }
        _ => bail!("[reindex.ssl.certificate] and [reindex.ssl.key] are given together or not at all"),
    }
    Ok(builder.build())
}

fn read(setting: &str, file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("[{setting}]: cannot read {}", file.display()))
}

fn certificates(setting: &str, file: &Path) -> Result<Vec<Certificate<'static>>> {
    let bytes = read(setting, file)?;
    let mut found = Vec::new();
    for item in parse_pem(&bytes) {
        match item.with_context(|| format!("[{setting}]: {} is not in PEM form", file.display()))? {
            PemItem::Certificate(certificate) => found.push(certificate),
            _ => continue,
        }
    }
    if found.is_empty() {
        bail!("[{setting}]: {} holds no certificate in PEM form", file.display());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_servers_may_be_asked() {
        let check = |allowed: &[&str], host: &str, port: u16, expected: bool| {
            let allowed = allowed.iter().map(|pattern| (*pattern).to_owned()).collect();
            let settings = RemoteSettings::new(allowed, &TlsSettings::default()).expect("valid");
            assert_eq!(settings.check(host, port).is_ok(), expected, "{host}:{port}");
        };
        check(&[], "otherhost", 9200, false);
        check(&["otherhost:9200", "127.0.10.*:9200", "localhost:*"], "otherhost", 9200, true);
        check(&["127.0.10.*:9200"], "127.0.10.7", 9200, true);
        check(&["127.0.10.*:9200"], "127.0.10.7", 9201, false);
        check(&["localhost:*"], "localhost", 1, true);
        check(&["*.example.com:92*0"], "a.b.example.com", 9200, true);
        check(&["*.example.com:92*0"], "example.com", 9200, false);
        check(&["localhost:9200"], "localhost", 920, false);
        check(&["*:9200"], "any", 9200, true);
        check(&["[::1]:*"], "[::1]", 9200, true);
    }

    #[test]
    fn a_list_of_everything_and_wrong_files_refuse_the_start() {
        for all in ["*", "**"] {
            let refused = RemoteSettings::new(vec!["a:1".into(), all.into()], &TlsSettings::default());
            assert!(refused.expect_err("refused").to_string().contains("accepts all addresses"));
        }
        let refused =
            |tls: TlsSettings| RemoteSettings::new(Vec::new(), &tls).expect_err("refused").to_string();
        let mode =
            |mode: &str| TlsSettings { verification_mode: Some(mode.into()), ..TlsSettings::default() };
        assert!(refused(mode("certificate")).contains("not supported"));
        assert!(refused(mode("some")).contains("must be [full] or [none]"));
        let missing =
            TlsSettings { certificate_authorities: vec!["/nowhere/ca.pem".into()], ..TlsSettings::default() };
        assert!(
            refused(missing).contains("[reindex.ssl.certificate_authorities]: cannot read /nowhere/ca.pem")
        );
        let half = TlsSettings { key: Some("/nowhere/key.pem".into()), ..TlsSettings::default() };
        assert!(refused(half).contains("together"));
    }
}
