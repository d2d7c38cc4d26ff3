"""A tour of the Elasticsearch client: create, bulk by the helpers, search with aggregations, scroll, update, delete."""
import sys

import elasticsearch
from elasticsearch import Elasticsearch, NotFoundError, helpers

client = Elasticsearch(sys.argv[1])
index = "tour"
info = client.info()
assert info["tagline"] == "You Know, for Search", info
client.options(ignore_status=404).indices.delete(index=index)
client.indices.create(index=index, settings={"number_of_shards": 2, "number_of_replicas": 0}, mappings={"properties": {
    "day": {"type": "date"}, "color": {"type": "keyword"}, "price": {"type": "double"}, "text": {"type": "text"}}})

colors = ["red", "green", "blue"]
documents = ({"_index": index, "_id": str(n), "day": f"2026-01-{n % 28 + 1:02}", "color": colors[n % 3], "price": n / 4, "text": f"number {n} is {colors[n % 3]}"}
             for n in range(1000))
done, errors = helpers.bulk(client, documents, chunk_size=128, refresh=True)
assert (done, errors) == (1000, []), (done, errors)
assert client.count(index=index)["count"] == 1000

answer = client.search(index=index, query={"bool": {"must": {"match": {"text": "red"}}, "filter": {"range": {"price": {"lt": 50}}}}}, size=5,
                       sort=[{"price": "desc"}],
                       aggs={"colors": {"terms": {"field": "color"}, "aggs": {"spent": {"sum": {"field": "price"}}}},
                             "days": {"date_histogram": {"field": "day", "calendar_interval": "week"}}})
assert answer["hits"]["total"] == {"value": 67, "relation": "eq"}, answer["hits"]["total"]
assert [hit["_id"] for hit in answer["hits"]["hits"]] == ["198", "195", "192", "189", "186"]
bucket = answer["aggregations"]["colors"]["buckets"]
assert [(b["key"], b["doc_count"]) for b in bucket] == [("red", 67)], bucket
assert sum(b["doc_count"] for b in answer["aggregations"]["days"]["buckets"]) == 67

seen = {hit["_id"] for hit in helpers.scan(client, index=index, query={"query": {"match_all": {}}}, size=100)}
assert len(seen) == 1000

client.update(index=index, id="1", doc={"color": "black"}, refresh="wait_for")
assert client.get(index=index, id="1")["_source"]["color"] == "black"
assert client.mget(index=index, ids=["1", "nobody"])["docs"][1]["found"] is False
client.delete(index=index, id="1", refresh=True)
try:
    client.get(index=index, id="1")
    raise AssertionError("a deleted document was found")
except NotFoundError:
    pass
client.ingest.put_pipeline(id="shout", processors=[{"uppercase": {"field": "color"}}])
client.index(index=index, id="p", document={"color": "pink", "price": 1}, pipeline="shout", refresh=True)
assert client.get(index=index, id="p")["_source"]["color"] == "PINK"
outcomes = list(helpers.streaming_bulk(client, [{"_op_type": "create", "_index": index, "_id": "2", "price": 1}], raise_on_error=False))
assert outcomes[0][0] is False and outcomes[0][1]["create"]["status"] == 409, outcomes
assert client.cluster.health()["status"] in ("green", "yellow")
assert index in client.cat.indices(format="json")[0]["index"]
client.indices.delete(index=index)
assert not client.indices.exists(index=index)
print(f"elasticsearch-py {'.'.join(map(str, elasticsearch.__version__))}: 1 passed, 0 failed")
