//! Filters a document: "which members do these patterns keep?"
//!
//! Source: Elasticsearch's `SourceFilter`: a pattern includes or excludes what it names together with
//! everything below. Elasticsearch has two filters, and so do we:
//!
//! - The filter of bytes (`FilterPath`) is used while nothing has parsed the document and no exclude has a
//!   `*`. In includes, `*` stays within one level, and `**` matches any number of levels. An object or list
//!   that loses all its members by an exclude is dropped.
//! - The filter of maps (`XContentMapValues#filter`) is used otherwise. `*` matches any string, dots
//!   included. Lists lose the objects and lists that are empty, but an emptied member stays, as `{}` or `[]`.

use limber_text::wildcard;
use limber_work::Stop;
use serde_json::{Map, Value};

use super::filter::SourceFilter;
use super::levels::{Levels, Reach};
use super::patterns::any_pattern;

/// Returns the document without what the filter excludes.
///
/// # Errors
/// The client has disconnected, or there is not enough memory.
pub fn filter_source(source: &Value, filter: &SourceFilter) -> Result<Value, Stop> {
    Filtering::of(filter, filter.excludes.iter().any(|pattern| pattern.contains('*')))?.document(source)
}

/// Filters like [`filter_source`] a document that Elasticsearch has parsed for another purpose.
///
/// # Errors
/// As for [`filter_source`].
pub fn filter_parsed(source: &Value, filter: &SourceFilter) -> Result<Value, Stop> {
    Filtering::of(filter, true)?.document(source)
}

/// Filters like [`filter_source`], for an object that is at `path` of its document.
///
/// # Errors
/// As for [`filter_source`].
pub(crate) fn filter_below(part: &Value, path: &str, filter: &SourceFilter) -> Result<Value, Stop> {
    let Value::Object(members) = part else { return Ok(part.clone()) };
    let filtering = Filtering::of(filter, filter.excludes.iter().any(|pattern| pattern.contains('*')))?;
    // The path itself and the paths of the objects that enclose it.
    let above = path.match_indices('.').map(|(end, _)| &path[..end]).chain([path]);
    let (mut place, mut is_included) = (filtering.root(), filter.includes.is_empty());
    for (one, name) in above.zip(path.split('.')).filter(|_| !path.is_empty()) {
        if filtering.is_excluded(one)? {
            return Ok(Value::Object(Map::new()));
        }
        let (reach, below) = filtering.kept_by(&place, one, name)?;
        is_included |= reach == Reach::Whole;
        place = below;
    }
    let mut path = path.to_owned();
    Ok(Value::Object(filtering.object(members, &mut path, &place, is_included)?))
}

/// A filter, and which of Elasticsearch's two ways to apply it is used.
struct Filtering<'f> {
    filter: &'f SourceFilter,
    /// Whether the filter of maps is used.
    is_map: bool,
    /// The includes for the filter of bytes; `None` for that of maps.
    levels: Option<Levels<'f>>,
}

/// How far the includes of the filter of bytes have matched on the way to an object; empty for that of maps.
type Place = Vec<(u32, u32)>;

