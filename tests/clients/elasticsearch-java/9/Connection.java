import co.elastic.clients.elasticsearch.ElasticsearchClient;

final class Connection {
    static ElasticsearchClient open(String url) {
        return ElasticsearchClient.of(b -> b.host(url));
    }

    private Connection() {}
}
