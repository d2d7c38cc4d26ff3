"""The questions of bench/columns: a search, the same in SQL, how the rows of the answer are read, and how far they may differ.

`TAXIS` are those of the issue, `MORE_TAXIS` and `LOGS` go through what else aggregations, sorts and scripts do with the same columns,
`SCRIPTS` what scripts and runtime fields do. A question without SQL has no counterpart; one whose tolerance is "skip" answers in another form there.
"""

import datetime

AMOUNTS = ["total_amount", "improvement_surcharge", "tolls_amount", "fare_amount", "extra", "trip_distance", "tip_amount", "mta_tax"]
KEYWORDS = ["rate_code_id", "store_and_fwd_flag", "payment_type", "vendor_id"]
DATES = ["pickup_datetime", "dropoff_datetime"]
MAPPING = {
    **{name: {"type": "scaled_float", "scaling_factor": 100} for name in AMOUNTS},
    **{name: {"type": "keyword"} for name in KEYWORDS},
    **{name: {"type": "date", "format": "yyyy-MM-dd HH:mm:ss"} for name in DATES},
    "passenger_count": {"type": "integer"},
    "pickup_location": {"type": "geo_point"},
    "dropoff_location": {"type": "geo_point"},
}


def metric(name, kind, field, **more):
    return {name: {kind: {"field": field, **more}}}


def below(kind, options, aggs=None):
    return {"a": {kind: options, **({"aggs": aggs} if aggs else {})}}


def values(*names):
    """The numbers of a bucket's metrics, or of the whole answer's."""

    def read(bucket):
        return [bucket[name]["value"] for name in names]

    return read


def fields(name, *parts):
    return lambda bucket: [bucket[name][part] for part in parts]


def rows(read=lambda bucket: [], key=lambda bucket: bucket["key"]):
    """A row a bucket: key, documents, metrics. Empty buckets are left out, as GROUP BY does."""
    return lambda answer: [
        [key(bucket), bucket["doc_count"], *read(bucket)] for bucket in answer["aggregations"]["a"]["buckets"] if bucket["doc_count"]
    ]


def nested_rows(read):
    return lambda answer: [
        [outer["key"], inner["key"], inner["doc_count"], *read(inner)]
        for outer in answer["aggregations"]["a"]["buckets"]
        for inner in outer["b"]["buckets"]
        if inner["doc_count"]
    ]


def top(read):
    return lambda answer: [read(answer["aggregations"])]


def millis(value):
    return int(value.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)


TIPS = metric("tip", "avg", "tip_amount")
SUM = metric("sum", "sum", "total_amount")
# Where an answer is an estimate: the relative difference that is allowed.
ESTIMATED = 0.03
YEAR_RANGE = {"range": {"pickup_datetime": {"gte": "2015-02-01 00:00:00", "lt": "2015-08-01 00:00:00"}}}
CARD_FAR = {"bool": {"filter": [{"term": {"payment_type": "1"}}, {"range": {"trip_distance": {"gte": 2}}}]}}
MS = "epoch_ms(date_trunc('{}', pickup_datetime))"


def query(name, body, sql, read, tolerance=1e-9):
    return name, {"size": 0, "track_total_hits": False, **body}, sql, read, tolerance


TAXIS = [
    query("sum", {"aggs": SUM}, "SELECT sum(total_amount) FROM t", top(values("sum"))),
    query(
        "avg of three columns",
        {"aggs": {**metric("x", "avg", "trip_distance"), **metric("y", "avg", "tip_amount"), **metric("z", "avg", "passenger_count")}},
        "SELECT avg(trip_distance), avg(tip_amount), avg(passenger_count) FROM t",
        top(values("x", "y", "z")),
    ),
    query(
        "stats",
        {"aggs": metric("s", "stats", "fare_amount")},
        "SELECT count(fare_amount), min(fare_amount), max(fare_amount), sum(fare_amount) FROM t",
        top(fields("s", "count", "min", "max", "sum")),
    ),
    query(
        "extended_stats",
        {"aggs": metric("s", "extended_stats", "tip_amount")},
        "SELECT count(tip_amount), max(tip_amount), sum(tip_amount), stddev_pop(tip_amount) FROM t",
        top(fields("s", "count", "max", "sum", "std_deviation_population")),
        1e-7,
    ),
    query(
        "value_count, min, max of dates",
        {
            "aggs": {
                **metric("n", "value_count", "pickup_datetime"),
                **metric("x", "min", "pickup_datetime"),
                **metric("y", "max", "dropoff_datetime"),
            }
        },
        "SELECT count(pickup_datetime), epoch_ms(min(pickup_datetime)), epoch_ms(max(dropoff_datetime)) FROM t",
        top(values("n", "x", "y")),
    ),
    query(
        "date_histogram by day, sum",
        {"aggs": below("date_histogram", {"field": "pickup_datetime", "calendar_interval": "day"}, SUM)},
        f"SELECT {MS.format('day')}, count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "date_histogram by hour, avg and max",
        {
            "aggs": below(
                "date_histogram",
                {"field": "pickup_datetime", "calendar_interval": "hour"},
                {**TIPS, **metric("max", "max", "trip_distance")},
            )
        },
        f"SELECT {MS.format('hour')}, count(*), avg(tip_amount), max(trip_distance) FROM t GROUP BY 1",
        rows(values("tip", "max")),
    ),
    query(
        "date_histogram by month",
        {"aggs": below("date_histogram", {"field": "pickup_datetime", "calendar_interval": "month"})},
        f"SELECT {MS.format('month')}, count(*) FROM t GROUP BY 1",
        rows(),
    ),
    query(
        "date_histogram by week at -05:00, stats",
        {
            "aggs": below(
                "date_histogram",
                {"field": "pickup_datetime", "calendar_interval": "week", "time_zone": "-05:00"},
                metric("s", "stats", "total_amount"),
            )
        },
        """SELECT epoch_ms(date_trunc('week', pickup_datetime - INTERVAL 5 HOUR) + INTERVAL 5 HOUR), count(*), min(total_amount),
             max(total_amount), sum(total_amount) FROM t GROUP BY 1""",
        rows(fields("s", "min", "max", "sum")),
    ),
    query(
        "date_histogram by 3 hours, filtered",
        {"query": CARD_FAR, "aggs": below("date_histogram", {"field": "pickup_datetime", "fixed_interval": "3h"}, TIPS)},
        """SELECT epoch_ms(time_bucket(INTERVAL 3 HOUR, pickup_datetime, TIMESTAMP '1970-01-01')), count(*), avg(tip_amount) FROM t
             WHERE payment_type = '1' AND trip_distance >= 2 GROUP BY 1""",
        rows(values("tip")),
    ),
    query(
        "cardinality of a date",
        {"aggs": metric("n", "cardinality", "pickup_datetime")},
        "SELECT approx_count_distinct(pickup_datetime) FROM t",
        top(values("n")),
        None,
    ),
    query(
        "cardinality of an amount",
        {"aggs": metric("n", "cardinality", "total_amount")},
        "SELECT approx_count_distinct(total_amount) FROM t",
        top(values("n")),
        None,
    ),
    query(
        "terms", {"aggs": below("terms", {"field": "payment_type", "size": 100})}, "SELECT payment_type, count(*) FROM t GROUP BY 1", rows()
    ),
    query(
        "terms, avg",
        {"aggs": below("terms", {"field": "payment_type", "size": 100}, TIPS)},
        "SELECT payment_type, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "terms of numbers, stats",
        {"aggs": below("terms", {"field": "passenger_count", "size": 100}, metric("s", "stats", "fare_amount"))},
        "SELECT passenger_count, count(*), min(fare_amount), max(fare_amount), sum(fare_amount) FROM t GROUP BY 1",
        rows(fields("s", "min", "max", "sum")),
    ),
    query(
        "terms below terms, sum",
        {
            "aggs": below(
                "terms", {"field": "payment_type", "size": 100}, {"b": {"terms": {"field": "rate_code_id", "size": 100}, "aggs": SUM}}
            )
        },
        "SELECT payment_type, rate_code_id, count(*), sum(total_amount) FROM t GROUP BY 1, 2",
        nested_rows(values("sum")),
    ),
    query(
        "months below terms, avg",
        {
            "aggs": below(
                "terms",
                {"field": "vendor_id", "size": 100},
                {"b": {"date_histogram": {"field": "pickup_datetime", "calendar_interval": "month"}, "aggs": TIPS}},
            )
        },
        f"SELECT vendor_id, {MS.format('month')}, count(*), avg(tip_amount) FROM t GROUP BY 1, 2",
        nested_rows(values("tip")),
    ),
    query(
        "histogram, stats",
        {"aggs": below("histogram", {"field": "trip_distance", "interval": 1}, metric("s", "stats", "total_amount"))},
        "SELECT floor(trip_distance), count(*), min(total_amount), max(total_amount), sum(total_amount) FROM t GROUP BY 1",
        rows(fields("s", "min", "max", "sum")),
    ),
    query(
        "ranges, sum",
        {"aggs": below("range", {"field": "trip_distance", "ranges": [{"to": 1}, {"from": 1, "to": 5}, {"from": 5}]}, SUM)},
        """SELECT CASE WHEN trip_distance < 1 THEN '*-1.0' WHEN trip_distance < 5 THEN '1.0-5.0' ELSE '5.0-*' END, count(*),
             sum(total_amount) FROM t GROUP BY 1""",
        rows(values("sum")),
    ),
    query(
        "filter on dates, sums",
        {"query": YEAR_RANGE, "aggs": {**SUM, **metric("tip", "sum", "tip_amount")}},
        """SELECT sum(total_amount), sum(tip_amount) FROM t
             WHERE pickup_datetime >= '2015-02-01' AND pickup_datetime < '2015-08-01'""",
        top(values("sum", "tip")),
    ),
    query(
        "filter on an amount, avg",
        {"query": {"range": {"total_amount": {"gte": 20, "lt": 60}}}, "aggs": TIPS},
        "SELECT avg(tip_amount) FROM t WHERE total_amount >= 20 AND total_amount < 60",
        top(values("tip")),
    ),
    query(
        "filter on two columns, stats",
        {"query": CARD_FAR, "aggs": metric("s", "stats", "tip_amount")},
        """SELECT count(tip_amount), min(tip_amount), max(tip_amount), sum(tip_amount) FROM t
             WHERE payment_type = '1' AND trip_distance >= 2""",
        top(fields("s", "count", "min", "max", "sum")),
    ),
    query(
        "count of a range",
        {"track_total_hits": True, "query": {"range": {"trip_distance": {"gte": 2.5, "lt": 7}}}},
        "SELECT count(*) FROM t WHERE trip_distance >= 2.5 AND trip_distance < 7",
        lambda answer: [[answer["hits"]["total"]["value"]]],
    ),
    query(
        "percentiles",
        {"aggs": metric("p", "percentiles", "total_amount", percents=[50, 95, 99])},
        """SELECT approx_quantile(total_amount, 0.5), approx_quantile(total_amount, 0.95), approx_quantile(total_amount, 0.99)
             FROM t""",
        top(lambda aggs: list(aggs["p"]["values"].values())),
        ESTIMATED,
    ),
    query(
        "weighted_avg",
        {"aggs": {"w": {"weighted_avg": {"value": {"field": "tip_amount"}, "weight": {"field": "trip_distance"}}}}},
        "SELECT sum(tip_amount * trip_distance) / sum(trip_distance) FROM t",
        top(values("w")),
    ),
    query(
        "ten largest",
        {"size": 10, "_source": False, "sort": [{"total_amount": "desc"}]},
        "SELECT total_amount FROM t ORDER BY total_amount DESC LIMIT 10",
        lambda answer: [[hit["sort"][0]] for hit in answer["hits"]["hits"]],
    ),
]


