//! TLS of the listener: "which certificate is used, and which clients are trusted?"
//!
//! The files are read again when they change, so that a certificate can be renewed without a restart. If they
//! cannot be used at startup, the server does not start; later the previous ones stay in use, and the log
//! says why.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use parking_lot::Mutex;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::TlsAcceptor;

use crate::security::{ClientAuthentication, ServerTls};

/// Interval at which the files are checked, like Elasticsearch's `resource.reload.interval.high`.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The current TLS configuration of the listener.
pub struct Tls {
    settings: ServerTls,
    current: Mutex<Current>,
}

struct Current {
    acceptor: TlsAcceptor,
    stamps: Vec<Option<(SystemTime, u64)>>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or used. The message names the file and its setting.
    pub fn open(settings: ServerTls) -> Result<Tls> {
        let stamps = stamps(&settings);
        let acceptor = acceptor(&settings)?;
        Ok(Tls { settings, current: Mutex::new(Current { acceptor, stamps }) })
    }

    /// Returns the acceptor for the next connection.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.current.lock().acceptor.clone()
    }

    /// Reads the files again if they changed.
    fn look(&self) {
        let now = stamps(&self.settings);
        if self.current.lock().stamps == now {
            return;
        }
        let certificate = self.settings.certificate.display();
        match acceptor(&self.settings) {
            Ok(acceptor) => {
                *self.current.lock() = Current { acceptor, stamps: now };
                tracing::info!(%certificate, "the certificate was read again");
            }
            Err(error) => {
                // Most likely only some of the files have been replaced; the next check tries again.
                tracing::warn!(error = format!("{error:#}"), "the certificate before stays in use");
            }
        }
    }

    /// Checks the files periodically until the last reference to this is dropped.
    pub async fn watch(self: Arc<Self>) {
        let watched = Arc::downgrade(&self);
        drop(self);
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let Some(tls) = watched.upgrade() else { return };
            let _ = tokio::task::spawn_blocking(move || tls.look()).await;
        }
    }
}

fn stamps(settings: &ServerTls) -> Vec<Option<(SystemTime, u64)>> {
    let files = [&settings.certificate, &settings.key].into_iter().chain(&settings.certificate_authorities);
    files
        .map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        })
        .collect()
}

fn acceptor(settings: &ServerTls) -> Result<TlsAcceptor> {
    let chain = certificates(&settings.certificate, "certificate")?;
    let key_path = settings.key.display();
    let key = PrivateKeyDer::from_pem_file(&settings.key)
        .with_context(|| format!("[http.ssl.key] {key_path} is not a readable private key in PEM form"))?;
    let versions: Vec<&'static SupportedProtocolVersion> =
        [(settings.with_tls13, &rustls::version::TLS13), (settings.with_tls12, &rustls::version::TLS12)]
            .into_iter()
            .filter_map(|(with, version)| with.then_some(version))
            .collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&versions)
        .context("[http.ssl.supported_protocols] leaves no protocol")?;
    let builder = match settings.client_authentication {
        ClientAuthentication::None => builder.with_no_client_auth(),
        asked => {
            let mut roots = RootCertStore::empty();
            for path in &settings.certificate_authorities {
                for certificate in certificates(path, "certificate_authorities")? {
                    roots.add(certificate).with_context(|| {
                        format!(
                            "[http.ssl.certificate_authorities] {} contains no usable authority",
                            path.display()
                        )
                    })?;
                }
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            let verifier = match asked {
                ClientAuthentication::Optional => verifier.allow_unauthenticated(),
                _ => verifier,
            };
            builder.with_client_cert_verifier(verifier.build().context("[http.ssl.certificate_authorities]")?)
        }
    };
    let mut config = builder.with_single_cert(chain, key).with_context(|| {
        format!(
            "[http.ssl.certificate] {} does not belong to [http.ssl.key] {key_path}",
            settings.certificate.display()
        )
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path, setting: &str) -> Result<Vec<CertificateDer<'static>>> {
    let named =
        || format!("[http.ssl.{setting}] {} is no certificate in PEM that can be read", path.display());
    let found: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .with_context(named)?
        .collect::<Result<_, _>>()
        .with_context(named)?;
    if found.is_empty() {
        bail!("[http.ssl.{setting}] {} holds no certificate", path.display());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path) -> ServerTls {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let (certificate, key) = (folder.join("a.crt"), folder.join("a.key"));
        std::fs::write(&certificate, made.cert.pem()).expect("written");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
        ServerTls {
            certificate,
            key,
            certificate_authorities: Vec::new(),
            client_authentication: ClientAuthentication::None,
            with_tls13: true,
            with_tls12: true,
        }
    }

    #[test]
    fn files_are_read_again_and_bad_ones_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = write(folder.path());
        let tls = Tls::open(settings.clone()).expect("they fit");
        let before = tls.current.lock().stamps.clone();
        std::fs::write(&settings.certificate, "no certificate").expect("written");
        tls.look();
        assert_eq!(tls.current.lock().stamps, before, "the ones before stay in use");
        let error = format!("{:#}", Tls::open(settings.clone()).err().expect("refused"));
        assert!(error.contains("[http.ssl.certificate]") && error.contains("a.crt"), "{error}");
        write(folder.path());
        tls.look();
        assert_ne!(tls.current.lock().stamps, before);
        std::fs::remove_file(&settings.key).expect("removed");
        let error = format!("{:#}", Tls::open(settings).err().expect("refused"));
        assert!(error.contains("[http.ssl.key]") && error.contains("a.key"), "{error}");
    }
}
