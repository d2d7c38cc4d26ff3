//! Starts the log of a process.

use std::str::FromStr as _;

use anyhow::{Context as _, bail};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, reload};

use super::json::JsonLines;
use super::levels;
use super::repeats::RateLimited;

/// `log.format`: how lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Parses the targets. Fails on a part that is neither a level nor `module=level`: the parser of `tracing`
/// would take `bogus` for a module to log in full, and log no other.
fn targets(asked: &str) -> anyhow::Result<Targets> {
    let is_level = |text: &str| LevelFilter::from_str(text).is_ok() && !text.is_empty();
    let is_known = |part: &str| match part.split_once('=') {
        Some((module, level)) => !module.trim().is_empty() && is_level(level.trim()),
        None => is_level(part),
    };
    let wrong = asked.split(',').map(str::trim).find(|part| !is_known(part));
    let explain = |part: &str| {
        format!(
            "LIMBER_LOG is [{asked}], but [{part}] is neither a level (error, warn, info, debug, trace, off) nor module=level"
        )
    };
    if let Some(part) = wrong {
        bail!("{}", explain(part));
    }
    // The parser would treat spaces as parts of names.
    asked.replace(' ', "").parse().with_context(|| explain(asked))
}

/// Starts logging to standard error, as `LIMBER_LOG` says.
///
/// # Errors
/// `LIMBER_LOG` does not parse.
pub fn start(form: Form) -> anyhow::Result<()> {
    let asked = std::env::var("LIMBER_LOG").ok().filter(|text| !text.trim().is_empty());
    let asked = asked.as_deref().unwrap_or("info");
    let asked = targets(asked)?;
    let (filter, handle) = reload::Layer::new(levels::quiet(asked.clone()));
    // A line that cannot be written, for example because the disk is full, is lost. Reporting that to the
    // same place would end the process.
    let lines =
        tracing_subscriber::fmt::layer().with_writer(RateLimited::default()).log_internal_errors(false);
    let lines = match form {
        Form::Json => lines.event_format(JsonLines).boxed(),
        // Colours are for terminals, not for files.
        Form::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines).init();
    levels::keep(asked, handle);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_modules_with_levels_are_understood_and_nothing_else() {
        for asked in ["info", "WARN", "off", "limber_engine=debug", "warn,limber::rest = trace"] {
            assert!(targets(asked).is_ok(), "{asked}");
        }
        for (asked, part) in [
            ("bogus", "[bogus]"),
            ("info,x=", "[x=]"),
            ("=info", "[=info]"),
            ("info,,warn", "[]"),
            ("a=b", "[a=b]"),
        ] {
            let error = targets(asked).expect_err("not understood").to_string();
            assert!(error.contains(&format!("but {part} is neither")), "{error}");
        }
    }
}
