"""langchain-elasticsearch without vectors: the retriever, the store with BM25, the history of a chat and the cache of answers."""
import sys

from checks import check, equal
from elasticsearch import Elasticsearch
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import Generation
from langchain_elasticsearch import BM25Strategy, ElasticsearchCache, ElasticsearchChatMessageHistory, ElasticsearchRetriever, ElasticsearchStore

client = Elasticsearch(sys.argv[1])
TEXTS = ["foo", "foo bar", "foo bar baz", "the quick brown fox", "the lazy dog"]


@check
def store_by_bm25():
    store = ElasticsearchStore(index_name="store", client=client, strategy=BM25Strategy())
    ids = store.add_texts(TEXTS, metadatas=[{"page": n} for n in range(5)])
    equal(len(ids), 5)
    equal([(found.page_content, found.metadata) for found in store.similarity_search("quick fox", k=1)], [(TEXTS[3], {"page": 3})])
    equal([found.page_content for found in store.similarity_search("foo", k=10, filter=[{"range": {"metadata.page": {"gte": 2}}}])], ["foo bar baz"])
    document, score = store.similarity_search_with_score("dog", k=1)[0]
    equal((document.page_content, score > 0), ("the lazy dog", True))
    equal(store.delete([ids[0]]), True)
    equal(len(store.similarity_search("foo", k=10)), 2)
    equal(len(store.as_retriever(search_kwargs={"k": 2}).invoke("bar")), 2)


@check
def retriever():
    found = ElasticsearchRetriever(index_name="store", content_field="text", client=client, body_func=lambda text: {"query": {"match": {"text": text}}}).invoke("lazy")
    equal(found[0].page_content, "the lazy dog")


@check
def history_of_a_chat():
    history = ElasticsearchChatMessageHistory(index="chat", session_id="one", client=client)
    history.add_messages([HumanMessage("Hello"), AIMessage("Hi there")])
    equal([message.content for message in history.messages], ["Hello", "Hi there"])
    history.clear()
    equal(history.messages, [])


@check
def cache_of_answers():
    cache = ElasticsearchCache(index_name="cache", client=client)
    equal(cache.lookup("question", "model"), None)
    cache.update("question", "model", [Generation(text="answer")])
    equal(cache.lookup("question", "model")[0].text, "answer")