def nest(kind, options, aggs):
    return {"b": {kind: options, **({"aggs": aggs} if aggs else {})}}


def composite(sources, aggs=None, size=1000):
    return {"aggs": {"a": {"composite": {"size": size, "sources": sources}, **({"aggs": aggs} if aggs else {})}}}


def joined(*names):
    """The key of a composite bucket as text."""
    return lambda bucket: "|".join(str(bucket["key"][name]) for name in names)


def script(source):
    return {"script": {"source": source}}


def sorts(answer):
    return [hit["sort"] for hit in answer["hits"]["hits"]]


MORE_TAXIS = [
    query(
        "composite of two keywords, sum",
        composite([{"p": {"terms": {"field": "payment_type"}}}, {"v": {"terms": {"field": "vendor_id"}}}], SUM),
        "SELECT payment_type||'|'||vendor_id, count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum"), joined("p", "v")),
    ),
    query(
        "composite of days and keyword, avg",
        composite(
            [
                {"d": {"date_histogram": {"field": "pickup_datetime", "calendar_interval": "day"}}},
                {"p": {"terms": {"field": "payment_type"}}},
            ],
            TIPS,
            5000,
        ),
        f"SELECT {MS.format('day')}::varchar||'|'||payment_type, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip"), joined("d", "p")),
    ),
    query(
        "auto_date_histogram, avg",
        {"aggs": {"a": {"auto_date_histogram": {"field": "pickup_datetime", "buckets": 24}, "aggs": TIPS}}},
        f"SELECT {MS.format('month')}, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "percentiles below terms",
        {"aggs": below("terms", {"field": "payment_type", "size": 100}, metric("p", "percentiles", "total_amount", percents=[50, 95]))},
        "SELECT payment_type, count(*), approx_quantile(total_amount, 0.5), approx_quantile(total_amount, 0.95) FROM t GROUP BY 1",
        rows(lambda b: list(b["p"]["values"].values())),
        ESTIMATED,
    ),
    query(
        "percentile_ranks",
        {"aggs": {"p": {"percentile_ranks": {"field": "total_amount", "values": [10, 50]}}}},
        "SELECT 100*avg((total_amount<=10)::int), 100*avg((total_amount<=50)::int) FROM t",
        top(lambda aggs: list(aggs["p"]["values"].values())),
        ESTIMATED,
    ),
    query(
        "percentiles by hdr",
        {
            "aggs": {
                "p": {"percentiles": {"field": "total_amount", "percents": [50, 99], "hdr": {"number_of_significant_value_digits": 2}}}
            },
            "query": {"range": {"total_amount": {"gte": 0}}},
        },
        "SELECT approx_quantile(total_amount, 0.5), approx_quantile(total_amount, 0.99) FROM t WHERE total_amount>=0",
        top(lambda aggs: list(aggs["p"]["values"].values())),
        ESTIMATED,
    ),
    query(
        "median_absolute_deviation",
        {"aggs": metric("m", "median_absolute_deviation", "tip_amount")},
        "SELECT mad(tip_amount) FROM t",
        top(values("m")),
        0.1,
    ),
    query(
        "boxplot",
        {"aggs": metric("m", "boxplot", "fare_amount")},
        "SELECT approx_quantile(fare_amount, [0.25,0.5,0.75])[1], approx_quantile(fare_amount, [0.25,0.5,0.75])[2] FROM t",
        top(fields("m", "q1", "q2")),
        ESTIMATED,
    ),
    query(
        "cardinality below terms",
        {"aggs": below("terms", {"field": "payment_type", "size": 100}, metric("n", "cardinality", "total_amount"))},
        "SELECT payment_type, count(*), approx_count_distinct(total_amount) FROM t GROUP BY 1",
        rows(values("n")),
        0.2,
    ),
    query(
        "cardinality below days",
        {
            "aggs": below(
                "date_histogram", {"field": "pickup_datetime", "calendar_interval": "day"}, metric("n", "cardinality", "total_amount")
            )
        },
        f"SELECT {MS.format('day')}, count(*), approx_count_distinct(total_amount) FROM t GROUP BY 1",
        rows(values("n")),
        0.2,
    ),
    query(
        "cardinality of a keyword",
        {"aggs": metric("n", "cardinality", "payment_type")},
        "SELECT approx_count_distinct(payment_type) FROM t",
        top(values("n")),
        None,
    ),
    query(
        "filters, avg",
        {
            "aggs": {
                "a": {
                    "filters": {
                        "filters": {
                            "card": {"term": {"payment_type": "1"}},
                            "far": {"range": {"trip_distance": {"gte": 5}}},
                            "many": {"range": {"passenger_count": {"gte": 3}}},
                        }
                    },
                    "aggs": TIPS,
                }
            }
        },
        """SELECT 'card', count(*), avg(tip_amount) FROM t WHERE payment_type='1' UNION ALL SELECT 'far', count(*), avg(tip_amount) FROM t WHERE trip_distance>=5
      UNION ALL SELECT 'many', count(*), avg(tip_amount) FROM t WHERE passenger_count>=3""",
        lambda answer: [[k, b["doc_count"], b["tip"]["value"]] for k, b in answer["aggregations"]["a"]["buckets"].items()],
    ),
    query(
        "filtered sums beside a sum",
        {
            "aggs": {
                **SUM,
                "f": {"filter": {"term": {"payment_type": "1"}}, "aggs": SUM},
                "g": {"filter": {"range": {"trip_distance": {"gte": 5}}}, "aggs": TIPS},
            }
        },
        "SELECT sum(total_amount), sum(total_amount) FILTER (payment_type='1'), avg(tip_amount) FILTER (trip_distance>=5) FROM t",
        top(lambda a: [a["sum"]["value"], a["f"]["sum"]["value"], a["g"]["tip"]["value"]]),
    ),
    query(
        "terms by a metric",
        {"aggs": below("terms", {"field": "passenger_count", "size": 5, "order": {"tip": "desc"}}, TIPS)},
        "SELECT passenger_count, count(*), avg(tip_amount) FROM t GROUP BY 1 ORDER BY 3 DESC LIMIT 5",
        rows(values("tip")),
    ),
    query(
        "three levels of terms, sum and max",
        {
            "aggs": below(
                "terms",
                {"field": "vendor_id", "size": 100},
                nest(
                    "terms",
                    {"field": "payment_type", "size": 100},
                    {"c": {"terms": {"field": "passenger_count", "size": 100}, "aggs": {**SUM, **metric("max", "max", "trip_distance")}}},
                ),
            )
        },
        "SELECT vendor_id, payment_type, passenger_count, count(*), sum(total_amount), max(trip_distance) FROM t GROUP BY 1,2,3",
        lambda answer: [
            [a["key"], b["key"], c["key"], c["doc_count"], c["sum"]["value"], c["max"]["value"]]
            for a in answer["aggregations"]["a"]["buckets"]
            for b in a["b"]["buckets"]
            for c in b["c"]["buckets"]
        ],
        "skip",
    ),
    query(
        "sum of a script",
        {"aggs": {"x": {"sum": script("doc['total_amount'].value - doc['tip_amount'].value")}}},
        "SELECT sum(total_amount - tip_amount) FROM t",
        top(values("x")),
    ),
    query(
        "histogram of a script, avg",
        {"aggs": {"a": {"histogram": {"interval": 5, **script("doc['total_amount'].value - doc['tip_amount'].value")}, "aggs": TIPS}}},
        "SELECT floor((total_amount - tip_amount)/5)*5, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
        "skip",
    ),
    query(
        "terms of a script",
        {"aggs": {"a": {"terms": {"size": 100, **script("doc['payment_type'].value + '/' + doc['vendor_id'].value")}}}},
        "SELECT payment_type||'/'||vendor_id, count(*) FROM t GROUP BY 1",
        rows(),
    ),
    query(
        "script query",
        {
            "track_total_hits": True,
            "query": {"bool": {"filter": {"script": script("doc['tip_amount'].value > doc['fare_amount'].value * 0.3")}}},
        },
        "SELECT count(*) FROM t WHERE tip_amount > fare_amount*0.3",
        lambda answer: [[answer["hits"]["total"]["value"]]],
        1e-3,
    ),
    query(
        "runtime field, hours of day",
        {
            "runtime_mappings": {"hour": {"type": "long", "script": {"source": "emit(doc['pickup_datetime'].value.getHour())"}}},
            "aggs": below("terms", {"field": "hour", "size": 24}, SUM),
        },
        "SELECT extract(hour FROM pickup_datetime), count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "sort by two fields",
        {"size": 10, "_source": False, "sort": [{"passenger_count": "desc"}, {"total_amount": "asc"}]},
        "SELECT passenger_count, total_amount FROM t ORDER BY 1 DESC, 2 LIMIT 10",
        sorts,
    ),
    query(
        "sort by keyword and date",
        {"size": 10, "_source": False, "sort": [{"payment_type": "asc"}, {"pickup_datetime": "desc"}]},
        "SELECT payment_type, epoch_ms(pickup_datetime) FROM t ORDER BY payment_type, pickup_datetime DESC LIMIT 10",
        sorts,
    ),
    query(
        "sort of a filter",
        {"size": 10, "_source": False, "query": CARD_FAR, "sort": [{"tip_amount": "desc"}]},
        "SELECT tip_amount FROM t WHERE payment_type = '1' AND trip_distance >= 2 ORDER BY 1 DESC LIMIT 10",
        sorts,
    ),
    query(
        "sort of a filter, counted",
        {"size": 10, "track_total_hits": True, "_source": False, "query": CARD_FAR, "sort": [{"tip_amount": "desc"}]},
        "SELECT tip_amount, count(*) OVER () FROM t WHERE payment_type = '1' AND trip_distance >= 2 ORDER BY 1 DESC LIMIT 10",
        lambda answer: [[hit["sort"][0], answer["hits"]["total"]["value"]] for hit in answer["hits"]["hits"]],
    ),
    query(
        "sort by a script",
        {
            "size": 10,
            "_source": False,
            "sort": {
                "_script": {
                    "type": "number",
                    "order": "desc",
                    "script": {"source": "doc['tip_amount'].value / (doc['fare_amount'].value + 1)"},
                }
            },
            "query": {"range": {"fare_amount": {"gte": 1}}},
        },
        "SELECT tip_amount/(fare_amount+1) FROM t WHERE fare_amount>=1 ORDER BY 1 DESC LIMIT 10",
        sorts,
    ),
    query(
        "hits sorted beside an aggregation",
        {
            "size": 10,
            "_source": False,
            "sort": [{"total_amount": "desc"}],
            "aggs": below("terms", {"field": "payment_type", "size": 100}, TIPS),
        },
        "SELECT payment_type, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "hits beside an aggregation",
        {"size": 10, "_source": False, "aggs": below("terms", {"field": "payment_type", "size": 100}, TIPS)},
        "SELECT payment_type, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "top_hits below terms",
        {
            "aggs": below(
                "terms",
                {"field": "payment_type", "size": 100},
                {"h": {"top_hits": {"size": 1, "_source": False, "sort": [{"total_amount": "desc"}]}}},
            )
        },
        "SELECT payment_type, count(*), max(total_amount), arg_max(rowid, total_amount) FROM t GROUP BY 1",
        rows(lambda b: [b["h"]["hits"]["hits"][0]["sort"][0], 0]),
        "skip",
    ),
    query(
        "top_metrics below terms",
        {
            "aggs": below(
                "terms",
                {"field": "payment_type", "size": 100},
                {"h": {"top_metrics": {"metrics": {"field": "tip_amount"}, "sort": {"total_amount": "desc"}}}},
            )
        },
        "SELECT payment_type, count(*), arg_max(tip_amount, total_amount) FROM t GROUP BY 1",
        rows(lambda b: [b["h"]["top"][0]["metrics"]["tip_amount"]]),
        "skip",
    ),
    query(
        "multi_terms, sum",
        {"aggs": {"a": {"multi_terms": {"size": 100, "terms": [{"field": "payment_type"}, {"field": "rate_code_id"}]}, "aggs": SUM}}},
        "SELECT payment_type||'|'||rate_code_id, count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum"), lambda b: b["key_as_string"]),
    ),
    query(
        "terms of dates, top ten",
        {"aggs": below("terms", {"field": "pickup_datetime", "size": 10})},
        "SELECT epoch_ms(pickup_datetime), count(*) FROM t GROUP BY pickup_datetime ORDER BY 2 DESC LIMIT 10",
        rows(),
        "skip",
    ),
    query(
        "terms of amounts, avg",
        {"aggs": below("terms", {"field": "total_amount", "size": 10}, TIPS)},
        "SELECT total_amount, count(*), avg(tip_amount) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
        rows(values("tip")),
    ),
    query(
        "histogram, terms below, sum",
        {"aggs": below("histogram", {"field": "total_amount", "interval": 10}, nest("terms", {"field": "payment_type", "size": 10}, SUM))},
        "SELECT floor(total_amount/10)*10, payment_type, count(*), sum(total_amount) FROM t GROUP BY 1,2",
        nested_rows(values("sum")),
        "skip",
    ),
    query(
        "ranges, months below, avg",
        {
            "aggs": below(
                "range",
                {"field": "trip_distance", "ranges": [{"to": 1}, {"from": 1, "to": 5}, {"from": 5}]},
                nest("date_histogram", {"field": "pickup_datetime", "calendar_interval": "month"}, TIPS),
            )
        },
        f"SELECT CASE WHEN trip_distance < 1 THEN '*-1.0' WHEN trip_distance < 5 THEN '1.0-5.0' ELSE '5.0-*' END, {MS.format('month')}, count(*), avg(tip_amount) FROM t GROUP BY 1,2",
        nested_rows(values("tip")),
    ),
    query(
        "date_range, stats",
        {
            "aggs": below(
                "date_range",
                {
                    "field": "pickup_datetime",
                    "ranges": [
                        {"to": "2015-03-01 00:00:00"},
                        {"from": "2015-03-01 00:00:00", "to": "2015-09-01 00:00:00"},
                        {"from": "2015-09-01 00:00:00"},
                    ],
                },
                metric("s", "stats", "fare_amount"),
            )
        },
        "SELECT CASE WHEN pickup_datetime < '2015-03-01' THEN 1 WHEN pickup_datetime < '2015-09-01' THEN 2 ELSE 3 END, count(*), min(fare_amount), max(fare_amount), sum(fare_amount) FROM t GROUP BY 1",
        rows(fields("s", "min", "max", "sum"), lambda b: 1 if "from" not in b else 2 if "to" in b else 3),
    ),
    query(
        "missing, sum",
        {"aggs": {"m": {"missing": {"field": "tolls_amount"}, "aggs": SUM}}},
        "SELECT count(*) FROM t WHERE tolls_amount IS NULL",
        top(lambda a: [a["m"]["doc_count"]]),
    ),
    query(
        "extended_stats below terms",
        {"aggs": below("terms", {"field": "payment_type", "size": 100}, metric("s", "extended_stats", "total_amount"))},
        "SELECT payment_type, count(*), sum(total_amount), stddev_pop(total_amount) FROM t GROUP BY 1",
        rows(fields("s", "sum", "std_deviation")),
        1e-7,
    ),
    query(
        "weighted_avg below terms",
        {
            "aggs": below(
                "terms",
                {"field": "payment_type", "size": 100},
                {"w": {"weighted_avg": {"value": {"field": "tip_amount"}, "weight": {"field": "trip_distance"}}}},
            )
        },
        "SELECT payment_type, count(*), sum(tip_amount * trip_distance) / sum(trip_distance) FROM t GROUP BY 1",
        rows(values("w")),
    ),
    query(
        "string_stats",
        {"aggs": metric("s", "string_stats", "payment_type")},
        "SELECT count(payment_type), min(length(payment_type)), avg(length(payment_type)) FROM t",
        top(fields("s", "count", "min_length", "avg_length")),
    ),
    query(
        "value_count of a keyword below days",
        {
            "aggs": below(
                "date_histogram", {"field": "pickup_datetime", "calendar_interval": "day"}, metric("n", "value_count", "payment_type")
            )
        },
        f"SELECT {MS.format('day')}, count(*), count(payment_type) FROM t GROUP BY 1",
        rows(values("n")),
    ),
    query(
        "filter with or, and not",
        {
            "track_total_hits": True,
            "query": {
                "bool": {
                    "should": [{"term": {"payment_type": "2"}}, {"range": {"tip_amount": {"gte": 3}}}],
                    "minimum_should_match": 1,
                    "must_not": {"term": {"vendor_id": "1"}},
                }
            },
            "aggs": SUM,
        },
        "SELECT sum(total_amount) FROM t WHERE (payment_type='2' OR tip_amount>=3) AND vendor_id<>'1'",
        top(values("sum")),
    ),
    query(
        "matrix_stats",
        {"aggs": {"m": {"matrix_stats": {"fields": ["tip_amount", "fare_amount"]}}}},
        "SELECT corr(tip_amount, fare_amount) FROM t",
        top(lambda a: [a["m"]["fields"][0]["correlation"][a["m"]["fields"][1]["name"]]]),
        1e-6,
    ),
    query(
        "t_test",
        {"aggs": {"m": {"t_test": {"a": {"field": "fare_amount"}, "b": {"field": "tip_amount"}, "type": "heteroscedastic"}}}},
        "SELECT avg(fare_amount), avg(tip_amount), var_samp(fare_amount), var_samp(tip_amount) FROM t",
        top(lambda a: [0]),
        "skip",
    ),
    query(
        "variable_width_histogram, avg",
        {"aggs": below("variable_width_histogram", {"field": "total_amount", "buckets": 10}, TIPS)},
        "SELECT floor(total_amount/10)*10, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
        "skip",
    ),
    query(
        "adjacency_matrix",
        {
            "aggs": {
                "a": {
                    "adjacency_matrix": {
                        "filters": {"card": {"term": {"payment_type": "1"}}, "far": {"range": {"trip_distance": {"gte": 5}}}}
                    },
                    "aggs": SUM,
                }
            }
        },
        """SELECT 'card', count(*), sum(total_amount) FROM t WHERE payment_type='1' UNION ALL SELECT 'far', count(*), sum(total_amount) FROM t WHERE trip_distance>=5
      UNION ALL SELECT 'card&far', count(*), sum(total_amount) FROM t WHERE trip_distance>=5 AND payment_type='1'""",
        rows(values("sum")),
    ),
    query(
        "significant_terms of a filter",
        {"query": CARD_FAR, "aggs": below("significant_terms", {"field": "rate_code_id"})},
        "SELECT rate_code_id, count(*) FILTER (payment_type = '1' AND trip_distance >= 2), count(*) FROM t GROUP BY 1",
        rows(),
        "skip",
    ),
    query(
        "terms with missing, sum",
        {"aggs": below("terms", {"field": "payment_type", "size": 100, "missing": "none"}, SUM)},
        "SELECT coalesce(payment_type, 'none'), count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "date_histogram by day, percentiles",
        {
            "aggs": below(
                "date_histogram",
                {"field": "pickup_datetime", "calendar_interval": "month"},
                metric("p", "percentiles", "total_amount", percents=[50]),
            )
        },
        f"SELECT {MS.format('month')}, count(*), approx_quantile(total_amount, 0.5) FROM t GROUP BY 1",
        rows(lambda b: list(b["p"]["values"].values())),
        ESTIMATED,
    ),
    query(
        "days, derivative of a sum",
        {
            "aggs": below(
                "date_histogram",
                {"field": "pickup_datetime", "calendar_interval": "day"},
                {**SUM, "d": {"derivative": {"buckets_path": "sum"}}},
            )
        },
        f"SELECT k, n, s, s - lag(s) OVER (ORDER BY k) FROM (SELECT {MS.format('day')} k, count(*) n, sum(total_amount) s FROM t GROUP BY 1)",
        rows(values("sum")),
        "skip",
    ),
    query(
        "minutes, max",
        {
            "aggs": below(
                "date_histogram",
                {"field": "pickup_datetime", "fixed_interval": "30m", "min_doc_count": 1},
                metric("m", "max", "total_amount"),
            )
        },
        "SELECT epoch_ms(time_bucket(INTERVAL 30 MINUTE, pickup_datetime, TIMESTAMP '1970-01-01')), count(*), max(total_amount) FROM t GROUP BY 1",
        rows(values("m")),
    ),
    query(
        "range of keyword",
        {"track_total_hits": True, "query": {"range": {"payment_type": {"gte": "2"}}}},
        "SELECT count(*) FROM t WHERE payment_type>='2'",
        lambda answer: [[answer["hits"]["total"]["value"]]],
    ),
    query(
        "prefix and exists",
        {
            "track_total_hits": True,
            "query": {"bool": {"filter": [{"prefix": {"rate_code_id": "1"}}, {"exists": {"field": "tip_amount"}}]}},
            "aggs": TIPS,
        },
        "SELECT avg(tip_amount) FROM t WHERE rate_code_id LIKE '1%' AND tip_amount IS NOT NULL",
        top(values("tip")),
    ),
    query(
        "filter of terms and dates, terms",
        {
            "query": {"bool": {"filter": [{"terms": {"payment_type": ["1", "3"]}}, YEAR_RANGE]}},
            "aggs": below("terms", {"field": "passenger_count", "size": 50}, SUM),
        },
        "SELECT passenger_count, count(*), sum(total_amount) FROM t WHERE payment_type IN ('1','3') AND pickup_datetime >= '2015-02-01' AND pickup_datetime < '2015-08-01' GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "geotile_grid, avg", {"aggs": below("geotile_grid", {"field": "pickup_location", "precision": 10, "size": 100}, TIPS)}, None, None
    ),
    query("geohash_grid", {"aggs": below("geohash_grid", {"field": "pickup_location", "precision": 5, "size": 100})}, None, None),
    query("geo_bounds", {"aggs": metric("g", "geo_bounds", "pickup_location")}, None, None),
    query(
        "geo_centroid below terms",
        {"aggs": below("terms", {"field": "payment_type"}, metric("g", "geo_centroid", "pickup_location"))},
        None,
        None,
    ),
    query(
        "geo_distance, avg",
        {
            "aggs": below(
                "geo_distance",
                {"field": "pickup_location", "origin": "40.7,-74", "unit": "km", "ranges": [{"to": 2}, {"from": 2, "to": 10}]},
                TIPS,
            )
        },
        None,
        None,
    ),
    query("sampler", {"aggs": {"s": {"sampler": {"shard_size": 1000}, "aggs": TIPS}}}, None, None),
    query("random_sampler", {"aggs": {"s": {"random_sampler": {"probability": 0.1}, "aggs": TIPS}}}, None, None),
    query(
        "scripted_metric",
        {
            "aggs": {
                "s": {
                    "scripted_metric": {
                        "init_script": "state.x = 0.0",
                        "map_script": "state.x += doc['tip_amount'].value",
                        "combine_script": "return state.x",
                        "reduce_script": "double s = 0; for (x in states) s += x; return s",
                    }
                }
            }
        },
        "SELECT sum(tip_amount) FROM t",
        top(values("s")),
    ),
    query(
        "collapse",
        {"size": 10, "_source": False, "collapse": {"field": "payment_type"}, "sort": [{"total_amount": "desc"}]},
        "SELECT max(total_amount) FROM t GROUP BY payment_type ORDER BY 1 DESC LIMIT 10",
        sorts,
    ),
    query(
        "function_score of a field",
        {
            "size": 10,
            "_source": False,
            "query": {"function_score": {"query": CARD_FAR, "field_value_factor": {"field": "tip_amount", "missing": 0}}},
        },
        None,
        None,
    ),
    query(
        "script_score",
        {
            "size": 10,
            "_source": False,
            "query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "Math.max(0, doc['tip_amount'].value)"}}},
        },
        None,
        None,
    ),
    query(
        "min_score of constant",
        {"size": 0, "query": {"match_all": {}}, "min_score": 0.5, "aggs": SUM},
        "SELECT sum(total_amount) FROM t",
        top(values("sum")),
    ),
    query(
        "post_filter beside terms",
        {
            "size": 0,
            "track_total_hits": True,
            "post_filter": {"term": {"payment_type": "1"}},
            "aggs": below("terms", {"field": "payment_type", "size": 100}, SUM),
        },
        "SELECT payment_type, count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "global beside a filter",
        {"query": CARD_FAR, "aggs": {**SUM, "all": {"global": {}, "aggs": TIPS}}},
        "SELECT sum(total_amount) FILTER (payment_type = '1' AND trip_distance >= 2), avg(tip_amount) FROM t",
        top(lambda a: [a["sum"]["value"], a["all"]["tip"]["value"]]),
    ),
]


