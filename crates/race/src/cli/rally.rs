//! Options of `esrally race` that have no meaning here: each answers with what to use instead.

use clap::Args;

use crate::error::Error;

macro_rules! rally_arguments {
    ($($field:ident: $advice:literal),+ $(,)?) => {
        /// Rally's options without a meaning here, accepted in order to answer helpfully.
        #[derive(Debug, Clone, Default, Args)]
        pub(crate) struct RallyArguments {
            /// Rally's pipeline; benchmark-only is what --engine host does
            #[arg(long, value_name = "NAME", hide = true)]
            pub pipeline: Option<String>,
            /// Take the servers to be up, without waiting for their REST layer
            #[arg(long, hide = true)]
            pub skip_rest_api_check: bool,
            /// The race's timestamp, as YYYY-MM-DD HH:MM:SS in UTC [default: now]
            #[arg(long, hide = true, value_name = "DATE", value_parser = epoch_s)]
            pub effective_start_date: Option<i64>,
            $(#[arg(long, value_name = "VALUE", hide = true, num_args = 0..=1, default_missing_value = "")]
            $field: Option<String>,)+
        }

        impl RallyArguments {
            fn given(&self) -> Option<(&'static str, &'static str)> {
                $(if self.$field.as_deref().is_some_and(|value| !is_default(stringify!($field), value)) { return Some((stringify!($field), $advice)); })+
                None
            }
        }
    };
}

rally_arguments! {
    car: "name the server with --engine and its heap with --heap",
    car_params: "give settings with --engine-setting and JVM options with --jvm-option",
    elasticsearch_plugins: "install plugins into the folder that --engine names",
    plugin_params: "give settings with --engine-setting",
    runtime_jdk: "set ES_JAVA_HOME or OPENSEARCH_JAVA_HOME",
    revision: "build the server yourself and name its folder with --engine",
    distribution_repository: "unpack the distribution yourself and name its folder with --engine",
    source_build_method: "build the server yourself and name its folder with --engine",
    source_build_release: "build the server yourself and name its folder with --engine",
    team_path: "there are no cars; see --engine",
    team_repository: "there are no cars; see --engine",
    team_revision: "there are no cars; see --engine",
    load_driver_hosts: "one process generates the load; it needs a fraction of esrally's processor time for it",
    kill_running_processes: "races do not stand in each other's way, and nothing of them stays behind",
    enable_driver_profiling: "use perf; the release binary has line tables",
    configuration_name: "there is no configuration file; everything is on the command line",
}

/// Whether the option has Rally's own default, which changes nothing.
fn is_default(field: &str, value: &str) -> bool {
    let defaults =
        [("load_driver_hosts", "localhost"), ("car", "defaults"), ("distribution_repository", "release")];
    defaults.contains(&(field, value))
}

/// Returns the seconds since 1970 of a time in UTC.
fn epoch_s(text: &str) -> Result<i64, Error> {
    let time = jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M:%S", text)
        .and_then(|time| time.to_zoned(jiff::tz::TimeZone::UTC))
        .map_err(|_| Error::Argument(format!("[{text}] is not a time of the form YYYY-MM-DD HH:MM:SS")))?;
    Ok(time.timestamp().as_second())
}

impl RallyArguments {
    /// Errors: `Argument`, which says what to use instead.
    pub(crate) fn refuse(&self) -> Result<(), Error> {
        let refused =
            |option: &str, advice: &str| Err(Error::Argument(format!("{option} is not supported: {advice}")));
        match self.pipeline.as_deref() {
            None | Some("benchmark-only") => {}
            Some(other) => {
                return refused(
                    &format!("--pipeline [{other}]"),
                    "--engine names the folder of an unpacked Elasticsearch or OpenSearch to start, --target-hosts a server that runs",
                );
            }
        }
        match self.given() {
            Some((field, advice)) => refused(&format!("--{}", field.replace('_', "-")), advice),
            None => Ok(()),
        }
    }

    /// Whether Rally's option asks to race a server that is already running.
    pub(crate) fn wants_running_host(&self) -> bool {
        self.pipeline.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Root {
        #[command(flatten)]
        rally: RallyArguments,
    }

    #[test]
    fn a_race_can_be_dated() {
        assert_eq!(epoch_s("2026-11-22 12:00:00").unwrap(), 1_795_348_800);
        assert!(epoch_s("2026-11-22").unwrap_err().to_string().contains("YYYY-MM-DD HH:MM:SS"));
    }

    #[test]
    fn each_word_of_rally_names_ours() {
        let refuse = |arguments: &[&str]| {
            let root = Root::try_parse_from([&["race"], arguments].concat()).unwrap();
            root.rally.refuse().map_err(|error| error.to_string())
        };
        assert!(refuse(&["--pipeline=benchmark-only"]).is_ok());
        assert!(refuse(&["--load-driver-hosts=localhost", "--car=defaults"]).is_ok());
        assert!(refuse(&["--load-driver-hosts=a,b"]).unwrap_err().contains("one process"));
        assert!(
            refuse(&["--pipeline=from-distribution"])
                .unwrap_err()
                .starts_with("--pipeline [from-distribution] is not supported: --engine")
        );
        assert!(
            refuse(&["--car=4gheap"])
                .unwrap_err()
                .contains("--car is not supported: name the server with --engine")
        );
        assert!(
            refuse(&["--kill-running-processes"])
                .unwrap_err()
                .contains("--kill-running-processes is not supported")
        );
    }
}