impl<'f> Filtering<'f> {
    fn of(filter: &'f SourceFilter, is_map: bool) -> Result<Filtering<'f>, Stop> {
        let levels = match is_map {
            true => None,
            false => Some(Levels::of(&filter.includes)?),
        };
        Ok(Filtering { filter, is_map, levels })
    }

    fn root(&self) -> Place {
        self.levels.as_ref().map_or_else(Vec::new, Levels::root)
    }

    fn document(&self, source: &Value) -> Result<Value, Stop> {
        match source {
            Value::Object(members) => {
                let is_included = self.filter.includes.is_empty();
                Ok(Value::Object(self.object(members, &mut String::new(), &self.root(), is_included)?))
            }
            other => Ok(other.clone()),
        }
    }

    /// Whether an exclude matches a path.
    fn is_excluded(&self, path: &str) -> Result<bool, Stop> {
        any_pattern(&self.filter.excludes, path, |pattern| wildcard::matches(pattern, path))
    }

    /// Whether an exclude may match something below a path that is not excluded itself.
    fn may_exclude_below(&self, path: &str) -> Result<bool, Stop> {
        any_pattern(&self.filter.excludes, path, |pattern| may_match_below(pattern, path))
    }

    /// Returns how far the `includes` match at best along a path, whose last part is `name`, and the place
    /// for what is below it. `place` is that of the object around it.
    fn kept_by(&self, place: &Place, path: &str, name: &str) -> Result<(Reach, Place), Stop> {
        if let Some(levels) = &self.levels {
            return levels.descend(place, name);
        }
        let includes = &self.filter.includes;
        let reach = if any_pattern(includes, path, |pattern| wildcard::matches(pattern, path))? {
            Reach::Whole
        } else if any_pattern(includes, path, |pattern| may_match_below(pattern, path))? {
            Reach::Below
        } else {
            Reach::Nowhere
        };
        Ok((reach, Vec::new()))
    }

    /// Filters an object at `path`, which is the same again when this returns. `is_included`: a pattern named
    /// this object or one that encloses it.
    fn object(
        &self,
        members: &Map<String, Value>,
        path: &mut String,
        place: &Place,
        is_included: bool,
    ) -> Result<Map<String, Value>, Stop> {
        let (mut kept, above) = (Map::new(), path.len());
        for (name, value) in members {
            path.truncate(above);
            if above > 0 {
                path.push('.');
            }
            path.push_str(name);
            if self.is_excluded(path)? {
                continue;
            }
            let (reach, below) = match is_included {
                true => (Reach::Whole, Vec::new()),
                false => self.kept_by(place, path, name)?,
            };
            if reach == Reach::Nowhere {
                continue;
            }
            let is_included = reach == Reach::Whole;
            if is_included && !self.may_exclude_below(path)? {
                kept.insert(name.clone(), value.clone());
            } else if let Some((value, is_emptied)) = self.value(value, path, &below, is_included)?
                && (!is_emptied || (self.is_map && is_included))
            {
                kept.insert(name.clone(), value);
            }
        }
        path.truncate(above);
        Ok(kept)
    }

    fn list(
        &self,
        items: &[Value],
        path: &mut String,
        place: &Place,
        is_included: bool,
    ) -> Result<Vec<Value>, Stop> {
        let mut kept = Vec::new();
        for item in items {
            if let Some((item, is_emptied)) = self.value(item, path, place, is_included)?
                && !is_emptied
            {
                kept.push(item);
            }
        }
        Ok(kept)
    }

    /// Filters the value at a path, and returns also whether nothing is left of an object or list.
    /// `None` if it is a scalar that is not kept.
    fn value(
        &self,
        value: &Value,
        path: &mut String,
        place: &Place,
        is_included: bool,
    ) -> Result<Option<(Value, bool)>, Stop> {
        // The filter of bytes keeps an object of which it removed nothing.
        let is_kept_empty = is_included && !self.is_map;
        Ok(match value {
            Value::Object(members) => {
                let kept = self.object(members, path, place, is_included)?;
                let is_emptied = kept.is_empty() && !(is_kept_empty && members.is_empty());
                Some((kept.into(), is_emptied))
            }
            Value::Array(items) => {
                let kept = self.list(items, path, place, is_included)?;
                let is_emptied = kept.is_empty() && !(is_kept_empty && items.is_empty());
                Some((kept.into(), is_emptied))
            }
            scalar => is_included.then(|| (scalar.clone(), false)),
        })
    }
}

/// Whether the pattern can match a path below `path`, which is not empty.
fn may_match_below(pattern: &str, path: &str) -> bool {
    let start = pattern.find('*').unwrap_or(pattern.len());
    let is_begun =
        |whole: &str, part: &str| whole.strip_prefix(part).is_some_and(|rest| rest.starts_with('.'));
    match start == pattern.len() {
        // Something of the name must be left for what is below.
        true => is_begun(pattern, path) && pattern.len() > path.len() + 1,
        false => is_begun(&pattern[..start], path) || path.starts_with(&pattern[..start]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patterns_keep_and_drop() {
        let source = json!({"a": {"b": 1, "c": {"d": 2}}, "list": [{"x": 1, "y": 2}, {"y": 3}], "z": null});
        let check = |includes: &[&str], excludes: &[&str], expected: Value| {
            let own = |patterns: &[&str]| patterns.iter().map(|pattern| pattern.to_string()).collect();
            let filtered = filter_source(
                &source,
                &SourceFilter { fetch: true, includes: own(includes), excludes: own(excludes) },
            )
            .expect("no request");
            assert_eq!(filtered, expected, "{includes:?} {excludes:?}");
        };
        check(&["a.b"], &[], json!({"a": {"b": 1}}));
        check(&["a"], &[], json!({"a": {"b": 1, "c": {"d": 2}}}));
        check(&["a.*"], &["a.c"], json!({"a": {"b": 1}}));
        // Recorded from Elasticsearch 9.4.3.
        check(&["*.d"], &[], json!({}));
        check(&["*.b"], &[], json!({"a": {"b": 1}}));
        check(&["a.*.d"], &[], json!({"a": {"c": {"d": 2}}}));
        check(&["**.d"], &[], json!({"a": {"c": {"d": 2}}}));
        check(&["a*d"], &[], json!({}));
        check(&["a.c*"], &[], json!({"a": {"c": {"d": 2}}}));
        check(&["*t.x"], &[], json!({"list": [{"x": 1}]}));
        check(&["*.d"], &["z*"], json!({"a": {"c": {"d": 2}}}));
        check(&["list.x"], &[], json!({"list": [{"x": 1}]}));
        check(&[], &["a", "list"], json!({"z": null}));
        check(&["nothing"], &[], json!({}));
        check(&["z"], &[], json!({"z": null}));
        check(&["a.b.c"], &[], json!({}));
    }
    // Recorded from Elasticsearch 9.4.3; with `fields` in the request, it has parsed the source.
    #[test]
    fn what_excludes_empty_depends_on_the_filter() {
        let source = json!({
            "o": [{"a": "x", "b": 2}, {"a": "y"}, {}, [], [{"a": 1}], 7],
            "p": {"a": 1, "q": {}}, "s": {"a": []}, "n": {"m": {"y": 1}},
        });
        let check = |is_parsed: bool, includes: &[&str], excludes: &[&str], changes: Value| {
            let own = |patterns: &[&str]| patterns.iter().map(|pattern| pattern.to_string()).collect();
            let filter = SourceFilter { fetch: true, includes: own(includes), excludes: own(excludes) };
            let filtered = match is_parsed {
                true => filter_parsed(&source, &filter),
                false => filter_source(&source, &filter),
            }
            .expect("no request");
            let mut expected = if includes.is_empty() { source.clone() } else { json!({}) };
            for (name, value) in changes.as_object().expect("an object") {
                expected[name] = value.clone();
            }
            expected.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
            assert_eq!(filtered, expected, "{includes:?} {excludes:?}");
        };
        check(false, &[], &["o.a"], json!({"o": [{"b": 2}, {}, [], 7]}));
        check(false, &[], &["o.a", "o.b"], json!({"o": [{}, [], 7]}));
        check(false, &[], &["p.a", "p.q"], json!({"p": null}));
        check(false, &[], &["s.a"], json!({"s": null}));
        check(false, &[], &["s.x"], json!({}));
        check(false, &[], &["n.m.y"], json!({"n": null}));
        check(false, &["o"], &["o.a"], json!({"o": [{"b": 2}, {}, [], 7]}));
        check(false, &["p"], &["p.a", "p.q"], json!({}));
        check(false, &["*.y"], &[], json!({}));
        check(false, &[], &["o.*"], json!({"o": [7]}));
        check(false, &[], &["p.*"], json!({"p": {}}));
        check(false, &[], &["n.m.*"], json!({"n": {"m": {}}}));
        check(false, &[], &["*.a"], json!({"o": [{"b": 2}, 7], "p": {"q": {}}, "s": {}}));
        check(false, &["o"], &["o.a*"], json!({"o": [{"b": 2}, 7]}));
        check(true, &[], &["o.a"], json!({"o": [{"b": 2}, 7]}));
        check(true, &["*.y"], &[], json!({"n": {"m": {"y": 1}}}));
    }
}
