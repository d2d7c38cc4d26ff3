// A tour of @elastic/elasticsearch: the client, its helpers, and what its documentation shows.
import { Client } from '@elastic/elasticsearch'
import { check, equal } from './checks.mjs'

const client = new Client({ node: process.argv[2] })
const documents = Array.from({ length: 500 }, (_, n) => ({ id: n, user: `user ${n % 10}`, words: n % 2 ? 'winter is coming' : 'hear me roar', at: `2026-02-${String(n % 28 + 1).padStart(2, '0')}` }))

await check('helpers.bulk', async () => {
  equal((await client.info()).tagline, 'You Know, for Search')
  await client.indices.create({ index: 'quotes', settings: { number_of_shards: 2 }, mappings: { properties: { id: { type: 'integer' }, user: { type: 'keyword' }, words: { type: 'text' }, at: { type: 'date' } } } })
  const done = await client.helpers.bulk({ datasource: documents, flushBytes: 10000, refreshOnCompletion: true, onDocument: doc => ({ index: { _index: 'quotes', _id: String(doc.id) } }) })
  equal([done.total, done.successful, done.failed], [500, 500, 0])
  const dropped = []
  await client.helpers.bulk({ datasource: [{ id: 'no number' }], onDocument: () => ({ create: { _index: 'quotes', _id: '9999' } }), onDrop: doc => dropped.push(doc.error.type) })
  equal(dropped, ['document_parsing_exception'])
  const changed = await client.helpers.bulk({ datasource: [{ id: 1 }], refreshOnCompletion: true, onDocument: doc => [{ update: { _index: 'quotes', _id: '1' } }, { doc_as_upsert: true, doc: { id: 1, user: 'new' } }] })
  equal(changed.successful, 1)
})

await check('helpers.scrollSearch and scrollDocuments', async () => {
  let pages = 0
  for await (const page of client.helpers.scrollSearch({ index: 'quotes', size: 100, query: { match_all: {} } })) pages += page.documents.length
  let hits = 0
  for await (const hit of client.helpers.scrollDocuments({ index: 'quotes', size: 50, query: { match: { words: 'winter' } } })) hits += hit.words === 'winter is coming' ? 1 : 0
  equal([pages, hits, (await client.helpers.search({ index: 'quotes', query: { ids: { values: ['3'] } } })).length], [500, 250, 1])
})

await check('helpers.msearch', async () => {
  const m = client.helpers.msearch({ operations: 2 })
  const answers = await Promise.all([m.search({ index: 'quotes' }, { query: { match: { words: 'roar' } } }), m.search({ index: 'quotes' }, { query: { term: { user: 'user 3' } } })])
  equal(answers.map(answer => answer.body.hits.total.value), [250, 50])
  m.stop()
})

await check('search with aggregations, highlights and suggestions', async () => {
  const answer = await client.search({
    index: 'quotes', size: 3, query: { bool: { must: [{ match: { words: 'winter' } }], must_not: [{ term: { user: 'user 5' } }] } }, highlight: { fields: { words: {} } }, sort: [{ id: 'desc' }], fields: ['at'],
    aggs: { users: { terms: { field: 'user', order: { top: 'desc' } }, aggs: { top: { max: { field: 'id' } } } }, weeks: { date_histogram: { field: 'at', calendar_interval: 'week' } }, all: { composite: { size: 3, sources: [{ user: { terms: { field: 'user' } } }] } }, filters: { filters: { filters: { one: { term: { id: 3 } } } } } },
    suggest: { word: { text: 'wintar', term: { field: 'words' } } }
  })
  equal(answer.hits.hits.map(hit => hit._id), ['499', '497', '493'])
  equal(answer.hits.hits[0].highlight.words, ['<em>winter</em> is coming'])
  equal(answer.hits.hits[0].fields.at, ['2026-02-24T00:00:00.000Z'])
  equal(answer.aggregations.users.buckets.map(bucket => bucket.key), ['user 9', 'user 7', 'user 3', 'user 1', 'new'])
  equal(answer.aggregations.weeks.buckets.reduce((sum, bucket) => sum + bucket.doc_count, 0), 200)
  equal([answer.aggregations.all.after_key, answer.aggregations.filters.buckets.one.doc_count], [{ user: 'user 3' }, 1])
  equal(answer.suggest.word[0].options[0].text, 'winter')
})

await check('pages by a point in time', async () => {
  const pit = await client.openPointInTime({ index: 'quotes', keep_alive: '1m' })
  let after; let seen = 0
  for (;;) {
    const { hits: { hits } } = await client.search({ size: 200, pit: { id: pit.id, keep_alive: '1m' }, sort: [{ id: 'asc' }], search_after: after })
    if (hits.length === 0) break
    seen += hits.length
    after = hits.at(-1).sort
  }
  equal([seen, (await client.closePointInTime({ id: pit.id })).succeeded], [500, true])
})

await check('documents', async () => {
  equal((await client.update({ index: 'quotes', id: '2', script: { lang: 'painless', source: 'ctx._source.times = 2' }, refresh: true })).result, 'updated')
  equal((await client.get({ index: 'quotes', id: '2' }))._source.times, 2)
  equal(await client.exists({ index: 'quotes', id: '12345' }), false)
  equal((await client.mget({ index: 'quotes', ids: ['1', '12345'] })).docs.map(doc => doc.found), [true, false])
  equal((await client.updateByQuery({ index: 'quotes', query: { term: { user: 'user 4' } }, script: { source: "ctx._source.user = 'four'" }, refresh: true })).updated, 50)
  equal((await client.deleteByQuery({ index: 'quotes', query: { term: { user: 'four' } }, refresh: true })).deleted, 50)
  const error = await client.get({ index: 'quotes', id: 'none' }).catch(error => error)
  equal([error.name, error.statusCode], ['ResponseError', 404])
})

await check('templates, streams, aliases, pipelines, cat and tasks', async () => {
  await client.ingest.putPipeline({ id: 'parts', processors: [{ dissect: { field: 'message', pattern: '%{level} %{text}' } }] })
  await client.indices.putIndexTemplate({ name: 'logs-app', index_patterns: ['logs-app-*'], data_stream: {}, priority: 500, template: { settings: { default_pipeline: 'parts' }, mappings: { properties: { level: { type: 'keyword' } } } } })
  await client.index({ index: 'logs-app-default', op_type: 'create', refresh: true, document: { '@timestamp': '2026-01-01T00:00:00Z', message: 'WARN it is hot' } })
  equal((await client.search({ index: 'logs-app-*', query: { term: { level: 'WARN' } } })).hits.hits[0]._source.text, 'it is hot')
  equal((await client.indices.getDataStream({ name: 'logs-app-default' })).data_streams[0].generation, 1)
  await client.indices.putAlias({ index: 'quotes', name: 'said' })
  equal((await client.count({ index: 'said' })).count, 450)
  equal((await client.cat.indices({ index: 'quotes', format: 'json' }))[0].pri, '2')
  equal((await client.cluster.health()).number_of_nodes, 1)
  const { task } = await client.reindex({ source: { index: 'quotes' }, dest: { index: 'again' }, wait_for_completion: false })
  equal((await client.tasks.get({ task_id: task, wait_for_completion: true })).completed, true)
  equal(await client.indices.exists({ index: 'again' }), true)
})
await client.close()
