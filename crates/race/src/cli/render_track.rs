//! `limber render-track`: prints what a track's templates give with these parameters.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{TrackArguments, printed};
use crate::error::Error;
use crate::notation::python_json::{Characters, pretty};
use crate::track::load::{self, LoadError};

/// The build flavor that templates see (`build_flavor`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BuildFlavor {
    Default,
    Serverless,
}

/// Print a track as one JSON document, with all templates rendered and all parts in place
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber render-track --track-path rally-tracks/geonames --track-params number_of_shards:1
  limber render-track --track-repository rally-tracks --distribution-version 8.15.0 --track elastic/logs --output-path logs.json")]
pub struct RenderTrackCommand {
    /// With --challenge the other challenges are left out.
    #[command(flatten)]
    pub track: TrackArguments,
    /// Flavor of the server, by which templates branch
    #[arg(long, value_enum, default_value = "default")]
    pub build_flavor: BuildFlavor,
    /// Render for the operator of a serverless project
    #[arg(long)]
    pub serverless_operator: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output_path: Option<PathBuf>,
}

impl RenderTrackCommand {
    /// # Errors
    /// `Load` for a template that cannot be rendered or does not give JSON, `Report` for an output that
    /// cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let mut spec = self.track.spec(None)?;
        if self.build_flavor == BuildFlavor::Serverless {
            spec.build_flavor = "serverless".to_owned();
        }
        spec.serverless_operator = self.serverless_operator;
        let (name, mut track) = load::render(&spec)?;
        if let Some(challenge) = &self.track.challenge {
            keep_challenge(&name, &mut track, challenge)?;
        }
        let mut text = pretty(&track, 2, Characters::Ascii);
        text.push(b'\n');
        match &self.output_path {
            None => printed(out.write_all(&text)),
            Some(path) => {
                std::fs::write(path, text).map_err(LoadError::at(path))?;
                printed(writeln!(out, "Rendered track [{name}] has been written to [{}].", path.display()))
            }
        }
    }
}

fn keep_challenge(track_name: &str, track: &mut Value, challenge: &str) -> Result<(), LoadError> {
    let known: Vec<String> = match track.get_mut("challenges").and_then(Value::as_array_mut) {
        Some(challenges) if challenges.iter().any(|one| one["name"] == challenge) => {
            challenges.retain(|one| one["name"] == challenge);
            return Ok(());
        }
        Some(challenges) => {
            challenges.iter().filter_map(|one| Some(one["name"].as_str()?.to_owned())).collect()
        }
        None => Vec::new(),
    };
    Err(LoadError::UnknownChallenge { challenge: challenge.to_owned(), track: track_name.to_owned(), known })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Root {
        #[command(flatten)]
        render: RenderTrackCommand,
    }

    fn rendered(arguments: &[&str]) -> Result<String, String> {
        let root = Root::try_parse_from([&["render-track"], arguments].concat()).unwrap();
        let mut out = Vec::new();
        root.render.run(&mut out).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn parameters_and_challenges_are_applied() {
        let text =
            rendered(&["--track=log_ingest", "--track-params=bulk_size:7", "--challenge=ramp-up"]).unwrap();
        let track: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(track["operations"][1]["bulk-size"], 7);
        assert_eq!(track["challenges"].as_array().unwrap().len(), 1);
        assert!(text.starts_with("{\n  \"version\": 2,\n  \"description\""), "{text}");
        assert!(rendered(&["--challenge=nope"]).unwrap_err().contains("Unknown challenge [nope]"));
    }

    #[test]
    fn flavors_reach_the_templates() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("track.json"),
            "{\"a\": \"{{ build_flavor }}\", \"b\": {{ serverless_operator | tojson }}, \"c\": 5e-5, \"d\": \"é\"}",
        )
        .unwrap();
        let path = format!("--track-path={}", folder.path().display());
        let output = folder.path().join("out.json");
        let text = rendered(&[
            &path,
            "--build-flavor=serverless",
            "--serverless-operator",
            &format!("--output-path={}", output.display()),
        ]);
        assert!(text.unwrap().contains("has been written to ["));
        let expected =
            "{\n  \"a\": \"serverless\",\n  \"b\": true,\n  \"c\": 5e-05,\n  \"d\": \"\\u00e9\"\n}\n";
        assert_eq!(std::fs::read_to_string(output).unwrap(), expected);
    }
}
