//! Starts the log of a process.

use anyhow::Context as _;
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
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

/// Log lines on standard error; `LIMBER_LOG` says which.
///
/// # Errors
/// A `LIMBER_LOG` that says nothing.
pub fn start(form: Form) -> anyhow::Result<()> {
    let asked = std::env::var("LIMBER_LOG").ok().filter(|text| !text.trim().is_empty());
    let asked = asked.as_deref().unwrap_or("info");
    let asked: Targets = asked.parse().with_context(|| {
        format!("LIMBER_LOG is [{asked}]; write a level (error, warn, info, debug, trace) or module=level")
    })?;
    let (filter, handle) = reload::Layer::new(levels::quiet(asked.clone()));
    // A line that cannot be written, such as on a full disk, is lost; reporting that to the same place would end the process.
    let lines =
        tracing_subscriber::fmt::layer().with_writer(RateLimited::default()).log_internal_errors(false);
    let lines = match form {
        Form::Json => lines.event_format(JsonLines).boxed(),
        // Colours are for people who watch, not for files.
        Form::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines).init();
    levels::keep(asked, handle);
    Ok(())
}
