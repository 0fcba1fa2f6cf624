//! Rows of several sources as one, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::remote_rows::RemoteRows;
use super::runs::RowReader;
use crate::error::Result;

/// Rows that come in order.
pub(crate) enum RowSource<const N: usize> {
    Run(RowReader<N>),
    Remote(RemoteRows<N>),
}

impl<const N: usize> RowSource<N> {
    fn next(&mut self) -> Result<Option<[u64; N]>> {
        match self {
            RowSource::Run(run) => run.next(),
            RowSource::Remote(remote) => remote.next(),
        }
    }
}

/// Rows of several sources, in order.
pub(crate) struct RowMerge<const N: usize> {
    sources: Vec<RowSource<N>>,
    /// The next row of each source that has one.
    heads: BinaryHeap<Reverse<([u64; N], usize)>>,
}

impl<const N: usize> RowMerge<N> {
    pub(crate) fn new(mut sources: Vec<RowSource<N>>) -> Result<RowMerge<N>> {
        let mut heads = BinaryHeap::with_capacity(sources.len());
        for (at, source) in sources.iter_mut().enumerate() {
            heads.extend(source.next()?.map(|row| Reverse((row, at))));
        }
        Ok(RowMerge { sources, heads })
    }

    pub(crate) fn next(&mut self) -> Result<Option<[u64; N]>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((row, at)) = *head;
        match self.sources[at].next()? {
            Some(next) => head.0.0 = next,
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some(row))
    }
}
