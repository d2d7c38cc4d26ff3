import java.time.LocalDate;
import java.util.List;
import java.util.stream.IntStream;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.annotation.Id;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;
import org.springframework.data.elasticsearch.annotations.DateFormat;
import org.springframework.data.elasticsearch.annotations.Document;
import org.springframework.data.elasticsearch.annotations.Field;
import org.springframework.data.elasticsearch.annotations.FieldType;
import org.springframework.data.elasticsearch.annotations.Highlight;
import org.springframework.data.elasticsearch.annotations.HighlightField;
import org.springframework.data.elasticsearch.annotations.Query;
import org.springframework.data.elasticsearch.client.ClientConfiguration;
import org.springframework.data.elasticsearch.client.elc.ElasticsearchAggregations;
import org.springframework.data.elasticsearch.client.elc.ElasticsearchConfiguration;
import org.springframework.data.elasticsearch.client.elc.NativeQuery;
import org.springframework.data.elasticsearch.core.ElasticsearchOperations;
import org.springframework.data.elasticsearch.core.SearchHits;
import org.springframework.data.elasticsearch.core.query.Criteria;
import org.springframework.data.elasticsearch.core.query.CriteriaQuery;
import org.springframework.data.elasticsearch.repository.ElasticsearchRepository;
import org.springframework.data.elasticsearch.repository.config.EnableElasticsearchRepositories;

/** A tour of Spring Data Elasticsearch: repositories with derived and written queries, operations, aggregations. */
public final class Tour {
    @Document(indexName = "books")
    public static class Book {
        @Id public String id;
        @Field(type = FieldType.Text) public String title;
        @Field(type = FieldType.Keyword) public String author;
        @Field(type = FieldType.Integer) public int pages;
        @Field(type = FieldType.Date, format = DateFormat.date) public LocalDate published;

        static Book of(int n) {
            var book = new Book();
            book.id = "" + n;
            book.title = "Spring in action " + n;
            book.author = n % 2 == 0 ? "Ann" : "Bob";
            book.pages = n * 10;
            book.published = LocalDate.of(2026, 1, n % 28 + 1);
            return book;
        }
    }

    public interface Books extends ElasticsearchRepository<Book, String> {
        List<Book> findByAuthorAndPagesGreaterThan(String author, int pages);
        List<Book> findByPublishedBetween(LocalDate from, LocalDate to);
        List<Book> findTop3ByOrderByPagesDesc();
        List<Book> findByTitleContaining(String part);
        long countByAuthor(String author);
        long deleteByAuthor(String author);
        @Query("{\"match\": {\"title\": {\"query\": \"?0\"}}}")
        @Highlight(fields = @HighlightField(name = "title"))
        SearchHits<Book> titled(String words);
    }

    @Configuration
    @EnableElasticsearchRepositories(considerNestedRepositories = true)
    public static class Config extends ElasticsearchConfiguration {
        static String host;

        @Override
        public ClientConfiguration clientConfiguration() {
            return ClientConfiguration.builder().connectedTo(host).build();
        }
    }

    public static void main(String[] arguments) {
        Config.host = arguments[0].replace("http://", "");
        var context = new AnnotationConfigApplicationContext(Config.class);
        var books = context.getBean(Books.class);
        var operations = context.getBean(ElasticsearchOperations.class);
        Checks.check("a repository saves, finds and counts", () -> {
            books.saveAll(IntStream.range(0, 50).mapToObj(Book::of).toList());
            Checks.equal(books.count(), 50L);
            Checks.equal(books.findById("7").get().published, LocalDate.of(2026, 1, 8));
            Checks.equal(((List<Book>) books.findAllById(List.of("1", "2", "none"))).size(), 2);
            Checks.equal(books.findAll(PageRequest.of(1, 10, Sort.by("pages"))).getContent().get(0).pages, 100);
            Checks.equal(books.existsById("none"), false);
        });
        Checks.check("derived and written queries", () -> {
            Checks.equal(books.findByAuthorAndPagesGreaterThan("Ann", 400).size(), 4);
            Checks.equal(books.findByPublishedBetween(LocalDate.of(2026, 1, 1), LocalDate.of(2026, 1, 2)).size(), 4);
            Checks.equal(books.findTop3ByOrderByPagesDesc().get(0).pages, 490);
            Checks.equal(books.findByTitleContaining("ctio").size(), 50);
            Checks.equal(books.countByAuthor("Bob"), 25L);
            Checks.equal(books.titled("13").getSearchHit(0).getHighlightField("title"), List.of("Spring in action <em>13</em>"));
        });
        Checks.check("operations", () -> {
            Checks.equal(operations.search(new CriteriaQuery(new Criteria("author").is("Ann").and("pages").lessThan(40)), Book.class).getTotalHits(), 2L);
            var query = NativeQuery.builder().withQuery(q -> q.matchAll(m -> m)).withAggregation("authors", co.elastic.clients.elasticsearch._types.aggregations.Aggregation.of(a -> a.terms(t -> t.field("author")))).withMaxResults(0).build();
            var found = (ElasticsearchAggregations) operations.search(query, Book.class).getAggregations();
            Checks.equal(found.get("authors").aggregation().getAggregate().sterms().buckets().array().size(), 2);
            try (var stream = operations.searchForStream(NativeQuery.builder().withQuery(q -> q.matchAll(m -> m)).withPageable(PageRequest.of(0, 20)).build(), Book.class)) {
                Checks.equal(stream.stream().count(), 50L);
            }
            Checks.equal(operations.indexOps(Book.class).getMapping().containsKey("properties"), true);
        });
        Checks.check("deletion", () -> {
            Checks.equal(books.deleteByAuthor("Bob"), 25L);
            books.deleteById("0");
            Checks.equal(books.count(), 24L);
            books.deleteAll();
            Checks.equal(books.count(), 0L);
        });
        System.exit(0);
    }
}
