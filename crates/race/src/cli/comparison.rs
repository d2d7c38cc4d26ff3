//! Arguments of `limber compare`: which races are on each side, and how several races are judged.

use std::io::Write;

use clap::{Args, ValueEnum};

use super::printed;
use crate::arguments::parse;
use crate::error::Error;
use crate::inference::Correction;
use crate::record::{Race, RaceFilter, RaceStore};
use crate::report::several::{self, Rules};
use crate::report::{RacedSide, ReportOptions, figures};

pub(super) const EXAMPLES: &str = "Examples:
  limber compare --baseline ID --contender ID                     Rally's table of two races
  limber compare --baseline ID,ID,ID,ID --contender ID,ID,ID,ID   are these faster, or is it chance?
  limber compare --baseline-tags 'run:r1,side:A' --contender-tags 'run:r1,side:B'
  limber compare --baseline-tags 'commit:old' --contender-tags 'commit:new' --fail-if-worse 5% --html commits.html

Exit codes: 0, 1 when --fail-if-worse found something worse, 64 for errors.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CorrectionArgument {
    /// The chance of even one false alarm among the tasks of a metric stays below the significance level
    Holm,
    /// The expected share of false alarms among the alarms stays below it: finds more
    BenjaminiHochberg,
    /// Every task by itself
    None,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ComparisonArguments {
    /// Ids of the races to compare with, or how they begin, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',', required_unless_present = "baseline_tags")]
    pub baseline: Vec<String>,
    /// Ids of the races that are judged, or how they begin, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',', required_unless_present = "contender_tags")]
    pub contender: Vec<String>,
    /// All stored races with these user tags as the baseline: key:value,key2:value2
    #[arg(long, value_name = "TAGS", conflicts_with = "baseline")]
    pub baseline_tags: Option<String>,
    /// All stored races with these user tags as the contender
    #[arg(long, value_name = "TAGS", conflicts_with = "contender")]
    pub contender_tags: Option<String>,
    /// Exit with 1 when a metric is shown to be worse by at least this share of the baseline
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    pub fail_if_worse: Option<f64>,
    /// How p-values are corrected over the tasks of each metric [default: holm]
    #[arg(long, value_enum)]
    pub correction: Option<CorrectionArgument>,
    /// Corrected p-value up to which a difference counts as shown [default: 0.05]
    #[arg(long, value_name = "P", value_parser = significance)]
    pub significance: Option<f64>,
    /// Metrics to judge, separated by commas: throughput, latency, service_time, processing_time, took,
    /// error_rate, race, or one figure such as service_time.p99
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    pub metrics: Vec<String>,
}

/// Reads `5%` or `5` as 0.05.
fn percentage(text: &str) -> Result<f64, Error> {
    match text.trim().trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=1e6).contains(&percent) => Ok(percent / 100.0),
        _ => Err(Error::Argument(format!("[{text}] is not a percentage such as 5%"))),
    }
}

fn significance(text: &str) -> Result<f64, Error> {
    match text.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err(Error::Argument(format!("[{text}] is not a probability between 0 and 1"))),
    }
}

impl ComparisonArguments {
    /// Whether only the statistical comparison can answer the request.
    pub(crate) fn asks_for_statistics(&self) -> bool {
        self.fail_if_worse.is_some()
            || self.correction.is_some()
            || self.significance.is_some()
            || !self.metrics.is_empty()
    }

    /// Returns both sides, the oldest race of each first.
    ///
    /// # Errors
    /// Ids that are not stored, or tags that no race has.
    pub(crate) fn races(&self, store: &RaceStore) -> Result<(Vec<Race>, Vec<Race>), Error> {
        let side = |ids: &[String], tags: &Option<String>| match tags {
            Some(tags) => tagged(store, tags),
            None => Ok(ids
                .iter()
                .map(|id| store.find(&store.resolve(id.trim())?))
                .collect::<Result<Vec<_>, _>>()?),
        };
        Ok((side(&self.baseline, &self.baseline_tags)?, side(&self.contender, &self.contender_tags)?))
    }

    /// Returns the sides with their names and all figures.
    ///
    /// # Errors
    /// Races that cannot be read.
    pub(crate) fn named(
        &self,
        baseline: Vec<Race>,
        contender: Vec<Race>,
        store: &RaceStore,
    ) -> Result<[RacedSide; 2], Error> {
        let side = |tags, races: Vec<Race>| RacedSide::read(name(tags, &races), races, store);
        Ok([side(&self.baseline_tags, baseline)?, side(&self.contender_tags, contender)?])
    }

