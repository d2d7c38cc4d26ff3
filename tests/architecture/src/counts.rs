//! Counts that measure how far the code is from the goals for its structure.

use std::collections::BTreeMap;

use crate::crates::Crate;
use crate::source::SourceFile;

/// A folder with more entries than this should be split.
pub const SIBLINGS_MAX: usize = 25;
/// Folders that may hold more than [`SIBLINGS_MAX`] files and folders, each with the reason. A reader who
/// looks for a thing in one of them knows its name, and every file answers the same question.
pub const FLAT_LISTS: [(&str, &str); 7] = [
    ("engine/ingest/processor", "one processor a file; the names are those of pipelines"),
    ("limber/rest/cat", "one table of `_cat` a file; the names are those of the paths"),
    ("mapping/analysis/filter", "one token filter a file; the names are those of analyzers"),
    ("mapping/field_type", "one field type a file; the names are those of mappings"),
    ("race/advise/rule", "one rule of `limber advise` a file; `docs/advise.md` lists them"),
    ("search/aggregation/bucket", "one bucket aggregation a file; the names are those of requests"),
    ("search/aggregation/metric", "one metric aggregation a file; the names are those of requests"),
];
/// Files should have at most this many lines.
pub const FILE_LINES_MAX: usize = 500;
/// Functions should have at most this many lines.
pub const FUNCTION_LINES_MAX: usize = 70;
/// Comments should be at most this wide.
pub const COLUMNS_MAX: usize = 110;

/// Words without a meaning outside this project, for which Lucene and Elasticsearch have terms.
pub const PRIVATE_WORDS: [&str; 9] =
    ["Bar", "Ceiling", "Stranger", "Echo", "Habit", "Tails", "Likeness", "Held", "Made"];

/// One row of the table: what was counted, and the number.
pub type Row = (String, usize);

/// Returns all counts that are based on text.
pub fn table(crates: &[Crate]) -> Vec<Row> {
    let files: Vec<(&str, &SourceFile)> =
        crates.iter().flat_map(|c| c.files.iter().map(move |file| (c.name.as_str(), file))).collect();
    let own: Vec<&SourceFile> = files.iter().map(|(_, file)| *file).filter(|file| !file.is_tests()).collect();
    let of = |name: &str| -> Vec<&SourceFile> {
        files.iter().filter(|(room, _)| *room == name).map(|(_, file)| *file).collect()
    };
    let holding = |files: &[&SourceFile], text: &str| -> usize {
        files.iter().filter(|file| file.code.contains(text)).count()
    };
    let below_rest: Vec<&SourceFile> =
        files.iter().filter(|(name, _)| !matches!(*name, "limber" | "race")).map(|(_, file)| *file).collect();
    let (items, undocumented) = public_items(&own);
    let functions: Vec<usize> = own.iter().flat_map(|file| function_lengths(&file.code)).collect();
    let mut rows = vec![
        ("files that match on FieldType".to_owned(), holding(&own, "FieldType::")),
        ("files that match on FieldType, in search".to_owned(), holding(&of("search"), "FieldType::")),
        ("files that match on ValueKind, in search".to_owned(), holding(&of("search"), "ValueKind::")),
        ("impl Definition (aggregations)".to_owned(), total(&own, "impl Definition for ")),
        ("downcasts in aggregations".to_owned(), downcasts(&of("search"))),
        (
            "HTTP statuses below REST".to_owned(),
            below_rest.iter().map(|file| http_statuses_in(file).len()).sum(),
        ),
        ("Result<_, String> in race".to_owned(), string_errors_in(&of("race"))),
        ("\"Validation Failed: 1\" by hand".to_owned(), written(&own, "Validation Failed: 1")),
        ("fn of".to_owned(), own.iter().map(|file| count_word_pair(&file.code, "fn", "of")).sum()),
        ("public items".to_owned(), items),
        ("public items without a doc comment".to_owned(), undocumented),
        ("functions".to_owned(), functions.len()),
        (
            format!("functions over {FUNCTION_LINES_MAX} lines"),
            functions.iter().filter(|lines| **lines > FUNCTION_LINES_MAX).count(),
        ),
    ];
    for name in ["Kind", "Found", "Node"] {
        rows.push((format!("types named {name}"), types_named(&own, name)));
    }
    for word in PRIVATE_WORDS {
        rows.push((format!("types whose name begins with the private word {word}"), types_of(&own, word)));
    }
    rows
}