def runtime(name, kind, source):
    return {"runtime_mappings": {name: {"type": kind, "script": {"source": source}}}}


def scripted(init, each, combine, reduce):
    return {"aggs": {"s": {"scripted_metric": {"init_script": init, "map_script": each, "combine_script": combine, "reduce_script": reduce}}}}


def by_day(aggs, unit="day", field="pickup_datetime"):
    return below("date_histogram", {"field": field, "calendar_interval": unit}, aggs)


MINUTES = "(doc['dropoff_datetime'].value.toInstant().toEpochMilli() - doc['pickup_datetime'].value.toInstant().toEpochMilli()) / 60000.0"
SQL_MINUTES = "(epoch_ms(dropoff_datetime) - epoch_ms(pickup_datetime)) / 60000.0"
RATIO = "doc['fare_amount'].value > 0 ? doc['tip_amount'].value / doc['fare_amount'].value : 0"

# What a user may ask next; none of these was looked at when the common method was made.
FURTHER = [
    query(
        "percentiles of a filter below months",
        {"aggs": by_day({"f": {"filter": CARD_FAR, "aggs": metric("p", "percentiles", "total_amount", percents=[50])}}, "month")},
        f"SELECT {MS.format('month')}, count(*), approx_quantile(total_amount, 0.5) FILTER (payment_type = '1' AND trip_distance >= 2) FROM t GROUP BY 1",
        rows(lambda b: list(b["f"]["p"]["values"].values())),
        ESTIMATED,
    ),
    query(
        "rate of a sum below months",
        {"aggs": by_day({"r": {"rate": {"unit": "day", "field": "total_amount"}}}, "month")},
        f"SELECT {MS.format('month')}, count(*), sum(total_amount) / count(DISTINCT date_trunc('day', pickup_datetime)) FROM t GROUP BY 1",
        rows(values("r")),
        "skip",
    ),
    query(
        "top_metrics of filters",
        {
            "aggs": {
                "a": {
                    "filters": {"filters": {"card": CARD_FAR, "long": {"range": {"trip_distance": {"gte": 10}}}}},
                    "aggs": {"m": {"top_metrics": {"metrics": {"field": "tip_amount"}, "sort": {"total_amount": "desc"}}}},
                }
            }
        },
        "SELECT arg_max(tip_amount, total_amount) FILTER (payment_type = '1' AND trip_distance >= 2), arg_max(tip_amount, total_amount) FILTER (trip_distance >= 10) FROM t",
        rows(),
        "skip",
    ),
    query(
        "ranges of a runtime field",
        {
            **runtime("ratio", "double", f"emit({RATIO})"),
            "aggs": below("range", {"field": "ratio", "ranges": [{"to": 0.1}, {"from": 0.1, "to": 0.3}, {"from": 0.3}]}, SUM),
        },
        "SELECT (r >= 0.1)::INT + (r >= 0.3)::INT, count(*), sum(total_amount) FROM (SELECT CASE WHEN fare_amount > 0 THEN tip_amount / fare_amount ELSE 0 END r, total_amount FROM t) GROUP BY 1",
        rows(values("sum")),
        "skip",
    ),
    query(
        "query on a runtime field",
        {**runtime("ratio", "double", f"emit({RATIO})"), "query": {"range": {"ratio": {"gte": 0.2, "lt": 0.5}}}, "aggs": TIPS},
        "SELECT avg(tip_amount) FROM (SELECT CASE WHEN fare_amount > 0 THEN tip_amount / fare_amount ELSE 0 END r, tip_amount FROM t) WHERE r >= 0.2 AND r < 0.5",
        top(values("tip")),
    ),
    query(
        "minutes of trips",
        {"aggs": {"x": {"stats": script(MINUTES)}}},
        f"SELECT count(*), max({SQL_MINUTES}), avg({SQL_MINUTES}) FROM t",
        top(fields("x", "count", "max", "avg")),
    ),
    query(
        "weekdays, avg",
        {
            **runtime("weekday", "long", "emit(doc['pickup_datetime'].value.getDayOfWeekEnum().getValue())"),
            "aggs": below("terms", {"field": "weekday"}, TIPS),
        },
        "SELECT isodow(pickup_datetime), count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "nested filters",
        {"aggs": {"f": {"filter": YEAR_RANGE, "aggs": {"g": {"filter": {"term": {"payment_type": "1"}}, "aggs": {**SUM, **TIPS}}}}}},
        "SELECT sum(total_amount), avg(tip_amount) FROM t WHERE pickup_datetime >= '2015-02-01' AND pickup_datetime < '2015-08-01' AND payment_type = '1'",
        top(lambda aggs: [aggs["f"]["g"]["sum"]["value"], aggs["f"]["g"]["tip"]["value"]]),
    ),
    query(
        "moving_fn over days",
        {"aggs": by_day({**SUM, "m": {"moving_fn": {"buckets_path": "sum", "window": 7, "script": "MovingFunctions.unweightedAvg(values)"}}})},
        f"SELECT k, n, s, avg(s) OVER (ORDER BY k ROWS BETWEEN 7 PRECEDING AND 1 PRECEDING) FROM (SELECT {MS.format('day')} k, count(*) n, sum(total_amount) s FROM t GROUP BY 1)",
        rows(values("sum")),
        "skip",
    ),
    query(
        "bucket_sort of days",
        {"aggs": by_day({**SUM, "s": {"bucket_sort": {"sort": [{"sum": "desc"}], "size": 5}}})},
        f"SELECT {MS.format('day')}, count(*), sum(total_amount) FROM t GROUP BY 1 ORDER BY 3 DESC LIMIT 5",
        rows(values("sum")),
    ),
    query(
        "multi_terms by a metric",
        {
            "aggs": {
                "a": {
                    "multi_terms": {"terms": [{"field": "passenger_count"}, {"field": "rate_code_id"}], "size": 5, "order": {"tip": "desc"}},
                    "aggs": TIPS,
                }
            }
        },
        "SELECT passenger_count, rate_code_id, count(*), avg(tip_amount) FROM t GROUP BY 1, 2 ORDER BY 4 DESC LIMIT 5",
        rows(values("tip"), lambda bucket: bucket["key_as_string"]),
        "skip",
    ),
    query(
        "terms by include and exclude",
        {"aggs": below("terms", {"field": "rate_code_id", "include": "[1-5]", "exclude": ["2"], "size": 10}, SUM)},
        "SELECT rate_code_id, count(*), sum(total_amount) FROM t WHERE rate_code_id IN ('1', '3', '4', '5') GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "composite after a key",
        {
            "aggs": {
                "a": {
                    "composite": {
                        "size": 100,
                        "after": {"d": 1427846400000, "p": "1"},
                        "sources": [
                            {"d": {"date_histogram": {"field": "pickup_datetime", "calendar_interval": "day"}}},
                            {"p": {"terms": {"field": "payment_type"}}},
                        ],
                    },
                    "aggs": SUM,
                }
            }
        },
        f"SELECT {MS.format('day')} d, payment_type p, count(*), sum(total_amount) FROM t WHERE ({MS.format('day')}, payment_type) > (1427846400000, '1') GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100",
        rows(values("sum"), lambda bucket: str(bucket["key"])),
        "skip",
    ),
    query(
        "search_after two fields",
        {
            "size": 10,
            "_source": False,
            "sort": [{"passenger_count": "desc"}, {"total_amount": "desc"}],
            "search_after": [2, 20.5],
        },
        "SELECT passenger_count, total_amount FROM t WHERE passenger_count < 2 OR (passenger_count = 2 AND total_amount < 20.5) ORDER BY 1 DESC, 2 DESC LIMIT 10",
        sorts,
    ),
    query(
        "cumulative_cardinality of days",
        {"aggs": by_day({**metric("n", "cardinality", "total_amount"), "c": {"cumulative_cardinality": {"buckets_path": "n"}}})},
        f"SELECT {MS.format('day')}, count(*), approx_count_distinct(total_amount) FROM t GROUP BY 1",
        rows(values("n")),
        0.2,
    ),
    query(
        "dates below passengers, cardinality",
        {"aggs": below("terms", {"field": "passenger_count", "size": 20}, metric("n", "cardinality", "pickup_datetime"))},
        "SELECT passenger_count, count(*), approx_count_distinct(pickup_datetime) FROM t GROUP BY 1",
        rows(values("n")),
        "skip",
    ),
    query(
        "extended_stats by hour",
        {"aggs": by_day(metric("s", "extended_stats", "tip_amount"), "hour")},
        f"SELECT {MS.format('hour')}, count(*), sum(tip_amount), max(tip_amount), stddev_pop(tip_amount) FROM t GROUP BY 1",
        rows(fields("s", "sum", "max", "std_deviation_population")),
        1e-7,
    ),
    query(
        "histogram, percentiles",
        {"aggs": below("histogram", {"field": "trip_distance", "interval": 1, "min_doc_count": 1}, metric("p", "percentiles", "tip_amount", percents=[50]))},
        "SELECT floor(trip_distance), count(*), approx_quantile(tip_amount, 0.5) FROM t GROUP BY 1",
        rows(lambda b: list(b["p"]["values"].values())),
        "skip",
    ),
    query(
        "sum of a conditional script",
        {"aggs": {"x": {"sum": script("doc['payment_type'].value == '1' ? doc['tip_amount'].value : 0")}}},
        "SELECT sum(CASE WHEN payment_type = '1' THEN tip_amount ELSE 0 END) FROM t",
        top(values("x")),
    ),
    query(
        "averages by a scripted_metric",
        scripted(
            "state.n = 0L; state.sum = 0.0; state.max = 0.0",
            "double tip = doc['tip_amount'].value; if (tip > 1) { state.n += 1; state.sum += tip; state.max = Math.max(state.max, tip); }",
            "return state",
            "double n = 0; double sum = 0; for (s in states) { n += s.n; sum += s.sum; } return sum / n",
        ),
        "SELECT avg(tip_amount), max(tip_amount) FROM t WHERE tip_amount > 1",
        lambda answer: [[answer["aggregations"]["s"]["value"]]],
        "skip",
    ),
    query(
        "counts by a scripted_metric",
        scripted(
            "state.counts = [:]",
            "def key = doc['payment_type'].value; state.counts[key] = state.counts.getOrDefault(key, 0) + 1",
            "return state.counts",
            "Map all = [:]; for (s in states) { for (e in s.entrySet()) { all[e.getKey()] = all.getOrDefault(e.getKey(), 0) + e.getValue(); } } return all",
        ),
        "SELECT payment_type, count(*) FROM t GROUP BY 1",
        lambda answer: sorted(answer["aggregations"]["s"]["value"].items()),
        "skip",
    ),
    query(
        "scripted_metric below terms",
        {
            "aggs": below(
                "terms",
                {"field": "payment_type"},
                scripted("state.x = 0.0", "state.x += doc['tip_amount'].value * 2", "return state.x", "double s = 0; for (x in states) s += x; return s")["aggs"],
            )
        },
        "SELECT payment_type, count(*), sum(tip_amount * 2) FROM t GROUP BY 1",
        rows(values("s")),
    ),
    query(
        "collapse on a number by two fields",
        {"size": 5, "_source": False, "collapse": {"field": "passenger_count"}, "sort": [{"total_amount": "desc"}, {"pickup_datetime": "asc"}]},
        "SELECT max(total_amount) FROM t GROUP BY passenger_count ORDER BY 1 DESC LIMIT 5",
        sorts,
        "skip",
    ),
    query(
        "date_range, cardinality",
        {
            "aggs": below(
                "date_range",
                {"field": "pickup_datetime", "ranges": [{"to": "2015-03-01 00:00:00"}, {"from": "2015-03-01 00:00:00"}]},
                metric("n", "cardinality", "trip_distance"),
            )
        },
        "SELECT pickup_datetime >= '2015-03-01', count(*), approx_count_distinct(trip_distance) FROM t GROUP BY 1",
        rows(values("n")),
        "skip",
    ),
    query(
        "keywords of a runtime field",
        {
            **runtime("kind", "keyword", "emit(doc['trip_distance'].value > 5 ? 'far' : 'near')"),
            "aggs": below("terms", {"field": "kind"}, SUM),
        },
        "SELECT CASE WHEN trip_distance > 5 THEN 'far' ELSE 'near' END, count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "terms of a computed hour",
        {"aggs": below("terms", {"size": 24, "value_type": "long", **script("doc['pickup_datetime'].value.getHour()")}, TIPS)},
        "SELECT extract(hour FROM pickup_datetime), count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "sum of what is missing",
        {"aggs": {"s": {"sum": {"field": "tip_amount", "missing": 1}}, "n": {"value_count": {"field": "rate_code_id"}}}},
        "SELECT sum(coalesce(tip_amount, 1)), count(rate_code_id) FROM t",
        top(values("s", "n")),
    ),
    query(
        "quarters, terms below by a metric",
        {"aggs": by_day(nest("terms", {"field": "rate_code_id", "order": {"sum": "desc"}, "size": 3}, SUM), "quarter")},
        f"SELECT * FROM (SELECT {MS.format('quarter')}, rate_code_id, count(*), sum(total_amount) s, row_number() OVER (PARTITION BY {MS.format('quarter')} ORDER BY sum(total_amount) DESC) r FROM t GROUP BY 1, 2) WHERE r <= 3",
        lambda answer: [],
        "skip",
    ),
]


