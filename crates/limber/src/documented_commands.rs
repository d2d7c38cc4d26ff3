//! Does every command line shown in the documentation run? Each is parsed with the command line definition
//! that users get. What can be tried without a server and without documents is tried (`--dry-run` of `race`
//! and `tune`, the configuration of `serve`).

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::config::{Config, Overrides};
use crate::{Cli, Command};

/// A command line and where it is documented.
struct Shown {
    place: String,
    line: String,
    /// Found within a sentence, which may name only a part of a command line.
    is_mention: bool,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository's root")
}

/// Returns all command lines in the repository's documentation and in the commands' own help.
fn all_shown() -> Vec<Shown> {
    let root = repository();
    let mut files = vec![root.join("README.md"), root.join("tracks/README.md")];
    for folder in ["docs", "docs/decisions"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of the repository");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    files.sort();
    let mut shown = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let name = file.strip_prefix(&root).expect("below the root").display().to_string();
        add_of_markdown(&name, &text, &mut shown);
    }
    add_of_packaging(&root.join("packaging"), &mut shown);
    for command in Cli::command().get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let place = format!("limber {} --help", command.get_name());
        for line in help.lines().filter(|line| line.trim_start().starts_with("limber ")) {
            // Several spaces separate the command line from a description of what it does.
            let line = line.trim().split("   ").next().unwrap_or_default().to_owned();
            shown.push(Shown { place: place.clone(), line, is_mention: false });
        }
    }
    shown
}

/// Adds the commands that the container and the systemd unit start.
fn add_of_packaging(folder: &Path, shown: &mut Vec<Shown>) {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file of the packaging");
    let container = text("Containerfile");
    let arguments = container.lines().find_map(|line| line.strip_prefix("CMD ")).expect("a command");
    let arguments: Vec<String> = serde_json::from_str(arguments).expect("an array");
    let unit = text("limber.service");
    let started =
        unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/")).expect("a command");
    for (place, line) in [
        ("packaging/Containerfile", format!("limber {}", arguments.join(" "))),
        ("packaging/limber.service", started.to_owned()),
    ] {
        shown.push(Shown { place: place.to_owned(), line, is_mention: false });
    }
}

fn add_of_markdown(name: &str, text: &str, shown: &mut Vec<Shown>) {
    let joined = text.replace("\\\n", " ");
    let mut is_code = false;
    for (number, line) in joined.lines().enumerate() {
        let place = format!("{name}, about line {}", number + 1);
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.starts_with("    ") {
            let line = match line.trim().strip_prefix("cargo run --release -- ") {
                Some(arguments) => format!("limber {arguments}"),
                None => line.trim().to_owned(),
            };
            if line.starts_with("limber ") {
                shown.push(Shown { place, line, is_mention: false });
            }
        } else {
            for span in line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("limber ")) {
                shown.push(Shown { place: place.clone(), line: span.to_owned(), is_mention: true });
            }
        }
    }
}

/// Splits a shell's command line into words, up to a comment, a pipe or a second command. `…` and anything in
/// `[…]` is left out: it is a placeholder for the reader.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<(String, bool)> = Vec::new();
    let (mut word, mut has_quotes, mut quote) = (String::new(), false, None);
    let mut end = |word: &mut String, has_quotes: &mut bool| {
        if !word.is_empty() || *has_quotes {
            words.push((std::mem::take(word), std::mem::take(has_quotes)));
        }
    };
    for char in line.chars() {
        match (quote, char) {
            (Some(open), char) if char == open => quote = None,
            (Some(_), char) => word.push(char),
            (None, '\'' | '"') => (quote, has_quotes) = (Some(char), true),
            (None, ' ') => end(&mut word, &mut has_quotes),
            (None, char) => word.push(char),
        }
    }
    end(&mut word, &mut has_quotes);
    let mut kept = Vec::new();
    let mut is_optional = false;
    for (word, has_quotes) in words {
        if !has_quotes && (word.starts_with('#') || ["|", "&&", ">", "&"].contains(&word.as_str())) {
            break;
        }
        is_optional |= !has_quotes && word.starts_with('[');
        let is_left_out = is_optional || ["…", "..."].contains(&word.as_str());
        if is_optional && word.ends_with(']') {
            is_optional = false;
        }
        if !is_left_out {
            kept.push(word);
        }
    }
    kept
}

