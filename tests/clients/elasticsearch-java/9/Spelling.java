import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.Script;
import co.elastic.clients.elasticsearch.indices.IndexState;
import java.util.Map;

/** What the major versions of the client write differently. */
final class Spelling {
    static ElasticsearchClient open(String url) {
        return ElasticsearchClient.of(b -> b.host(url));
    }

    static Script script(String source) {
        return Script.of(s -> s.source(t -> t.scriptString(source)));
    }

    static Map<String, IndexState> indices(ElasticsearchClient client, String name) throws Exception {
        return client.indices().get(g -> g.index(name)).indices();
    }

    static int rows(ElasticsearchClient client) throws Exception {
        return client.cat().indices().indices().size();
    }

    private Spelling() {}
}