def counted(answer):
    return [[answer["hits"]["total"]["value"]]]


def state(each, combine="return state", init="state.m = [:]; state.n = 0; state.x = 0.0"):
    return scripted(init, each, combine, "return states")


PAIR = "doc['payment_type'].value + '/' + doc['vendor_id'].value"
PAIR_SQL = "payment_type || '/' || vendor_id"
LENGTHS = "double d = doc['trip_distance'].value; if (d < 1) emit('short'); else if (d < 5) emit('medium'); else emit('long')"
RATIO_SQL = "CASE WHEN fare_amount > 0 THEN tip_amount / fare_amount ELSE 0 END"

# Runtime fields in queries, sorts and aggregations, and scripts with statements, states, strings and dates.
SCRIPTS = [
    query(
        "prefix of a runtime keyword",
        {"track_total_hits": True, **runtime("r", "keyword", f"emit({PAIR})"), "query": {"prefix": {"r": "1/"}}},
        f"SELECT count(*) FROM t WHERE {PAIR_SQL} LIKE '1/%'",
        counted,
    ),
    query(
        "wildcard on a runtime keyword",
        {"track_total_hits": True, **runtime("r", "keyword", f"emit({PAIR})"), "query": {"wildcard": {"r": "*/2"}}},
        f"SELECT count(*) FROM t WHERE {PAIR_SQL} LIKE '%/2'",
        counted,
    ),
    query(
        "terms of a runtime hour",
        {
            "track_total_hits": True,
            **runtime("r", "long", "emit(doc['pickup_datetime'].value.getHour())"),
            "query": {"terms": {"r": [3, 4, 5]}},
        },
        "SELECT count(*) FROM t WHERE extract(hour FROM pickup_datetime) IN (3, 4, 5)",
        counted,
    ),
    query(
        "exists of a conditional runtime field",
        {
            "track_total_hits": True,
            **runtime("r", "double", "if (doc['fare_amount'].value > 5) { emit(doc['tip_amount'].value / doc['fare_amount'].value) }"),
            "query": {"exists": {"field": "r"}},
        },
        "SELECT count(CASE WHEN fare_amount > 5 THEN tip_amount / fare_amount END) FROM t",
        counted,
    ),
    query(
        "sort by a runtime field",
        {"size": 10, "_source": False, **runtime("r", "double", f"emit({RATIO})"), "sort": [{"r": "desc"}]},
        f"SELECT {RATIO_SQL} FROM t ORDER BY 1 DESC LIMIT 10",
        sorts,
    ),
    query(
        "sort by a runtime keyword",
        {"size": 10, "_source": False, **runtime("r", "keyword", f"emit({PAIR})"), "sort": [{"r": "desc"}]},
        f"SELECT {PAIR_SQL} FROM t ORDER BY 1 DESC LIMIT 10",
        sorts,
    ),
    query(
        "range of a runtime date",
        {
            "track_total_hits": True,
            **runtime("r", "date", "emit(doc['pickup_datetime'].value.plusHours(5).toInstant().toEpochMilli())"),
            "query": {"range": {"r": {"gte": "2015-03-01", "lt": "2015-04-01"}}},
        },
        "SELECT count(*) FROM t WHERE pickup_datetime + INTERVAL 5 HOUR >= '2015-03-01' AND pickup_datetime + INTERVAL 5 HOUR < '2015-04-01'",
        counted,
    ),
    query(
        "days of a runtime date",
        {
            **runtime("r", "date", "emit(doc['pickup_datetime'].value.minusDays(1).toInstant().toEpochMilli())"),
            "aggs": below("date_histogram", {"field": "r", "calendar_interval": "day"}),
        },
        "SELECT epoch_ms(date_trunc('day', pickup_datetime - INTERVAL 1 DAY)), count(*) FROM t GROUP BY 1",
        rows(),
    ),
    query(
        "weekdays by name",
        {
            **runtime("r", "keyword", "emit(doc['pickup_datetime'].value.dayOfWeekEnum.toString())"),
            "aggs": below("terms", {"field": "r"}),
        },
        "SELECT upper(dayname(pickup_datetime)), count(*) FROM t GROUP BY 1",
        rows(),
    ),
    query(
        "classes of lengths",
        {**runtime("r", "keyword", LENGTHS), "aggs": below("terms", {"field": "r"}, TIPS)},
        "SELECT CASE WHEN trip_distance < 1 THEN 'short' WHEN trip_distance < 5 THEN 'medium' ELSE 'long' END, count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "stats of a runtime field below terms",
        {**runtime("r", "double", f"emit({RATIO})"), "aggs": below("terms", {"field": "payment_type"}, metric("s", "stats", "r"))},
        f"SELECT payment_type, count(*), max({RATIO_SQL}), sum({RATIO_SQL}) FROM t GROUP BY 1",
        rows(fields("s", "max", "sum")),
    ),
    query(
        "filters of script queries",
        {
            "aggs": {
                "a": {
                    "filters": {
                        "filters": {
                            "x": {"script": script("doc['tip_amount'].value > 2")},
                            "y": {"script": script("doc['fare_amount'].value > 10 && doc['payment_type'].value == '1'")},
                        }
                    },
                    "aggs": TIPS,
                }
            }
        },
        """SELECT avg(tip_amount) FILTER (tip_amount > 2), avg(tip_amount) FILTER (fare_amount > 10 AND payment_type = '1') FROM t""",
        rows(values("tip")),
        "skip",
    ),
    query(
        "function_score of a script",
        {
            "size": 10,
            "_source": False,
            "query": {
                "function_score": {
                    "query": {"match_all": {}},
                    "script_score": {"script": {"source": "doc['payment_type'].value == '1' ? doc['tip_amount'].value + 1 : 1"}},
                }
            },
        },
        "SELECT CASE WHEN payment_type = '1' THEN tip_amount + 1 ELSE 1 END FROM t ORDER BY 1 DESC LIMIT 10",
        sorts,
        "skip",
    ),
    query(
        "sum by a function",
        {
            "aggs": {
                "x": {
                    "sum": script(
                        "double f(double a, double b) { if (b > 0) { return a / b; } return 0; } return f(doc['tip_amount'].value, doc['fare_amount'].value)"
                    )
                }
            }
        },
        f"SELECT sum({RATIO_SQL}) FROM t",
        top(values("x")),
    ),
    query(
        "sum of doubled values",
        {"aggs": {"x": {"sum": {"field": "tip_amount", "script": {"source": "_value > 1 ? _value * 2 : 0"}}}}},
        "SELECT sum(CASE WHEN tip_amount > 1 THEN tip_amount * 2 ELSE 0 END) FROM t",
        top(values("x")),
    ),
    query(
        "names from a map",
        {
            "aggs": below(
                "terms",
                {
                    "script": {
                        "source": "params.names.getOrDefault(doc['payment_type'].value, 'other')",
                        "params": {"names": {"1": "card", "2": "cash"}},
                    }
                },
                SUM,
            )
        },
        "SELECT CASE payment_type WHEN '1' THEN 'card' WHEN '2' THEN 'cash' ELSE 'other' END, count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "sums by key of a scripted_metric",
        state(
            "def k = doc['payment_type'].value; if (state.m.containsKey(k)) { state.m[k] += doc['tip_amount'].value } else { state.m[k] = doc['tip_amount'].value }"
        ),
        "SELECT payment_type, sum(tip_amount) FROM t GROUP BY 1",
        lambda answer: [],
        "skip",
    ),
    query(
        "merges by hour of a scripted_metric",
        state("state.m.merge(doc['pickup_datetime'].value.getHour(), 1, (a, b) -> a + b)"),
        "SELECT extract(hour FROM pickup_datetime), count(*) FROM t GROUP BY 1",
        lambda answer: [],
        "skip",
    ),
    query(
        "largest by a scripted_metric",
        state("if (doc['tip_amount'].value > state.x) { state.x = doc['tip_amount'].value } state.n++"),
        "SELECT max(tip_amount), count(*) FROM t",
        lambda answer: [],
        "skip",
    ),
]

