//! What a server sent, as crawls keep it: a status line, headers, and a body that may be in chunks and compressed.

#![expect(clippy::disallowed_types, reason = "what comes out of a decoder is bounded here")]

use crate::limits::sized;
use std::borrow::Cow;
use std::io::Read;

use super::headers::HeaderLines;
use crate::read::record::Refusal;

/// What a server sent.
pub(in crate::read) struct Response<'a> {
    /// Its header lines, the status line among them.
    headers: HeaderLines<'a>,
    body: &'a [u8],
}

impl<'a> Response<'a> {
    /// The response that bytes are. Without a blank line there is no body.
    pub(in crate::read) fn of(bytes: &'a [u8]) -> Option<Response<'a>> {
        let bytes = Some(bytes).filter(|bytes| bytes.starts_with(b"HTTP/"))?;
        let (headers, body) = HeaderLines::split(bytes).unwrap_or((HeaderLines::open(bytes), b""));
        Some(Response { headers, body })
    }

    /// Its media type.
    pub(in crate::read) fn media(&self) -> Option<&'a str> {
        self.headers.get("Content-Type")
    }

    /// The body as it was before the server wrapped it, at most `most` bytes.
    ///
    /// A header may promise what the body is not, since crawlers unwrap bodies and leave the headers: then the body is as
    /// it stands. Of one that ends too early there is what could be unwrapped.
    ///
    /// # Errors
    /// [`Refusal::TooLong`], and [`Refusal::NoTextIn`] for an encoding that is not known.
    pub(in crate::read) fn body(&self, most: usize) -> Result<Cow<'a, [u8]>, Refusal> {
        let chunked = self.lists("Transfer-Encoding").any(|name| name == "chunked");
        let mut body = match chunked {
            true => unchunked(self.body),
            false => Cow::Borrowed(self.body),
        };
        // The last one that was put on comes off first.
        let codings: Vec<String> = self.lists("Content-Encoding").collect();
        for coding in codings.iter().rev() {
            if let Some(unfolded) = decoded(coding, &body, most)? {
                body = Cow::Owned(unfolded);
            }
        }
        Ok(body)
    }

    /// The names that a header lists, in lower case.
    fn lists(&self, name: &str) -> impl Iterator<Item = String> {
        let names = self.headers.get(name).unwrap_or_default().split(',');
        names.map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty())
    }
}

/// A body without the sizes of its chunks (RFC 9112, section 7.1). From where there is no size on, it is as it stands.
fn unchunked(body: &[u8]) -> Cow<'_, [u8]> {
    let (mut out, mut rest) = (Vec::new(), body);
    loop {
        let Some((size, data)) = chunk_size(rest) else {
            if out.is_empty() {
                return Cow::Borrowed(body);
            }
            out.extend_from_slice(rest);
            return Cow::Owned(out);
        };
        let taken = size.min(data.len());
        out.extend_from_slice(&data[..taken]);
        let behind = &data[taken..];
        rest = behind.strip_prefix(b"\r\n").or(behind.strip_prefix(b"\n")).unwrap_or(behind);
        if size == 0 || rest.is_empty() {
            return Cow::Owned(out);
        }
    }
}

/// The size of a chunk, and what stands behind its line.
fn chunk_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().take(1 << 10).position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&bytes[..end]).ok()?;
    let digits = line.split(';').next().unwrap_or_default().trim();
    let size = usize::from_str_radix(digits, 16).ok()?;
    Some((size, &bytes[end + 1..]))
}

/// What a content coding unfolds to; `None` if the bytes do not begin as the coding does.
fn decoded(coding: &str, bytes: &[u8], most: usize) -> Result<Option<Vec<u8>>, Refusal> {
    let mut out = Vec::new();
    let result = match coding {
        "identity" => return Ok(None),
        "gzip" | "x-gzip" if bytes.starts_with(&[0x1f, 0x8b]) => {
            limited(flate2::bufread::MultiGzDecoder::new(bytes), most, &mut out)
        }
        // Zlib by the standard, and bare by some servers.
        "deflate" => {
            let zlib = limited(flate2::bufread::ZlibDecoder::new(bytes), most, &mut out);
            if zlib.is_ok() || !out.is_empty() {
                zlib
            } else {
                limited(flate2::bufread::DeflateDecoder::new(bytes), most, &mut out)
            }
        }
        "zstd" if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => match zstd_decoder(bytes) {
            Ok(decoder) => limited(decoder, most, &mut out),
            Err(error) => Err(error),
        },
        "br" => limited(brotli_decompressor::Decompressor::new(bytes, BROTLI), most, &mut out),
        "gzip" | "x-gzip" | "zstd" => return Ok(None),
        other => return Err(Refusal::no_text_in(&format!("a body in the encoding {other}"))),
    };
    match result {
        _ if out.len() > most => Err(Refusal::TooLong { limit: most }),
        Err(_) if out.is_empty() => Ok(None),
        _ => Ok(Some(out)),
    }
}

