//! `rate`: numbers and errors from Elasticsearch's documentation and its own tests (`analytics/rate.yml`,
//! `RateAggregatorTests`); no server at hand has the aggregation.

mod support;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};
use support::{context, recorded_shards};

/// Returns two shards with four sales of 2020, one of which has no value.
fn sales() -> (Vec<support::Shards>, Vec<ShardSnapshot>) {
    let mapping = json!({"properties": {
        "t": {"type": "date"}, "v": {"type": "long"}, "k": {"type": "keyword"}, "d": {"type": "double"}
    }});
    let shards = json!([
        [{"t": "2020-01-03T10:00:00Z", "v": 31, "k": "a", "d": 0.5}, {"t": "2020-02-04T10:00:00Z", "v": [29, 29], "k": "b"}],
        [{"t": "2020-02-11T10:00:00Z", "v": 58, "k": "a"}, {"t": "2020-04-12T10:00:00Z", "k": "c"}],
    ]);
    recorded_shards(&mapping, &shards, 1)
}

fn answer(aggregations: Value) -> Result<Value, (String, String)> {
    let (_kept, shards) = sales();
    let body = json!({"size": 0, "aggs": aggregations});
    let shown = |error: limber_mapping::RequestError| {
        let cause = error.caused_by.map(|cause| format!(": {}", cause.reason)).unwrap_or_default();
        (error.kind.to_owned(), format!("{}{cause}", error.reason))
    };
    let mut request = SearchRequest::parse(&body, &UrlParameters::default()).map_err(shown)?;
    request.typed_keys = true;
    match limber_search::execute(&shards, &request, &context()) {
        Ok(response) => Ok(response.aggregations_to_json().expect("JSON")),
        Err(Error::AllShardsFailed { failures, .. }) => Err(shown(failures[0].reason.clone())),
        Err(error) => Err(shown(error.to_request_error())),
    }
}

/// Returns the values of `r` in the buckets of `b`, a date histogram.
fn rates(histogram: Value, rate: Value) -> Vec<f64> {
    let asked = json!({"b": {"date_histogram": histogram, "aggs": {"r": {"rate": rate}}}});
    let made = answer(asked.clone()).unwrap_or_else(|error| panic!("{error:?} of {asked}"));
    let buckets = made["date_histogram#b"]["buckets"].as_array().expect("buckets").clone();
    buckets.iter().map(|bucket| bucket["rate#r"]["value"].as_f64().expect("a number")).collect()
}

fn monthly(rate: Value) -> Vec<f64> {
    rates(json!({"field": "t", "calendar_interval": "month"}), rate)
}

#[test]
fn a_month_is_as_long_as_the_calendar_says() {
    assert_eq!(monthly(json!({"unit": "day", "field": "v"})), [1.0, 4.0, 0.0, 0.0]);
    assert_eq!(monthly(json!({"unit": "1d"})), [1.0 / 31.0, 2.0 / 29.0, 0.0, 1.0 / 30.0]);
    assert_eq!(monthly(json!({"unit": "year"})), [12.0, 24.0, 0.0, 12.0]);
    assert_eq!(monthly(json!({"unit": "quarter", "field": "v"})), [93.0, 348.0, 0.0, 0.0]);
    assert_eq!(monthly(json!({"unit": "month", "field": "v", "mode": "value_count"})), [1.0, 3.0, 0.0, 0.0]);
    assert_eq!(monthly(json!({})), [1.0, 2.0, 0.0, 1.0]);
    assert_eq!(monthly(json!({"field": "v", "missing": 30, "unit": "day"})), [1.0, 4.0, 0.0, 1.0]);
    assert_eq!(monthly(json!({"field": "d"})), [0.5, 0.0, 0.0, 0.0]);
    assert_eq!(monthly(json!({"field": "none", "unit": "day"})), [0.0; 4]);
    assert_eq!(
        monthly(json!({"script": "doc['t'].value.getDayOfMonth()", "unit": "year"})),
        [36.0, 180.0, 0.0, 144.0]
    );
}

#[test]
fn intervals_of_every_kind() {
    for (interval, months) in [("quarter", 3.0), ("year", 12.0)] {
        let histogram = json!({"field": "t", "calendar_interval": interval});
        assert_eq!(rates(histogram, json!({"unit": "month", "field": "d"}))[0], 0.5 / months, "{interval}");
    }
    let fixed = json!({"field": "t", "fixed_interval": "50d"});
    assert_eq!(rates(fixed.clone(), json!({"unit": "day", "field": "d"}))[0], 0.5 / 50.0);
    assert_eq!(rates(fixed, json!({"unit": "week", "field": "d"}))[0], 0.5 / (50.0 / 7.0));
    let zoned = json!({"field": "t", "calendar_interval": "month", "time_zone": "Europe/Berlin"});
    let hours = 30.0 * 24.0;
    assert_eq!(rates(zoned, json!({"unit": "hour"}))[3], 1.0 / hours);
}

