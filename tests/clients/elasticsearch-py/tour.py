"""A tour of elasticsearch-py: the client, its helpers, its asynchronous twin and its DSL."""
import datetime
import os
import sys

from checks import check, equal
from elasticsearch import AsyncElasticsearch, ConflictError, Elasticsearch, NotFoundError, dsl, helpers

client = Elasticsearch(sys.argv[1])
COLORS = ["red", "green", "blue"]
MAPPINGS = {"properties": {"day": {"type": "date"}, "color": {"type": "keyword"}, "price": {"type": "double"}, "text": {"type": "text"},
                           "spot": {"type": "geo_point"}, "name": {"type": "completion"}}}


def documents(index="tour", count=1000):
    return ({"_index": index, "_id": str(n), "day": f"2026-01-{n % 28 + 1:02}", "color": COLORS[n % 3], "price": n / 4, "name": f"item {n}",
             "text": f"number {n} is {COLORS[n % 3]}", "spot": {"lat": n % 90, "lon": n % 180}} for n in range(count))


@check
def helpers_bulk_and_scan():
    equal(client.info()["tagline"], "You Know, for Search")
    client.options(ignore_status=404).indices.delete(index="tour")
    client.indices.create(index="tour", settings={"number_of_shards": 2, "number_of_replicas": 0}, mappings=MAPPINGS)
    equal(helpers.bulk(client, documents(), chunk_size=128, refresh=True), (1000, []))
    equal(len({hit["_id"] for hit in helpers.scan(client, index="tour", query={"query": {"match_all": {}}}, size=100)}), 1000)
    outcomes = list(helpers.streaming_bulk(client, [{"_op_type": "create", "_index": "tour", "_id": "2", "price": 1}], raise_on_error=False))
    equal((outcomes[0][0], outcomes[0][1]["create"]["status"]), (False, 409))
    equal(all(ok for ok, _ in helpers.parallel_bulk(client, documents("parallel", 500), thread_count=2, refresh=True)), True)
    equal(helpers.reindex(client, "parallel", "copied", target_client=client), (500, 0))


@check
def search_with_aggregations():
    answer = client.search(index="tour", query={"bool": {"must": {"match": {"text": "red"}}, "filter": {"range": {"price": {"lt": 50}}}}}, size=5,
                           sort=[{"price": "desc"}], highlight={"fields": {"text": {}}}, aggs={
        "colors": {"terms": {"field": "color"}, "aggs": {"spent": {"sum": {"field": "price"}}}},
        "weeks": {"date_histogram": {"field": "day", "calendar_interval": "week"}, "aggs": {"p": {"avg": {"field": "price"}}, "d": {"derivative": {"buckets_path": "p"}}}},
        "some": {"percentiles": {"field": "price", "percents": [50]}}, "many": {"cardinality": {"field": "day"}}, "stats": {"extended_stats": {"field": "price"}},
        "grid": {"geotile_grid": {"field": "spot", "precision": 1}}, "by": {"range": {"field": "price", "ranges": [{"to": 10}, {"from": 10}]}},
        "best": {"top_hits": {"size": 1, "sort": [{"price": "desc"}]}}, "words": {"significant_text": {"field": "text"}}})
    equal(answer["hits"]["total"], {"value": 67, "relation": "eq"})
    equal([hit["_id"] for hit in answer["hits"]["hits"]], ["198", "195", "192", "189", "186"])
    equal(answer["hits"]["hits"][0]["highlight"]["text"], ["number 198 is <em>red</em>"])
    found = answer["aggregations"]
    equal([(b["key"], b["doc_count"]) for b in found["colors"]["buckets"]], [("red", 67)])
    equal(sum(b["doc_count"] for b in found["weeks"]["buckets"]), 67)
    equal((found["some"]["values"]["50.0"], found["many"]["value"], found["stats"]["max"]), (24.75, 28, 49.5))
    equal([b["doc_count"] for b in found["by"]["buckets"]], [14, 53])
    equal(found["best"]["hits"]["hits"][0]["_id"], "198")


@check
def pages_and_suggestions():
    pit = client.open_point_in_time(index="tour", keep_alive="1m")["id"]
    seen, after = 0, None
    while hits := client.search(pit={"id": pit, "keep_alive": "1m"}, size=300, sort=["_shard_doc"], search_after=after)["hits"]["hits"]:
        seen, after = seen + len(hits), hits[-1]["sort"]
    equal((seen, client.close_point_in_time(id=pit)["succeeded"]), (1000, True))
    answer = client.search(index="tour", suggest={"n": {"prefix": "item 99", "completion": {"field": "name", "size": 20}}, "t": {"text": "numbar", "term": {"field": "text"}}})
    equal((len(answer["suggest"]["n"][0]["options"]), answer["suggest"]["t"][0]["options"][0]["text"]), (20, "number"))
    answer = client.msearch(searches=[{"index": "tour"}, {"query": {"term": {"color": "red"}}, "size": 0}, {"index": "none"}, {}])
    equal((answer["responses"][0]["hits"]["total"]["value"], answer["responses"][1]["status"]), (334, 404))


