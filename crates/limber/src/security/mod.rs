//! Authentication and authorization of requests: settings, secrets, credentials, decisions, audit log.
//!
//! Question answered: "whose request is this, and may it carry out that action?"

mod audit;
mod authenticator;
mod bootstrap;
mod credentials;
mod guard;
mod secrets_file;
mod settings;
mod x509;

pub(crate) use authenticator::now_ms;
pub use bootstrap::{fingerprint, secure};
pub(crate) use credentials::service_token_value;
pub use guard::{Guard, RequestHead};
pub use secrets_file::SecretsFile;
pub use settings::{ClientAuthentication, SecuritySettings, ServerTls};
pub use x509::facts as certificate_facts;
