//! The file with secure settings: "which passwords and keys does this server use, and may only its user read
//! them?"
//!
//! It has the form of `limber.yml`. It stands for Elasticsearch's keystore
//! (`elasticsearch-keystore`), whose settings have the same names.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use limber_mapping::plain_text;
use serde_json::{Map, Value};

use crate::settings_file;

/// The file that is read if `path.secrets` names none and it exists.
const DEFAULT_NAME: &str = "limber-secrets.yml";
/// The first password of the user `elastic`.
const BOOTSTRAP_PASSWORD: &str = "bootstrap.password";
const S3_CLIENT: &str = "s3.client.";
const S3_KEYS: [&str; 3] = ["access_key", "secret_key", "session_token"];
/// Permissions of anybody besides the file's owner.
const OF_OTHERS: u32 = 0o077;

/// A file with secure settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsFile(PathBuf);

impl SecretsFile {
    /// Returns the file that `path.secrets` names, or the default one if it exists.
    pub fn of(configured: Option<&str>) -> Option<SecretsFile> {
        let path = match configured {
            Some(path) => PathBuf::from(path),
            None => Some(PathBuf::from(DEFAULT_NAME)).filter(|path| path.exists())?,
        };
        // A reload must find it although the working folder may have changed.
        Some(SecretsFile(std::path::absolute(&path).unwrap_or(path)))
    }

    /// Reads the settings for S3.
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or it has other settings.
    pub fn s3(&self) -> Result<Map<String, Value>> {
        let mut settings = self.read()?;
        settings.shift_remove(BOOTSTRAP_PASSWORD);
        Ok(settings)
    }

    /// Reads the first password of `elastic`; `None` if the file has none.
    ///
    /// # Errors
    /// As for [`SecretsFile::s3`].
    pub fn bootstrap_password(&self) -> Result<Option<String>> {
        Ok(self.read()?.get(BOOTSTRAP_PASSWORD).map(plain_text))
    }

    fn read(&self) -> Result<Map<String, Value>> {
        let SecretsFile(path) = self;
        check_permissions(path)?;
        let mut settings = Map::new();
        settings_file::read(path, &mut settings)?;
        match settings.keys().find(|key| !is_secure(key)) {
            None => Ok(settings),
            Some(other) => bail!(
                "[{other}] in {} is no secure setting: those are [{BOOTSTRAP_PASSWORD}] and [{S3_CLIENT}NAME.access_key], [.secret_key] and \
                 [.session_token]",
                path.display()
            ),
        }
    }
}

fn is_secure(key: &str) -> bool {
    let of_s3 = key.strip_prefix(S3_CLIENT).and_then(|rest| rest.rsplit_once('.'));
    key == BOOTSTRAP_PASSWORD || of_s3.is_some_and(|(_, setting)| S3_KEYS.contains(&setting))
}

fn check_permissions(path: &Path) -> Result<()> {
    let shown = path.display();
    let metadata = std::fs::metadata(path).with_context(|| format!("cannot read the secrets in {shown}"))?;
    if metadata.permissions().mode() & OF_OTHERS != 0 {
        bail!("others than its owner may read or change {shown}: chmod 600 {shown}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(mode: u32, contents: &str) -> (tempfile::TempDir, SecretsFile) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secrets.yml");
        std::fs::write(&path, contents).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("changed");
        let file = SecretsFile::of(path.to_str()).expect("named");
        (folder, file)
    }

    #[test]
    fn secrets_are_read_from_a_file_of_the_owner() {
        let contents = "bootstrap.password: first\ns3:\n  client:\n    default:\n      access_key: a\n      secret_key: b\n";
        let (_folder, good) = file(0o600, contents);
        assert_eq!(good.bootstrap_password().expect("read").as_deref(), Some("first"));
        let keys: Vec<String> = good.s3().expect("read").keys().cloned().collect();
        assert_eq!(keys, ["s3.client.default.access_key", "s3.client.default.secret_key"]);
        for mode in [0o640, 0o604, 0o620] {
            let (_folder, open) = file(mode, contents);
            assert!(open.s3().expect_err("refused").to_string().contains("chmod 600"));
        }
        for other in ["path.data: x", "s3.client.default.endpoint: e", "s3.client.access_key: x"] {
            let (_folder, file) = file(0o600, other);
            assert!(file.s3().expect_err("refused").to_string().contains("is no secure setting"), "{other}");
        }
        let missing = SecretsFile::of(Some("/nonexistent/secrets.yml")).expect("named");
        assert!(missing.s3().expect_err("refused").to_string().contains("cannot read the secrets"));
    }
}
