//! Options for telemetry devices, and for where measurements are kept.

use clap::Args;

use crate::arguments::parse;
use crate::drive::telemetry::watch::{DEVICES, WatchPlan};
use crate::error::Error;
use crate::metrics::Reporting;
use crate::model::Params;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WatchArguments {
    /// Telemetry devices, separated by commas; `limber list telemetry` describes them
    ///
    /// process-stats and server-stats run without being named; `none` leaves them out.
    #[arg(long, value_name = "DEVICES", value_delimiter = ',')]
    pub telemetry: Vec<String>,
    /// Parameters of the devices: key:value,key2:value2, a JSON object, or a .json file
    #[arg(long, value_name = "PARAMS")]
    pub telemetry_params: Option<String>,
    /// A store for every request and every statistic: settings of rally.ini's section [reporting], or that
    /// .ini file
    ///
    /// datastore.type:file writes metrics.ndjson into the race's folder; datastore.type:elasticsearch with
    /// datastore.host, datastore.port, datastore.secure, datastore.user … sends all to that server when the
    /// race is over.
    #[arg(long, value_name = "WORDS")]
    pub reporting: Option<String>,
}

impl WatchArguments {
    /// Errors: unknown devices or parameters.
    pub(crate) fn plan(&self) -> Result<WatchPlan, Error> {
        let names = self.telemetry.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let plan = WatchPlan {
            devices: names.collect(),
            params: self.telemetry_params.as_deref().map_or_else(|| Ok(Params::new()), parse)?,
        };
        plan.check()?;
        Ok(plan)
    }

    /// Errors: settings that are not understood.
    pub(crate) fn reporting(&self) -> Result<Reporting, Error> {
        let environment = |name: &str| std::env::var(name).ok();
        match &self.reporting {
            None => Ok(Reporting::default()),
            Some(words) => Reporting::read(words, &environment),
        }
    }
}

/// Prints `list telemetry`.
pub(super) fn write_devices(out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let width = DEVICES.iter().map(|device| device.name.len()).max().unwrap_or(0);
    writeln!(
        out,
        "Available telemetry devices:\n\n{:width$}  Description\n{}  {}",
        "Command",
        "-".repeat(width),
        "-".repeat(11)
    )?;
    for device in &DEVICES {
        writeln!(out, "{:width$}  {}", device.name, device.help)?;
        for param in device.params {
            writeln!(out, "{:width$}    --telemetry-params {param}:…", "")?;
        }
    }
    writeln!(out, "\nEach device asks the server; what that costs it is part of the figures.")
}
