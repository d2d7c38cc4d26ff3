//! tantivy as an engine of the benchmark game: `game-tantivy index FOLDER < corpus.ndjson`,
//! `game-tantivy serve FOLDER`.

use std::io::{BufRead, Write};
use std::path::Path;

use tantivy::collector::{Count, TopDocs};
use tantivy::query::QueryParser;
use tantivy::schema::{FAST, STORED, Schema, TEXT};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, IndexWriter, Order, Searcher, TantivyDocument};

fn main() -> tantivy::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "index", folder] => index(Path::new(folder)),
        [_, "serve", folder] => serve(Path::new(folder)),
        _ => panic!("game-tantivy index FOLDER < corpus.ndjson | game-tantivy serve FOLDER"),
    }
}

fn index(folder: &Path) -> tantivy::Result<()> {
    let mut schema = Schema::builder();
    schema.add_text_field("id", STORED);
    schema.add_text_field("text", TEXT);
    schema.add_u64_field("sort_field", FAST);
    let schema = schema.build();
    std::fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema.clone())?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 2_000_000_000)?;
    for line in std::io::stdin().lock().lines() {
        writer.add_document(TantivyDocument::parse_json(&schema, &line?)?)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    let segments = index.searchable_segment_ids()?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 1_000_000_000)?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.garbage_collect_files().wait()?;
    Ok(())
}

fn serve(folder: &Path) -> tantivy::Result<()> {
    let index = Index::open_in_dir(folder)?;
    let text = index.schema().get_field("text")?;
    let parser = QueryParser::new(index.schema(), vec![text], TokenizerManager::default());
    let searcher = index.reader()?.searcher();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (collector, query) = line.split_once('\t').unwrap_or((&line, ""));
        match answer(&searcher, &parser, collector, query)? {
            Some(count) => writeln!(out, "{count}")?,
            None => writeln!(out, "UNSUPPORTED")?,
        }
        out.flush()?;
    }
    Ok(())
}

fn answer(searcher: &Searcher, parser: &QueryParser, collector: &str, query: &str) -> tantivy::Result<Option<u64>> {
    let query = parser.parse_query(query)?;
    if collector == "COUNT" {
        return Ok(Some(query.count(searcher)? as u64));
    }
    let mut parts = collector.split('_').skip(1);
    let Some(size) = parts.next().and_then(|size| size.parse().ok()) else { return Ok(None) };
    let top = TopDocs::with_limit(size);
    Ok(match parts.next() {
        None => {
            searcher.search(&query, &top.order_by_score())?;
            Some(1)
        }
        Some("COUNT") => Some(searcher.search(&query, &(top.order_by_score(), Count))?.1 as u64),
        Some("FF") => {
            searcher.search(&query, &top.order_by_fast_field::<u64>("sort_field", Order::Desc))?;
            Some(1)
        }
        Some(_) => None,
    })
}
