//! `limber race --repeat` and `--versus`: several races, of one side or of several sides in turn.

use std::path::Path;

use clap::{Args, ValueEnum};

use super::{printed, report};
use crate::conduct::config::RaceConfig;
use crate::conduct::live::Progress;
use crate::conduct::series::{EngineChange, Order, Series, SeriesOutcome, Side, race_series};
use crate::error::Error;
use crate::report::html::page::RACES_MAX;
use crate::report::several::{self, Rules};
use crate::report::{ReportOptions, spread};
use crate::server::engine::{EngineSpec, ServerProvider};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArgument {
    /// A B, A B, A B
    Alternating,
    /// A B, B A, A B
    Mirrored,
    /// A random order for each round
    Random,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SeriesArguments {
    /// Race this many times (each side, with --versus) and show how far the races agree
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Another side, raced in turn with this command's own: key=value;key=value with keys target-hosts,
    /// track-params, engine, engine-setting, memory-limit, heap, jvm-option and name. Can be given several
    /// times
    #[arg(long, value_name = "SIDE")]
    pub versus: Vec<String>,
    /// Order of the sides in each round
    #[arg(long, value_enum, default_value = "alternating", requires = "versus")]
    pub order: OrderArgument,
    /// Name of the command's own side
    #[arg(long, value_name = "NAME", default_value = "A", requires = "versus")]
    pub side_name: String,
}

impl SeriesArguments {
    /// Whether there is more than one race to run.
    pub(crate) fn is_asked(&self) -> bool {
        self.repeat > 1 || !self.versus.is_empty()
    }

    /// Returns the number of races of all sides.
    pub(crate) fn races_count(&self) -> usize {
        self.repeat as usize * (self.versus.len() + 1)
    }

    /// Runs all races, and prints their spread and, for several sides, the verdicts.
    ///
    /// `config` is the command's own side; its `race_id` names the series. `engine` is the server to start if
    /// `config` has no hosts. `html` is the file for the report of the comparison. Returns where the server
    /// is, if it was kept.
    pub(crate) fn run(
        &self,
        config: &RaceConfig,
        engine: Option<&EngineSpec>,
        provider: &dyn ServerProvider,
        options: &ReportOptions,
        html: Option<&Path>,
        progress: &mut dyn Progress,
    ) -> Result<Option<String>, Error> {
        let series = self.series(config, engine)?;
        if let Some(line) = self.cannot_show() {
            progress.warn(&line);
        }
        if html.is_some() && series.sides.len() > RACES_MAX {
            return Err(Error::Argument(format!(
                "--html can show at most {RACES_MAX} sides; race fewer, or leave it out and draw some with limber compare --html"
            )));
        }
        let raced = race_series(&series, config, provider, progress);
        if matches!(raced, Err(Error::Interrupted)) {
            progress.note(&format!(
                "Races so far are kept: limber list races --user-tags 'run:{}'",
                series.run_id
            ));
        }
        let outcome = raced?;
        outcome.warnings.iter().for_each(|warning| progress.warn(warning));
        printed(write(&outcome, options))?;
        if let Some(output) = html {
            report::write_comparison(&config.store, &outcome.sides, &Rules::default(), output)?;
            progress.note(&format!("The races are drawn in [{}].", output.display()));
        }
        let tags = |side: &str| format!("'run:{},side:{side}'", series.run_id);
        for side in &outcome.sides[1..] {
            progress.note(&format!(
                "Judge it again: limber compare --baseline-tags {} --contender-tags {}",
                tags(&outcome.sides[0].name),
                tags(&side.name)
            ));
        }
        Ok(outcome.kept)
    }

    /// Returns a note on what so few races cannot show. It is printed before they run.
    fn cannot_show(&self) -> Option<String> {
        let races = self.repeat as usize;
        if self.versus.is_empty() {
            return None;
        }
        several::note_on_counts(races, races, 1, &Rules::default())
    }

    fn series(&self, config: &RaceConfig, engine: Option<&EngineSpec>) -> Result<Series, Error> {
        let own = Side::parse("", self.side_name.clone())?;
        let mut sides = vec![own];
        for (index, text) in self.versus.iter().enumerate() {
            let letter = char::from(b'B' + u8::try_from(index % 25).unwrap_or_default());
            sides.push(Side::parse(text, letter.to_string())?);
        }
        for (index, side) in sides.iter().enumerate() {
            if sides[..index].iter().any(|other| other.name == side.name) {
                return Err(Error::Argument(format!(
                    "two sides are named [{}]; give each its own name=…",
                    side.name
                )));
            }
            let is_set = !config.hosts.is_empty() && side.engine != EngineChange::default();
            if is_set && side.hosts.is_empty() {
                return Err(Error::Argument(format!(
                    "side [{}] has settings of a server, but --target-hosts races one that runs already; leave --target-hosts out",
                    side.name
                )));
            }
        }
        let series = Series {
            sides,
            rounds: self.repeat,
            order: match self.order {
                OrderArgument::Alternating => Order::Alternating,
                OrderArgument::Mirrored => Order::Mirrored,
                OrderArgument::Random => Order::Random,
            },
            seed: config
                .race_id
                .bytes()
                .fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into())),
            engine: engine.cloned(),
            run_id: config.race_id.clone(),
        };
        let last = series.turns().last().map(|(_, side)| &series.sides[side]);
        match last.filter(|side| !side.hosts.is_empty() && engine.is_some_and(|spec| spec.is_kept)) {
            Some(last) => Err(Error::Argument(format!(
                "--preserve-install keeps the server of the last race, which is of side [{}] and starts none; name that side first, or leave it out",
                last.name
            ))),
            None => Ok(series),
        }
    }
}

fn write(outcome: &SeriesOutcome, options: &ReportOptions) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for side in &outcome.sides {
        spread::write(side, options, &mut out)?;
    }
    let baseline = &outcome.sides[0];
    for contender in &outcome.sides[1..] {
        let rules = Rules::default();
        let judgement = several::judge(baseline, contender, &rules);
        several::write([baseline, contender], &judgement, &rules, options, &mut out)?;
    }
    Ok(())
}
