//! Help as wide as the terminal: lines that are too long are broken between words.
//!
//! clap's own wrapping needs one more dependency, and would break the command lines of examples, which must
//! stay whole so that they can be copied.

use std::io::{IsTerminal, Write};

use limber_race::terminal_width;

use crate::told::closed_is_fine;

/// Longer lines are tiring to read, however wide the terminal is.
const WIDTH_MAX: usize = 110;
/// Below this width, breaking lines helps nobody.
const WIDTH_MIN: usize = 30;
/// A column of explanations is kept if at least this many characters fit into it.
const COLUMN_MIN: usize = 24;

/// Prints clap's message, which may be the requested help, and ends the program with its exit code.
pub fn exit(message: &clap::Error) -> ! {
    let mut out: Box<dyn Write> = match message.use_stderr() {
        true if std::io::stderr().is_terminal() => Box::new(std::io::stderr()),
        false => Box::new(std::io::stdout()),
        true => message.exit(),
    };
    // The width is that of standard output, and unknown if that is no terminal.
    let Some(width) = terminal_width().filter(|width| *width >= WIDTH_MIN) else { message.exit() };
    let rendered = message.render();
    let has_colors = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
    let text = if has_colors { rendered.ansi().to_string() } else { rendered.to_string() };
    let written = out.write_all(wrapped(&text, width.min(WIDTH_MAX)).as_bytes());
    std::process::exit(if closed_is_fine(written).is_ok() { message.exit_code() } else { 1 })
}

/// Breaks lines between words, so that none has more than `width` columns unless a word does.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    text.lines().for_each(|line| add_wrapped(line, width, &mut out));
    out
}

fn add_wrapped(line: &str, width: usize, out: &mut String) {
    let plain = without_escapes(line);
    let mut is_command = plain.trim_start().starts_with("limber ");
    let indent = indent_of(&plain, width);
    let (mut column, mut rest) = (0, line);
    while !rest.is_empty() {
        let (spaces, tail) = rest.split_at(rest.len() - rest.trim_start_matches(' ').len());
        let (word, tail) = tail.split_at(tail.find(' ').unwrap_or(tail.len()));
        let columns = without_escapes(word).chars().count();
        // What follows the command of an example explains it.
        is_command &= column == 0 || spaces.len() == 1;
        if column > indent && column + spaces.len() + columns > width && !is_command {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            out.push_str(spaces);
            column += spaces.len();
        }
        out.push_str(word);
        column += columns;
        rest = tail;
    }
    out.push('\n');
}

/// Returns the column at which the continuation of a line begins: below the explanation, if that stands in a
/// column of its own, else below the beginning of the line.
fn indent_of(plain: &str, width: usize) -> usize {
    let begin = plain.chars().take_while(|char| *char == ' ').count();
    let gap = plain.trim_start().find("  ").map(|at| begin + plain.trim_start()[..at].chars().count());
    let Some(gap) = gap else { return begin };
    let explanation = gap + plain.chars().skip(gap).take_while(|char| *char == ' ').count();
    match explanation + COLUMN_MIN <= width {
        true => explanation,
        false => begin + 4,
    }
}

/// Removes the escapes of colours, which begin with ESC and end with `m`.
fn without_escapes(text: &str) -> String {
    let mut is_escape = false;
    let is_seen = |char: &char| {
        let was_escape = is_escape;
        is_escape = *char == '\u{1b}' || (was_escape && *char != 'm');
        !is_escape && !was_escape
    };
    text.chars().filter(is_seen).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn explanations_stay_in_their_column() {
        let text = "Usage: limber\n\n  \u{1b}[1m-a, --all\u{1b}[0m  one two three four five six seven\n      plain text that is long enough\n";
        let expected = "Usage: limber\n\n  \u{1b}[1m-a, --all\u{1b}[0m  one two three four five\n             six seven\n      plain text that is long enough\n";
        assert_eq!(wrapped(text, 38), expected);
    }

    #[test]
    fn commands_stay_in_one_line() {
        let text = "  limber import http://old:9200 --indices 'logs-*,books'     what it does in a few words";
        let expected =
            "  limber import http://old:9200 --indices 'logs-*,books'\n      what it does in a few words\n";
        assert_eq!(wrapped(text, 40), expected);
    }

    #[test]
    fn every_command_and_every_argument_says_what_it_is_for() {
        let mut all = vec![crate::Cli::command()];
        while let Some(command) = all.pop() {
            all.extend(command.get_subcommands().cloned());
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
        }
    }

    #[test]
    fn help_of_all_commands_fits_into_eighty_columns() {
        let mut all = vec![crate::Cli::command()];
        while let Some(mut command) = all.pop() {
            all.extend(command.get_subcommands().cloned());
            for text in [command.render_help().to_string(), command.render_long_help().to_string()] {
                let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                let narrow = wrapped(&text, 80);
                assert_eq!(words(&narrow), words(&text), "no word is lost");
                for line in narrow.lines().filter(|line| !line.trim_start().starts_with("limber ")) {
                    let has_spaces = line.trim().contains(' ');
                    assert!(line.chars().count() <= 80 || !has_spaces, "{}: {line}", command.get_name());
                }
            }
        }
    }
}
