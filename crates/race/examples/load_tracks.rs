//! Reports which tracks of a checkout of Rally's tracks can be loaded here, and what is missing for the
//! others.
//!
//!     cargo run -p limber-race --example load_tracks -- CHECKOUT

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(checkout) = std::env::args().nth(1) else {
        eprintln!("give a checkout of Rally's tracks");
        return ExitCode::FAILURE;
    };
    limber_race::print_coverage(Path::new(&checkout));
    ExitCode::SUCCESS
}
