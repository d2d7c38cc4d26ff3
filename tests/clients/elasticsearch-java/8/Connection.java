import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.json.jackson.JacksonJsonpMapper;
import co.elastic.clients.transport.rest_client.RestClientTransport;
import org.apache.http.HttpHost;
import org.elasticsearch.client.RestClient;

final class Connection {
    static ElasticsearchClient open(String url) {
        return new ElasticsearchClient(new RestClientTransport(RestClient.builder(HttpHost.create(url)).build(), new JacksonJsonpMapper()));
    }

    private Connection() {}
}
