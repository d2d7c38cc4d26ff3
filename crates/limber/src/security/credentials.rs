//! `Authorization`: parses the credentials of a request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The credentials of a request.
#[derive(PartialEq, Eq)]
pub(super) enum Credentials {
    Basic {
        username: String,
        password: String,
    },
    ApiKey {
        id: String,
        secret: String,
    },
    /// A token of a service account: `namespace/service/name`.
    ServiceToken {
        name: String,
        secret: String,
    },
    /// An unknown scheme, or a known one with a malformed value.
    Unreadable {
        scheme: String,
    },
}

/// The prefix of service account tokens.
const SERVICE_TOKEN: [u8; 4] = [0, 1, 0, 1];

impl Credentials {
    pub(super) fn parse(header: &str) -> Credentials {
        let (scheme, value) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        let found = match scheme.to_ascii_lowercase().as_str() {
            "basic" => pair(value).map(|(username, password)| Credentials::Basic { username, password }),
            "apikey" => pair(value).map(|(id, secret)| Credentials::ApiKey { id, secret }),
            "bearer" => service_token(value),
            _ => None,
        };
        found.unwrap_or_else(|| Credentials::Unreadable { scheme: scheme.chars().take(32).collect() })
    }
}

/// Decodes `base64(name:secret)`.
fn pair(value: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()?;
    let (name, secret) = text.split_once(':')?;
    Some((name.to_owned(), secret.to_owned()))
}

fn service_token(value: &str) -> Option<Credentials> {
    let bytes = STANDARD.decode(value.trim()).ok()?;
    let text = std::str::from_utf8(bytes.strip_prefix(&SERVICE_TOKEN)?).ok()?;
    let (name, secret) = text.split_once(':')?;
    Some(Credentials::ServiceToken { name: name.to_owned(), secret: secret.to_owned() })
}

/// Returns the bearer token of the service account token `namespace/service/name`.
pub(crate) fn service_token_value(name: &str, secret: &str) -> String {
    let mut bytes = SERVICE_TOKEN.to_vec();
    bytes.extend_from_slice(format!("{name}:{secret}").as_bytes());
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes() {
        let check =
            |header: &str, expected: Credentials| assert!(Credentials::parse(header) == expected, "{header}");
        let basic = |password: &str| Credentials::Basic { username: "u".into(), password: password.into() };
        check("Basic dTpw", basic("p"));
        check("basic dTphOmI=", basic("a:b"));
        check("ApiKey aTpz", Credentials::ApiKey { id: "i".into(), secret: "s".into() });
        let token = service_token_value("elastic/kibana/t", "s");
        assert!(token.starts_with("AAEAAW"));
        check(
            &format!("Bearer {token}"),
            Credentials::ServiceToken { name: "elastic/kibana/t".into(), secret: "s".into() },
        );
        for broken in ["Basic !", "Basic dQ==", "Bearer dTpw"] {
            let scheme = broken.split(' ').next().unwrap_or_default().to_owned();
            check(broken, Credentials::Unreadable { scheme });
        }
    }
}
