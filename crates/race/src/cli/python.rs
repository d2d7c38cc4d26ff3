//! Options for the Python that runs the plugins of tracks, and what `limber info` says about it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::model::Track;
use crate::track::plugin::{Interpreter, PLUGIN_FILE, Plugin, PluginError, PythonSettings};

/// Options of the Python that runs a track's plugin.
#[derive(Debug, Clone, Default, Args)]
pub struct PythonArguments {
    /// Python that runs a track's own parameter sources, runners, schedulers and track processors (track.py)
    /// [default: python3]
    #[arg(long, value_name = "PROGRAM", env = "LIMBER_PYTHON")]
    pub python: Option<PathBuf>,
    /// Seconds that a track's plugin may take for an answer before it counts as stuck [default: 300]
    #[arg(long, value_name = "SECONDS", env = "LIMBER_PYTHON_TIMEOUT", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub python_timeout: Option<u64>,
}

impl PythonArguments {
    pub(crate) fn settings(&self) -> PythonSettings {
        let default = PythonSettings::default();
        PythonSettings {
            interpreter: self.python.clone(),
            time_limit: self.python_timeout.map_or(default.time_limit, Duration::from_secs),
        }
    }
}

/// Prints which Python runs a track's plugin and what the plugin registers. Errors are printed too, since
/// they are what the user wants to know.
pub(super) fn write_plugin_info(
    track: &Track,
    settings: &PythonSettings,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(folder) = track.root.as_ref().filter(|root| root.join(PLUGIN_FILE).is_file()) else {
        return Ok(());
    };
    writeln!(out, "\nPlugin [{}]:\n", folder.join(PLUGIN_FILE).display())?;
    match Interpreter::find(settings) {
        Err(error) => return writeln!(out, "* Python: {error}"),
        Ok(python) => {
            writeln!(out, "* Python: {} ({})", python.version, python.executable)?;
            let packages: Vec<String> =
                python.packages.iter().map(|(name, version)| format!("{name} {version}")).collect();
            writeln!(out, "* Packages: {}", listed(&packages))?;
        }
    }
    match Plugin::load(folder, settings) {
        Ok(plugin) => write_registered(&plugin, out),
        Err(PluginError::Raised { error, .. }) => writeln!(out, "* Cannot be loaded: {error}"),
        Err(error) => writeln!(out, "* Cannot be loaded: {error}"),
    }
}

fn write_registered(plugin: &Plugin, out: &mut dyn Write) -> io::Result<()> {
    for (what, names) in plugin.registered() {
        writeln!(out, "* {what}: {}", listed(&names))?;
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
