// A tour of opensearch-go: the typed client and the bulk indexer.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"
)

func main() {
	ctx := context.Background()
	client := must(opensearchapi.NewClient(opensearchapi.Config{Client: opensearch.Config{Addresses: []string{os.Args[1]}}}))
	body := func(text string) *strings.Reader { return strings.NewReader(text) }

	check("bulk indexer", func() {
		equal(must(client.Info(ctx, nil)).ClusterName != "", true)
		must(client.Indices.Create(ctx, opensearchapi.IndicesCreateReq{Index: "films", Body: body(`{"mappings":{"properties":{"title":{"type":"text"},"genre":{"type":"keyword"}}}}`)}))
		indexer := must(opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{Client: client, Index: "films", Refresh: "true", FlushBytes: 2000}))
		for n := range 300 {
			text := fmt.Sprintf(`{"title":"Film %d","genre":"%s","year":%d}`, n, []string{"noir", "drama"}[n%2], 1950+n%70)
			if err := indexer.Add(ctx, opensearchutil.BulkIndexerItem{Action: "index", DocumentID: fmt.Sprint(n), Body: body(text)}); err != nil {
				panic(err)
			}
		}
		if err := indexer.Close(ctx); err != nil {
			panic(err)
		}
		equal(indexer.Stats().NumFlushed, uint64(300))
	})

	check("search", func() {
		answer := must(client.Search(ctx, &opensearchapi.SearchReq{Indices: []string{"films"}, Body: body(`{"query":{"match":{"title":"7"}},"highlight":{"fields":{"title":{}}},"aggs":{"g":{"terms":{"field":"genre"}}}}`)}))
		equal([]any{answer.Hits.Total.Value, answer.Hits.Hits[0].ID}, []any{1, "7"})
		equal(strings.Contains(string(answer.Aggregations), `"drama"`), true)
	})

	check("documents and answers of the cluster", func() {
		must(client.Index(ctx, opensearchapi.IndexReq{Index: "films", DocumentID: "x", Body: body(`{"title":"Extra"}`), Params: opensearchapi.IndexParams{Refresh: "true"}}))
		equal(string(must(client.Document.Get(ctx, opensearchapi.DocumentGetReq{Index: "films", DocumentID: "x"})).Source), `{"title":"Extra"}`)
		must(client.Document.Delete(ctx, opensearchapi.DocumentDeleteReq{Index: "films", DocumentID: "x", Params: opensearchapi.DocumentDeleteParams{Refresh: "true"}}))
		equal(must(client.Indices.Count(ctx, &opensearchapi.IndicesCountReq{Indices: []string{"films"}})).Count, 300)
		equal(must(client.Cluster.Health(ctx, nil)).NumberOfNodes, 1)
		equal(len(must(client.Cat.Indices(ctx, nil)).Indices), 1)
		must(client.Nodes.Info(ctx, nil))
		must(client.Cluster.Stats(ctx, nil))
		must(client.Indices.Stats(ctx, nil))
		must(client.Indices.Mapping.Get(ctx, &opensearchapi.MappingGetReq{Indices: []string{"films"}}))
	})
}