/// A decoder of Zstandard with the largest window that HTTP allows (RFC 9659).
fn zstd_decoder(bytes: &[u8]) -> std::io::Result<zstd::Decoder<'static, &[u8]>> {
    let mut decoder = zstd::Decoder::with_buffer(bytes)?;
    decoder.window_log_max(23)?;
    Ok(decoder)
}

/// Bytes that the decoder of Brotli reads at once.
const BROTLI: usize = sized(16 << 10, 64);

/// Decodes as much as is allowed, and a byte more.
fn limited(decoder: impl Read, most: usize, out: &mut Vec<u8>) -> std::io::Result<usize> {
    decoder.take(most as u64 + 1).read_to_end(out)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn body(headers: &str, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let bytes = [b"HTTP/1.1 200 OK\r\n", headers.as_bytes(), b"\r\n", body].concat();
        Response::of(&bytes).expect("a response").body(1000).map(Cow::into_owned)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    #[test]
    fn chunks_are_joined() {
        let chunked = "Transfer-Encoding: chunked\r\n";
        assert_eq!(body(chunked, b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"), Ok(b"abcde".to_vec()));
        assert_eq!(body(chunked, b"3\r\nabc\r\n8\r\nde"), Ok(b"abcde".to_vec()));
        assert_eq!(body(chunked, b"<p>not in chunks\n"), Ok(b"<p>not in chunks\n".to_vec()));
        assert_eq!(body(chunked, b"3\r\nabc\r\nzz\r\nde"), Ok(b"abczz\r\nde".to_vec()));
        assert_eq!(body(chunked, b"ffffffffffffffffffff\nx"), Ok(b"ffffffffffffffffffff\nx".to_vec()));
    }

    #[test]
    fn compressed_bodies_are_unfolded_if_they_are() {
        let text = b"text of a page".repeat(9);
        for coding in ["gzip", "X-GZIP", "identity, gzip"] {
            assert_eq!(body(&format!("Content-Encoding: {coding}\r\n"), &gzip(&text)), Ok(text.clone()));
            assert_eq!(body(&format!("Content-Encoding: {coding}\r\n"), &text), Ok(text.clone()));
        }
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).expect("compressed");
        assert_eq!(
            body("Content-Encoding: deflate\r\n", &zlib.finish().expect("compressed")),
            Ok(text.clone())
        );
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        bare.write_all(&text).expect("compressed");
        assert_eq!(
            body("Content-Encoding: deflate\r\n", &bare.finish().expect("compressed")),
            Ok(text.clone())
        );
        let zstd = zstd::encode_all(&*text, 1).expect("compressed");
        assert_eq!(body("Content-Encoding: zstd\r\n", &zstd), Ok(text.clone()));
        // "Hello" in an uncompressed meta-block, as RFC 7932, section 9.2, has them.
        assert_eq!(body("Content-Encoding: br\r\n", b"\x0b\x02\x80Hello\x03"), Ok(b"Hello".to_vec()));
        let cut = &gzip(&text)[..30];
        assert!(
            body("Content-Encoding: gzip\r\n", cut).is_ok_and(|got| text.starts_with(&got) || got == cut)
        );
    }

    #[test]
    fn what_unfolds_without_end_is_too_long() {
        let bomb = gzip(&vec![b'x'; 100_000]);
        assert_eq!(body("Content-Encoding: gzip\r\n", &bomb), Err(Refusal::TooLong { limit: 1000 }));
        assert!(matches!(body("Content-Encoding: compress\r\n", b"x"), Err(Refusal::NoTextIn(_))));
    }
}
