import java.util.List;
import java.util.Map;
import org.apache.hc.core5.http.HttpHost;
import org.opensearch.client.opensearch.OpenSearchClient;
import org.opensearch.client.opensearch._types.FieldValue;
import org.opensearch.client.opensearch._types.OpenSearchException;
import org.opensearch.client.opensearch._types.Refresh;
import org.opensearch.client.opensearch._types.SortOrder;
import org.opensearch.client.opensearch.core.BulkRequest;
import org.opensearch.client.transport.httpclient5.ApacheHttpClient5TransportBuilder;

/** A tour of opensearch-java: bulk, typed searches, and the decoding of answers. */
public final class Tour {
    public record Film(String title, String genre, int year) {}

    public static void main(String[] arguments) throws Exception {
        var client = new OpenSearchClient(ApacheHttpClient5TransportBuilder.builder(HttpHost.create(arguments[0])).build());
        Checks.check("bulk", () -> {
            client.indices().create(c -> c.index("films").mappings(m -> m.properties("title", p -> p.text(t -> t)).properties("genre", p -> p.keyword(k -> k))));
            var bulk = new BulkRequest.Builder().index("films").refresh(Refresh.True);
            for (int n = 0; n < 300; n++) {
                var id = "" + n;
                var film = new Film("Film number " + n, n % 2 == 0 ? "noir" : "drama", 1950 + n % 70);
                bulk.operations(o -> o.index(i -> i.id(id).document(film)));
            }
            Checks.equal(client.bulk(bulk.build()).errors(), false);
        });
        Checks.check("search and aggregations", () -> {
            var answer = client.search(s -> s.index("films").size(1).query(q -> q.bool(b -> b.must(m -> m.match(t -> t.field("title").query(FieldValue.of("film"))))
                    .filter(f -> f.term(t -> t.field("genre").value(FieldValue.of("noir")))))).sort(o -> o.field(f -> f.field("year").order(SortOrder.Desc)))
                .aggregations("genres", a -> a.terms(t -> t.field("genre")).aggregations("last", b -> b.max(x -> x.field("year"))))
                .aggregations("years", a -> a.stats(x -> x.field("year"))), Film.class);
            Checks.equal(List.of(answer.hits().total().value(), answer.hits().hits().get(0).source().year()), List.of(150L, 2018));
            Checks.equal(answer.aggregations().get("genres").sterms().buckets().array().get(0).aggregations().get("last").max().value(), 2018.0);
            Checks.equal(answer.aggregations().get("years").stats().count(), 150L);
        });
        Checks.check("documents", () -> {
            client.index(i -> i.index("films").id("x").document(new Film("Extra", "noir", 2000)).refresh(Refresh.True));
            client.update(u -> u.index("films").id("x").doc(Map.of("year", 2001)).refresh(Refresh.True), Film.class);
            Checks.equal(client.get(g -> g.index("films").id("x"), Film.class).source().year(), 2001);
            Checks.equal(client.delete(d -> d.index("films").id("x").refresh(Refresh.True)).result().jsonValue(), "deleted");
            Checks.equal(client.deleteByQuery(d -> d.index("films").refresh(Refresh.True).query(q -> q.term(t -> t.field("genre").value(FieldValue.of("drama"))))).deleted(), 150L);
            try {
                client.search(s -> s.index("nothing"), Film.class);
                throw new AssertionError("found");
            } catch (OpenSearchException error) {
                Checks.equal(error.status(), 404);
            }
        });
        Checks.check("indices and cluster", () -> {
            client.indices().putAlias(a -> a.index("films").name("all"));
            Checks.equal(client.count(c -> c.index("all")).count(), 150L);
            Checks.equal(client.indices().get(g -> g.index("films")).result().size(), 1);
            Checks.equal(client.cluster().health().numberOfNodes(), 1);
            Checks.equal(client.cat().indices().valueBody().size(), 1);
            Checks.equal(client.nodes().stats().nodes().size(), 1);
            Checks.equal(client.indices().stats().indices().size(), 1);
        });
        System.exit(0);
    }
}
