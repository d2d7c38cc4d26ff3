// A tour of @opensearch-project/opensearch: the client and its helpers.
import { Client } from '@opensearch-project/opensearch'
import { check, equal } from './checks.mjs'

const client = new Client({ node: process.argv[2] })
const films = Array.from({ length: 300 }, (_, n) => ({ id: n, title: `The film number ${n}`, year: 1950 + n % 70, genre: ['drama', 'noir', 'comedy'][n % 3] }))

await check('helpers.bulk', async () => {
  await client.indices.create({ index: 'films', body: { settings: { index: { number_of_shards: 2, number_of_replicas: 0 } }, mappings: { properties: { title: { type: 'text' }, year: { type: 'integer' }, genre: { type: 'keyword' } } } } })
  const done = await client.helpers.bulk({ datasource: films, refreshOnCompletion: true, onDocument: film => ({ index: { _index: 'films', _id: String(film.id) } }) })
  equal([done.total, done.successful, done.failed], [300, 300, 0])
})

await check('helpers.scrollSearch and msearch', async () => {
  let seen = 0
  for await (const page of client.helpers.scrollSearch({ index: 'films', size: 70, body: { query: { match_all: {} } } })) seen += page.documents.length
  const m = client.helpers.msearch()
  const answer = await m.search({ index: 'films' }, { query: { term: { genre: 'noir' } } })
  m.stop()
  equal([seen, answer.body.hits.total.value], [300, 100])
})

await check('search and aggregations', async () => {
  const { body } = await client.search({ index: 'films', body: { query: { multi_match: { query: '7', fields: ['title^2', 'genre'] } }, highlight: { fields: { title: {} } }, aggs: { years: { histogram: { field: 'year', interval: 10 } }, genres: { terms: { field: 'genre' } } } } })
  equal(body.hits.hits[0]._id, '7')
  equal(body.hits.hits[0].highlight.title, ['The film number <em>7</em>'])
  equal(body.aggregations.genres.buckets.map(bucket => bucket.key), ['noir'])
})

await check('documents, templates, aliases and by query', async () => {
  equal((await client.index({ index: 'films', id: 'x', body: { title: 'Extra', year: 2000 }, refresh: true })).statusCode, 201)
  await client.update({ index: 'films', id: 'x', body: { doc: { genre: 'noir' } }, refresh: true })
  equal((await client.get({ index: 'films', id: 'x' })).body._source.genre, 'noir')
  equal((await client.delete({ index: 'films', id: 'x', refresh: true })).body.result, 'deleted')
  await client.indices.putIndexTemplate({ name: 'more', body: { index_patterns: ['more-*'], template: { mappings: { properties: { genre: { type: 'keyword' } } } } } })
  const { body } = await client.reindex({ refresh: true, body: { source: { index: 'films', query: { term: { genre: 'noir' } } }, dest: { index: 'more-films' } } })
  equal(body.created, 100)
  await client.indices.updateAliases({ body: { actions: [{ add: { index: 'more-films', alias: 'noir' } }] } })
  equal((await client.deleteByQuery({ index: 'noir', refresh: true, body: { query: { range: { year: { lt: 1980 } } } } })).body.deleted, 47)
  equal((await client.cat.count({ index: 'noir', format: 'json' })).body[0].count, '53')
  equal((await client.cluster.health()).body.status === 'red', false)
  equal(await client.get({ index: 'films', id: 'x' }).catch(error => error.statusCode), 404)
})
await client.close()
