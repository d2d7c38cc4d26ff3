import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.Script;
import co.elastic.clients.elasticsearch.indices.IndexState;
import co.elastic.clients.json.jackson.JacksonJsonpMapper;
import co.elastic.clients.transport.rest_client.RestClientTransport;
import org.apache.http.HttpHost;
import org.elasticsearch.client.RestClient;
import java.util.Map;

/** What the major versions of the client write differently. */
final class Spelling {
    static ElasticsearchClient open(String url) {
        return new ElasticsearchClient(new RestClientTransport(RestClient.builder(HttpHost.create(url)).build(), new JacksonJsonpMapper()));
    }

    static Script script(String source) {
        return Script.of(s -> s.source(source));
    }

    static Map<String, IndexState> indices(ElasticsearchClient client, String name) throws Exception {
        return client.indices().get(g -> g.index(name)).result();
    }

    static int rows(ElasticsearchClient client) throws Exception {
        return client.cat().indices().valueBody().size();
    }

    private Spelling() {}
}
