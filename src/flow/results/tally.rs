//! Counts of a run.

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    /// Documents read, those without a token included; not the protected ones.
    pub documents: u64,
    /// Protected documents.
    pub protected: u64,
    /// Documents that a collection has already, unchanged.
    pub unchanged: u64,
    /// Documents without a token: kept, never matched.
    pub empty: u64,
    /// Documents with too few terms for the method: compared with equal texts only.
    pub too_few_terms: u64,
    /// Documents without a date that is understood, where documents are compared by it: compared with each other only.
    pub missing_date: u64,
    /// Documents without an id: named by their place.
    pub missing_id: u64,
    /// Documents without the value that copies are compared by: any that has one is kept rather.
    pub missing_value: u64,
    /// Documents without the value within which documents are compared: compared with each other only.
    pub missing_within: u64,
    /// Protected documents without it.
    pub protected_missing_within: u64,
    /// Bytes of text in documents.
    pub text_bytes: u64,
    /// Documents whose canonical text an earlier document has.
    pub copies: u64,
    /// Postings of distinct texts that were collided or ignored as common.
    pub postings: u64,
    /// Key groups handed to clustering whole.
    pub hot_groups: u64,
    /// Pairs that shared enough keys to be looked at.
    pub candidates: u64,
    /// Candidates decided on their sets; what clustering measures within hot groups is not counted. Where a document has joined
    /// another and nothing joins it, its later candidates are decided, too.
    pub verified: u64,
    /// Pairs found linked.
    pub links: u64,
}

impl Tally {
    /// Adds the counts of another process.
    pub fn add(&mut self, other: &Tally) {
        let Tally {
            documents,
            protected,
            unchanged,
            empty,
            too_few_terms,
            missing_date,
            missing_id,
            missing_value,
            text_bytes,
            copies,
            postings,
            ..
        } = *other;
        let Tally {
            missing_within, protected_missing_within, hot_groups, candidates, verified, links, ..
        } = *other;
        self.documents += documents;
        self.protected += protected;
        self.unchanged += unchanged;
        self.empty += empty;
        self.too_few_terms += too_few_terms;
        self.missing_date += missing_date;
        self.missing_id += missing_id;
        self.missing_value += missing_value;
        self.text_bytes += text_bytes;
        self.missing_within += missing_within;
        self.protected_missing_within += protected_missing_within;
        self.copies += copies;
        self.postings += postings;
        self.hot_groups += hot_groups;
        self.candidates += candidates;
        self.verified += verified;
        self.links += links;
    }
}
