//! Patterns of paths, level by level: "does one of them match this path, or something below it?"
//!
//! Source: Elasticsearch's `FilterPath`: `*` matches any characters of one name, `**` any number of names.
//! The names of a document may have dots, which separate levels too. How far each pattern has matched is
//! handed down from object to object, so that a long name is read once, and not for everything below it.

use limber_text::wildcard;
use limber_work::{self as work, Stop};

/// How far a pattern matches along a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Neither the path nor anything below it matches.
    Nowhere,
    /// Something below the path may match.
    Below,
    /// The path itself matches, or a part that it begins with.
    Whole,
}

/// Patterns, split at their dots.
pub(super) struct Levels<'p>(Vec<Vec<&'p str>>);

/// Names and patterns that are compared between two checks.
const STEPS_PER_CHECK: usize = 1 << 10;

impl<'p> Levels<'p> {
    /// Splits patterns.
    ///
    /// # Errors
    /// The client has disconnected, or there is not enough memory.
    pub fn of(patterns: &'p [String]) -> Result<Levels<'p>, Stop> {
        let mut all = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            work::check_beyond_deadline()?;
            work::claim_pieces(pattern, ".")?;
            let mut levels: Vec<&str> = pattern.split('.').collect();
            // `**.**` matches the same as `**`.
            levels.dedup_by(|level, before| *level == "**" && *before == "**");
            all.push(levels);
        }
        Ok(Levels(all))
    }

    /// Returns the place of the document: each pattern, by its number, with the number of its next level.
    pub fn root(&self) -> Vec<(u32, u32)> {
        (0..self.0.len() as u32).map(|pattern| (pattern, 0)).collect()
    }

    /// Returns how far the patterns match at the member `name` of an object, and the place of that member.
    ///
    /// # Errors
    /// The client has disconnected, or there is not enough memory.
    pub fn descend(&self, place: &[(u32, u32)], name: &str) -> Result<(Reach, Vec<(u32, u32)>), Stop> {
        let mut names = name.split('.');
        let first = names.next().unwrap_or_default();
        let mut steps = 0;
        let Some(mut next) = self.step(place, first, &mut steps)? else {
            return Ok((Reach::Whole, Vec::new()));
        };
        for name in names {
            if next.is_empty() {
                break;
            }
            match self.step(&next, name, &mut steps)? {
                Some(below) => next = below,
                None => return Ok((Reach::Whole, Vec::new())),
            }
        }
        let is_whole = |(pattern, level): &(u32, u32)| self.0[*pattern as usize][*level as usize..] == ["**"];
        Ok(match next.iter().any(is_whole) {
            true => (Reach::Whole, Vec::new()),
            false if next.is_empty() => (Reach::Nowhere, next),
            false => (Reach::Below, next),
        })
    }

    /// Returns the place below one more level; `None` if a pattern ends there.
    fn step(
        &self,
        place: &[(u32, u32)],
        name: &str,
        steps: &mut usize,
    ) -> Result<Option<Vec<(u32, u32)>>, Stop> {
        let mut below = Vec::new();
        for &(pattern, level) in place {
            let levels = &self.0[pattern as usize];
            let mut level = level as usize;
            *steps += 1 + name.len() / 64;
            if *steps >= STEPS_PER_CHECK {
                *steps = 0;
                work::check_beyond_deadline()?;
            }
            if levels[level] == "**" {
                below.push((pattern, level as u32));
                level += 1;
            }
            match levels.get(level) {
                None => return Ok(None),
                Some(wanted) if wildcard::matches(wanted, name) => {
                    if level + 1 == levels.len() {
                        return Ok(None);
                    }
                    below.push((pattern, level as u32 + 1));
                }
                Some(_) => {}
            }
        }
        // `**` stays and goes on, so that equal places would double with every level.
        below.sort_unstable();
        below.dedup();
        Ok(Some(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_reach_as_far_as_their_levels() {
        let check = |patterns: &[&str], path: &str, expected: Reach| {
            let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
            let levels = Levels::of(&patterns).expect("no request");
            let (reach, _) = levels.descend(&levels.root(), path).expect("no request");
            assert_eq!(reach, expected, "{patterns:?} {path}");
        };
        check(&["a"], "a", Reach::Whole);
        check(&["a"], "a.b", Reach::Whole);
        check(&["a.b"], "a", Reach::Below);
        check(&["a.b"], "b", Reach::Nowhere);
        check(&["a.**"], "a", Reach::Whole);
        check(&["**"], "a", Reach::Whole);
        check(&["**.b"], "a", Reach::Below);
        check(&["**.b"], "a.c.b.d", Reach::Whole);
        check(&["**.b.**.c"], "b.x", Reach::Below);
        check(&["a.*.c"], "a.bb.c", Reach::Whole);
        check(&["a*c"], "a.c", Reach::Nowhere);
        check(&["x", "a.b"], "a", Reach::Below);
        check(&[], "a", Reach::Nowhere);
    }

    /// Such a pattern would be tried in more ways than can be counted, and the name has more levels than a
    /// stack has room.
    #[test]
    fn many_levels_take_little_time() {
        let levels = vec!["a"; 100_000].join(".");
        for pattern in [format!("{}x", "**.a.".repeat(100)), "**.x".to_owned(), levels.clone() + ".b"] {
            let patterns = [pattern];
            let known = Levels::of(&patterns).expect("no request");
            let (reach, _) = known.descend(&known.root(), &levels).expect("no request");
            assert_eq!(reach, Reach::Below);
        }
    }
}
