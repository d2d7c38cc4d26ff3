//! `limber serve --secure`: creates certificates and a password if there are none yet.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use limber_codec::hex::hex;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::pki_types::pem::PemObject as _;

use super::settings::{ClientAuthentication, ServerTls};

/// The folder within the data folder that holds the created files.
pub const SECURE_FOLDER: &str = "certs";

/// The certificates of a server, new or existing.
#[derive(Debug)]
pub struct ServerCertificates {
    pub tls: ServerTls,
    /// The certificate authority that clients must trust.
    pub authority: PathBuf,
    /// Whether they were created just now.
    pub is_new: bool,
}

/// Creates a certificate authority and a certificate for `host`, this machine's name and its loopback
/// addresses, unless they exist.
///
/// # Errors
/// The files cannot be written.
pub fn secure(data: &Path, host: &str, node_name: &str) -> Result<ServerCertificates> {
    let folder = data.join(SECURE_FOLDER);
    let (authority, certificate, key) =
        (folder.join("http_ca.crt"), folder.join("http.crt"), folder.join("http.key"));
    let is_new = !(certificate.exists() && key.exists());
    if is_new {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let made = make(host, node_name).context("cannot create a certificate")?;
        write(&authority, &made.authority, 0o644)?;
        write(&key, &made.key, 0o600)?;
        write(&certificate, &made.certificate, 0o644)?;
    }
    let tls = ServerTls {
        certificate,
        key,
        certificate_authorities: Vec::new(),
        client_authentication: ClientAuthentication::None,
        with_tls13: true,
        with_tls12: true,
    };
    Ok(ServerCertificates { tls, authority, is_new })
}

struct Pems {
    authority: String,
    certificate: String,
    key: String,
}

fn make(host: &str, node_name: &str) -> Result<Pems> {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "Limber HTTP authority");
    let authority_key = KeyPair::generate()?;
    let authority_certificate = authority.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority, authority_key);

    let mut names: Vec<String> = vec!["localhost".into(), "127.0.0.1".into(), "::1".into()];
    for name in [host, node_name] {
        let is_usable = !name.is_empty() && name != "0.0.0.0" && name != "::" && name.is_ascii();
        if is_usable && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let mut own = CertificateParams::default();
    own.distinguished_name.push(DnType::CommonName, node_name);
    own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    own.use_authority_key_identifier_extension = true;
    for name in &names {
        own.subject_alt_names.push(match name.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(name.as_str().try_into()?),
        });
    }
    let key = KeyPair::generate()?;
    let certificate = own.signed_by(&key, &issuer)?;
    Ok(Pems {
        authority: authority_certificate.pem(),
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}

fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    let named = || format!("cannot write {}", path.display());
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(mode)
        .open(path)
        .with_context(named)?;
    file.write_all(text.as_bytes()).with_context(named)?;
    file.sync_all().with_context(named)
}

/// Returns the SHA-256 of a certificate as hexadecimal digits, as clients expect it in `ca_fingerprint`.
///
/// # Errors
/// The file cannot be read.
pub fn fingerprint(certificate: &Path) -> Result<String> {
    use sha2::{Digest, Sha256};
    let der = rustls::pki_types::CertificateDer::from_pem_file(certificate)
        .with_context(|| format!("cannot read {}", certificate.display()))?;
    Ok(hex(&Sha256::digest(&der)))
}
