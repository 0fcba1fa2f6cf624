//! What a commit still refers to: all that a merge of all runs keeps.

use crate::collection::commit::manifest::Manifest;
use crate::collection::run::schema::{CONTENTS, DOCUMENTS};
use crate::collection::tables::Tables;
use crate::collection::tables::bits::Bits;
use crate::collection::tables::document::Document;
use crate::collection::tables::rows::StoredContent;
use crate::document::Position;
use crate::error::Result;
use crate::peers::Peers;

/// What live documents refer to: a bit for each content, record and file there ever was.
#[derive(Debug)]
pub struct Live {
    /// The contents.
    pub contents: Bits,
    /// The versions of documents.
    pub versions: Bits,
    /// The files.
    pub files: Bits,
    /// Whether other processes may have rows that say what is true no more: only they know which.
    pub shadows_others: bool,
    /// Whether no trace may be left of what is gone, not even hashes of its tokens in a vocabulary that others use.
    pub leaves_no_trace: bool,
}

impl Live {
    /// What is live in a commit, given all its tables.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn of(tables: &Tables, manifest: &Manifest) -> Result<Live> {
        let next = u64::from(manifest.next_content);
        let mut live = Live {
            contents: Bits::below(next),
            versions: Bits::below(next),
            files: Bits::below(u64::from(manifest.next_file)),
            shadows_others: false,
            leaves_no_trace: false,
        };
        let mut rows = tables.scan(CONTENTS);
        while let Some(row) = rows.next_row()? {
            let content = StoredContent::of_row(row);
            if content.is_live() {
                live.contents.add(content.content);
            }
        }
        let mut rows = tables.scan(DOCUMENTS);
        while let Some(row) = rows.next_row()? {
            let document = Document::of_row(row);
            if document.live {
                live.versions.add(u64::from(document.version));
                live.files.add(u64::from(Position::from_bits(document.position).file()));
            }
        }
        Ok(live)
    }

    /// The same, where other processes keep rows that those of process 0 shadow.
    pub fn shadowing_others(self, shadows_others: bool) -> Live {
        Live { shadows_others, ..self }
    }

    /// The same, where no trace may be left of what is gone, as a full compaction has it.
    pub fn leaving_no_trace(self, leaves_no_trace: bool) -> Live {
        Live { leaves_no_trace, ..self }
    }

    /// Tells it to all other processes, in process 0.
    ///
    /// # Errors
    /// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`].
    pub fn tell(&self, peers: &Peers) -> Result<()> {
        [&self.contents, &self.versions, &self.files]
            .iter()
            .try_for_each(|bits| peers.broadcast_bytes(bits.to_bytes()))
    }

    /// What process 0 tells.
    ///
    /// # Errors
    /// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`].
    pub fn hear(peers: &Peers) -> Result<Live> {
        let [contents, versions, files] =
            [(); 3].map(|()| peers.receive_bytes().map(|bytes| Bits::of_bytes(&bytes)));
        let (shadows_others, leaves_no_trace) = (false, false);
        Ok(Live { contents: contents?, versions: versions?, files: files?, shadows_others, leaves_no_trace })
    }
}
