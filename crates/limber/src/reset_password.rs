//! `limber reset-password`: sets a new password for a user who has lost theirs, while no server runs.

use std::path::PathBuf;

use anyhow::Result;

use crate::told::{in_words, say};

/// Give a user of a data folder a new password and print it; no server may be using the folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  limber reset-password -u elastic --data /var/lib/limber

While a server runs, change passwords with POST /_security/user/NAME/_password instead.")]
pub struct ResetPasswordCommand {
    /// Whose password; the user is enabled too
    #[arg(short = 'u', long = "username", value_name = "USER")]
    username: String,
    /// Data folder
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
}

impl ResetPasswordCommand {
    /// Sets a random password and prints it.
    ///
    /// # Errors
    /// The folder holds no node or is in use, or the user does not exist.
    pub fn run(self) -> Result<()> {
        let password = limber_access::new_password();
        limber_engine::set_password_offline(&self.data, &self.username, &password).map_err(in_words)?;
        say(password);
        Ok(())
    }
}
