//! Replacements of matches: "which text does `$1` mean for this match?"

use crate::Error;

/// The replacement of a match: Java's `$1`, `${name}` and `\` escapes.
#[derive(Debug)]
pub struct Replacement {
    parts: Vec<ReplacementPart>,
}

#[derive(Debug)]
enum ReplacementPart {
    Text(String),
    /// All digits after `$`; Java uses as many of them as still name a group.
    Group(String),
    Name(String),
    Invalid(&'static str),
}

impl Replacement {
    /// Parses a replacement. This never fails, as Java also reports an invalid replacement only when it is
    /// used.
    pub fn parse(text: &str) -> Replacement {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let part = match char {
                '\\' => match chars.next() {
                    Some(escaped) => {
                        plain.push(escaped);
                        continue;
                    }
                    None => ReplacementPart::Invalid("character to be escaped is missing"),
                },
                '$' if chars.peek() == Some(&'{') => {
                    let name: String = chars.by_ref().skip(1).take_while(|&char| char != '}').collect();
                    ReplacementPart::Name(name)
                }
                '$' => {
                    let mut digits = String::new();
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        digits.push(digit);
                    }
                    match (digits.is_empty(), chars.peek()) {
                        (false, _) => ReplacementPart::Group(digits),
                        (true, None) => {
                            ReplacementPart::Invalid("Illegal group reference: group index is missing")
                        }
                        (true, Some(_)) => ReplacementPart::Invalid("Illegal group reference"),
                    }
                }
                other => {
                    plain.push(other);
                    continue;
                }
            };
            if !plain.is_empty() {
                parts.push(ReplacementPart::Text(std::mem::take(&mut plain)));
            }
            parts.push(part);
        }
        if !plain.is_empty() {
            parts.push(ReplacementPart::Text(plain));
        }
        Replacement { parts }
    }

    /// Returns the bytes of its literal text.
    pub(super) fn text_bytes(&self) -> usize {
        let of = |part: &ReplacementPart| match part {
            ReplacementPart::Text(text) => text.len(),
            _ => 0,
        };
        self.parts.iter().map(of).sum()
    }

    /// Appends the replacement of a match of `text` with these groups and group names.
    ///
    /// # Errors
    /// The replacement names a group that does not exist.
    pub fn push(
        &self,
        text: &str,
        groups: &[Option<(usize, usize)>],
        names: &[Option<&str>],
        out: &mut String,
    ) -> Result<(), Error> {
        for part in &self.parts {
            match part {
                ReplacementPart::Text(text) => out.push_str(text),
                ReplacementPart::Invalid(reason) => return Err(Error::illegal(*reason)),
                ReplacementPart::Group(digits) => {
                    // The first digit always counts, later ones only while such a group exists.
                    let mut used = 1;
                    while used < digits.len()
                        && digits[..used + 1].parse::<usize>().is_ok_and(|group| group < groups.len())
                    {
                        used += 1;
                    }
                    let group: usize = digits[..used].parse().unwrap_or(usize::MAX);
                    let range =
                        groups.get(group).ok_or_else(|| Error::NoSuchGroup(digits[..used].to_owned()))?;
                    out.push_str(range.map_or("", |(start, end)| &text[start..end]));
                    out.push_str(&digits[used..]);
                }
                ReplacementPart::Name(name) => {
                    let group = names.iter().position(|known| *known == Some(name));
                    let group =
                        group.ok_or_else(|| Error::illegal(format!("No group with name {{{name}}}")))?;
                    out.push_str(groups[group].map_or("", |(start, end)| &text[start..end]));
                }
            }
        }
        Ok(())
    }
}
