// A tour of go-elasticsearch: plain and typed client, and the bulk indexer.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/elastic/go-elasticsearch/vMAJOR"
	"github.com/elastic/go-elasticsearch/vMAJOR/esutil"
	"github.com/elastic/go-elasticsearch/vMAJOR/typedapi/indices/create"
	"github.com/elastic/go-elasticsearch/vMAJOR/typedapi/types"
	"github.com/elastic/go-elasticsearch/vMAJOR/typedapi/types/enums/calendarinterval"
	"github.com/elastic/go-elasticsearch/vMAJOR/typedapi/types/enums/refresh"
	"github.com/elastic/go-elasticsearch/vMAJOR/typedapi/types/enums/sortorder"
)

type article struct {
	Title string `json:"title"`
	Tag   string `json:"tag"`
	Day   string `json:"day"`
	Likes int    `json:"likes"`
}

func main() {
	ctx := context.Background()
	configuration := elasticsearch.Config{Addresses: []string{os.Args[1]}}
	plain := must(elasticsearch.NewClient(configuration))
	typed := must(elasticsearch.NewTypedClient(configuration))

	check("bulk indexer", func() {
		equal(must(typed.Info().Do(ctx)).Tagline, "You Know, for Search")
		mappings := &types.TypeMapping{Properties: map[string]types.Property{"title": types.NewTextProperty(), "tag": types.NewKeywordProperty(), "day": types.NewDateProperty(), "likes": types.NewIntegerNumberProperty()}}
		equal(must(typed.Indices.Create("articles").Request(&create.Request{Mappings: mappings}).Do(ctx)).Acknowledged, true)
		indexer := must(esutil.NewBulkIndexer(esutil.BulkIndexerConfig{Client: plain, Index: "articles", NumWorkers: 2, FlushBytes: 5000, Refresh: "true"}))
		var succeeded, failed atomic.Int64
		for n := range 400 {
			body := must(json.Marshal(article{fmt.Sprintf("Article number %d", n), []string{"go", "rust"}[n%2], fmt.Sprintf("2026-03-%02d", n%28+1), n}))
			if n == 399 {
				body = []byte(`{"likes":"many"}`)
			}
			item := esutil.BulkIndexerItem{Action: "index", DocumentID: fmt.Sprint(n), Body: strings.NewReader(string(body)),
				OnSuccess: func(context.Context, esutil.BulkIndexerItem, esutil.BulkIndexerResponseItem) { succeeded.Add(1) },
				OnFailure: func(context.Context, esutil.BulkIndexerItem, esutil.BulkIndexerResponseItem, error) { failed.Add(1) }}
			if err := indexer.Add(ctx, item); err != nil {
				panic(err)
			}
		}
		if err := indexer.Close(ctx); err != nil {
			panic(err)
		}
		equal([]any{succeeded.Load(), failed.Load(), indexer.Stats().NumFlushed}, []any{int64(399), int64(1), uint64(399)})
	})

	check("typed search with aggregations", func() {
		tag, likes, day := "tag", "likes", "day"
		answer := must(typed.Search().Index("articles").Size(3).
			Query(&types.Query{Bool: &types.BoolQuery{Must: []types.Query{{Match: map[string]types.MatchQuery{"title": {Query: "article"}}}}, Filter: []types.Query{{Term: map[string]types.TermQuery{"tag": {Value: "rust"}}}}}}).
			Sort(&types.SortOptions{SortOptions: map[string]types.FieldSort{"likes": {Order: &sortorder.Desc}}}).
			Aggregations(map[string]types.Aggregations{
				"tags":  {Terms: &types.TermsAggregation{Field: &tag}, Aggregations: map[string]types.Aggregations{"most": {Max: &types.MaxAggregation{Field: &likes}}}},
				"weeks": {DateHistogram: &types.DateHistogramAggregation{Field: &day, CalendarInterval: &calendarinterval.Week}},
				"parts": {Percentiles: &types.PercentilesAggregation{Field: &likes}},
				"whole": {ExtendedStats: &types.ExtendedStatsAggregation{Field: &likes}},
			}).Do(ctx))
		equal(answer.Hits.Total.Value, int64(199))
		equal(*answer.Hits.Hits[0].Id_, "397")
		tags := answer.Aggregations["tags"].(*types.StringTermsAggregate).Buckets.([]types.StringTermsBucket)
		equal([]any{tags[0].Key, tags[0].DocCount, float64(*tags[0].Aggregations["most"].(*types.MaxAggregate).Value)}, []any{"rust", int64(199), float64(397)})
		weeks := answer.Aggregations["weeks"].(*types.DateHistogramAggregate).Buckets.([]types.DateHistogramBucket)
		equal(len(weeks), 4)
		equal(answer.Aggregations["whole"].(*types.ExtendedStatsAggregate).Count, int64(199))
	})

	check("typed documents", func() {
		answer := must(typed.Index("articles").Id("x").Request(article{Title: "Extra", Day: "2026-03-01"}).Refresh(refresh.True).Do(ctx))
		equal(answer.Result.Name, "created")
		must(typed.Update("articles", "x").Doc(map[string]int{"likes": 7}).Refresh(refresh.True).Do(ctx))
		found := must(typed.Get("articles", "x").Do(ctx))
		var one article
		if err := json.Unmarshal(found.Source_, &one); err != nil {
			panic(err)
		}
		equal(one, article{Title: "Extra", Day: "2026-03-01", Likes: 7})
		must(typed.Delete("articles", "x").Refresh(refresh.True).Do(ctx))
		equal(must(typed.Get("articles", "x").Do(ctx)).Found, false)
		_, err := typed.Search().Index("nothing").Do(ctx)
		equal(err.(*types.ElasticsearchError).ErrorCause.Type, "index_not_found_exception")
		equal(*must(typed.DeleteByQuery("articles").Query(&types.Query{Term: map[string]types.TermQuery{"tag": {Value: "go"}}}).Refresh(true).Do(ctx)).Deleted, int64(200))
	})

	check("typed answers of cluster and indices", func() {
		equal(must(typed.Cluster.Health().Do(ctx)).NumberOfNodes, 1)
		equal(must(typed.Cluster.Stats().Do(ctx)).Indices.Count, int64(1))
		equal(len(must(typed.Nodes.Stats().Do(ctx)).Nodes), 1)
		equal(len(must(typed.Nodes.Info().Do(ctx)).Nodes), 1)
		equal(*must(typed.Cat.Indices().Do(ctx))[0].Index, "articles")
		equal(len(must(typed.Indices.Get("articles").Do(ctx))["articles"].Mappings.Properties), 4)
		equal(must(typed.Indices.Stats().Index("articles").Do(ctx)).All_.Primaries.Docs.Count, int64(199))
		equal(must(typed.Indices.PutAlias("articles", "texts").Do(ctx)).Acknowledged, true)
		equal(must(typed.Count().Index("texts").Do(ctx)).Count, int64(199))
		text := "Quick foxes"
		equal(len(must(typed.Indices.Analyze().Text(text).Do(ctx)).Tokens), 2)
		pit := must(typed.OpenPointInTime("articles").KeepAlive("1m").Do(ctx))
		equal(must(typed.Search().Pit(&types.PointInTimeReference{Id: pit.Id}).Do(ctx)).Hits.Total.Value, int64(199))
		equal(must(typed.ClosePointInTime().Id(pit.Id).Do(ctx)).Succeeded, true)
	})

	check("plain client", func() {
		answer := must(plain.Search(plain.Search.WithIndex("articles"), plain.Search.WithBody(strings.NewReader(`{"size":0}`)), plain.Search.WithTrackTotalHits(true)))
		defer answer.Body.Close()
		equal(answer.IsError(), false)
	})
}
