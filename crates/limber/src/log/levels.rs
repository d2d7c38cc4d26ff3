//! Levels: "is a line of this part of the server written at the moment?"

use std::sync::OnceLock;

use limber_mapping::RequestError;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::reload::Handle;

/// Targets that stay quiet whatever level is asked for: the HTTP client libraries would log the headers that
/// they send, including secrets.
const QUIET: [&str; 3] = ["ureq", "ureq_proto", "rustls"];

/// The levels that `LIMBER_LOG` asks for, and the handle that changes the current filter. Unset if the
/// process has not started a log of its own, as in a test.
static STARTED: OnceLock<(Targets, Handle<Targets, Registry>)> = OnceLock::new();

pub(super) fn keep(asked: Targets, handle: Handle<Targets, Registry>) {
    let _ = STARTED.set((asked, handle));
}

/// Applies the settings `logger.*`, given as pairs of logger name and level. If a name occurs twice, the
/// later one wins.
pub fn apply(loggers: impl IntoIterator<Item = (String, String)>) {
    let Some((asked, handle)) = STARTED.get() else { return };
    let _ = handle.reload(with_loggers(asked.clone(), loggers));
}

fn with_loggers(asked: Targets, loggers: impl IntoIterator<Item = (String, String)>) -> Targets {
    let mut targets = asked;
    for (name, level) in loggers {
        // The level was checked when it was set.
        let Ok(level) = level_of(&level) else { continue };
        targets = match target_of(&name) {
            None => targets.with_default(level),
            Some(target) => targets.with_target(target, level),
        };
    }
    quiet(targets)
}

pub(super) fn quiet(targets: Targets) -> Targets {
    QUIET.iter().fold(targets, |targets, name| targets.with_target(*name, LevelFilter::INFO))
}

/// Returns the target of a logger. `limber.engine.node` is a module; other names are Elasticsearch's without
/// the common prefix. `None` is the root logger: all targets without a level of their own.
fn target_of(name: &str) -> Option<String> {
    match name {
        "_root" | "level" => None,
        name => Some(match name.strip_prefix("org.elasticsearch.").unwrap_or(name) {
            own if own == "limber" || own.starts_with("limber.") => {
                let mut parts = own.split('.');
                let first: Vec<&str> = parts.by_ref().take(2).collect();
                let rest = parts.map(|part| format!("::{part}"));
                first.join("_") + &rest.collect::<String>()
            }
            other => other.to_owned(),
        }),
    }
}

/// Parses one of Log4j's levels.
fn level_of(text: &str) -> Result<LevelFilter, RequestError> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "off" => LevelFilter::OFF,
        "fatal" | "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" | "all" => LevelFilter::TRACE,
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "Unknown level constant [{}].",
                text.to_uppercase()
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn settings_win_over_what_the_start_asked_for() {
        let asked: Targets = "info".parse().expect("a filter");
        let loggers = [
            ("_root", "WARN"),
            ("org.elasticsearch.index.search.slowlog", "trace"),
            ("limber.engine.node", "debug"),
        ];
        let now = with_loggers(asked, loggers.map(|(name, level)| (name.to_owned(), level.to_owned())));
        for (target, level, expected) in [
            ("limber_search::execute", Level::INFO, false),
            ("limber_search::execute", Level::WARN, true),
            ("index.search.slowlog.query", Level::TRACE, true),
            ("limber_engine::node::search", Level::DEBUG, true),
            ("limber_engine::shard", Level::DEBUG, false),
            ("ureq", Level::DEBUG, false),
        ] {
            assert_eq!(now.would_enable(target, &level), expected, "{target} {level}");
        }
        assert!(level_of("shout").is_err() && level_of("DEBUG").is_ok());
    }
}