/// Returns the files that are too long without their tests, longest first.
pub fn long_files(c: &Crate) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = c
        .files
        .iter()
        .filter(|file| !file.is_tests())
        .map(|file| (file.path.display().to_string(), file.lines_without_tests()))
        .filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .collect();
    found.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    found
}

/// Returns the comment lines that are too wide, with their line numbers. Code, tables and layouts in
/// comments may be wider.
pub fn wide_comments(c: &Crate) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for file in &c.files {
        let mut is_code = false;
        for (number, line) in (1..).zip(file.text.lines()) {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                is_code = false;
                continue;
            };
            let comment = comment.trim_start_matches(['/', '!']);
            is_code ^= comment.trim_start().starts_with("```");
            let is_laid_out = is_code || comment.trim_start().starts_with('|') || comment.contains("   ");
            if !is_laid_out && line.chars().count() > COLUMNS_MAX && is_breakable(line) {
                found.push((file.path.display().to_string(), number));
            }
        }
    }
    found
}

/// Whether a line has a space within the maximum width that is not inside code, so that it could be broken
/// there.
fn is_breakable(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!']).trim_start();
    let start = line.len() - text.len();
    let mut in_code = false;
    text.char_indices().any(|(at, letter)| {
        in_code ^= letter == '`';
        letter == ' ' && !in_code && line[..start + at].chars().count() <= COLUMNS_MAX
    })
}

/// Returns the functions that are too long, by file and first line, longest first.
pub fn long_functions(c: &Crate) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for file in c.files.iter().filter(|file| !file.is_tests()) {
        for (line, lines) in functions(&file.code) {
            if lines > FUNCTION_LINES_MAX {
                found.push((format!("{}:{line}", file.path.display()), lines));
            }
        }
    }
    found.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    found
}

/// Returns the folders with too many files and subfolders.
pub fn crowded_folders(c: &Crate) -> Vec<(String, usize)> {
    let mut siblings: BTreeMap<String, std::collections::BTreeSet<String>> = BTreeMap::new();
    for file in &c.files {
        let parts: Vec<String> = file.path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        for depth in 0..parts.len() {
            siblings.entry(parts[..depth].join("/")).or_default().insert(parts[depth].clone());
        }
    }
    siblings
        .into_iter()
        .map(|(folder, names)| (folder, names.len()))
        .filter(|(_, count)| *count > SIBLINGS_MAX)
        .collect()
}

/// Folders with too many files and folders side by side that are none of [`FLAT_LISTS`], with the name of the
/// crate first.
pub fn crowded_rooms(c: &Crate) -> Vec<(String, usize)> {
    let named = |(folder, count): (String, usize)| match folder.is_empty() {
        true => (c.name.clone(), count),
        false => (format!("{}/{folder}", c.name), count),
    };
    let is_flat = |folder: &str| FLAT_LISTS.iter().any(|(flat, _)| *flat == folder);
    crowded_folders(c).into_iter().map(named).filter(|(folder, _)| !is_flat(folder)).collect()
}

/// Returns each `mod.rs` that contains functions, with their number.
pub fn logic_in_mod_rs(c: &Crate) -> Vec<(String, usize)> {
    c.files
        .iter()
        .filter(|file| file.is_mod_rs() && !file.is_tests())
        .map(|file| (file.path.display().to_string(), function_lengths(&file.code).len()))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Counts how often the words `first` and `second` follow each other.
pub fn count_word_pair(code: &str, first: &str, second: &str) -> usize {
    count_word(code, &format!("{first} {second}"))
}

/// Counts how often `text` occurs in `code` as a whole word, or as the beginning of one if it ends with `:`
/// or `;`.
fn count_word(code: &str, text: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(text)
        .filter(|(at, _)| {
            let after = &code[at + text.len()..];
            !code[..*at].chars().next_back().is_some_and(is_part)
                && (text.ends_with([':', ';']) || !after.chars().next().is_some_and(is_part))
        })
        .count()
}

/// Whether `text` occurs in `code` as a whole word.
pub fn has_word(code: &str, text: &str) -> bool {
    count_word(code, text) > 0
}

/// Whether the words `first` and `second` follow each other.
pub fn has_word_pair(code: &str, first: &str, second: &str) -> bool {
    count_word_pair(code, first, second) > 0
}

/// Counts how often the code of these files uses a `Result` whose error is a bare string, which no caller
/// can handle without parsing it.
pub fn string_errors_in(files: &[&SourceFile]) -> usize {
    files.iter().filter(|file| !file.is_tests()).map(|file| string_errors(&file.code)).sum()
}

fn string_errors(code: &str) -> usize {
    let arguments = code.match_indices("Result<").map(|(at, opening)| generics(&code[at + opening.len()..]));
    arguments.filter(|arguments| arguments.get(1).is_some_and(|error| error.trim() == "String")).count()
}

/// Returns the arguments of a generic type, from after its opening bracket to the closing one.
fn generics(code: &str) -> Vec<&str> {
    let (mut depth, mut start, mut before) = (0, 0, ' ');
    let mut found = Vec::new();
    for (place, c) in code.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' if depth == 0 => {
                found.push(&code[start..place]);
                break;
            }
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&code[start..place]);
                start = place + 1;
            }
            _ => {}
        }
        before = c;
    }
    found
}

