import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.hibernate.search.engine.search.aggregation.AggregationKey;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.DocumentId;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.FullTextField;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.GenericField;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.IndexedEmbedded;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.Indexed;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.KeywordField;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.SearchEntity;
import org.hibernate.search.engine.backend.types.Aggregable;
import org.hibernate.search.engine.backend.types.Highlightable;
import org.hibernate.search.engine.backend.types.ObjectStructure;
import org.hibernate.search.engine.backend.types.Projectable;
import org.hibernate.search.engine.backend.types.Sortable;
import org.hibernate.search.mapper.pojo.mapping.definition.annotation.AnnotatedTypeSource;
import org.hibernate.search.mapper.pojo.standalone.mapping.SearchMapping;
import org.hibernate.search.backend.elasticsearch.analysis.ElasticsearchAnalysisConfigurer;
import org.hibernate.search.engine.environment.bean.BeanReference;

/** A tour of Hibernate Search with its backend for Elasticsearch: schema, own analyzers, searches, projections, facets. */
public final class Tour {
    public static class Review {
        @FullTextField public String text;
        @GenericField public int stars;

        Review(String text, int stars) {
            this.text = text;
            this.stars = stars;
        }
    }

    @SearchEntity
    @Indexed
    public static class Book {
        @DocumentId public int id;
        @FullTextField(analyzer = "own", highlightable = Highlightable.UNIFIED, projectable = Projectable.YES)
        @FullTextField(name = "start", analyzer = "start", searchAnalyzer = "own")
        public String title;
        @KeywordField(aggregable = Aggregable.YES, sortable = Sortable.YES, projectable = Projectable.YES) public String genre;
        @GenericField(sortable = Sortable.YES, aggregable = Aggregable.YES) public LocalDate published;
        @IndexedEmbedded(structure = ObjectStructure.NESTED) public List<Review> reviews;

        Book(int id, String title, String genre, LocalDate published, Review... reviews) {
            this.id = id;
            this.title = title;
            this.genre = genre;
            this.published = published;
            this.reviews = List.of(reviews);
        }
    }

    public static void main(String[] arguments) {
        ElasticsearchAnalysisConfigurer analyzers = context -> {
            context.analyzer("own").custom().tokenizer("standard").tokenFilters("lowercase", "asciifolding", "stems");
            context.tokenFilter("stems").type("snowball").param("language", "English");
            context.analyzer("start").custom().tokenizer("standard").tokenFilters("lowercase", "asciifolding", "parts");
            context.tokenFilter("parts").type("edge_ngram").param("min_gram", 1).param("max_gram", 10);
        };
        var source = AnnotatedTypeSource.fromClasses(Book.class, Review.class);
        try (var mapping = SearchMapping.builder(source).property("hibernate.search.backend.uris", arguments[0])
                .property("hibernate.search.backend.analysis.configurer", BeanReference.ofInstance(analyzers))
                .property("hibernate.search.indexing.plan.synchronization.strategy", "sync")
                .property("hibernate.search.schema_management.strategy", "drop-and-create").build()) {
            Checks.check("indexing", () -> {
                try (var session = mapping.createSession()) {
                    session.indexingPlan().add(new Book(1, "Running with robots", "fiction", LocalDate.of(1950, 1, 1), new Review("great fun", 5), new Review("poor", 1)));
                    session.indexingPlan().add(new Book(2, "The caf\u00e9 of robots", "fiction", LocalDate.of(1980, 5, 5), new Review("poor fun", 5)));
                    session.indexingPlan().add(new Book(3, "A history of bread", "history", LocalDate.of(2001, 9, 9)));
                }
                try (var session = mapping.createSession()) {
                    session.indexingPlan().addOrUpdate(new Book(3, "A history of bread and cafes", "history", LocalDate.of(2001, 9, 9)));
                }
            });
            try (var session = mapping.createSession()) {
                Checks.check("searches and projections", () -> {
                    var scope = session.scope(Book.class);
                    Checks.equal(session.search(scope).select(f -> f.id(Integer.class)).where(f -> f.match().field("title").matching("run robot")).fetchHits(10), List.of(1, 2));
                    Checks.equal(session.search(scope).select(f -> f.field("title", String.class)).where(f -> f.match().field("start").matching("brea")).fetchHits(10),
                        List.of("A history of bread and cafes"));
                    Checks.equal(session.search(scope).select(f -> f.highlight("title")).where(f -> f.match().field("title").matching("cafe")).highlighter(f -> f.unified().tag("<b>", "</b>"))
                        .fetchHits(1).get(0).size(), 1);
                    Checks.equal(session.search(scope).select(f -> f.id(Integer.class)).where(f -> f.nested("reviews").add(f.match().field("reviews.text").matching("poor"))
                        .add(f.match().field("reviews.stars").matching(5))).fetchHits(10), List.of(2));
                    Checks.equal(session.search(scope).select(f -> f.id(Integer.class)).where(f -> f.range().field("published").atLeast(LocalDate.of(1970, 1, 1)))
                        .sort(f -> f.field("published").desc()).fetchHits(10), List.of(3, 2));
                    Checks.equal(session.search(scope).select(f -> f.id(Integer.class)).where(f -> f.simpleQueryString().field("title").matching("robots + -caf\u00e9")).fetchHits(10), List.of(1));
                    Checks.equal(session.search(scope).where(f -> f.matchAll()).fetchTotalHitCount(), 3L);
                });
                Checks.check("facets", () -> {
                    AggregationKey<Map<String, Long>> genres = AggregationKey.of("genres");
                    var found = session.search(session.scope(Book.class)).where(f -> f.matchAll()).aggregation(genres, f -> f.terms().field("genre", String.class)).fetch(0);
                    Checks.equal(found.aggregation(genres), Map.of("fiction", 2L, "history", 1L));
                });
            }
            Checks.check("schema and deletion", () -> {
                mapping.scope(Object.class).schemaManager().validate();
                mapping.scope(Object.class).workspace().purge();
                mapping.scope(Object.class).workspace().refresh();
                try (var session = mapping.createSession()) {
                    Checks.equal(session.search(session.scope(Book.class)).where(f -> f.matchAll()).fetchTotalHitCount(), 0L);
                }
            });
        }
        System.exit(0);
    }
}