/// Returns the settings that a race gives to the built-in server, as `key=value`.
fn engine_settings(words: &[String]) -> Vec<String> {
    let is_other = |word: &String| {
        ["--engine", "--target-hosts"].iter().any(|flag| word.split('=').next() == Some(*flag))
    };
    if words.get(1).map(String::as_str) != Some("race") || words.iter().any(is_other) {
        return Vec::new();
    }
    let mut settings = Vec::new();
    for (flag, value) in words.iter().zip(words.iter().skip(1)) {
        let parts: Vec<&str> = match flag.as_str() {
            "--engine-setting" => vec![value.as_str()],
            "--versus" if !value.contains("engine=") => {
                value.split(';').filter_map(|part| part.strip_prefix("engine-setting=")).collect()
            }
            _ => continue,
        };
        let pairs = parts.into_iter().flat_map(|part| part.split(','));
        settings.extend(pairs.map(|pair| pair.replacen(':', "=", 1)));
    }
    settings
}

/// Tries a command line. The error is the message that the user would get.
fn tried(shown: &Shown) -> Result<(), String> {
    let words = words(&shown.line);
    let command = match Cli::try_parse_from(&words) {
        Ok(cli) => cli.command,
        Err(error) => {
            // A sentence may name a flag without its value, or a command without its arguments.
            let is_part = matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    | ErrorKind::DisplayHelp
                    | ErrorKind::DisplayVersion
            ) || error.to_string().contains("a value is required for");
            return if shown.is_mention && is_part { Ok(()) } else { Err(error.to_string()) };
        }
    };
    let is_there = |path: &Option<PathBuf>| path.as_ref().is_none_or(|path| path.exists());
    // Placeholders for the reader's own files cannot be tried.
    let is_readers = shown.is_mention
        || ["~/", "ca.pem", "rally.ini", "path/to"].iter().any(|part| shown.line.contains(part));
    match command {
        Command::Race(race) if !is_readers && is_there(&race.track.track_path) => {
            race.check(&mut Vec::new()).map_err(|error| error.to_string())?;
            let overrides = Overrides { settings: engine_settings(&words), ..Overrides::default() };
            Config::load(&overrides).map(drop).map_err(|error| format!("{error:#}"))
        }
        Command::Tune(tune) if !is_readers && tune.resume.is_none() && is_there(&tune.track.track_path) => {
            tune.plan(Path::new("/nonexistent")).map(drop).map_err(|error| error.to_string())
        }
        Command::Serve(serve) if !is_readers && !serve.secure && is_there(&serve.config) => {
            // The documentation may use more memory than this machine has.
            let config = Config::load(&Overrides { memory_limit: None, ..serve.overrides() });
            config.and_then(|config| config.check_network()).map_err(|error| format!("{error:#}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn every_command_line_of_the_documentation_runs() {
    // Paths in the documentation are relative to the repository's root.
    std::env::set_current_dir(repository()).expect("a folder");
    let all = all_shown();
    let wrong: Vec<String> = all
        .iter()
        .filter_map(|shown| Some(format!("{}\n  {}\n  {}", shown.place, shown.line, tried(shown).err()?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let lines = all.iter().filter(|shown| !shown.is_mention).count();
    assert!(lines > 60 && all.len() > lines, "only {lines} command lines were found");
}

#[test]
fn words_are_those_of_a_shell() {
    let check = |line: &str, expected: &[&str]| assert_eq!(words(line), expected, "{line}");
    check("limber race --x='a b' \"c,'d'\"   # why", &["limber", "race", "--x=a b", "c,'d'"]);
    check("limber report RACE [RACE …]   # one", &["limber", "report", "RACE"]);
    check("limber list races … | head", &["limber", "list", "races"]);
    check("limber tune --knob 'jvm=,-XX' ''", &["limber", "tune", "--knob", "jvm=,-XX", ""]);
}

#[test]
fn settings_of_raced_servers_are_tried() {
    let of = |line: &str| engine_settings(&words(line));
    assert_eq!(of("limber race --engine-setting a.b:1,c:2%"), ["a.b=1", "c=2%"]);
    assert_eq!(of("limber race --versus 'name=x;engine-setting=a:1'"), ["a=1"]);
    assert!(of("limber race --engine ~/es --engine-setting a:1").is_empty());
    let shown = |line: &str| tried(&Shown { place: String::new(), line: line.to_owned(), is_mention: false });
    assert!(shown("limber race --engine-setting index.codec:default").is_err());
}
