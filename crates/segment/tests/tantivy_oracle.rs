//! Compares postings, positions and norms with tantivy's, document by document: an independent check
//! besides the naive model.

mod model;

use limber_mapping::{FieldSink, Mapping, MappingSettings};
use limber_segment::postings::Want;
use limber_segment::{Buffer, DocumentMeta, NO_MORE_DOCS, Segment, SegmentId, StoredCodec, WriteIdentity};
use limber_store::random::SplitMix64;
use model::{memory, open};
use tantivy::postings::Postings;
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocSet, Index, IndexWriter, SegmentReader, TERMINATED, TantivyDocument};

/// Makes texts of words from a skewed vocabulary; some are long.
fn texts(random: &mut SplitMix64, count: usize) -> Vec<String> {
    (0..count)
        .map(|_| {
            let most = if random.below(50) == 0 { 600 } else { 25 };
            let words = (0..random.below(most)).map(|_| {
                let spread = 1 << random.below(11);
                format!("w{}", random.below(spread))
            });
            words.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

fn ours(texts: &[String]) -> Segment {
    let body = serde_json::json!({ "properties": { "body": { "type": "text" } } });
    let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping");
    let field = mapping.field("body").expect("mapped").clone();
    let (mut buffer, directory) = (Buffer::new(StoredCodec::Lz4), memory());
    for (number, text) in texts.iter().enumerate() {
        let id = format!("{number:06}");
        let seq_no = number as u64;
        let meta = DocumentMeta {
            id: id.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, b"{}");
        buffer.text(&field, text);
        buffer.commit().expect("a sound document");
    }
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    open(&directory, &meta).expect("opens")
}

fn theirs(texts: &[String]) -> tantivy::Result<SegmentReader> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let body = schema.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
    let index = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 50_000_000)?;
    for text in texts {
        let mut document = TantivyDocument::default();
        document.add_text(body, text);
        writer.add_document(document)?;
    }
    writer.commit()?;
    let searcher = index.reader()?.searcher();
    assert_eq!(searcher.segment_readers().len(), 1);
    Ok(searcher.segment_reader(0).clone())
}

#[test]
fn postings_positions_and_norms_are_tantivys() -> tantivy::Result<()> {
    let mut random = SplitMix64::new(11);
    let texts = texts(&mut random, 6000);
    let (ours, theirs) = (ours(&texts), theirs(&texts)?);
    let body = theirs.schema().get_field("body")?;
    let inverted = theirs.inverted_index(body)?;
    let terms = ours.terms("body").expect("reads").expect("there");
    assert_eq!(terms.sum_total_term_freq(), inverted.total_num_tokens());
    let mut stream = inverted.terms().stream()?;
    let mut cursor = terms.cursor();
    let (mut positions, mut their_positions) = (Vec::new(), Vec::new());
    while stream.advance() {
        let (term, info) = cursor.next().expect("reads").expect("as many terms");
        assert_eq!((term, info.doc_freq), (stream.key(), stream.value().doc_freq));
        let all = IndexRecordOption::WithFreqsAndPositions;
        let mut expected = inverted.read_postings_from_terminfo(stream.value(), all)?;
        let mut postings = ours.postings("body", &info, Want::Positions).expect("reads");
        while expected.doc() != TERMINATED {
            assert_eq!((postings.doc(), postings.freq()), (expected.doc(), expected.term_freq()));
            postings.positions(&mut positions);
            expected.positions(&mut their_positions);
            assert_eq!(positions, their_positions);
            // Mostly moves to the next document, sometimes jumps.
            if random.below(8) == 0 {
                let target = expected.doc() + 1 + random.below(700) as u32;
                expected.seek(target);
                postings.advance(target);
            } else {
                expected.advance();
                postings.next();
            }
        }
        assert_eq!(postings.doc(), NO_MORE_DOCS);
        postings.status().expect("sound");
    }
    assert_eq!(cursor.next().expect("reads"), None);
    let norms = ours.norms("body").expect("reads").expect("there");
    let their_norms = theirs.get_fieldnorms_reader(body)?;
    for doc in 0..texts.len() as u32 {
        assert_eq!(norms.get(doc), their_norms.fieldnorm_id(doc), "document {doc}");
    }
    Ok(())
}
