//! The table of Elasticsearch's built-in date formats.
//!
//! Source: `DateFormatters`. What each accepts and prints was compared with a running 8.19 (see
//! `tests/date_formats.tsv`).

use super::pattern::Dialect;

/// A built-in format. An empty `lenient` or `strict` pattern means that this variant does not exist.
pub(super) struct Named {
    name: &'static str,
    lenient: &'static str,
    strict: &'static str,
}

const fn named(name: &'static str, lenient: &'static str, strict: &'static str) -> Named {
    Named { name, lenient, strict }
}

/// Signs that are not Java's are explained at [`super::pattern::compile`].
static NAMED: &[Named] = &[
    named(
        "date_optional_time",
        "uuuu[-MM[-dd]]['T'[HH[:mm[:ss[^]][#]]]]",
        "~[-MM[-dd]]['T'[HH[:mm[:ss[^]]][#]]]",
    ),
    named("date_optional_time_nanos", "", "~[-MM[-dd]]['T'HH:mm:ss[^][#]]"),
    named("basic_date", "~MM!", ""),
    named("basic_date_time", "~MMdd'T'HHmmss{#", ""),
    named("basic_date_time_no_millis", "~MMdd'T'HHmmss#", ""),
    named("basic_ordinal_date", "~DDD", ""),
    named("basic_ordinal_date_time", "~DDD'T'HHmmss{#", ""),
    named("basic_ordinal_date_time_no_millis", "~DDD'T'HHmmss#", ""),
    named("basic_time", "HHmmss{#", ""),
    named("basic_time_no_millis", "HHmmss#", ""),
    named("basic_t_time", "'T'HHmmss{#", ""),
    named("basic_t_time_no_millis", "'T'HHmmss#", ""),
    named("basic_week_date", "YYYY'W'wwe", "YYYY'W'wwe"),
    named("basic_week_date_time", "YYYY'W'wwe'T'HHmmss{#", "YYYY'W'wwe'T'HHmmss{#"),
    named("basic_week_date_time_no_millis", "YYYY'W'wwe'T'HHmmss#", "YYYY'W'wwe'T'HHmmss#"),
    named("date", "uuuu[-MM[-dd]]", "uuuu-MM-dd"),
    named("date_hour", "uuuu-MM-dd'T'HH", "uuuu-MM-dd'T'HH"),
    named("date_hour_minute", "uuuu-MM-dd'T'HH:mm", "uuuu-MM-dd'T'HH:mm"),
    named("date_hour_minute_second", "uuuu-MM-dd'T'HH:mm:ss", "uuuu-MM-dd'T'HH:mm:ss"),
    named("date_hour_minute_second_fraction", "uuuu-MM-dd'T'HH:mm:ss{", "uuuu-MM-dd'T'HH:mm:ss{"),
    named("date_hour_minute_second_millis", "uuuu-MM-dd'T'HH:mm:ss}", "uuuu-MM-dd'T'HH:mm:ss{"),
    named("date_time", "uuuu[-MM[-dd]]'T'HH:mm[:ss{]#", "~-MM-dd'T'HH:mm:ss[{]#"),
    named("date_time_no_millis", "uuuu[-MM[-dd]]'T'HH:mm[:ss][#]", "~-MM-dd'T'HH:mm:ss#"),
    named("hour", "HH", "HH"),
    named("hour_minute", "HH:mm", "HH:mm"),
    named("hour_minute_second", "HH:mm:ss", "HH:mm:ss"),
    named("hour_minute_second_fraction", "HH:mm:ss{", "HH:mm:ss{"),
    named("hour_minute_second_millis", "HH:mm:ss}", "HH:mm:ss{"),
    named("ordinal_date", "uuuu-DDD", "uuuu-DDD"),
    named("ordinal_date_time", "uuuu-DDD'T'HH:mm:ss{#", "uuuu-DDD'T'HH:mm:ss{#"),
    named("ordinal_date_time_no_millis", "uuuu-DDD'T'HH:mm:ss#", "uuuu-DDD'T'HH:mm:ss#"),
    // OpenSearch's, whose parts have full widths.
    named("rfc3339_lenient", "~[-MM[-dd]]['T'HH:mm[:ss[^]][#]]", ""),
    named("time", "HH:mm:ss{#", "HH:mm:ss{#"),
    named("time_no_millis", "HH:mm:ss#", "HH:mm:ss#"),
    named("t_time", "'T'HH:mm:ss{#", "'T'HH:mm:ss{#"),
    named("t_time_no_millis", "'T'HH:mm:ss#", "'T'HH:mm:ss#"),
    named("week_date", "YYYY-'W'ww-e", "YYYY-'W'ww-e"),
    named("week_date_time", "YYYY-'W'ww-e'T'HH:mm:ss{#", "YYYY-'W'ww-e'T'HH:mm:ss{#"),
    named("week_date_time_no_millis", "YYYY-'W'ww-e'T'HH:mm:ss#", "YYYY-'W'ww-e'T'HH:mm:ss#"),
    // The name of `weekyear` in Elasticsearch 7 and OpenSearch.
    named("week_year", "YYYY", ""),
    named("weekyear", "YYYY", "YYYY"),
    named("weekyear_week", "YYYY-'W'ww", "YYYY-'W'ww"),
    named("weekyear_week_day", "YYYY-'W'ww-e", "YYYY-'W'ww-e"),
    named("year", "uuuu", "~"),
    named("year_month", "uuuu-M", "~-MM"),
    named("year_month_day", "uuuu-MM-dd", "~[-MM[-dd]]"),
];

/// Returns the pattern of a built-in format.
pub(super) fn find(name: &str) -> Option<(&'static str, Dialect)> {
    if name == "iso8601" {
        return find("strict_date_optional_time");
    }
    let (bare, is_strict) = match name.strip_prefix("strict_") {
        Some(bare) => (bare, true),
        None => (name, false),
    };
    let found = NAMED.iter().find(|named| named.name == bare)?;
    let pattern = if is_strict { found.strict } else { found.lenient };
    // The basic formats have full widths although their names do not say strict.
    let dialect = if is_strict || bare.starts_with("basic_") || bare == "rfc3339_lenient" {
        Dialect::Strict
    } else {
        Dialect::Lenient
    };
    (!pattern.is_empty()).then_some((pattern, dialect))
}

/// Returns the pattern that a built-in format prints, if it is not its own pattern with every optional
/// section.
pub(super) fn printed(name: &str) -> Option<&'static str> {
    Some(match name {
        "iso8601" | "date_optional_time" | "strict_date_optional_time" | "rfc3339_lenient" => {
            "uuuu-MM-dd'T'HH:mm:ss{#"
        }
        "strict_date_optional_time_nanos" | "strict_date_time" => "uuuu-MM-dd'T'HH:mm:ss$#",
        "date_time" => "uuuu-MM-dd'T'HH:mm:ss{#",
        "ordinal_date_time" | "strict_ordinal_date_time" => "uuuu-DDD'T'HH:mm:ss$#",
        "date_time_no_millis" | "strict_date_time_no_millis" => "uuuu-MM-dd'T'HH:mm:ss#",
        "date" | "year_month_day" | "strict_year_month_day" => "uuuu-MM-dd",
        "year_month" => "uuuu-MM",
        _ => return None,
    })
}
