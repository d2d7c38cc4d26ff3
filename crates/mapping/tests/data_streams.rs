//! Documents of data streams and time series: exactly one timestamp, and one value per dimension.

use limber_mapping::document::{self, Scratch};
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Mapping, MappingSettings};
use serde_json::{Value, json};

fn check(mapping: &Mapping, source: &str, expected: Result<(), &str>) {
    let outcome =
        document::parse(mapping, source.as_bytes(), &mut Scratch::new(), &mut RecordingSink::default());
    match (outcome, expected) {
        (Ok(_), Ok(())) => {}
        (Err(error), Err(expected)) => {
            let cause = error.caused_by.as_ref().map(|cause| cause.reason.as_str());
            assert_eq!(cause.unwrap_or(&error.reason), expected, "{source}");
        }
        (outcome, expected) => panic!("{source}: {outcome:?} instead of {expected:?}"),
    }
}

fn mapping(body: Value) -> Mapping {
    Mapping::parse(&body, &MappingSettings::default()).unwrap()
}

#[test]
fn documents_of_streams_have_one_timestamp() {
    let body = json!({"_data_stream_timestamp": {"enabled": true}, "properties": {"@timestamp": {"type": "date"}, "a": {"type": "long"}}});
    let stream = mapping(body.clone());
    assert_eq!(stream.to_json(), body);
    check(&stream, r#"{"@timestamp": 1, "a": [1, 2]}"#, Ok(()));
    check(&stream, r#"{"@timestamp": [1]}"#, Ok(()));
    let missing = "data stream timestamp field [@timestamp] is missing";
    check(&stream, r#"{"a": 1}"#, Err(missing));
    check(&stream, r#"{"@timestamp": []}"#, Err(missing));
    check(&stream, "{}", Err(missing));
    check(
        &stream,
        r#"{"@timestamp": ["2020-01-01", 5]}"#,
        Err("data stream timestamp field [@timestamp] encountered multiple values"),
    );
    let alone = mapping(json!({"properties": {"@timestamp": {"type": "date"}}}));
    check(&alone, r#"{"@timestamp": [1, 2]}"#, Ok(()));
    let refused = stream.merge(&json!({"_data_stream_timestamp": {"enabled": false}})).unwrap_err();
    assert!(refused.reason.contains("Cannot update parameter [enabled] from [true] to [false]"), "{refused}");
    // The additions of a data stream to a template keep the template's own settings.
    let mut mappings = json!({"properties": {"@timestamp": {"type": "date", "format": "epoch_millis"}}});
    limber_mapping::add_timestamp(mappings.as_object_mut().unwrap(), true);
    assert_eq!(mappings["properties"]["@timestamp"]["format"], "epoch_millis");
}

#[test]
fn dimensions_have_one_value() {
    let series = mapping(json!({"properties": {
        "host": {"type": "keyword", "time_series_dimension": true},
        "core": {"type": "long", "time_series_dimension": true},
        "o": {"type": "nested", "properties": {"d": {"type": "ip", "time_series_dimension": true}}},
    }}));
    assert_eq!(
        series.to_json()["properties"]["host"],
        json!({"type": "keyword", "time_series_dimension": true})
    );
    check(&series, r#"{"host": "a", "core": 1, "o": [{"d": "::1"}, {"d": "::2"}]}"#, Ok(()));
    check(&series, "{}", Ok(()));
    check(&series, r#"{"host": ["a", "b"]}"#, Err("Dimension field [host] cannot be a multi-valued field."));
    check(&series, r#"{"core": [1, 1]}"#, Err("Dimension field [core] cannot be a multi-valued field."));
    let refused = |field: Value, expected: &str| {
        let body = json!({"properties": {"f": field}});
        let error = Mapping::parse(&body, &MappingSettings::default()).unwrap_err();
        assert!(error.reason.contains(expected), "{error}");
    };
    refused(
        json!({"type": "double", "time_series_dimension": true}),
        "Parameter [time_series_dimension] cannot be set to numeric type [double]",
    );
    refused(
        json!({"type": "keyword", "time_series_dimension": true, "ignore_above": 5}),
        "Field [ignore_above] cannot be set in conjunction with field [time_series_dimension]",
    );
    let position = json!({"type": "long", "time_series_metric": "position"});
    refused(position, "[time_series_metric: position]");
    refused(
        json!({"type": "long", "time_series_metric": "gauge", "time_series_dimension": true}),
        "Field [time_series_dimension] cannot be set in conjunction with field [time_series_metric]",
    );
    refused(
        json!({"type": "keyword", "time_series_dimension": true, "doc_values": false}),
        "Field [time_series_dimension] requires that [index] and [doc_values] are true",
    );
}
