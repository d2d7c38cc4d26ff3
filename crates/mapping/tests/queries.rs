//! Which terms or numbers query values select in a field, and how stored numbers are shown.

use std::ops::Bound;

use limber_mapping::date::{DateFormat, Zone};
use limber_mapping::number::sortable_from_f64;
use limber_mapping::{DateContext, Mapping, MappingSettings, RangeEnd, Selection};
use serde_json::{Value, json};

fn mapping() -> Mapping {
    let body = json!({"properties": {
        "long": {"type": "long"}, "byte": {"type": "byte"}, "double": {"type": "double"}, "float": {"type": "float"},
        "half": {"type": "half_float"}, "scaled": {"type": "scaled_float", "scaling_factor": 100},
        "bool": {"type": "boolean"}, "date": {"type": "date"}, "ip": {"type": "ip"}, "key": {"type": "keyword"},
    }});
    Mapping::parse(&body, &MappingSettings::default()).unwrap()
}

fn term(field: &str, value: Value) -> Result<Selection, String> {
    mapping().field(field).unwrap().select_term(&value, &DateContext::at(0)).map_err(|error| error.reason)
}

/// Selects a range. `ends` is the body of a range query.
fn range(field: &str, ends: Value) -> Result<Selection, String> {
    let end = |inclusive: &str, exclusive: &str| {
        ends.get(inclusive)
            .map(|value| RangeEnd { value, inclusive: true })
            .or_else(|| ends.get(exclusive).map(|value| RangeEnd { value, inclusive: false }))
    };
    let context = DateContext::at(1_600_000_000_000);
    mapping()
        .field(field)
        .unwrap()
        .select_range(end("gte", "gt"), end("lte", "lt"), &context)
        .map_err(|error| error.reason)
}

#[test]
fn terms() {
    let check = |field: &str, value: Value, expected: Selection| {
        assert_eq!(term(field, value.clone()), Ok(expected), "{field} {value}");
    };
    check("long", json!(5), Selection::Number(5));
    check("long", json!("5"), Selection::Number(5));
    check("long", json!(5.0), Selection::Number(5));
    check("long", json!(5.5), Selection::Nothing);
    check("byte", json!(128), Selection::Nothing);
    check("long", json!("1e30"), Selection::Nothing);
    check("double", json!("1.5"), Selection::Number(sortable_from_f64(1.5)));
    check("float", json!(0.1), Selection::Number(sortable_from_f64(0.1f32 as f64)));
    check("half", json!(0.1), Selection::Number(sortable_from_f64(0.0999755859375)));
    check("scaled", json!(1.255), Selection::Number(125));
    check("bool", json!("true"), Selection::Number(1));
    check("bool", json!(false), Selection::Number(0));
    check("key", json!(12), Selection::Term(b"12".to_vec()));
    check("key", json!(true), Selection::Term(b"true".to_vec()));
    check("date", json!("1970-01-02"), Selection::Numbers { lower: 86_400_000, upper: 2 * 86_400_000 - 1 });
    check("date", json!(5), Selection::Number(5));
    check("date", json!("now"), Selection::Number(0));
    let block = |last: u8| {
        let mut bytes = [0u8; 16];
        bytes[10..].copy_from_slice(&[255, 255, 10, 0, 0, last]);
        bytes.to_vec()
    };
    check("ip", json!("10.0.0.1"), Selection::Term(block(1)));
    check(
        "ip",
        json!("10.0.0.0/24"),
        Selection::Terms { lower: Bound::Included(block(0)), upper: Bound::Included(block(255)) },
    );
    assert_eq!(term("ip", json!("10.0.0")), Err("'10.0.0' is not an IP string literal.".to_owned()));
    assert_eq!(term("long", json!("abc")), Err("For input string: \"abc\"".to_owned()));
    assert_eq!(
        term("bool", json!("x")),
        Err("Can't parse boolean value [x], expected [true] or [false]".to_owned())
    );
}

