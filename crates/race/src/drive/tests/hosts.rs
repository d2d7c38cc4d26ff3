//! Tests of how the client connects to servers with its options.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use rustls::server::WebPkiClientVerifier;
use serde_json::json;

use super::stub::{Asked, Stub};
use super::whole_race::{counting_server, race_on};
use super::{config, race, task, track};
use crate::arguments::parse;
use crate::http::cluster::Cluster;
use crate::server::hosts::{ClientOptions, ClusterTarget, Retries};

/// A certificate authority with a server's and a client's certificate, as files.
struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    /// `server_names` are the names or addresses in the server's certificate.
    fn new(server_names: &[&str]) -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap();
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        let issuer = Issuer::new(params, key);
        for (file, names) in [("server", server_names), ("client", &["client"])] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let key = KeyPair::generate().unwrap();
            let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
            std::fs::write(folder.path().join(format!("{file}.pem")), certificate.pem()).unwrap();
            std::fs::write(folder.path().join(format!("{file}.key")), key.serialize_pem()).unwrap();
        }
        Certificates { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn server(&self, wants_client: bool) -> rustls::ServerConfig {
        let certificate = |path: &Path| CertificateDer::from_pem_file(path).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&self.file("ca.pem"))).unwrap();
        let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match wants_client {
            false => builder.with_no_client_auth(),
            true => builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap(),
            ),
        };
        let key = PrivateKeyDer::from_pem_file(self.file("server.key")).unwrap();
        builder.with_single_cert(vec![certificate(&self.file("server.pem"))], key).unwrap()
    }

    fn options(&self, more: &str) -> ClientOptions {
        let ca = self.file("ca.pem");
        options(&format!("use_ssl:true,ca_certs:'{}'{more}", ca.display()))
    }
}

fn options(text: &str) -> ClientOptions {
    ClientOptions::from_params(&parse(text).unwrap()).unwrap()
}

#[test]
fn a_race_behind_tls() {
    let certificates = Certificates::new(&["127.0.0.1"]);
    let stub = Stub::start_tls(certificates.server(false), |_| None);
    let (outcome, progress, _home) = race_on(&stub, |config| config.client = certificates.options(""));
    assert!(outcome.unwrap().errors.is_empty());
    assert!(stub.lines().iter().any(|line| line.starts_with("PUT /_bulk")), "{progress:?}");
    // `https://` alone is enough, and a certificate that is not verified needs no authority.
    let (outcome, progress, _home) = race_on(&stub, |config| {
        config.hosts = vec![format!("https://{}", stub.host)];
        config.client = options("verify_certs:false");
    });
    assert!(outcome.unwrap().errors.is_empty());
    assert!(progress.iter().any(|line| line.contains("Certificates are not verified")), "{progress:?}");
}

#[test]
fn servers_have_to_prove_who_they_are() {
    let certificates = Certificates::new(&["elsewhere.example"]);
    let stub = Stub::start_tls(certificates.server(false), |_| None);
    // Mozilla's certificate authorities do not include this one.
    let (outcome, ..) = race_on(&stub, |config| config.client = options("use_ssl:true"));
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("TLS with [127.0.0.1") && error.contains("UnknownIssuer"), "{error}");
    // An address need not be in the certificate, but a host name must be.
    let (outcome, ..) = race_on(&stub, |config| config.client = certificates.options(""));
    outcome.unwrap();
    let by_name = stub.host.replace("127.0.0.1", "localhost");
    let (outcome, ..) = race_on(&stub, |config| {
        config.client = certificates.options("");
        config.hosts = vec![by_name];
    });
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("not valid for name"), "{error}");
    // The server's own certificate is trusted, although it is not an authority.
    let (outcome, ..) = race_on(&stub, |config| {
        config.client =
            options(&format!("use_ssl:true,ca_certs:'{}'", certificates.file("server.pem").display()));
    });
    outcome.unwrap();
}

#[test]
fn clients_show_their_certificate() {
    let certificates = Certificates::new(&["127.0.0.1"]);
    let stub = Stub::start_tls(certificates.server(true), |_| None);
    let (cert, key) = (certificates.file("client.pem"), certificates.file("client.key"));
    let identity = format!(",client_cert:'{}',client_key:'{}'", cert.display(), key.display());
    let (outcome, ..) = race_on(&stub, |config| config.client = certificates.options(&identity));
    outcome.unwrap();
    let error = ClientOptions::from_params(
        &parse(&format!("use_ssl:true,client_cert:'{}',client_key:'{}'", cert.display(), cert.display()))
            .unwrap(),
    );
    assert!(error.unwrap_err().to_string().contains("[client_key]"));
}

