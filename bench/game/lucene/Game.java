import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogByteSizeMergePolicy;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.FSDirectory;

/** Lucene as an engine of the benchmark game: {@code Game index FOLDER < corpus.ndjson}, {@code Game serve FOLDER}. */
public class Game {
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        if (arguments[0].equals("index")) {
            index(folder, lines);
        } else {
            serve(folder, lines);
        }
    }

    static void index(Path folder, BufferedReader lines) throws Exception {
        // Documents stay in the order of the corpus: equal scores are ranked alike by all engines.
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer(CharArraySet.EMPTY_SET))
                .setRAMBufferSizeMB(1024).setMergePolicy(new LogByteSizeMergePolicy());
        try (IndexWriter writer = new IndexWriter(FSDirectory.open(folder), config)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonObject parsed = Json.parse(line).asObject();
                Document document = new Document();
                document.add(new StoredField("id", parsed.get("id").asString()));
                document.add(new TextField("text", parsed.get("text").asString(), Field.Store.NO));
                document.add(new NumericDocValuesField("sort_field", parsed.getLong("sort_field", 0)));
                writer.addDocument(document);
            }
            writer.forceMerge(1, true);
        }
    }

    static void serve(Path folder, BufferedReader lines) throws Exception {
        try (DirectoryReader reader = DirectoryReader.open(FSDirectory.open(folder))) {
            IndexSearcher searcher = new IndexSearcher(reader);
            searcher.setQueryCache(null);
            QueryParser parser = new QueryParser("text", new StandardAnalyzer(CharArraySet.EMPTY_SET));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int tab = line.indexOf('\t');
                System.out.println(answer(searcher, parser, line.substring(0, tab), line.substring(tab + 1)));
            }
        }
    }

    static String answer(IndexSearcher searcher, QueryParser parser, String collector, String text) throws Exception {
        Query query = parser.parse(text);
        if (collector.equals("COUNT")) {
            return Integer.toString(searcher.count(query));
        }
        String[] parts = collector.split("_");
        int size = Integer.parseInt(parts[1]);
        if (parts.length == 2) {
            searcher.search(query, new TopScoreDocCollectorManager(size, null, size));
            return "1";
        }
        switch (parts[2]) {
            case "COUNT":
                return Long.toString(
                        searcher.search(query, new TopScoreDocCollectorManager(size, null, Integer.MAX_VALUE)).totalHits.value());
            case "SOME":
                searcher.search(query, new TopScoreDocCollectorManager(size, null, 10_000));
                return "1";
            case "FF":
                Sort sort = new Sort(new SortField("sort_field", SortField.Type.LONG, true));
                searcher.search(query, new TopFieldCollectorManager(sort, size, null, size));
                return "1";
            default:
                return "UNSUPPORTED";
        }
    }
}
