//! Races both schemes in turn: load, rounds, sweep.

use std::io::Write;

use super::TRACK;
use super::config::{SchemesConfig, SchemesOutcome};
use super::raced_server::{RacedServer, Scheme};
use super::round::Round;
use crate::error::Error;
use crate::server::engine::ServerProvider;

/// Races both schemes. Progress lines go to `log`.
///
/// # Errors
/// The server does not start or refuses a setting, or a race ends early or has failed requests.
pub(crate) fn race_schemes(
    config: &SchemesConfig,
    provider: &dyn ServerProvider,
    log: &mut dyn Write,
) -> Result<SchemesOutcome, Error> {
    let mut raced = RacedServer::start(provider, &config.is_cancelled)?;
    tell(log, &format!("Loading the documents of the track {TRACK}"));
    raced.race(config, "load")?;
    raced.rest()?;
    raced.switch_to(Scheme::Native)?;
    let working_set_bytes = raced.memory()?.resident_bytes;
    let budget_bytes = share_of(working_set_bytes, config.budget_percent);
    raced.set_budget(budget_bytes)?;

    let mut rounds = Vec::new();
    // The first round is a warm-up and does not count.
    for number in 0..=config.rounds {
        let mut round = Round::default();
        let mut order = [(Scheme::Native, &mut round.native), (Scheme::Cached, &mut round.cached)];
        if number % 2 == 1 {
            order.reverse();
        }
        for (scheme, figures) in order {
            raced.switch_to(scheme)?;
            figures.write = raced.race(config, "write")?;
            raced.rest()?;
            figures.query = raced.race(config, "query")?;
        }
        match number {
            0 => tell(log, "Warm-up round done"),
            _ => {
                tell(log, &format!("Round {number} of {}: {round}", config.rounds));
                rounds.push(round);
            }
        }
    }

    let store = raced.store()?;
    let mut sweep = Vec::new();
    raced.switch_to(Scheme::Cached)?;
    for &percent in &config.sweep_percent {
        let row = raced.sweep_step(config, percent, share_of(working_set_bytes, percent))?;
        tell(log, &format!("Sweep: {row}"));
        sweep.push(row);
    }
    Ok(SchemesOutcome {
        working_set_bytes,
        budget_bytes,
        store_bytes: store.bytes,
        segment_count: store.segment_count,
        rounds,
        sweep,
    })
}

fn share_of(bytes: u64, percent: f64) -> u64 {
    (bytes as f64 * percent / 100.0) as u64
}

fn tell(log: &mut dyn Write, line: &str) {
    // A race does not stop because its progress cannot be shown.
    let _ = writeln!(log, "{line}");
}
