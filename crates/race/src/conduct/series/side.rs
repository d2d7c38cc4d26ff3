//! One side of a series: a running host or a server to start, and its settings.

use crate::arguments::parse;
use crate::error::Error;
use crate::model::Params;
use crate::server::engine::{Engine, EngineSpec, settings_of};

/// The changes of one side to the race that the command describes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Side {
    pub name: String,
    /// What distinguishes it, as the user wrote it without the name; empty for the command's own side.
    pub settings: String,
    /// Running hosts; empty to use those of the command.
    pub hosts: Vec<String>,
    pub engine: EngineChange,
    /// Added to the command's track parameters. Parameters of the side take precedence.
    pub track_params: Params,
}

/// The changes to the server that is started.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EngineChange {
    pub engine: Option<Engine>,
    /// Added to the command's settings. Settings of the side take precedence.
    pub settings: Vec<(String, String)>,
    pub memory_limit: Option<String>,
    pub heap: Option<String>,
    /// Added to the command's options.
    pub jvm_options: Vec<String>,
}

impl EngineChange {
    pub(crate) fn apply(&self, base: &EngineSpec) -> EngineSpec {
        let mut spec = base.clone();
        if let Some(engine) = &self.engine {
            spec.engine = engine.clone();
        }
        spec.settings.retain(|(name, _)| !self.settings.iter().any(|(changed, _)| changed == name));
        spec.settings.extend(self.settings.iter().cloned());
        spec.memory_limit = self.memory_limit.clone().or(spec.memory_limit);
        spec.heap = self.heap.clone().or(spec.heap);
        spec.jvm_options.extend(self.jvm_options.iter().cloned());
        spec
    }
}

/// The keys of a side's settings, for messages.
const KEYS: &str = "name, target-hosts, track-params, engine, engine-setting, memory-limit, heap, jvm-option";

impl Side {
    /// Reads `key=value;key=value`. Keys are options of `limber race`; several `engine-setting` and
    /// `jvm-option` add up.
    ///
    /// # Errors
    /// `Argument` for anything else.
    pub(crate) fn parse(text: &str, name: String) -> Result<Side, Error> {
        let mut side = Side { name, ..Side::default() };
        let refused = |reason: String| Error::Argument(format!("--versus [{text}]: {reason}"));
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| refused(format!("[{part}] is not of the form key=value; keys are {KEYS}")))?;
            let (key, value) = (key.trim(), value.trim());
            if key != "name" {
                let separator = if side.settings.is_empty() { "" } else { "; " };
                side.settings.push_str(&format!("{separator}{key}={value}"));
            }
            match key {
                "name" => side.name = value.to_owned(),
                "target-hosts" => side.hosts = value.split(',').map(|host| host.trim().to_owned()).collect(),
                "track-params" => side.track_params = parse(value)?,
                "engine" => side.engine.engine = Some(Engine::named(value)),
                "engine-setting" => side.engine.settings.extend(settings_of(value)?),
                "memory-limit" => side.engine.memory_limit = Some(value.to_owned()),
                "heap" => side.engine.heap = Some(value.to_owned()),
                "jvm-option" => side.engine.jvm_options.push(value.to_owned()),
                other => return Err(refused(format!("[{other}] is not known; keys are {KEYS}"))),
            }
        }
        if !side.hosts.is_empty() && side.engine != EngineChange::default() {
            return Err(refused(
                "settings are for a server that is started, not for target-hosts".to_owned(),
            ));
        }
        if side.name.is_empty() || side.name.contains([',', ':']) {
            return Err(refused(format!("[{}] is no name: it may not hold ',' or ':'", side.name)));
        }
        Ok(side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Side, String> {
        Side::parse(text, "B".into()).map_err(|error| error.to_string())
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn sides_are_flags_in_short() {
        let side = parsed("name=large; engine-setting=a.b:25%; memory-limit=1gb; track-params=bulk_size:500")
            .unwrap();
        assert_eq!((side.name.as_str(), &side.track_params["bulk_size"]), ("large", &500.into()));
        assert_eq!(side.settings, "engine-setting=a.b:25%; memory-limit=1gb; track-params=bulk_size:500");
        let base = EngineSpec {
            settings: vec![pair("a.b", "10%"), pair("c", "d")],
            memory_limit: Some("2gb".into()),
            ..EngineSpec::default()
        };
        let spec = side.engine.apply(&base);
        assert_eq!(spec.settings, [pair("c", "d"), pair("a.b", "25%")]);
        assert_eq!(spec.memory_limit.as_deref(), Some("1gb"));
        assert_eq!(EngineChange::default().apply(&base).settings, base.settings);
        let hosts = parsed("target-hosts=a:1,b:2").unwrap();
        assert_eq!((hosts.hosts, hosts.name.as_str()), (vec!["a:1".to_owned(), "b:2".to_owned()], "B"));
        let java =
            parsed("engine=/opt/es;heap=1g;jvm-option=-XX:+UseZGC;jvm-option=-Xlog:gc").unwrap().engine;
        assert_eq!((java.heap.as_deref(), java.jvm_options.len()), (Some("1g"), 2));
        assert_eq!(java.engine, Some(Engine::Folder("/opt/es".into())));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, part) in [
            ("bulk_size", "not of the form key=value"),
            ("speed=5", "[speed] is not known"),
            ("engine-setting=x", "key:value"),
            ("target-hosts=a:1;heap=1g", "for a server that is started"),
            ("name=a:b", "is no name"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