QUARTER_HOURS = "time_bucket(INTERVAL 15 MINUTE, pickup_datetime)"

# Written after everything else, as somebody would ask who knows neither the code nor the questions above.
ANALYST = [
    query(
        "share of tips below days",
        {"aggs": by_day({**SUM, **metric("t", "sum", "tip_amount"),
                         "share": {"bucket_script": {"buckets_path": {"t": "t", "s": "sum"}, "script": "params.t / params.s"}}})},
        f"SELECT {MS.format('day')}, count(*), sum(total_amount), sum(tip_amount) / sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum", "share")),
    ),
    query(
        "quarters of an hour, avg",
        {"aggs": below("date_histogram", {"field": "pickup_datetime", "fixed_interval": "15m"}, TIPS)},
        f"SELECT epoch_ms({QUARTER_HOURS}), count(*), avg(tip_amount) FROM t GROUP BY 1",
        rows(values("tip")),
    ),
    query(
        "days in New York, sum",
        {"aggs": below("date_histogram", {"field": "pickup_datetime", "calendar_interval": "day", "time_zone": "America/New_York"}, SUM)},
        "SELECT date_trunc('day', timezone('America/New_York', timezone('UTC', pickup_datetime))), count(*), sum(total_amount) FROM t GROUP BY 1",
        rows(values("sum")),
        "skip",
    ),
    query(
        "four metrics below days",
        {"aggs": by_day({**metric("p", "sum", "passenger_count"), **metric("d", "avg", "trip_distance"),
                         **metric("x", "max", "total_amount"), **metric("y", "min", "fare_amount")})},
        f"SELECT {MS.format('day')}, count(*), sum(passenger_count), avg(trip_distance), max(total_amount), min(fare_amount) FROM t GROUP BY 1",
        rows(values("p", "d", "x", "y")),
    ),
    query(
        "miles, then ten dollars",
        {"aggs": below("histogram", {"field": "trip_distance", "interval": 1, "min_doc_count": 1},
                       nest("histogram", {"field": "fare_amount", "interval": 10, "min_doc_count": 1}, None))},
        "SELECT floor(trip_distance), floor(fare_amount / 10) * 10, count(*) FROM t GROUP BY 1, 2",
        nested_rows(lambda bucket: []),
    ),
    query(
        "passengers of a filter, three metrics",
        {"query": {"bool": {"filter": [{"term": {"payment_type": "1"}}, YEAR_RANGE]}},
         "aggs": below("terms", {"field": "passenger_count", "size": 50},
                       {**TIPS, **SUM, **metric("x", "max", "trip_distance")})},
        "SELECT passenger_count, count(*), avg(tip_amount), sum(total_amount), max(trip_distance) FROM t WHERE payment_type = '1' AND pickup_datetime >= '2015-02-01' AND pickup_datetime < '2015-08-01' GROUP BY 1",
        rows(values("tip", "sum", "x")),
    ),
    query(
        "filters by query strings, stats",
        {"aggs": {"a": {"filters": {"filters": {
            "shared": {"query_string": {"query": "payment_type:1 AND passenger_count:[2 TO 4]"}},
            "long": {"query_string": {"query": "trip_distance:>10"}}}},
            "aggs": metric("s", "stats", "total_amount")}}},
        "SELECT count(*) FILTER (payment_type = '1' AND passenger_count BETWEEN 2 AND 4), sum(total_amount) FILTER (payment_type = '1' AND passenger_count BETWEEN 2 AND 4), count(*) FILTER (trip_distance > 10), sum(total_amount) FILTER (trip_distance > 10) FROM t",
        lambda answer: [],
        "skip",
    ),
    query(
        "two of three conditions, counted",
        {"track_total_hits": True,
         "query": {"bool": {"minimum_should_match": 2, "should": [
             {"range": {"total_amount": {"gte": 20}}}, {"term": {"vendor_id": "1"}}, {"range": {"passenger_count": {"gte": 3}}}]}}},
        "SELECT count(*) FROM t WHERE (total_amount >= 20)::int + (vendor_id = '1')::int + (passenger_count >= 3)::int >= 2",
        lambda answer: [[answer["hits"]["total"]["value"]]],
    ),
    query(
        "hundred largest tips of cards",
        {"size": 100, "_source": False, "query": {"term": {"payment_type": "1"}},
         "sort": [{"tip_amount": "desc"}, {"pickup_datetime": "asc"}]},
        "SELECT tip_amount, pickup_datetime FROM t WHERE payment_type = '1' ORDER BY 1 DESC, 2 LIMIT 100",
        lambda answer: [],
        "skip",
    ),
    query(
        "percentiles of three columns",
        {"aggs": {name: {"percentiles": {"field": name, "percents": [50, 90, 99]}} for name in ("total_amount", "trip_distance", "tip_amount")}},
        "SELECT approx_quantile(total_amount, [0.5, 0.9, 0.99]), approx_quantile(trip_distance, [0.5, 0.9, 0.99]), approx_quantile(tip_amount, [0.5, 0.9, 0.99]) FROM t",
        lambda answer: [],
        "skip",
    ),
    query(
        "median below passengers",
        {"aggs": below("terms", {"field": "passenger_count", "size": 50}, metric("m", "percentiles", "trip_distance", percents=[50]))},
        "SELECT passenger_count, count(*), approx_quantile(trip_distance, 0.5) FROM t GROUP BY 1",
        rows(lambda bucket: [bucket["m"]["values"]["50.0"]]),
        "skip",
    ),
    query(
        "boxplot below vendors",
        {"aggs": below("terms", {"field": "vendor_id"}, metric("m", "boxplot", "fare_amount"))},
        "SELECT vendor_id, count(*), min(fare_amount), max(fare_amount), approx_quantile(fare_amount, [0.25, 0.5, 0.75]) FROM t GROUP BY 1",
        rows(fields("m", "min")),
        "skip",
    ),
    query(
        "extended_stats below miles",
        {"aggs": below("histogram", {"field": "trip_distance", "interval": 1, "min_doc_count": 1}, metric("s", "extended_stats", "total_amount"))},
        "SELECT floor(trip_distance), count(*), sum(total_amount), stddev_pop(total_amount) FROM t GROUP BY 1",
        rows(fields("s", "sum", "std_deviation")),
        1e-6,
    ),
    query(
        "weighted_avg below months",
        {"aggs": by_day({"w": {"weighted_avg": {"value": {"field": "tip_amount"}, "weight": {"field": "trip_distance"}}}}, "month")},
        f"SELECT {MS.format('month')}, count(*), sum(tip_amount * trip_distance) / sum(trip_distance) FROM t GROUP BY 1",
        rows(values("w")),
    ),
    query(
        "three sources of composite",
        composite([{"d": {"date_histogram": {"field": "pickup_datetime", "calendar_interval": "day"}}},
                   {"p": {"terms": {"field": "payment_type"}}}, {"n": {"terms": {"field": "passenger_count"}}}], SUM, 10000),
        f"SELECT * FROM (SELECT {MS.format('day')} d, payment_type p, passenger_count n, count(*), sum(total_amount) FROM t GROUP BY 1, 2, 3) ORDER BY d, p, n LIMIT 10000",
        rows(values("sum"), joined("d", "p", "n")),
        "skip",
    ),
    query(
        "composite of miles and vendor",
        composite([{"h": {"histogram": {"field": "trip_distance", "interval": 1}}}, {"v": {"terms": {"field": "vendor_id"}}}], TIPS, 5000),
        "SELECT floor(trip_distance), vendor_id, count(*), avg(tip_amount) FROM t GROUP BY 1, 2",
        rows(values("tip"), joined("h", "v")),
        "skip",
    ),
    query(
        "minutes of trips, stats",
        {**runtime("minutes", "double", f"emit({MINUTES})"), "aggs": metric("s", "stats", "minutes")},
        f"SELECT count(*), min({SQL_MINUTES}), max({SQL_MINUTES}), sum({SQL_MINUTES}) FROM t",
        top(fields("s", "count", "min", "max", "sum")),
    ),
    query(
        "minutes of trips, percentiles below vendors",
        {**runtime("minutes", "double", f"emit({MINUTES})"),
         "aggs": below("terms", {"field": "vendor_id"}, metric("p", "percentiles", "minutes", percents=[50, 95]))},
        f"SELECT vendor_id, count(*), approx_quantile({SQL_MINUTES}, [0.5, 0.95]) FROM t GROUP BY 1",
        rows(),
        "skip",
    ),
    query(
        "miles an hour of long trips",
        {**runtime("speed", "double", f"double m = {MINUTES}; if (m > 0) emit(doc['trip_distance'].value / m * 60)"),
         "query": {"range": {"trip_distance": {"gte": 5}}}, "aggs": metric("s", "avg", "speed")},
        f"SELECT avg(trip_distance / ({SQL_MINUTES}) * 60) FROM t WHERE trip_distance >= 5 AND {SQL_MINUTES} > 0",
        top(values("s")),
    ),
    query(
        "distinct pairs",
        {**runtime("pair", "keyword", "emit(doc['payment_type'].value + '/' + doc['passenger_count'].value)"),
         "aggs": metric("n", "cardinality", "pair")},
        "SELECT count(DISTINCT payment_type || '/' || passenger_count) FROM t",
        top(values("n")),
    ),
    query(
        "not cash, far, or shared",
        {"track_total_hits": True,
         "query": {"bool": {"must_not": [{"terms": {"payment_type": ["2", "3", "4"]}}],
                            "filter": [{"bool": {"should": [{"range": {"trip_distance": {"gt": 8}}}, {"terms": {"passenger_count": [4, 5, 6]}}]}}]}},
         "aggs": SUM},
        "SELECT count(*), sum(total_amount) FROM t WHERE payment_type NOT IN ('2', '3', '4') AND (trip_distance > 8 OR passenger_count IN (4, 5, 6))",
        lambda answer: [[answer["hits"]["total"]["value"], answer["aggregations"]["sum"]["value"]]],
    ),
    query(
        "best days by a sum",
        {"aggs": by_day({**SUM, "s": {"bucket_sort": {"sort": [{"sum": "desc"}], "size": 5}}})},
        f"SELECT {MS.format('day')}, count(*), sum(total_amount) FROM t GROUP BY 1 ORDER BY 3 DESC LIMIT 5",
        rows(values("sum")),
    ),
    query(
        "busiest hours",
        {"aggs": by_day({"s": {"bucket_sort": {"sort": [{"_count": "desc"}], "size": 10}}}, "hour")},
        f"SELECT {MS.format('hour')}, count(*) FROM t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10",
        rows(),
        "skip",
    ),
    query(
        "first trips of passengers",
        {"aggs": below("terms", {"field": "passenger_count", "size": 50},
                       {"h": {"top_hits": {"size": 1, "_source": False, "sort": [{"pickup_datetime": "asc"}]}}})},
        "SELECT passenger_count, count(*), epoch_ms(min(pickup_datetime)) FROM t GROUP BY 1",
        rows(lambda bucket: bucket["h"]["hits"]["hits"][0]["sort"]),
    ),
    query(
        "rare rates",
        {"aggs": {"a": {"rare_terms": {"field": "rate_code_id", "max_doc_count": 100}}}},
        "SELECT rate_code_id, count(*) FROM t GROUP BY 1 HAVING count(*) <= 100",
        rows(),
    ),
    query(
        "sums with a default below dropoff days",
        {"aggs": by_day({"s": {"sum": {"field": "tip_amount", "missing": 0}}, **metric("n", "value_count", "tip_amount")}, field="dropoff_datetime")},
        "SELECT epoch_ms(date_trunc('day', dropoff_datetime)), count(*), sum(coalesce(tip_amount, 0)), count(tip_amount) FROM t GROUP BY 1",
        rows(values("s", "n")),
    ),
    query(
        "vendors, weeks, payments, avg",
        {"aggs": below("terms", {"field": "vendor_id"},
                       nest("date_histogram", {"field": "pickup_datetime", "calendar_interval": "week"},
                            {"c": {"terms": {"field": "payment_type"}, "aggs": TIPS}}))},
        f"SELECT vendor_id, {MS.format('week')}, payment_type, count(*), avg(tip_amount) FROM t GROUP BY 1, 2, 3",
        lambda answer: [],
        "skip",
    ),
    query(
        "amounts by ranges below payments",
        {"aggs": below("terms", {"field": "payment_type"},
                       nest("range", {"field": "total_amount", "ranges": [{"to": 10}, {"from": 10, "to": 30}, {"from": 30}]}, TIPS))},
        "SELECT payment_type, CASE WHEN total_amount < 10 THEN 0 WHEN total_amount < 30 THEN 1 ELSE 2 END, count(*), avg(tip_amount) FROM t GROUP BY 1, 2",
        lambda answer: [],
        "skip",
    ),
]