#[test]
fn each_client_has_a_key_of_its_own() {
    let made = AtomicUsize::new(0);
    let stub = Stub::start(move |asked: &Asked| {
        let key = made.fetch_add(usize::from(asked.line() == "PUT /_security/api_key"), Ordering::Relaxed);
        let body = json!({"id": format!("id{key}"), "api_key": "secret"});
        asked.target.starts_with("/_security").then(|| (200, body.to_string()))
    });
    let client = options("create_api_key_per_client:true,basic_auth_user:'u',basic_auth_password:'p'");
    let (outcome, progress, _home) = race_on(&stub, |config| config.client = client);
    outcome.unwrap();
    let asked = stub.asked();
    let keys = asked.iter().filter(|one| one.line() == "PUT /_security/api_key");
    let keys: Vec<&str> = keys.map(|one| one.body.as_str()).collect();
    assert_eq!(keys[0], r#"{"name":"rally-client-0"}"#);
    let bulk = asked.iter().find(|one| one.target.starts_with("/_bulk")).unwrap();
    let header = bulk.headers.iter().find(|line| line.starts_with("authorization")).unwrap();
    assert!(header.starts_with("authorization: apikey "), "{header}");
    let ids: Vec<String> = (0..keys.len()).map(|key| format!("id{key}")).collect();
    let deleted = asked.iter().find(|one| one.line() == "DELETE /_security/api_key").unwrap();
    assert_eq!(deleted.body, json!({"ids": ids}).to_string());
    assert!(!progress.iter().any(|line| line.contains("could not be deleted")), "{progress:?}");

    let refusing =
        Stub::start(|asked: &Asked| asked.target.starts_with("/_security").then(|| (405, "{}".to_owned())));
    let client = options("create_api_key_per_client:true,basic_auth_user:'u',basic_auth_password:'p'");
    let (outcome, ..) = race_on(&refusing, |config| config.client = client);
    assert!(outcome.unwrap_err().to_string().contains("is its security switched on"));
}

#[test]
fn bodies_are_compressed_when_asked_for() {
    let (track, stub) = (track(50), Stub::start(|_| None));
    let mut config = config(&stub);
    config.target.compresses = true;
    let bulk = [task("bulk", json!({"bulk-size": 50}), |_| {}), task("refresh", json!({}), |_| {})];
    let results = race(&track, &bulk, &config).unwrap();
    assert!(results.iter().all(|result| result.statistics.failures() == 0));
    let asked = stub.asked();
    assert_eq!(asked[0].body.lines().count(), 100, "{:?}", asked[0]);
    assert!(asked[0].headers.contains(&"content-encoding: gzip".to_owned()));
    // A request without a body is not compressed.
    assert!(!asked[1].headers.iter().any(|header| header.starts_with("content-encoding")), "{:?}", asked[1]);
}

#[test]
fn requests_are_spread_over_hosts_and_go_below_their_paths() {
    let (first, second) = (Stub::start(|_| None), Stub::start(|_| None));
    let track = track(1);
    let mut config = config(&first);
    let hosts = [first.host.clone(), format!("http://{}/es/", second.host)];
    config.target.hosts = super::resolve(&hosts, &ClientOptions::default()).unwrap();
    let search = task("search", json!({"index": "logs", "body": {}}), |task| {
        task.clients = 2;
        task.iterations = Some(10);
    });
    race(&track, &[search], &config).unwrap();
    let (at_first, at_second) = (first.lines(), second.lines());
    assert_eq!((at_first.len(), at_second.len()), (10, 10), "{at_first:?} {at_second:?}");
    assert!(at_second.iter().all(|line| line.starts_with("GET /es/logs/_search")), "{at_second:?}");
}

#[test]
fn requests_are_sent_again_only_when_asked_for() {
    let check = |retries: Retries, expected: (usize, u64)| {
        let answered = AtomicUsize::new(0);
        let stub = Stub::start(move |_| {
            let is_first = answered.fetch_add(1, Ordering::Relaxed) == 0;
            is_first.then(|| (429, "{}".to_owned()))
        });
        let mut config = config(&stub);
        config.target.retries = retries;
        let track = track(1);
        let search = [task("search", json!({"index": "logs", "body": {}}), |_| {})];
        let results = race(&track, &search, &config).unwrap();
        assert_eq!((stub.asked().len(), results[0].statistics.failures()), expected);
    };
    check(Retries::default(), (1, 1));
    check(options("retry_on_status:429").retries, (2, 0));
    check(options("retry_on_timeout:true").retries, (1, 1));
}

#[test]
fn other_clusters_are_waited_for() {
    let (stub, other) = (counting_server(), Stub::start(|_| None));
    let remote = ClusterTarget {
        name: "remote".into(),
        hosts: vec![other.host.clone()],
        options: options("basic_auth_user:'u',basic_auth_password:'p'"),
    };
    let (outcome, ..) = race_on(&stub, |config| config.watch.other_clusters = vec![remote]);
    outcome.unwrap();
    let asked = other.asked();
    assert_eq!(asked[0].line(), "GET /_cluster/health?wait_for_nodes=%3E%3D1");
    assert!(asked[0].headers.iter().any(|header| header.starts_with("authorization: basic")));
    assert!(!other.lines().iter().any(|line| line.contains("_bulk")), "only the default cluster is raced");
}

#[test]
fn another_program_at_the_address_is_named_without_waiting() {
    let stub = Stub::start(|asked| match asked.target.as_str() {
        "/" => Some((200, r#"{"hello": "world"}"#.to_owned())),
        _ => Some((404, String::new())),
    });
    let hosts = super::resolve(std::slice::from_ref(&stub.host), &ClientOptions::default()).unwrap();
    let mut cluster = Cluster::new(&hosts, "", Duration::from_secs(30)).unwrap();
    let error = cluster.wait_for_rest_layer(&AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("not as Limber, Elasticsearch or OpenSearch do"), "{error}");
}
