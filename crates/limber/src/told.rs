//! What commands that end by themselves print on standard output, and how they report errors of the engine.

use std::fmt::Display;
use std::io::{ErrorKind, Result, Write};

use limber_mapping::RequestError;

/// Prints a line. A reader that has closed its pipe, such as `head`, is no error; any other failure is
/// reported on standard error, and the command goes on, because its exit code says what it found.
pub fn say(line: impl Display) {
    let written = closed_is_fine(writeln!(std::io::stdout().lock(), "{line}"));
    if let Err(error) = written {
        eprintln!("error: cannot write to standard output: {error}");
    }
}

/// Takes a write to a pipe that its reader has closed as done.
///
/// # Errors
/// Any other error of the write.
pub fn closed_is_fine(written: Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Maximum number of characters of another server's message that are printed.
const FOREIGN_CHARS_MAX: usize = 300;

/// Returns the beginning of another server's message in one line that is safe for a terminal.
pub fn in_one_line(message: &str) -> String {
    let printable = message.trim().chars().map(|char| if char.is_control() { ' ' } else { char });
    printable.take(FOREIGN_CHARS_MAX).collect()
}

/// Converts an error of the engine for a command line, where the names of Elasticsearch's exceptions say
/// nothing.
pub fn in_words(error: RequestError) -> anyhow::Error {
    anyhow::Error::msg(error.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_message_cannot_move_the_cursor() {
        assert_eq!(in_one_line(" no\u{1b}[2J such\r\nindex\u{9b}K "), "no [2J such  index K");
        assert_eq!(in_one_line(&"é".repeat(1000)).chars().count(), FOREIGN_CHARS_MAX);
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        assert!(closed_is_fine(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(closed_is_fine(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
