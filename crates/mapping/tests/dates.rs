//! Date formats against what Elasticsearch 8.19.13 answered.

use limber_mapping::date::{DateFormat, Zone};

/// An input, its milliseconds, and how they print.
type Accepted<'a> = (&'a str, i64, &'a str);

/// Pairs in which we differ, and why.
const DIFFERENCES: &[(&str, &str)] = &[];

#[test]
fn formats_take_and_print_what_elasticsearch_does() {
    let table = include_str!("date_formats.tsv");
    let inputs: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("input\t")).collect();
    let mut accepted: Vec<(&str, Vec<Accepted<'_>>)> = Vec::new();
    for line in table.lines() {
        if let Some(format) = line.strip_prefix("format\t") {
            accepted.push((format, Vec::new()));
        } else if let Some(row) = line.strip_prefix('\t') {
            let mut cells = row.split('\t');
            let (input, millis) = (cells.next().unwrap(), cells.next().unwrap().parse().unwrap());
            accepted.last_mut().unwrap().1.push((input, millis, cells.next().unwrap()));
        }
    }
    let mut wrong = Vec::new();
    for (pattern, rows) in &accepted {
        let format = DateFormat::parse_list(pattern).unwrap();
        for input in &inputs {
            if DIFFERENCES.contains(&(pattern, input)) {
                continue;
            }
            let expected = rows.iter().find(|row| row.0 == *input);
            let found = format.parse_millis(input).ok();
            if found != expected.map(|row| row.1) {
                wrong.push(format!(
                    "{pattern}: {input:?} is {:?}, found {found:?}",
                    expected.map(|row| row.1)
                ));
            } else if let Some((_, millis, printed)) = expected {
                let text = format.format_millis(*millis);
                if *printed != "-" && text != *printed {
                    wrong.push(format!("{pattern}: {millis} prints as {printed}, found {text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn range_ends_are_elasticsearchs() {
    let mut wrong = Vec::new();
    for line in include_str!("date_math.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [pattern, text, zone, end, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let zone = if zone.is_empty() { Zone::Utc } else { Zone::parse(zone).unwrap() };
        let format = DateFormat::parse_list(pattern).unwrap();
        let found = match format.parse_with_math(text, 0, end == "lte", &zone) {
            Ok(millis) => millis.to_string(),
            Err(error) => format!("! {}", error.reason),
        };
        if found != expected {
            wrong.push(format!("{pattern} {text} {} {end}: {expected}, found {found}", zone.id()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