    /// Prints the verdicts.
    ///
    /// # Errors
    /// `Worse` when `--fail-if-worse` found something; `Argument` when it never could because there are too
    /// few races.
    pub(crate) fn judge(
        &self,
        sides: &[RacedSide; 2],
        options: &ReportOptions,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let rules = self.rules()?;
        let [baseline, contender] = sides;
        let judgement = several::judge(baseline, contender, &rules);
        printed(several::write([baseline, contender], &judgement, &rules, options, out))?;
        let Some(share) = self.fail_if_worse else { return Ok(()) };
        if !judgement.can_show_anything(rules.significance) {
            return Err(Error::Argument(format!(
                "--fail-if-worse cannot fail with {} against {} races: {}",
                judgement.baseline_count,
                judgement.contender_count,
                judgement.notes.last().map_or("", String::as_str)
            )));
        }
        let worse: Vec<String> = judgement
            .worse_by(share)
            .iter()
            .map(|row| {
                let percent = row.comparison.worsening() * 100.0;
                format!("{} {} ({percent:.1} %)", row.figure.metric, row.figure.task).trim_end().to_owned()
            })
            .collect();
        match worse.is_empty() {
            true => Ok(()),
            false => {
                Err(Error::Worse(format!("worse by at least {} %: {}", share * 100.0, worse.join(", "))))
            }
        }
    }

    /// Errors: unknown metrics.
    pub(crate) fn rules(&self) -> Result<Rules, Error> {
        let is_known = |name: &&String| figures::KINDS.contains(&name.split('.').next().unwrap_or_default());
        if let Some(unknown) = self.metrics.iter().find(|name| !is_known(name)) {
            return Err(Error::Argument(format!(
                "--metrics [{unknown}] is not known; use {} or one figure such as service_time.p99",
                figures::KINDS.join(", ")
            )));
        }
        let rules = Rules::default();
        Ok(Rules {
            significance: self.significance.unwrap_or(rules.significance),
            correction: match self.correction {
                None | Some(CorrectionArgument::Holm) => Correction::Holm,
                Some(CorrectionArgument::BenjaminiHochberg) => Correction::BenjaminiHochberg,
                Some(CorrectionArgument::None) => Correction::None,
            },
            metrics: self.metrics.clone(),
        })
    }
}

fn tagged(store: &RaceStore, tags: &str) -> Result<Vec<Race>, Error> {
    let filter = RaceFilter { user_tags: parse(tags)?, ..RaceFilter::default() };
    let mut races = store.list(&filter)?;
    races.reverse();
    match races.is_empty() {
        true => Err(Error::Argument(format!(
            "no stored race has the user tags [{tags}]; limber list races shows the existing ones"
        ))),
        false => Ok(races),
    }
}

fn name(tags: &Option<String>, races: &[Race]) -> String {
    match tags {
        Some(tags) => tags.clone(),
        None => races.iter().map(|race| race.race_id.as_str()).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::report::figures::tests::race;

    #[derive(Debug, Parser)]
    struct Root {
        #[command(flatten)]
        arguments: ComparisonArguments,
    }

    fn arguments(line: &[&str]) -> ComparisonArguments {
        Root::try_parse_from([&["compare"], line].concat()).unwrap().arguments
    }

    #[test]
    fn races_by_id_and_by_tag_and_the_exit_code_for_ci() {
        let home = tempfile::tempdir().unwrap();
        let store = RaceStore::new(home.path());
        for (side, rate) in [("old", 200.0), ("new", 100.0)] {
            for i in 0..5 {
                let mut race = race(&format!("{side}-{i}"), rate + f64::from(i), 9.0);
                race.user_tags.insert("commit".into(), side.into());
                store.save(&race).unwrap();
            }
        }
        let judged = |line: &[&str]| {
            let arguments = arguments(line);
            let (baseline, contender) = arguments.races(&store)?;
            let mut out = Vec::new();
            let sides = arguments.named(baseline, contender, &store)?;
            arguments.judge(&sides, &ReportOptions::default(), &mut out)?;
            Ok::<_, Error>(String::from_utf8(out).unwrap())
        };
        let tags = ["--baseline-tags=commit:old", "--contender-tags=commit:new"];
        assert!(judged(&tags).unwrap().contains("worse"));
        let failed = judged(&[&tags[..], &["--fail-if-worse=5%"]].concat()).unwrap_err();
        assert!(
            matches!(&failed, Error::Worse(text) if text.contains("Median Throughput index (49.5 %)")),
            "{failed}"
        );
        assert_eq!(super::super::exit_code(&failed), super::super::commands::EXIT_WORSE);
        assert!(judged(&[&tags[..], &["--fail-if-worse=60"]].concat()).is_ok());
        let few = ["--baseline=old-0,old-1", "--contender=new-0,new-1", "--fail-if-worse=5%"];
        let error = judged(&few).unwrap_err();
        assert!(error.to_string().contains("--fail-if-worse cannot fail with 2 against 2"), "{error}");
        assert!(
            judged(&["--baseline-tags=commit:x", "--contender=new-0"])
                .unwrap_err()
                .to_string()
                .contains("commit:x")
        );
        assert!(
            judged(&[&tags[..], &["--metrics=speed"]].concat()).unwrap_err().to_string().contains("[speed]")
        );
    }

    #[test]
    fn one_race_a_side_stays_rallys() {
        let plain = arguments(&["--baseline=a", "--contender=b"]);
        assert!(!plain.asks_for_statistics());
        assert!(arguments(&["--baseline=a", "--contender=b", "--fail-if-worse=5%"]).asks_for_statistics());
        assert!(Root::try_parse_from(["compare", "--baseline=a"]).is_err());
    }
}