#[test]
fn a_rate_may_be_deeper_or_in_a_composite() {
    let made = answer(json!({"b": {"date_histogram": {"field": "t", "calendar_interval": "month", "min_doc_count": 1},
        "aggs": {"k": {"terms": {"field": "k", "order": {"r": "desc"}}, "aggs": {"r": {"rate": {"field": "v", "unit": "year"}}}}}}}))
    .expect("answers");
    let buckets = &made["date_histogram#b"]["buckets"][1]["sterms#k"]["buckets"];
    assert_eq!(buckets[0]["rate#r"], json!({"value": 696.0}), "{buckets}");
    assert_eq!(buckets[1]["key"], "b");

    let composite = |sources: Value| json!({"b": {"composite": {"sources": sources}, "aggs": {"r": {"rate": {"field": "v", "unit": "day", "format": "0.0/d"}}}}});
    let dates = json!({"m": {"date_histogram": {"field": "t", "calendar_interval": "month"}}});
    let made = answer(composite(json!([{"k": {"terms": {"field": "k"}}}, dates]))).expect("answers");
    let shown: Vec<&Value> = made["composite#b"]["buckets"]
        .as_array()
        .expect("buckets")
        .iter()
        .map(|bucket| &bucket["rate#r"]["value_as_string"])
        .collect();
    assert_eq!(shown, ["1.0/d", "2.0/d", "2.0/d", "0.0/d"]);
    let reason = "aggregation [b] does not have exactly one date_histogram value source; exactly one is required when using with rate aggregation";
    for sources in [
        json!([{"k": {"terms": {"field": "k"}}}]),
        json!([dates, {"n": {"date_histogram": {"field": "t", "calendar_interval": "day"}}}]),
    ] {
        assert_eq!(answer(composite(sources)).expect_err("refused").1, reason);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let in_histogram = |histogram: Value, rate: Value| {
        answer(json!({"b": {"date_histogram": histogram, "aggs": {"r": {"rate": rate}}}}))
            .expect_err("refused")
            .1
    };
    let month = json!({"field": "t", "calendar_interval": "month"});
    assert_eq!(
        in_histogram(json!({"field": "t", "calendar_interval": "1d"}), json!({"unit": "1y"})),
        "Cannot use month-based rate unit [year] with non-month based calendar interval histogram [day] only week, day, hour, minute and \
         second are supported for this histogram"
    );
    assert_eq!(
        in_histogram(json!({"field": "t", "fixed_interval": "5d"}), json!({"unit": "month", "field": "v"})),
        "Cannot use month-based rate unit [month] with fixed interval based histogram, only week, day, hour, minute and second are \
         supported for this histogram"
    );
    assert_eq!(
        in_histogram(month.clone(), json!({"mode": "sum"})),
        "The mode parameter is only supported with field or script"
    );
    assert_eq!(
        in_histogram(month.clone(), json!({"unit": "decade"})),
        "[rate] failed to parse field [unit]: Unsupported unit decade"
    );
    assert_eq!(
        in_histogram(month.clone(), json!({"mode": "max", "field": "v"})),
        "[rate] failed to parse field [mode]: No enum constant org.elasticsearch.xpack.analytics.rate.RateMode.MAX"
    );
    assert_eq!(
        in_histogram(month, json!({"field": "t"})),
        "Field [t] of type [date] is not supported for aggregation [rate]"
    );
    assert_eq!(
        answer(json!({"r": {"rate": {"unit": "day"}}})).expect_err("refused").1,
        "The rate aggregation can only be used inside a date histogram aggregation or composite aggregation with one date histogram value \
         source"
    );
    let deeper = json!({"b": {"date_histogram": {"field": "t", "calendar_interval": "month"},
        "aggs": {"k": {"terms": {"field": "k"}, "aggs": {"r": {"rate": {"unit": "day"}}}}}}});
    assert_eq!(
        answer(deeper).expect_err("refused").1,
        "Cannot use non month-based rate unit [day] with calendar interval histogram [month] only month, quarter and year are supported for \
         this histogram"
    );
}