#[test]
fn ranges() {
    let check = |field: &str, ends: Value, expected: Selection| {
        assert_eq!(range(field, ends.clone()), Ok(expected), "{field} {ends}");
    };
    let numbers = |lower: i64, upper: i64| Selection::Numbers { lower, upper };
    check("long", json!({"gte": 1, "lt": 5}), numbers(1, 4));
    check("long", json!({"gt": 1.5, "lt": 4.5}), numbers(2, 4));
    check("long", json!({"gte": -1.5, "lte": -0.5}), Selection::Number(-1));
    check("long", json!({"gt": 3, "lt": 4}), Selection::Nothing);
    check("long", json!({"gt": i64::MAX}), Selection::Nothing);
    check("long", json!({}), numbers(i64::MIN, i64::MAX));
    check("long", json!({"gte": null, "lte": 5}), numbers(i64::MIN, 5));
    check("byte", json!({"gte": 200}), Selection::Nothing);
    check("scaled", json!({"gte": 1.001, "lte": 1.999}), numbers(101, 199));
    check(
        "double",
        json!({"gt": 1.0, "lte": 2.0}),
        numbers(sortable_from_f64(1.0f64.next_up()), sortable_from_f64(2.0)),
    );
    check("date", json!({"gt": "1970-01-01", "lt": "1970-01-03"}), numbers(86_400_000, 2 * 86_400_000 - 1));
    check("date", json!({"gte": "now-1d/d", "lte": "now/d"}), numbers(1_599_868_800_000, 1_600_041_599_999));
    check(
        "key",
        json!({"gt": "a", "lte": "b"}),
        Selection::Terms { lower: Bound::Excluded(b"a".to_vec()), upper: Bound::Included(b"b".to_vec()) },
    );
    check("ip", json!({"gt": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}), Selection::Nothing);
}

#[test]
fn stored_numbers_are_shown() {
    let check = |field: &str, stored: i64, number: Value, formatted: Value| {
        let mapping = mapping();
        let field = mapping.field(field).unwrap();
        assert_eq!((field.decode_number(stored), field.format_number(stored)), (number, formatted));
    };
    check("long", 5, json!(5), json!(5));
    check("double", sortable_from_f64(1.5), json!(1.5), json!(1.5));
    check("float", sortable_from_f64(0.1f32 as f64), json!(0.1), json!(0.1));
    check("scaled", 125, json!(1.25), json!(1.25));
    check("bool", 1, json!(1), json!(true));
    check("date", 0, json!(0), json!("1970-01-01T00:00:00.000Z"));
}

#[test]
fn dates_are_printed_on_a_zones_clock() {
    let check = |pattern: &str, zone: &str, expected: &str| {
        let format = DateFormat::parse_list(pattern).unwrap();
        assert_eq!(format.format_millis_in(1_593_665_045_678, &Zone::parse(zone).unwrap()), expected);
    };
    check("strict_date_optional_time", "Europe/Berlin", "2020-07-02T06:44:05.678+02:00");
    check("strict_date_optional_time", "-03:30", "2020-07-02T01:14:05.678-03:30");
    check("yyyy-MM-dd HH:mm:ss VV", "Europe/Berlin", "2020-07-02 06:44:05 Europe/Berlin");
    check("epoch_second", "Europe/Berlin", "1593665045.678");
    check("EEEE d MMM yy h:mm a X", "+02:00", "Thursday 2 Jul 20 6:44 AM +02");
}

#[test]
fn patterns_that_are_refused() {
    let check = |pattern: &str, reason: &str| {
        assert_eq!(DateFormat::parse_list(pattern).unwrap_err().reason, reason);
    };
    check("foo", "Invalid format: [foo]: Unknown pattern letter: f");
    check("yyyy-MM-dd'T", "Invalid format: [yyyy-MM-dd'T]: Pattern ends with an incomplete string literal");
    check("yyyy]", "Invalid format: [yyyy]]: Pattern invalid as it contains ] without previous [");
    check("www", "Invalid format: [www]: Too many pattern letters: w");
    check("cc", "Invalid format: [cc]: Invalid pattern \"cc\"");
    check("hhh", "Invalid format: [hhh]: Too many pattern letters: h");
    check("", "No date pattern provided");
}
