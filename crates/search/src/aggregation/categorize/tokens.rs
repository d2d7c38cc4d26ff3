//! The default tokens of a message: words as they occur in log messages.
//!
//! Source: Elasticsearch's documentation of categorization analyzers (`ml_standard` with
//! `first_line_with_letters`, and a filter of the names of days, months and time zones).

/// Largest number of tokens of a string; later ones are ignored.
pub const TOKEN_COUNT_MAX: usize = 100;

/// Words of dates and times, which say nothing about a message.
const TIME_WORDS: &[&str] = &[
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Mon",
    "Tue",
    "Wed",
    "Thu",
    "Fri",
    "Sat",
    "Sun",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
    "GMT",
    "UTC",
];

/// Calls `seen` with the tokens of the first line that contains letters.
pub fn message_tokens<'t>(text: &'t str, mut seen: impl FnMut(&'t str)) {
    let line = text.lines().find(|line| line.chars().any(char::is_alphabetic)).unwrap_or_default();
    let is_part = |character: char| character.is_alphanumeric() || "_-.@/".contains(character);
    let pieces = line.split(|character| !is_part(character));
    let words = pieces.map(|piece| piece.trim_matches(|character: char| !character.is_alphanumeric()));
    words.filter(|word| says_something(word)).take(TOKEN_COUNT_MAX).for_each(&mut seen);
}

/// Whether a word is neither a number in any base nor part of a date or time.
fn says_something(word: &str) -> bool {
    let starts_as_name = word.chars().next().is_some_and(|first| !first.is_numeric());
    let has_digits = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_hexadecimal = has_digits && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    starts_as_name && !is_hexadecimal && !TIME_WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_no_tokens() {
        let tokens = |text: &'static str| {
            let mut found = Vec::new();
            message_tokens(text, |token| found.push(token));
            found
        };
        assert_eq!(tokens("2016-02-07T00:00:00+0000 Node 3 shutting down."), ["Node", "shutting", "down"]);
        assert_eq!(
            tokens("\n---\nMon Feb 7 UTC User foo_325 (a1b2) at /var/log/x.log\nnext"),
            ["User", "foo_325", "at", "var/log/x.log"]
        );
        assert_eq!(tokens("123 456"), [""; 0]);
    }
}
