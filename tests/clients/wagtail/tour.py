"""Wagtail's search backend for Elasticsearch: an index of a model, searches, filters, autocompletion and facets."""
import sys

import django
from checks import check, equal
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["wagtail.search", "django.contrib.contenttypes", "django.contrib.auth"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    WAGTAILSEARCH_BACKENDS={"default": {"BACKEND": "wagtail.search.backends.elasticsearch8", "URLS": [sys.argv[1]], "INDEX": "wagtail", "ATOMIC_REBUILD": True}})
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, models  # noqa: E402
from wagtail.search import index  # noqa: E402
from wagtail.search.backends import get_search_backend  # noqa: E402
from wagtail.search.query import Boost, Fuzzy, MATCH_ALL, Phrase, PlainText  # noqa: E402


class Book(index.Indexed, models.Model):
    title = models.CharField(max_length=100)
    summary = models.TextField()
    pages = models.IntegerField()
    search_fields = [index.SearchField("title", boost=2), index.AutocompleteField("title"), index.SearchField("summary"), index.FilterField("title"), index.FilterField("pages")]

    class Meta:
        app_label = "wagtailsearch"


with connection.schema_editor() as editor:
    editor.create_model(Book)
Book.objects.bulk_create(Book(title=title, summary=summary, pages=pages) for title, summary, pages in [
    ("The Hobbit", "There and back again", 300), ("Programming Rust", "Fast and safe systems development", 600),
    ("JavaScript: The Good Parts", "A short book on programming", 170), ("The Rust Programming Language", "The official one", 550)])
backend = get_search_backend()


def titles(found):
    return [book.title for book in found]


@check
def update_index():
    call_command("update_index", verbosity=0)
    equal(backend.search(MATCH_ALL, Book).count(), 4)


@check
def searches():
    equal(titles(backend.search("hobbit", Book)), ["The Hobbit"])
    equal(sorted(titles(backend.search("rust programming", Book, operator="and"))), ["Programming Rust", "The Rust Programming Language"])
    equal(titles(backend.search(Phrase("rust programming"), Book)), ["The Rust Programming Language"])
    equal(titles(backend.search(Fuzzy("hobit"), Book)), ["The Hobbit"])
    equal(len(backend.search(PlainText("rust") | Boost(PlainText("hobbit"), 3), Book)), 3)
    equal(len(backend.search(PlainText("programming") & ~PlainText("rust"), Book)), 1)


@check
def filters_orders_and_facets():
    equal(titles(backend.search(MATCH_ALL, Book.objects.filter(pages__gt=200).order_by("pages"), order_by_relevance=False)), ["The Hobbit", "The Rust Programming Language", "Programming Rust"])
    equal(titles(backend.search("programming", Book.objects.filter(title__startswith="JavaScript"))), ["JavaScript: The Good Parts"])
    equal(dict(backend.search("rust", Book).facet("pages")), {550: 1, 600: 1})
    equal(len(backend.search(MATCH_ALL, Book)[1:3]), 2)


@check
def autocompletion():
    equal(titles(backend.autocomplete("hob", Book)), ["The Hobbit"])
    equal(sorted(titles(backend.autocomplete("prog rus", Book))), ["Programming Rust", "The Rust Programming Language"])
