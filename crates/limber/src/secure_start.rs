//! `limber serve --secure`: what is made before anybody may come in, and what is told about it.

use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use limber_engine::Node;
use serde_json::Value;

use crate::config::Config;
use crate::security::{fingerprint, secure};

/// Turns security on, with a certificate of this server's own unless the configuration names one. The
/// authority that was made just now.
///
/// # Errors
/// The files cannot be written.
pub fn prepare(config: &mut Config) -> Result<Option<PathBuf>> {
    config.security.enabled = true;
    if config.security.tls.is_none() {
        let made = secure(&config.data_path, config.host(), &config.node_name)?;
        config.security.tls = Some(made.tls);
        return Ok(made.is_new.then_some(made.authority));
    }
    Ok(None)
}

/// Says what was made, and gives `elastic` a password if it has none: nobody can read the password again.
///
/// # Errors
/// It cannot be kept.
pub fn tell(node: &Node, authority: Option<&Path>) -> Result<()> {
    if let Some(authority) = authority {
        println!("certificate authority: {}", authority.display());
        println!("its SHA-256 fingerprint: {}", fingerprint(authority)?);
    }
    let has_password =
        |node: &Node| node.security().user("elastic").is_some_and(|(user, _)| user.password_hash.is_some());
    if has_password(node) {
        return Ok(());
    }
    let password = limber_access::new_password();
    let value = Value::from(password.as_str());
    node.change_security(|store| store.set_password("elastic", "password", &value))
        .map_err(|error| Error::msg(error.reason))?;
    println!("password of the user elastic: {password}");
    Ok(())
}