fn total(files: &[&SourceFile], text: &str) -> usize {
    files.iter().map(|file| file.code.matches(text).count()).sum()
}

/// Counts how often the sources contain `text`, including strings.
fn written(files: &[&SourceFile], text: &str) -> usize {
    files.iter().map(|file| file.text.matches(text).count()).sum()
}

fn downcasts(search: &[&SourceFile]) -> usize {
    let aggregations: Vec<&SourceFile> =
        search.iter().filter(|file| file.room() == "aggregation").copied().collect();
    total(&aggregations, "downcast")
}

/// Returns the forms in which this file's code refers to HTTP statuses, each as often as it occurs: an
/// error made with a number, a `status` of the type `u16`, a number as the member `status` of JSON,
/// `StatusCode`, and the class of an error of another server.
pub fn http_statuses_in(file: &SourceFile) -> Vec<&'static str> {
    if file.is_tests() {
        return Vec::new();
    }
    let code: String = file.code.split_whitespace().collect();
    // Strings are blanked out in `code`, so the original text is used.
    let text: String = file.text[..file.code.trim_end().len()].split_whitespace().collect();
    let before_digit = |text: &str, form: &str| {
        let ends = text.match_indices(form).map(|(at, _)| at + form.len());
        ends.filter(|end| text[*end..].starts_with(|c: char| c.is_ascii_digit())).count()
    };
    let answered = code.match_indices("->u16").filter(|(at, _)| {
        let head = &code[..*at];
        head.rfind("fn").is_some_and(|start| head[start..].split('(').next().unwrap_or("").contains("status"))
    });
    [
        ("RequestError::new(<number>", before_digit(&code, "RequestError::new(")),
        ("status: u16", code.matches("status:u16").count()),
        ("fn status() -> u16", answered.count()),
        ("\"status\": <number>", before_digit(&text, "\"status\":")),
        ("StatusCode", code.matches("StatusCode").count()),
        ("ErrorClass::Remote", code.matches("ErrorClass::Remote").count()),
    ]
    .into_iter()
    .flat_map(|(form, count)| std::iter::repeat_n(form, count))
    .collect()
}

fn types_named(files: &[&SourceFile], name: &str) -> usize {
    files
        .iter()
        .map(|file| {
            ["struct", "enum", "trait", "type"]
                .iter()
                .map(|keyword| count_word_pair(&file.code, keyword, name))
                .sum::<usize>()
        })
        .sum()
}

pub fn types_of(files: &[&SourceFile], word: &str) -> usize {
    let ends = |rest: &str| rest.chars().next().is_none_or(|c| !c.is_lowercase());
    files
        .iter()
        .flat_map(|file| ["struct ", "enum ", "trait "].map(|keyword| (file, format!("{keyword}{word}"))))
        .map(|(file, start)| {
            file.code.match_indices(&start).filter(|(at, _)| ends(&file.code[at + start.len()..])).count()
        })
        .sum()
}

/// Returns the number of lines of each function.
fn function_lengths(code: &str) -> Vec<usize> {
    functions(code).into_iter().map(|(_, lines)| lines).collect()
}

