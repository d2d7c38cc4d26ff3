"""django-elasticsearch-dsl: the index of a model is made, filled, kept up to date by signals, and searched."""
import sys

import django
from checks import check, equal
from django.conf import settings

settings.configure(INSTALLED_APPS=["django.contrib.contenttypes", "django_elasticsearch_dsl"], ELASTICSEARCH_DSL={"default": {"hosts": sys.argv[1]}},
                   DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, USE_TZ=True, ELASTICSEARCH_DSL_AUTO_REFRESH=True)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, models  # noqa: E402
from django_elasticsearch_dsl import Document, fields  # noqa: E402
from django_elasticsearch_dsl.registries import registry  # noqa: E402


class Car(models.Model):
    name = models.CharField(max_length=100)
    color = models.CharField(max_length=20)
    doors = models.IntegerField(default=4)
    launched = models.DateField()

    class Meta:
        app_label = "garage"


@registry.register_document
class CarDocument(Document):
    name = fields.TextField(analyzer="snowball", fields={"raw": fields.KeywordField(), "suggest": fields.CompletionField()})
    color = fields.KeywordField()

    class Index:
        name = "cars"
        settings = {"number_of_shards": 1, "number_of_replicas": 0}

    class Django:
        model = Car
        fields = ["doors", "launched"]


with connection.schema_editor() as editor:
    editor.create_model(Car)


@check
def rebuild():
    rows = [Car(name=f"Running car {n}", color=["red", "blue"][n % 2], launched=f"2020-01-{n + 1:02}") for n in range(20)]
    Car.objects.bulk_create(rows)
    call_command("search_index", "--rebuild", "-f", verbosity=0)
    equal(CarDocument.search().count(), 20)


@check
def signals():
    car = Car.objects.create(name="Brand new", color="green", launched="2024-05-05")
    equal([hit.color for hit in CarDocument.search().query("match", name="brand")], ["green"])
    car.color = "black"
    car.save()
    equal([one.color for one in CarDocument.search().filter("term", color="black").to_queryset()], ["black"])
    car.delete()
    equal(CarDocument.search().filter("term", color="black").count(), 0)


@check
def searches():
    search = CarDocument.search().query("match", name="run").sort("-launched")[:2]
    search.aggs.bucket("colors", "terms", field="color")
    answer = search.execute()
    equal([hit.launched.day for hit in answer], [20, 19])
    equal([(bucket.key, bucket.doc_count) for bucket in answer.aggregations.colors.buckets], [("blue", 10), ("red", 10)])
    suggested = CarDocument.search().suggest("cars", "running", completion={"field": "name.suggest", "size": 3}).execute()
    equal(len(suggested.suggest.cars[0].options), 3)