LOGS_MAPPING = {
    "@timestamp": {"type": "date", "format": "strict_date_optional_time||epoch_second"},
    "clientip": {"type": "ip"},
    "request": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
    "status": {"type": "integer"},
    "size": {"type": "integer"},
}
SZ = metric("sum", "sum", "size")
LMS = "epoch_ms(date_trunc('{}', ts))"
LOGS = [
    query(
        "terms of status", {"aggs": below("terms", {"field": "status", "size": 100})}, "SELECT status, count(*) FROM t GROUP BY 1", rows()
    ),
    query(
        "terms of status, avg",
        {"aggs": below("terms", {"field": "status", "size": 100}, metric("x", "avg", "size"))},
        "SELECT status, count(*), avg(size) FROM t GROUP BY 1",
        rows(values("x")),
    ),
    query(
        "top clients",
        {"aggs": below("terms", {"field": "clientip", "size": 10})},
        "SELECT clientip, count(*) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
        rows(),
        "skip",
    ),
    query(
        "top clients, sum",
        {"aggs": below("terms", {"field": "clientip", "size": 10}, SZ)},
        "SELECT clientip, count(*), sum(size) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
        rows(values("sum")),
        "skip",
    ),
    query(
        "clients by sum",
        {"aggs": below("terms", {"field": "clientip", "size": 10, "order": {"sum": "desc"}}, SZ)},
        "SELECT clientip, count(*), sum(size) FROM t GROUP BY 1 ORDER BY 3 DESC LIMIT 10",
        rows(values("sum")),
    ),
    query(
        "top requests, sum",
        {"aggs": below("terms", {"field": "request.raw", "size": 10}, SZ)},
        "SELECT request, count(*), sum(size) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
        rows(values("sum")),
        "skip",
    ),
    query(
        "cardinality of clients",
        {"aggs": metric("n", "cardinality", "clientip")},
        "SELECT approx_count_distinct(clientip) FROM t",
        top(values("n")),
        None,
    ),
    query(
        "cardinality of requests",
        {"aggs": metric("n", "cardinality", "request.raw")},
        "SELECT approx_count_distinct(request) FROM t",
        top(values("n")),
        None,
    ),
    query(
        "clients by hour",
        {"aggs": below("date_histogram", {"field": "@timestamp", "calendar_interval": "hour"}, metric("n", "cardinality", "clientip"))},
        f"SELECT {LMS.format('hour')}, count(*), approx_count_distinct(clientip) FROM t GROUP BY 1",
        rows(values("n")),
        "skip",
    ),
    query(
        "hours, sum",
        {"aggs": below("date_histogram", {"field": "@timestamp", "calendar_interval": "hour"}, SZ)},
        f"SELECT {LMS.format('hour')}, count(*), sum(size) FROM t GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "minutes, avg",
        {"aggs": below("date_histogram", {"field": "@timestamp", "fixed_interval": "5m"}, metric("x", "avg", "size"))},
        "SELECT epoch_ms(time_bucket(INTERVAL 5 MINUTE, ts, TIMESTAMP '1970-01-01')), count(*), avg(size) FROM t GROUP BY 1",
        rows(values("x")),
    ),
    query(
        "hours, status below, sum",
        {"aggs": below("date_histogram", {"field": "@timestamp", "calendar_interval": "hour"}, nest("terms", {"field": "status"}, SZ))},
        f"SELECT {LMS.format('hour')}, status, count(*), sum(size) FROM t GROUP BY 1,2",
        nested_rows(values("sum")),
    ),
    query(
        "status, hours below, max",
        {
            "aggs": below(
                "terms",
                {"field": "status"},
                nest("date_histogram", {"field": "@timestamp", "calendar_interval": "hour"}, metric("x", "max", "size")),
            )
        },
        f"SELECT status, {LMS.format('hour')}, count(*), max(size) FROM t GROUP BY 1,2",
        nested_rows(values("x")),
    ),
    query(
        "requests that were not found",
        {"query": {"term": {"status": 404}}, "aggs": below("terms", {"field": "request.raw", "size": 10})},
        "SELECT request, count(*) FROM t WHERE status=404 GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
        rows(),
        "skip",
    ),
    query(
        "sum of requests by prefix",
        {"query": {"prefix": {"request.raw": "GET /images"}}, "aggs": SZ},
        "SELECT sum(size) FROM t WHERE request LIKE 'GET /images%'",
        top(values("sum")),
    ),
    query(
        "sum of requests by wildcard",
        {"query": {"wildcard": {"request.raw": "*shuttle*"}}, "aggs": SZ},
        "SELECT sum(size) FROM t WHERE request LIKE '%shuttle%'",
        top(values("sum")),
    ),
    query(
        "percentiles of sizes",
        {"aggs": metric("p", "percentiles", "size", percents=[50, 95])},
        "SELECT approx_quantile(size, 0.5), approx_quantile(size, 0.95) FROM t",
        top(lambda aggs: list(aggs["p"]["values"].values())),
        0.1,
    ),
    query(
        "composite of days and status",
        composite(
            [{"d": {"date_histogram": {"field": "@timestamp", "calendar_interval": "day"}}}, {"s": {"terms": {"field": "status"}}}], SZ
        ),
        f"SELECT {LMS.format('day')}||'|'||status, count(*), sum(size) FROM t GROUP BY 1",
        rows(values("sum"), joined("d", "s")),
        "skip",
    ),
    query(
        "composite of clients, a page",
        composite([{"c": {"terms": {"field": "clientip"}}}], SZ, 100),
        "SELECT clientip, count(*), sum(size) FROM t GROUP BY 1 ORDER BY 1 LIMIT 100",
        rows(values("sum"), joined("c")),
        "skip",
    ),
    query(
        "largest, then newest",
        {"size": 10, "_source": False, "sort": [{"size": "desc"}, {"@timestamp": "desc"}]},
        "SELECT size, epoch_ms(ts) FROM t ORDER BY 1 DESC, 2 DESC LIMIT 10",
        sorts,
    ),
    query(
        "newest of a client",
        {"size": 10, "_source": False, "query": {"term": {"status": 304}}, "sort": [{"@timestamp": "desc"}]},
        "SELECT epoch_ms(ts) FROM t WHERE status=304 ORDER BY 1 DESC LIMIT 10",
        sorts,
    ),
    query(
        "sizes above, by status",
        {"query": {"range": {"size": {"gte": 10000}}}, "aggs": below("terms", {"field": "status"}, SZ)},
        "SELECT status, count(*), sum(size) FROM t WHERE size>=10000 GROUP BY 1",
        rows(values("sum")),
    ),
    query(
        "histogram of sizes",
        {"aggs": below("histogram", {"field": "size", "interval": 1000}, metric("c", "cardinality", "clientip"))},
        "SELECT (size//1000)*1000, count(*), approx_count_distinct(clientip) FROM t GROUP BY 1",
        rows(values("c")),
        "skip",
    ),
    query(
        "ip ranges, sum",
        {
            "aggs": below(
                "ip_range",
                {"field": "clientip", "ranges": [{"to": "64.0.0.0"}, {"from": "64.0.0.0", "to": "192.0.0.0"}, {"from": "192.0.0.0"}]},
                SZ,
            )
        },
        None,
        None,
    ),
    query(
        "top clients of status",
        {"aggs": below("terms", {"field": "status"}, nest("terms", {"field": "clientip", "size": 5}, SZ))},
        "SELECT * FROM (SELECT status, clientip, count(*) n, sum(size) s, row_number() OVER (PARTITION BY status ORDER BY count(*) DESC) r FROM t GROUP BY 1,2) WHERE r<=5",
        lambda a: [],
        "skip",
    ),
    query(
        "distinct requests of top clients",
        {"aggs": below("terms", {"field": "clientip", "size": 10}, metric("n", "cardinality", "request.raw"))},
        "SELECT clientip, count(*), approx_count_distinct(request) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
        rows(values("n")),
        "skip",
    ),
    query(
        "last size of top clients",
        {
            "aggs": below(
                "terms",
                {"field": "clientip", "size": 10},
                {"h": {"top_metrics": {"metrics": {"field": "size"}, "sort": {"@timestamp": "desc"}}}},
            )
        },
        "SELECT clientip, count(*), arg_max(size, ts) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
        rows(),
        "skip",
    ),
    query(
        "match of a word, sum",
        {"query": {"match": {"request": "images"}}, "aggs": SZ},
        "SELECT sum(size) FROM t WHERE request ILIKE '%images%'",
        top(values("sum")),
        "skip",
    ),
    query(
        "significant requests",
        {"query": {"term": {"status": 404}}, "aggs": below("significant_terms", {"field": "request.raw"})},
        "SELECT request, count(*) FILTER (status=404), count(*) FROM t GROUP BY 1",
        rows(),
        "skip",
    ),
    query(
        "extended_stats",
        {"aggs": metric("s", "extended_stats", "size")},
        "SELECT count(size), max(size), sum(size), stddev_pop(size) FROM t",
        top(fields("s", "count", "max", "sum", "std_deviation")),
        1e-7,
    ),
]
