//! TLS connections: which certificates are trusted, and which one the client shows.
//!
//! The options are those of Rally's client (`esrally/client/factory.py`): certificates are checked against
//! Mozilla's authorities or a file of the user; a host given by its IP address need not be named in its
//! certificate; and a certificate of the client is shown if there is one. TLS itself is rustls.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::Error;

/// TLS options of one cluster.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TlsOptions {
    /// Whether the certificate of a server is verified (`verify_certs`).
    pub verifies: bool,
    /// Certificates (PEM) that are trusted instead of Mozilla's authorities (`ca_certs`).
    pub ca_certs: Option<PathBuf>,
    /// Certificate chain and key (PEM) of the client (`client_cert`, `client_key`; one file may contain
    /// both).
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Default for TlsOptions {
    fn default() -> Self {
        TlsOptions { verifies: true, ca_certs: None, identity: None }
    }
}

/// TLS to one host.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    pub config: Arc<ClientConfig>,
    pub server: ServerName<'static>,
}

impl TlsOptions {
    /// Reads the files that the options name.
    ///
    /// Errors: a file that cannot be read or contains nothing usable, with its option.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Arc::new(self.verifier(&provider)?);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Argument(format!("TLS is not available: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let chain = certificates("client_cert", cert)?;
                let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| {
                    Error::Argument(format!("client option [client_key], file [{}]: {error}", key.display()))
                })?;
                builder.with_client_auth_cert(chain, secret).map_err(|error| {
                    Error::Argument(format!("client options [client_cert] and [client_key]: {error}"))
                })?
            }
        };
        Ok(Arc::new(config))
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Verifier, Error> {
        let algorithms = provider.signature_verification_algorithms;
        if !self.verifies {
            return Ok(Verifier { chain: None, trusted: Vec::new(), algorithms });
        }
        let (mut roots, mut trusted) = (RootCertStore::empty(), Vec::new());
        match &self.ca_certs {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(file) => {
                trusted = certificates("ca_certs", file)?;
                let (added, _) = roots.add_parsable_certificates(trusted.iter().cloned());
                if added == 0 {
                    return Err(Error::Argument(format!(
                        "client option [ca_certs]: no certificate in [{}] is usable",
                        file.display()
                    )));
                }
            }
        }
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| Error::Argument(format!("client option [ca_certs]: {error}")))?;
        Ok(Verifier { chain: Some(chain), trusted, algorithms })
    }
}

fn certificates(option: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |reason: String| {
        Error::Argument(format!("client option [{option}], file [{}]: {reason}", file.display()))
    };
    let read = CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.to_string()))?;
    let found: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() {
        return Err(wrong("it holds no certificate in PEM form".into()));
    }
    Ok(found)
}

/// Returns the name that the server's certificate must have, from the host as the user wrote it.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => Ok(ServerName::IpAddress(address.into())),
        Err(_) => ServerName::try_from(bare.to_owned())
            .map_err(|_| Error::Argument(format!("[{host}] is not a name that a certificate can hold"))),
    }
}

#[derive(Debug)]
struct Verifier {
    /// `None` if every certificate is accepted.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates of the user's file. A server that shows one of them is trusted even if the certificate is
    /// not an authority, as with OpenSSL.
    trusted: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        let is_address = matches!(server_name, ServerName::IpAddress(_));
        if self.trusted.contains(end_entity) {
            if !is_address {
                let parsed = rustls::server::ParsedCertificate::try_from(end_entity)?;
                rustls::client::verify_server_name(&parsed, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Chains are checked before names.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if is_address => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
