"""eland: a pandas data frame goes into an index; frames over the index count, filter, group and aggregate as pandas does."""
import sys
import warnings

import eland
import pandas
from checks import check, equal
from elasticsearch import Elasticsearch

warnings.filterwarnings("ignore")
client = Elasticsearch(sys.argv[1])
local = pandas.DataFrame({"price": [float(n % 50) for n in range(200)], "seats": [n % 7 for n in range(200)],
                          "carrier": [["red", "green", "blue"][n % 3] for n in range(200)], "late": [n % 2 == 0 for n in range(200)]})


@check
def from_pandas_and_back():
    made = eland.pandas_to_eland(local, es_client=client, es_dest_index="flights", es_if_exists="replace", es_refresh=True, use_pandas_index_for_es_ids=True)
    equal(made.shape, (200, 4))
    back = eland.eland_to_pandas(made)
    back.index = back.index.astype(int)
    equal(back.sort_index()[list(local.columns)].equals(local), True)


frame = eland.DataFrame(client, es_index_pattern="flights")


@check
def selection():
    equal(len(frame[(frame.price > 40) & (frame.carrier == "red")]), len(local[(local.price > 40) & (local.carrier == "red")]))
    equal(list(frame.head(3).to_pandas().price), [0.0, 1.0, 2.0])
    equal(len(frame[frame.carrier.isin(["red", "blue"])].to_pandas()), len(local[local.carrier.isin(["red", "blue"])]))
    equal(str(frame.dtypes["price"]), "float64")


@check
def aggregations():
    for name in ("mean", "sum", "min", "max", "var", "std", "nunique"):
        found, expected = getattr(frame.price, name)(), getattr(local.price, name)()
        assert abs(found - expected) < 0.1 * max(1, abs(expected)), (name, found, expected)
    equal(frame.carrier.value_counts().to_dict(), local.carrier.value_counts().to_dict())
    equal(frame.groupby("carrier").max(numeric_only=True)["price"].to_dict(), local.groupby("carrier").price.max().to_dict())
    equal(round(float(frame.agg(["mean"])["price"].iloc[0]), 6), round(local.price.mean(), 6))
    equal(frame.describe().loc["count", "price"], 200.0)


@check
def queries():
    equal(len(frame.es_query({"match": {"carrier": "red"}})), int((local.carrier == "red").sum()))
    equal(len(frame.es_query({"range": {"price": {"lt": 5}}})), int((local.price < 5).sum()))
    equal("flights" in frame.es_info(), True)
