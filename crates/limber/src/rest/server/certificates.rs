//! `_ssl/certificates`: the certificates that encrypted connections of this server use.

use limber_engine::Result;
use limber_mapping::RequestError;
use limber_mapping::date::DateFormat;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};
use crate::security::certificate_facts;

/// The endpoints of this file (`_ssl/certificates`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[route(&[Method::Get], "/_ssl/certificates", &[], certificates)];

/// Reads the files anew, so that the response shows what the listener uses after its next look at them.
fn certificates(app: &App, _: &Request) -> Result<Response> {
    let format = DateFormat::parse_list("strict_date_time")?;
    let mut shown: Vec<Value> = Vec::new();
    let mut files: Vec<(&std::path::Path, bool)> = Vec::new();
    if let Some(tls) = &app.config.tls {
        files.push((&tls.certificate, true));
        files.extend(tls.certificate_authorities.iter().map(|path| (path.as_path(), false)));
    }
    files.sort_by(|left, right| left.0.cmp(right.0));
    for (path, is_own) in files {
        let unreadable = |why: String| {
            let path = path.display();
            RequestError::internal("illegal_state_exception", format!("cannot read [{path}]: {why}"))
        };
        let chain = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
        for (position, certificate) in chain.enumerate() {
            let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
            let facts = certificate_facts(&certificate)
                .ok_or_else(|| unreadable("it holds something that is no certificate".into()))?;
            shown.push(json!({
                "path": path.display().to_string(),
                "format": "PEM",
                "alias": null,
                "subject_dn": facts.subject,
                "serial_number": facts.serial_number,
                // The key belongs to the first certificate of the chain.
                "has_private_key": is_own && position == 0,
                "expiry": format.format_millis(facts.expires_s * 1_000),
                "issuer": facts.issuer,
            }));
        }
    }
    Ok(Response::ok(Value::Array(shown)))
}
