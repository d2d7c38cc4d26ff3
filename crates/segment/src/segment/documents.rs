//! A segment's documents: finds them by id and reads their id, routing and source.

use super::Segment;
use crate::file::{NO_FIELD, SectionKind};
use crate::id_filter::id_hash;
use crate::identity::ID_PATH;
use crate::postings::Want;
use crate::stored::{Stored, StoredDocument, StoredReader};
use crate::uses::{self, part};
use crate::{DocId, Error, NO_MORE_DOCS, Result};

impl Segment {
    /// Returns the document with this id; `None` if the segment does not have it. The document may be
    /// deleted.
    pub fn find_id(&self, id: &[u8]) -> Result<Option<DocId>> {
        self.find_id_hashed(id, id_hash(id))
    }

    /// Does the same as [`Segment::find_id`], with a hash ([`id_hash`]) computed once for several segments.
    ///
    /// For an id that is here several times (an update inside one buffer), returns the last document; the
    /// others are deleted.
    pub fn find_id_hashed(&self, id: &[u8], hash: u64) -> Result<Option<DocId>> {
        let Some(number) = self.number(ID_PATH) else { return Ok(None) };
        self.file.check_known(&[SectionKind::IdFilter, SectionKind::IdRuns], number)?;
        if self.id_filter.as_ref().is_some_and(|filter| !filter.may_contain(id, hash)) {
            // Only for single files: large segments have eight files, and this is called for each document
            // that is written.
            if self.meta.files.len() == 1 {
                self.intact()?
            } else {
                self.file.known_intact()?
            }
            return Ok(None);
        }
        let Some(inverted) = self.inverted(number)? else { return Ok(None) };
        let Some(info) = inverted.terms.get(id)? else { return self.intact().map(|()| None) };
        if info.doc_freq == 1 {
            self.intact()?;
            return Ok(Some(info.location.single_doc));
        }
        let mut postings = inverted.postings.postings(&info, Want::Docs)?;
        let mut last = None;
        while postings.doc() != NO_MORE_DOCS {
            last = postings.block_docs().last().copied();
            postings.next_block();
        }
        postings.status()?;
        self.intact()?;
        Ok(last)
    }

    /// Does the same as [`Segment::find_id_hashed`] for a write, which replaces the document found or adds
    /// a new one. The fields that it relies on are verified once.
    pub fn find_replaced(&self, id: &[u8], hash: u64) -> Result<Option<DocId>> {
        self.file.verify_identities()?;
        self.find_id_hashed(id, hash)
    }

    /// Verifies once the columns from which a source is synthesized if the index stores none. For a write
    /// that carries such a source over.
    pub fn verify_columns(&self) -> Result<()> {
        self.file.verify_columns()
    }

    /// Records that this process wrote the segment, so that the fields that writes rely on need no
    /// verification.
    pub fn trust_written(&self) {
        self.file.trust_written();
    }

    fn stored(&self) -> Result<Stored<'_>> {
        let checksums = self.file.readable_bytes(SectionKind::StoredChecksums, NO_FIELD)?;
        let section = |kind| {
            // Blocks have their own checksums: sound ones can still be read if the section as a whole is
            // known to be damaged.
            let bytes = match checksums {
                Some(_) => self.file.bytes(kind, NO_FIELD),
                None => self.file.readable_bytes(kind, NO_FIELD)?,
            };
            bytes.ok_or_else(|| Error::corrupt("stored blocks", 0, "stored documents"))
        };
        let (blocks, index) = (section(SectionKind::StoredBlocks)?, section(SectionKind::StoredIndex)?);
        // The checksums of blocks cover the part of the dictionary that they use.
        let dictionary = self.file.bytes(SectionKind::StoredDictionary, NO_FIELD);
        Stored::open(blocks, index, checksums, dictionary)
    }

    /// Remembers damage found by a reader of stored documents.
    #[cold]
    fn stored_error(&self, error: Error) -> Error {
        // A damaged dictionary is the reason why blocks are not what was written.
        if let Err(dictionary) = self.file.verify_dictionary() {
            return dictionary;
        }
        match error {
            Error::Corrupt { offset, expected, .. } => self.file.note_stored(offset, expected),
            error => error,
        }
    }

    /// Returns id, routing and source of a document.
    pub fn document<'r>(&self, doc: DocId, reader: &'r mut StoredReader) -> Result<StoredDocument<'r>> {
        self.document_claimed(doc, reader, |_| Ok(()))
    }

    /// Does the same as [`Segment::document`]. Before sources are decompressed, `claim` gets their length;
    /// more than a few hundred kilobytes are one large document.
    ///
    /// # Errors
    /// Those of `claim`; a damaged block.
    pub fn document_claimed<'r, E: From<Error>>(
        &self,
        doc: DocId,
        reader: &'r mut StoredReader,
        claim: impl FnOnce(u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<StoredDocument<'r>, E> {
        uses::note(self.core, NO_FIELD, part::STORED_FIELDS);
        let damage = |error| self.stored_error(error);
        let stored = self.stored()?;
        match stored.missing_bytes(self.core, doc, reader).map_err(damage)? {
            0 => {}
            bytes => claim(bytes)?,
        }
        let document = stored.document(self.core, doc, reader).map_err(damage)?;
        self.intact()?;
        Ok(document)
    }

    /// Returns `_source` of a document as it was stored.
    pub fn source<'r>(&self, doc: DocId, reader: &'r mut StoredReader) -> Result<&'r [u8]> {
        Ok(self.document(doc, reader)?.source)
    }

    /// Replaces `id` by the id of a document; cheaper than [`Segment::source`].
    pub fn id(&self, doc: DocId, reader: &mut StoredReader, id: &mut Vec<u8>) -> Result<()> {
        id.clear();
        id.extend_from_slice(self.id_and_routing(doc, reader)?.0);
        Ok(())
    }

    /// Returns id and routing of a document, without decompressing its source.
    pub fn id_and_routing<'r>(
        &self,
        doc: DocId,
        reader: &'r mut StoredReader,
    ) -> Result<(&'r [u8], Option<&'r [u8]>)> {
        uses::note(self.core, uses::IDS, part::STORED_FIELDS);
        let found = self.stored()?.id(self.core, doc, reader).map_err(|error| self.stored_error(error))?;
        self.intact()?;
        Ok(found)
    }

    /// Whether its stored documents are compressed with a dictionary, which other merges can use.
    pub fn has_dictionary(&self) -> bool {
        self.file.entry(SectionKind::StoredDictionary, NO_FIELD).is_some()
    }

    pub(crate) fn stored_documents(&self) -> Result<Option<Stored<'_>>> {
        match self.file.entry(SectionKind::StoredBlocks, NO_FIELD) {
            Some(_) => self.stored().map(Some),
            None => Ok(None),
        }
    }
}
