//! The race tool by itself, without a built-in server: `limber race` against `--target-hosts` only.

use std::process::ExitCode;

use clap::Parser;
use limber_race::{EngineSpec, Error, RaceCommand, RunningServer, ServerProvider, exit_code};

#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    race: RaceCommand,
}

struct NoServer;

impl ServerProvider for NoServer {
    fn start_with(&self, _: &EngineSpec) -> Result<RunningServer, Error> {
        Err(Error::ServerStart("this binary has none; give --target-hosts".into()))
    }
}

fn main() -> ExitCode {
    match Arguments::parse().race.run(&NoServer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("[ERROR] {error}");
            ExitCode::from(exit_code(&error))
        }
    }
}
