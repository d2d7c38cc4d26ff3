"""Haystack's document store for Elasticsearch, with retrieval by BM25 in a pipeline."""
import sys

from checks import check, equal
from haystack import Document, Pipeline
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack_integrations.components.retrievers.elasticsearch import ElasticsearchBM25Retriever
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

# Without a mapping of its own the store declares a field for vectors, which Limber refuses by name.
store = ElasticsearchDocumentStore(hosts=sys.argv[1], index="documents", custom_mapping={"properties": {"content": {"type": "text"}}, "dynamic_templates": [
    {"strings": {"path_match": "*", "match_mapping_type": "string", "mapping": {"type": "keyword"}}}]})
DOCUMENTS = [Document(id=str(n), content=text, meta={"number": n, "kind": ["odd", "even"][n % 2 == 0]})
             for n, text in enumerate(["Rust is a language", "Go is a language too", "Elephants are large", "A mouse is small"])]


@check
def documents():
    equal(store.write_documents(DOCUMENTS), 4)
    equal(store.count_documents(), 4)
    try:
        store.write_documents(DOCUMENTS[:1], policy=DuplicatePolicy.FAIL)
        raise AssertionError("a second document of one id")
    except DuplicateDocumentError:
        pass
    equal(store.write_documents([Document(id="0", content="Rust is a systems language", meta={"number": 0, "kind": "even"})], policy=DuplicatePolicy.OVERWRITE), 1)


@check
def filters():
    def found(*conditions, operator="AND"):
        return sorted(one.id for one in store.filter_documents({"operator": operator, "conditions": list(conditions)}))

    equal(found({"field": "meta.number", "operator": ">=", "value": 2}), ["2", "3"])
    equal(found({"field": "meta.kind", "operator": "==", "value": "even"}, {"field": "meta.number", "operator": "<", "value": 2}), ["0"])
    equal(found({"field": "meta.kind", "operator": "in", "value": ["odd"]}, {"field": "meta.number", "operator": "==", "value": 2}, operator="OR"), ["1", "2", "3"])
    equal(found({"field": "meta.kind", "operator": "!=", "value": "odd"}), ["0", "2"])


@check
def retrieval_in_a_pipeline():
    pipeline = Pipeline()
    pipeline.add_component("retriever", ElasticsearchBM25Retriever(document_store=store, top_k=2))
    equal([one.id for one in pipeline.run({"retriever": {"query": "systems language"}})["retriever"]["documents"]], ["0", "1"])
    equal([one.id for one in ElasticsearchBM25Retriever(document_store=store, fuzziness="AUTO").run("elefants")["documents"]], ["2"])


@check
def deletion():
    store.delete_documents(["0", "1"])
    equal(store.count_documents(), 2)
