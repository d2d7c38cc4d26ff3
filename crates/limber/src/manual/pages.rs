//! Manual pages, from the definition of the command line.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Command;

/// Write a manual page for each command into a folder, such as /usr/local/share/man/man1
#[derive(Debug, clap::Args)]
pub struct ManCommand {
    /// Folder that the pages are written to, created when absent
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl ManCommand {
    /// Writes one page for `command` and one for each of its subcommands.
    pub fn run(self, command: Command) -> Result<()> {
        std::fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot create {}", self.folder.display()))?;
        let mut command = command.disable_help_subcommand(true);
        command.build();
        write_pages(&command, &self.folder)
    }
}

/// Writes one page for the command and one for each of its subcommands: `limber.1`, `limber-serve.1`, ...
fn write_pages(command: &Command, folder: &Path) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let path = folder.join(format!("{name}.1"));
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page).context("cannot render the page")?;
    std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .try_for_each(|inner| write_pages(inner, folder))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::ManCommand;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pages = folder.path().join("man1");
        ManCommand { folder: pages.clone() }.run(crate::Cli::command()).expect("written");
        for name in ["limber", "limber-serve", "limber-race", "limber-list-races"] {
            let page = std::fs::read_to_string(pages.join(format!("{name}.1"))).expect(name);
            assert!(page.contains(".SH SYNOPSIS"), "{name}");
        }
    }
}