@check
def documents_one_by_one():
    client.update(index="tour", id="1", doc={"color": "black"}, refresh="wait_for")
    equal(client.get(index="tour", id="1")["_source"]["color"], "black")
    equal(client.mget(index="tour", ids=["1", "nobody"])["docs"][1]["found"], False)
    client.delete(index="tour", id="1", refresh=True)
    for wrong, call in ((NotFoundError, lambda: client.get(index="tour", id="1")), (ConflictError, lambda: client.create(index="tour", id="2", document={}))):
        try:
            call()
            raise AssertionError(f"no {wrong.__name__}")
        except wrong:
            pass
    client.ingest.put_pipeline(id="shout", processors=[{"uppercase": {"field": "color"}}])
    client.index(index="tour", id="p", document={"color": "pink", "price": 1}, pipeline="shout", refresh=True)
    equal(client.get_source(index="tour", id="p")["color"], "PINK")
    script = {"source": "ctx._source.price += params.by", "params": {"by": 1000}}
    equal(client.update_by_query(index="tour", query={"term": {"color": "green"}}, script=script, refresh=True)["updated"], 332)
    equal(client.delete_by_query(index="tour", query={"range": {"price": {"gte": 1000}}}, refresh=True)["deleted"], 332)
    task = client.reindex(source={"index": "tour"}, dest={"index": "reindexed"}, wait_for_completion=False)["task"]
    equal(client.tasks.get(task_id=task, wait_for_completion=True, timeout="10s")["response"]["created"], 668)


@check
def indices_and_cluster():
    client.indices.put_index_template(name="logs-t", index_patterns=["app-*"], template={"mappings": {"properties": {"at": {"type": "date"}}}, "aliases": {"app": {}}})
    client.index(index="app-1", document={"at": "2026-01-01"}, refresh=True)
    equal(client.indices.get_mapping(index="app-1")["app-1"]["mappings"]["properties"]["at"], {"type": "date"})
    client.indices.update_aliases(actions=[{"add": {"index": "tour", "alias": "app", "filter": {"term": {"color": "red"}}}}])
    equal(client.count(index="app")["count"], 335)
    equal(sorted(client.indices.get_alias(name="app")), ["app-1", "tour"])
    equal(client.cluster.health(wait_for_status="yellow")["timed_out"], False)
    equal("tour" in {row["index"] for row in client.cat.indices(format="json")}, True)
    equal([token["token"] for token in client.indices.analyze(analyzer="english", text="Running dogs")["tokens"]], ["run", "dog"])
    client.snapshot.create_repository(name="backup", repository={"type": "fs", "settings": {"location": os.environ["REPOSITORY"]}})
    equal(client.snapshot.create(repository="backup", snapshot="one", indices="tour", wait_for_completion=True)["snapshot"]["state"], "SUCCESS")
    client.indices.delete(index="tour")
    client.snapshot.restore(repository="backup", snapshot="one", wait_for_completion=True)
    equal((client.count(index="tour")["count"], bool(client.indices.exists(index="nothing"))), (668, False))


@check
async def asynchronous_helpers():
    async with AsyncElasticsearch(sys.argv[1]) as other:
        equal(await helpers.async_bulk(other, documents("later", 200), refresh=True), (200, []))
        equal(len([hit async for hit in helpers.async_scan(other, index="later", size=50)]), 200)
        answer = await other.search(index="later", size=0)
        equal(answer["hits"]["total"]["value"], 200)


class Post(dsl.Document):
    title: str = dsl.mapped_field(dsl.Text(analyzer="snowball", fields={"raw": dsl.Keyword()}))
    tags: list = dsl.mapped_field(dsl.Keyword(multi=True))
    published: datetime.datetime
    lines: int = dsl.mapped_field(dsl.Integer())

    class Index:
        name = "posts"


@check
def dsl_documents_and_searches():
    dsl.connections.add_connection("default", client)
    Post.init()
    for n, title in enumerate(["Searching is fun", "A search for meaning", "Nothing at all"]):
        Post(meta={"id": n}, title=title, tags=["all", title[:1]], published=datetime.datetime(2026, 1, n + 1), lines=n * 10).save(refresh=True)
    found = Post.search().query("match", title="search").filter("range", lines={"gte": 0}).highlight("title").execute()
    equal(sorted(hit.meta.id for hit in found), ["0", "1"])
    equal(isinstance(found[0], Post) and found[0].published.year, 2026)
    search = Post.search()[:0]
    search.aggs.bucket("tags", "terms", field="tags").metric("most", "max", field="lines")
    equal({b.key: b.most.value for b in search.execute().aggregations.tags}, {"all": 20.0, "S": 0.0, "A": 10.0, "N": 20.0})

    class Posts(dsl.FacetedSearch):
        index, fields = "posts", ["title"]
        facets = {"tags": dsl.TermsFacet(field="tags"), "days": dsl.DateHistogramFacet(field="published", calendar_interval="day")}

    answer = Posts("search", {"tags": "A"}).execute()
    equal(([hit.meta.id for hit in answer], sorted(answer.facets.tags)), (["1"], [("A", 1, True), ("S", 1, False), ("all", 2, False)]))
    post = Post.get(id="2")
    post.update(lines=7, refresh=True)
    equal((Post.get(id="2").lines, dsl.UpdateByQuery(index="posts").query("match_all").script(source="ctx._source.lines = 1").execute().updated), (7, 3))
