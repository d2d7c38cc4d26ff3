//! `limber serve --secure`: creates a certificate and a password before the server accepts requests, and
//! prints what the user needs to know about them.

use std::path::{Path, PathBuf};

use anyhow::{Error, Result, bail};
use limber_engine::Node;
use limber_store::FsDisk;
use serde_json::Value;

use crate::config::Config;
use crate::security::{fingerprint, secure};

/// Turns security on. Creates a certificate for this server unless the configuration names one, and returns
/// the path of the certificate authority if it was created just now.
///
/// # Errors
/// The files cannot be written, or another node uses the data folder.
pub fn prepare(config: &mut Config) -> Result<Option<PathBuf>> {
    config.security.enabled = true;
    if config.security.tls.is_none() {
        let data = config.main_data_path();
        if FsDisk::is_in_use(data) == Some(true) {
            bail!("the data folder {} is in use by another process", data.display());
        }
        let made = secure(data, config.host(), &config.node_name)?;
        config.security.tls = Some(made.tls);
        return Ok(made.is_new.then_some(made.authority));
    }
    Ok(None)
}

/// Gives `elastic` the password of the file with secure settings (`bootstrap.password`), unless it has one.
///
/// # Errors
/// The file cannot be read, or the password cannot be used or stored.
pub fn set_first_password(node: &Node, config: &Config) -> Result<()> {
    let Some(secrets) = config.secrets.as_ref().filter(|_| config.security.enabled) else { return Ok(()) };
    if has_password(node) {
        return Ok(());
    }
    let Some(password) = secrets.bootstrap_password()? else { return Ok(()) };
    let value = Value::from(password);
    node.change_security(|store| store.set_password("elastic", "bootstrap.password", &value))
        .map_err(|error| Error::msg(error.reason))
}

fn has_password(node: &Node) -> bool {
    node.security().user("elastic").is_some_and(|(user, _)| user.password_hash.is_some())
}

/// Prints what was created. Gives `elastic` a password if it has none and prints it, because nobody can read
/// it later.
///
/// # Errors
/// The password cannot be stored.
pub fn tell(node: &Node, authority: Option<&Path>) -> Result<()> {
    if let Some(authority) = authority {
        println!("certificate authority: {}", authority.display());
        println!("its SHA-256 fingerprint: {}", fingerprint(authority)?);
    }
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
