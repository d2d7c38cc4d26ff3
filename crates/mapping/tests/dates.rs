//! Compares date formats with the responses of Elasticsearch 8.19.13.

use limber_mapping::date::{DateFormat, Zone};

/// An input, its milliseconds, and its printed form.
type Accepted<'a> = (&'a str, i64, &'a str);

/// Pairs for which Limber differs, and the reasons.
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

/// The weeks of users' patterns are those of Java's neutral locale, as 9.4.3 reads and prints them.
#[test]
fn local_weeks_and_offsets_are_elasticsearchs() {
    let check = |pattern: &str, text: &str, printed: &str| {
        let format = DateFormat::parse_list(pattern).unwrap();
        let millis = format.parse_millis(text).unwrap_or_else(|error| panic!("{pattern} {text}: {error}"));
        assert_eq!(format.format_millis(millis), printed, "{pattern} {text}");
    };
    check("YYYY-MM-dd", "2024-03-05", "2024-12-31");
    check("YYYY-MM-dd", "2021-01-01", "2021-12-27");
    check("YYYY-'W'ww-e", "2024-W01-1", "2024-W01-1");
    check("YYYY-'W'ww-e", "2024-W10-3", "2024-W10-3");
    check("YYYY-'W'ww-e", "2021-W01-7", "2021-W01-7");
    check("YYYY-'W'w-ee", "2024-W10-03", "2024-W10-03");
    check("YYYY-'W'ww", "2024-W10", "2024-W10");
    check("YYYY", "2021", "2021");
    check("YY-ww-e", "24-10-3", "24-10-3");
    check("yyyy-MM-dd eeee", "2024-03-05 Monday", "2024-03-05 Tuesday");
    check("yyyy-MM-dd ccc", "2024-03-05 Tue", "2024-03-05 Tue");
    check("yyyy-MM-dd W", "2024-03-05 1", "2024-03-05 2");
    check("yyyy-MM-dd HH:mm ZZZZ", "2024-03-05 10:00 GMT+02:00", "2024-03-05 08:00 GMT");
    check("yyyy-MM-dd HH:mm O", "2024-03-05 10:00 GMT+2", "2024-03-05 08:00 GMT");
    check("yyyy-MM-dd HH:mm OOOO", "2024-03-05 10:00 GMT", "2024-03-05 10:00 GMT");
    let refused = |pattern: &str, text: &str| {
        assert!(DateFormat::parse_list(pattern).unwrap().parse_millis(text).is_err(), "{pattern} {text}");
    };
    refused("YYYY-'W'ww-e", "2020-W53-1");
    refused("YYYY-'W'ww-e", "2021-W1-1");
    refused("YYYY-'W'ww-e", "2024-W01-02");
    refused("yyyy-MM-dd HH:mm ZZZZ", "2024-03-05 10:00 GMT+2");
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

#[test]
fn nanoseconds_are_printed_as_elasticsearch_does() {
    let mut lines = include_str!("date_formats_nanos.tsv").lines().filter(|line| !line.starts_with('#'));
    let iso = DateFormat::parse_list("strict_date_optional_time_nanos").unwrap();
    let instants = lines.next().unwrap().split('\t').skip(1).map(|text| iso.parse_instant(text).unwrap());
    let instants: Vec<_> = instants.collect();
    let mut wrong = Vec::new();
    for line in lines {
        let mut cells = line.split('\t');
        let pattern = cells.next().unwrap();
        let format = DateFormat::parse_list(pattern).unwrap();
        for (instant, expected) in instants.iter().zip(cells) {
            let found = format.format_instant(*instant, &Zone::Utc);
            if found != expected {
                wrong.push(format!("{pattern}: {expected}, found {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn nanoseconds_are_read_and_rounded() {
    let format = DateFormat::parse_list("strict_date_optional_time_nanos||epoch_millis").unwrap();
    let zone = Zone::parse("+02:00").unwrap();
    for (text, zone, from, to) in [
        ("2018-10-29T12:12:12.123456789Z", &Zone::Utc, 1_540_815_132_123_456_789, 1_540_815_132_123_456_789),
        ("2018-10-29T12:12:12.1234Z", &Zone::Utc, 1_540_815_132_123_400_000, 1_540_815_132_123_400_000),
        ("2018-10-29T12:12:12", &Zone::Utc, 1_540_815_132_000_000_000, 1_540_815_132_999_999_999),
        ("2018-10-29T14:12:12.5", &zone, 1_540_815_132_500_000_000, 1_540_815_132_500_000_000),
        ("1540815132123", &Zone::Utc, 1_540_815_132_123_000_000, 1_540_815_132_123_999_999),
        ("1540815132123.456789", &Zone::Utc, 1_540_815_132_123_456_789, 1_540_815_132_123_456_789),
        (
            "2018-10-29T12:12:12.123456789Z||+1s",
            &Zone::Utc,
            1_540_815_133_123_456_789,
            1_540_815_133_123_456_789,
        ),
        // The end of a rounded unit is the beginning of its last millisecond.
        (
            "2018-10-29T12:12:12.123456789Z||/s",
            &Zone::Utc,
            1_540_815_132_000_000_000,
            1_540_815_132_999_000_000,
        ),
    ] {
        let ends = [false, true].map(|round_up| {
            let instant = format.parse_instant_with_math(text, 0, round_up, zone).unwrap();
            instant.to_nanos().unwrap()
        });
        assert_eq!(ends, [from, to], "{text}");
    }
}
