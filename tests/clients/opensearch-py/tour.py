"""A tour of opensearch-py: the client, its helpers, its asynchronous twin and its DSL."""
import sys

from checks import check, equal
from opensearchpy import A, AsyncOpenSearch, Document, Keyword, NotFoundError, OpenSearch, Q, Search, Text, connections, helpers
from opensearchpy._async.helpers.actions import async_bulk

client = OpenSearch(sys.argv[1])


def films(index, count=300):
    return [{"_index": index, "_id": str(n), "title": f"The film number {n}", "year": 1950 + n % 70, "genre": ["drama", "noir", "comedy"][n % 3]} for n in range(count)]


@check
def helpers_bulk_scan_and_reindex():
    client.indices.create(index="films", body={"settings": {"index": {"number_of_shards": 2}}, "mappings": {"properties": {"title": {"type": "text"}, "genre": {"type": "keyword"}}}})
    equal(helpers.bulk(client, films("films"), refresh=True), (300, []))
    equal(sum(1 for _ in helpers.scan(client, index="films", size=70)), 300)
    equal(helpers.reindex(client, "films", "copy"), (300, 0))
    equal(all(ok for ok, _ in helpers.parallel_bulk(client, films("parallel"), thread_count=2)), True)


@check
def searches():
    answer = client.search(index="films", body={"size": 2, "query": {"multi_match": {"query": "7", "fields": ["title^2", "genre"]}}, "highlight": {"fields": {"title": {}}},
                                                "aggs": {"genres": {"terms": {"field": "genre"}}, "years": {"stats": {"field": "year"}}}})
    equal((answer["hits"]["hits"][0]["_id"], answer["hits"]["hits"][0]["highlight"]["title"]), ("7", ["The film number <em>7</em>"]))
    equal(answer["aggregations"]["genres"]["buckets"], [{"key": "noir", "doc_count": 1}])
    body = '{"index": "films"}\n{"query": {"term": {"genre": "noir"}}}\n{"index": "none"}\n{}\n'
    equal([one.get("status") for one in client.msearch(body=body)["responses"]], [200, 404])


@check
def documents_aliases_and_templates():
    client.update(index="films", id="1", body={"script": {"source": "ctx._source.year += 1"}}, refresh=True)
    equal(client.get(index="films", id="1")["_source"]["year"], 1952)
    client.delete(index="films", id="1", refresh=True)
    try:
        client.get(index="films", id="1")
        raise AssertionError("found")
    except NotFoundError:
        pass
    client.indices.put_index_template(name="more", body={"index_patterns": ["more-*"], "template": {"aliases": {"more": {}}}})
    equal(client.reindex(body={"source": {"index": "films"}, "dest": {"index": "more-1"}}, refresh=True)["created"], 299)
    equal(client.update_by_query(index="more", body={"query": {"term": {"genre.keyword": "noir"}}, "script": {"source": "ctx._source.genre = 'black'"}}, refresh=True)["updated"], 99)
    equal((client.cat.count(index="more", format="json")[0]["count"], client.cluster.health()["number_of_data_nodes"]), ("299", 1))


@check
async def asynchronous_client():
    async with AsyncOpenSearch(sys.argv[1]) as other:
        equal(await async_bulk(other, films("later", 50), refresh=True), (50, []))
        equal((await other.count(index="later"))["count"], 50)


class Film(Document):
    title = Text(analyzer="snowball", fields={"raw": Keyword()})
    genre = Keyword()

    class Index:
        name = "shelf"


@check
def dsl():
    connections.add_connection("default", client)
    Film.init()
    Film(meta={"id": 1}, title="Running away", genre="drama").save(refresh=True)
    found = Film.search().query(Q("match", title="run") & ~Q("term", genre="noir")).highlight("title").execute()
    equal((found[0].title, list(found[0].meta.highlight.title)), ("Running away", ["<em>Running</em> away"]))
    search = Search(using=client, index="films")[:0]
    search.aggs.bucket("genres", A("terms", field="genre")).metric("last", "max", field="year")
    equal([bucket.key for bucket in search.execute().aggregations.genres.buckets], ["comedy", "drama", "noir"])
