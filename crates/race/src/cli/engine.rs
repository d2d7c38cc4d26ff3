//! Options that say which server is raced, and with which settings.

use clap::Args;

use crate::error::Error;
use crate::server::engine::{Engine, EngineSpec, RunningServer, ServerProvider, settings_of};

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EngineArguments {
    /// What is raced: limber (started for the race), host (what --target-hosts names), or the folder of an
    /// unpacked Elasticsearch or OpenSearch (started for the race) [default: host with --target-hosts, else
    /// limber]
    #[arg(long, value_name = "limber|host|DIR")]
    pub engine: Option<String>,
    /// Settings of the server that is started: key:value,key2:value2, a JSON object, or a .json file
    #[arg(long, value_name = "SETTINGS")]
    pub engine_setting: Option<String>,
    /// What all memory pools of the built-in server share, such as 1gb
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
    /// Heap of a started Elasticsearch or OpenSearch, such as 1g [default: its own choice]
    #[arg(long, value_name = "SIZE")]
    pub heap: Option<String>,
    /// Option of the started server's JVM, such as -XX:+UseParallelGC; may be given several times
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub jvm_option: Vec<String>,
    /// Keep the started server and its data after the race, and say where they are
    #[arg(long)]
    pub preserve_install: bool,
}

impl EngineArguments {
    /// Returns the server to start; `None` when a running server is raced.
    ///
    /// Errors: `Argument` for options that exclude each other.
    pub(crate) fn spec(&self, has_hosts: bool) -> Result<Option<EngineSpec>, Error> {
        let refused = |reason: String| Err(Error::Argument(reason));
        let engine = match self.engine.as_deref() {
            None if has_hosts => None,
            Some("host") if has_hosts => None,
            Some("host") => return refused("--engine host needs --target-hosts".into()),
            Some(other) if has_hosts => {
                return refused(format!(
                    "--engine {other} starts a server, --target-hosts names one that runs: give one of them"
                ));
            }
            None => Some(Engine::Limber),
            Some(named) => Some(Engine::named(named)),
        };
        let Some(engine) = engine else {
            let given = [
                ("--engine-setting", self.engine_setting.is_some()),
                ("--memory-limit", self.memory_limit.is_some()),
                ("--heap", self.heap.is_some()),
                ("--jvm-option", !self.jvm_option.is_empty()),
                ("--preserve-install", self.preserve_install),
            ];
            return match given.iter().find(|(_, is_given)| *is_given) {
                Some((option, _)) => refused(format!(
                    "{option} is for a server that the race starts; --target-hosts names one that runs"
                )),
                None => Ok(None),
            };
        };
        Ok(Some(EngineSpec {
            engine,
            settings: self.engine_setting.as_deref().map(settings_of).transpose()?.unwrap_or_default(),
            memory_limit: self.memory_limit.clone(),
            heap: self.heap.clone(),
            jvm_options: self.jvm_option.clone(),
            is_kept: self.preserve_install,
        }))
    }

    /// Keeps the server running if the user wants it, else stops it. Returns where a kept server is.
    pub(crate) fn end(&self, server: Option<RunningServer>) -> Option<String> {
        match server {
            Some(server) if self.preserve_install => Some(server.keep()),
            _ => None,
        }
    }
}

/// Starts the server, if one is to be started.
pub(crate) fn start(
    spec: Option<&EngineSpec>,
    provider: &dyn ServerProvider,
) -> Result<Option<RunningServer>, Error> {
    spec.map(|spec| spec.start(provider)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_and_hosts() {
        let named =
            |engine: &str| EngineArguments { engine: Some(engine.into()), ..EngineArguments::default() };
        let engine = |arguments: EngineArguments, has_hosts| {
            arguments
                .spec(has_hosts)
                .map(|spec| spec.map(|spec| spec.engine))
                .map_err(|error| error.to_string())
        };
        assert_eq!(engine(EngineArguments::default(), false), Ok(Some(Engine::Limber)));
        assert_eq!(engine(EngineArguments::default(), true), Ok(None));
        assert_eq!(engine(named("host"), true), Ok(None));
        assert_eq!(engine(named("limber"), false), Ok(Some(Engine::Limber)));
        assert_eq!(engine(named("es"), false), Ok(Some(Engine::Folder("es".into()))));
        assert!(engine(named("host"), false).unwrap_err().contains("needs --target-hosts"));
        assert!(engine(named("limber"), true).unwrap_err().contains("give one of them"));
        let heap = EngineArguments { heap: Some("1g".into()), ..EngineArguments::default() };
        assert!(engine(heap, true).unwrap_err().contains("--heap is for a server that the race starts"));
    }

    #[test]
    fn settings_are_texts() {
        let arguments = EngineArguments {
            engine_setting: Some("a.b:10%,c:true,d:5".into()),
            preserve_install: true,
            ..EngineArguments::default()
        };
        let spec = arguments.spec(false).unwrap().unwrap();
        let pairs = [("a.b", "10%"), ("c", "true"), ("d", "5")];
        assert_eq!(spec.settings, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(spec.is_kept);
    }
}