/// Returns the first line of each function, counted from 1, and its number of lines.
fn functions(code: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let declares = line.trim_start().split(' ').take(6).any(|word| word == "fn") && line.contains('(');
        if !declares {
            continue;
        }
        let end = lines[at..].iter().position(|line| {
            line.len() > indent && line[..indent].trim().is_empty() && line[indent..].starts_with('}')
                || line.trim_end().ends_with(';') && line.len() - line.trim_start().len() == indent
        });
        let is_short = line.trim_end().ends_with('}');
        let length = if is_short { 1 } else { end.map_or(1, |end| end + 1) };
        found.push((at + 1, length));
    }
    found
}

/// Returns the number of public items, and of those without a doc comment.
pub fn public_items(files: &[&SourceFile]) -> (usize, usize) {
    const KEYWORDS: [&str; 9] =
        ["fn", "struct", "enum", "trait", "type", "const", "static", "async", "unsafe"];
    let (mut items, mut undocumented) = (0, 0);
    for file in files {
        let code: Vec<&str> = file.code.lines().collect();
        let text: Vec<&str> = file.text.lines().collect();
        for (at, line) in code.iter().enumerate() {
            let Some(rest) = line.trim_start().strip_prefix("pub ") else {
                continue;
            };
            if !rest.split(' ').next().is_some_and(|word| KEYWORDS.contains(&word)) {
                continue;
            }
            items += 1;
            undocumented += usize::from(!is_documented(&text[..at]));
        }
    }
    (items, undocumented)
}

/// Whether the lines before an item end with a doc comment, not counting attributes of one or more lines.
fn is_documented(before: &[&str]) -> bool {
    let mut lines = before.iter().rev().map(|line| line.trim());
    while let Some(line) = lines.next() {
        let is_attribute_end = line.ends_with(']') && !line.starts_with("//");
        if !is_attribute_end {
            return line.starts_with("///") || line.ends_with("*/");
        }
        let mut first = line;
        while !first.starts_with("#[") {
            let Some(line) = lines.next() else { return false };
            first = line;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile::new("a.rs".into(), text.to_owned())
    }

    #[test]
    fn functions_are_measured_from_their_first_line_to_their_brace() {
        let code = "fn a() {\n    b();\n}\n\ntrait T {\n    fn c(&self);\n    fn d(&self) {}\n}\n";
        assert_eq!(function_lengths(code), [3, 1, 1]);
    }

    #[test]
    fn doc_comments_are_found_above_attributes() {
        let file = file(concat!(
            "/// Doc.\n#[derive(Debug)]\npub struct A;\npub fn b() {}\npub(crate) fn c() {}\n",
            "/// Doc.\n#[command(\n    about = \"x\"\n)]\npub struct D;\n#[inline]\npub fn e() {}\n"
        ));
        assert_eq!(public_items(&[&file]), (4, 2));
    }

    #[test]
    fn results_with_a_text_as_their_error_are_counted() {
        assert_eq!(string_errors("fn a() -> Result<Vec<(u8, String)>, String> {"), 1);
        assert_eq!(
            string_errors("fn b(f: impl Fn() -> Result<(), String>) -> Result<Option<String>, Error> {"),
            1
        );
        assert_eq!(string_errors("fn d() -> Result<\n    Vec<Item>,\n    String,\n>;"), 1);
        assert_eq!(string_errors("fn c() -> Result<BTreeMap<String, String>, Error>;"), 0);
    }

    #[test]
    fn http_statuses_are_found_in_every_form() {
        let found = http_statuses_in(&file(concat!(
            "// status: u16\nstruct A { status: u16 }\nfn status_of(&self, n: u8) -> u16 { n.into() }\n",
            "fn b() { RequestError::new(\n    404, \"x\", \"RequestError::new(404\") }\n",
            "fn c() -> Value { json!({\"status\": 404, \"port\": 9200}) }\nfn port() -> u16 { 9200 }\n",
            "fn d() -> StatusCode { ErrorClass::Remote(502) }\nfn e() { RequestError::new(class, kind, reason) }\n",
            "#[cfg(test)]\nmod tests { fn f() { let status: u16 = 400; } }\n"
        )));
        let forms = [
            "RequestError::new(<number>",
            "status: u16",
            "fn status() -> u16",
            "\"status\": <number>",
            "StatusCode",
            "ErrorClass::Remote",
        ];
        assert_eq!(found, forms);
    }

    #[test]
    fn words_are_counted_whole() {
        assert_eq!(count_word_pair("fn of() fn often() fn of(", "fn", "of"), 2);
        assert_eq!(types_of(&[&file("struct Bar; struct Barrel; enum BarTop {}")], "Bar"), 2);
    }
}
