import co.elastic.clients.elasticsearch._helpers.bulk.BulkIngester;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.Refresh;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch._types.aggregations.CalendarInterval;
import co.elastic.clients.json.JsonData;
import java.util.List;
import java.util.Map;

/** A tour of elasticsearch-java: the bulk ingester, typed searches, and the decoding of answers. */
public final class Tour {
    public record Product(String name, String kind, double price, String day) {}

    public static void main(String[] arguments) throws Exception {
        var client = Spelling.open(arguments[0]);
        Checks.check("bulk ingester", () -> {
            Checks.equal(client.info().tagline(), "You Know, for Search");
            client.indices().create(c -> c.index("products").settings(s -> s.numberOfShards("2")).mappings(m -> m
                .properties("name", p -> p.text(t -> t.fields("raw", f -> f.keyword(k -> k)))).properties("kind", p -> p.keyword(k -> k))
                .properties("price", p -> p.double_(d -> d)).properties("day", p -> p.date(d -> d))));
            try (var ingester = BulkIngester.<Void>of(b -> b.client(client).maxOperations(100).globalSettings(s -> s.refresh(Refresh.True)))) {
                for (int n = 0; n < 500; n++) {
                    int number = n;
                    var product = new Product("City bike " + n, n % 2 == 0 ? "bike" : "cart", n / 2.0, String.format("2026-04-%02d", n % 28 + 1));
                    ingester.add(op -> op.index(i -> i.index("products").id("" + number).document(product)));
                }
            }
            Checks.equal(client.count(c -> c.index("products")).count(), 500L);
        });
        Checks.check("search", () -> {
            var answer = client.search(s -> s.index("products").size(2)
                .query(q -> q.bool(b -> b.must(m -> m.match(t -> t.field("name").query("bike"))).filter(f -> f.term(t -> t.field("kind").value("bike")))))
                .sort(o -> o.field(f -> f.field("price").order(SortOrder.Desc))), Product.class);
            Checks.equal(answer.hits().total().value(), 250L);
            Checks.equal(answer.hits().hits().get(0).source().name(), "City bike 498");
        });
        Checks.check("aggregations", () -> {
            var found = client.search(s -> s.index("products").size(0)
                .aggregations("kinds", a -> a.terms(t -> t.field("kind")).aggregations("spent", b -> b.sum(x -> x.field("price"))))
                .aggregations("weeks", a -> a.dateHistogram(d -> d.field("day").calendarInterval(CalendarInterval.Week)))
                .aggregations("prices", a -> a.histogram(h -> h.field("price").interval(50.0)))
                .aggregations("parts", a -> a.percentiles(p -> p.field("price").percents(50.0)))
                .aggregations("stats", a -> a.extendedStats(x -> x.field("price")))
                .aggregations("many", a -> a.cardinality(c -> c.field("name.raw"))), Void.class).aggregations();
            var kinds = found.get("kinds").sterms().buckets().array();
            Checks.equal(List.of(kinds.get(0).key().stringValue(), kinds.get(0).docCount(), kinds.get(0).aggregations().get("spent").sum().value()), List.of("bike", 250L, 31125.0));
            Checks.equal(found.get("prices").histogram().buckets().array().size(), 5);
            Checks.equal(found.get("weeks").dateHistogram().buckets().array().stream().mapToLong(b -> b.docCount()).sum(), 500L);
            Checks.equal(found.get("stats").extendedStats().count(), 500L);
            Checks.equal(found.get("many").cardinality().value() > 480, true);
        });
        Checks.check("documents", () -> {
            Checks.equal(client.index(i -> i.index("products").id("x").document(new Product("Extra", "bike", 1, "2026-01-01")).refresh(Refresh.True)).result().jsonValue(), "created");
            client.update(u -> u.index("products").id("x").doc(Map.of("price", 2)).refresh(Refresh.True), Product.class);
            Checks.equal(client.get(g -> g.index("products").id("x"), Product.class).source().price(), 2.0);
            Checks.equal(client.mget(m -> m.index("products").ids("x", "none"), Product.class).docs().get(1).result().found(), false);
            Checks.equal(client.delete(d -> d.index("products").id("x").refresh(Refresh.True)).result().jsonValue(), "deleted");
            Checks.equal(client.deleteByQuery(d -> d.index("products").refresh(true).query(q -> q.range(r -> r.number(n -> n.field("price").gte(200.0))))).deleted(), 100L);
            Checks.equal(client.updateByQuery(u -> u.index("products").script(Spelling.script("ctx._source.price += 1"))).updated(), 400L);
            try {
                client.search(s -> s.index("nothing"), Void.class);
                throw new AssertionError("found");
            } catch (ElasticsearchException error) {
                Checks.equal(error.error().type(), "index_not_found_exception");
            }
        });
        Checks.check("indices and cluster", () -> {
            client.indices().putIndexTemplate(t -> t.name("t").indexPatterns("t-*").template(x -> x.aliases("all-t", a -> a).mappings(m -> m.properties("k", p -> p.keyword(k -> k)))));
            client.index(i -> i.index("t-1").document(Map.of("k", "v")).refresh(Refresh.True));
            Checks.equal(client.indices().existsAlias(a -> a.name("all-t")).value(), true);
            Checks.equal(Spelling.indices(client, "t-1").get("t-1").mappings().properties().get("k").isKeyword(), true);
            Checks.equal(client.cluster().health().numberOfNodes(), 1);
            Checks.equal(Spelling.rows(client), 2);
            Checks.equal(client.nodes().stats().nodes().size(), 1);
            Checks.equal(client.nodes().info().nodes().size(), 1);
            Checks.equal(client.cluster().stats().nodes().count().total(), 1);
            Checks.equal(client.indices().stats().indices().size(), 2);
            Checks.equal(client.indices().analyze(a -> a.analyzer("english").text("running dogs")).tokens().get(0).token(), "run");
            client.ingest().putPipeline(p -> p.id("up").processors(x -> x.uppercase(u -> u.field("k"))));
            Checks.equal(client.ingest().simulate(s -> s.id("up").docs(d -> d.source(JsonData.of(Map.of("k", "v"))))).docs().size(), 1);
            var pit = client.openPointInTime(o -> o.index("products").keepAlive(t -> t.time("1m"))).id();
            Checks.equal(client.search(s -> s.pit(p -> p.id(pit)), Product.class).hits().total().value(), 400L);
            Checks.equal(client.closePointInTime(c -> c.id(pit)).succeeded(), true);
        });
        System.exit(0);
    }
}
