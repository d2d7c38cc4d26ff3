//! Keys of flattened fields, more than a segment caches: each has its terms, documents and column,
//! whichever keys were requested before.

mod model;

use std::sync::Arc;

use limber_mapping::document::{Parsed, Scratch, parse};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::columns::Batch;
use limber_segment::postings::Want;
use limber_segment::{
    Buffer, DocumentMeta, KEYS_KEPT_MAX, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity,
};
use limber_store::Pool;
use model::{memory, open};
use serde_json::json;

/// Number of keys beyond those that are cached.
const FURTHER: usize = 40;

/// Document `n` has the value `v<n>` at the key `k<n>`.
fn segment(document_count: usize, pool: &Arc<Pool>) -> SegmentView {
    let flattened = json!({"type": "flattened"});
    let inner = json!({"type": "nested", "properties": {"f": flattened}});
    let outer = json!({"type": "nested", "properties": {"inner": inner}});
    let body = json!({"properties": {"f": flattened, "outer": outer}});
    let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping");
    let (mut buffer, mut scratch) = (Buffer::new(StoredCodec::Lz4), Scratch::default());
    for number in 0..document_count {
        let (id, key) = (number.to_string(), format!("k{number}"));
        let source =
            json!({"f": {key: format!("v{number}"), "other": "x"}, "outer": {"inner": {"f": {"k": "x"}}}})
                .to_string();
        let seq_no = number as u64;
        let meta = DocumentMeta {
            id: id.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, source.as_bytes());
        match parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("a sound document") {
            Parsed::Done => buffer.commit().expect("commits"),
            Parsed::NeedsMapping => panic!("keys need no mapping"),
        }
    }
    let directory = memory();
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    SegmentView::new(Arc::new(open(&directory, &meta).expect("opens").charged_to(pool)))
}

fn assert_has_terms(segment: &Segment, number: usize) {
    let path = format!("f.k{number}");
    let terms = segment.terms(&path).expect("reads").expect("terms");
    assert_eq!(terms.len(), 1, "{path}");
    let info = terms.get(format!("v{number}").as_bytes()).expect("reads").expect("the value");
    assert_eq!(segment.postings(&path, &info, Want::Docs).expect("reads").doc(), number as u32);
}

fn assert_has_column(segment: &Segment, number: usize) {
    let column = segment.ordinals(&format!("f.k{number}")).expect("reads").expect("a column");
    let (docs, mut batch): (Vec<u32>, Batch<u32>) = ((0..segment.doc_count()).collect(), Batch::default());
    column.gather(&docs, &mut batch).expect("reads");
    assert_eq!(batch.iter().collect::<Vec<_>>(), [(number, 0)]);
}

#[test]
fn keys_beyond_the_kept_ones_go_with_the_request() {
    let pool = Pool::new("segments", 1 << 30);
    let view = segment(KEYS_KEPT_MAX + FURTHER, &pool);
    for number in 0..KEYS_KEPT_MAX {
        let of_request = view.for_request();
        assert!(Arc::ptr_eq(&of_request.segment, &view.segment));
        assert_has_terms(&of_request.segment, number);
    }
    assert_has_column(&view.segment, 7);
    let kept_bytes = pool.used_bytes();
    for _ in 0..2 {
        let of_request = view.for_request();
        assert_eq!(of_request.segment.core(), view.segment.core());
        (0..KEYS_KEPT_MAX + FURTHER).for_each(|number| assert_has_terms(&of_request.segment, number));
        [7, KEYS_KEPT_MAX, KEYS_KEPT_MAX + FURTHER - 1]
            .into_iter()
            .for_each(|number| assert_has_column(&of_request.segment, number));
        assert!(pool.used_bytes() > kept_bytes);
        drop(of_request);
        assert_eq!(pool.used_bytes(), kept_bytes);
    }
    // The spaces inside nested documents are the same, however they are reached.
    let of_request = view.for_request();
    let [inner, outer] =
        ["outer.inner", "outer"].map(|path| of_request.segment.nested(path).expect("a space"));
    let inside = outer.segment.nested("outer.inner").expect("a space");
    assert!(Arc::ptr_eq(&inside.segment, &inner.segment));
    let published = view.segment.nested("outer.inner").expect("a space");
    assert!(!Arc::ptr_eq(&published.segment, &inner.segment));
    assert_eq!(inner.segment.terms("outer.inner.f.k").expect("reads").expect("terms").len(), 1);
    // A key is found even without a view for the request.
    assert_has_terms(&view.segment, KEYS_KEPT_MAX + 1);
}

#[test]
fn keys_that_no_document_has_are_not_kept() {
    let pool = Pool::new("segments", 1 << 30);
    let view = segment(3, &pool);
    let bytes = pool.used_bytes();
    for number in 3..2 * KEYS_KEPT_MAX {
        let path = format!("f.k{number}");
        assert!(view.segment.terms(&path).expect("reads").is_none());
        assert!(view.segment.ordinals(&path).expect("reads").is_none());
        assert!(view.segment.presence(&path).expect("reads").is_none());
    }
    assert_eq!(pool.used_bytes(), bytes);
    assert!(Arc::ptr_eq(&view.for_request().segment, &view.segment));
    assert_has_terms(&view.segment, 2);
}
