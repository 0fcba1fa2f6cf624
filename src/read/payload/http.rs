//! What a server sent, as crawls keep it: a status line, headers, and a body that may be in chunks and compressed.

#![expect(clippy::disallowed_types, reason = "what comes out of a decoder is bounded here")]

use crate::limits::sized;
use std::borrow::Cow;
use std::io::{self, Read};

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
        let mut bytes = Some(bytes).filter(|bytes| bytes.starts_with(b"HTTP/"))?;
        loop {
            let (headers, body) = HeaderLines::split(bytes).unwrap_or((HeaderLines::open(bytes), b""));
            if !is_interim(bytes) || !body.starts_with(b"HTTP/") {
                return Some(Response { headers, body });
            }
            bytes = body;
        }
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
    /// [`Refusal::TooLong`], [`Refusal::NoTextIn`] for an encoding that is not known, and [`Refusal::Malformed`] for one of
    /// several encodings that is longer than [`MOST_LAYERED`].
    pub(in crate::read) fn body(&self, most: usize) -> Result<Cow<'a, [u8]>, Refusal> {
        let (mut body, codings) = (self.whole(), self.codings());
        let is_layered = codings.len() > 1;
        let most = if is_layered { most.min(MOST_LAYERED) } else { most };
        // The last one that was put on comes off first.
        for coding in codings.iter().rev() {
            let mut unfolded = Vec::new();
            match decoded(coding, &body, most, &mut unfolded) {
                Ok(true) => body = Cow::Owned(unfolded),
                Ok(false) => {}
                Err(Refusal::TooLong { .. }) if is_layered => {
                    return Err(Refusal::Malformed("a body in several encodings that is long".to_owned()));
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(body)
    }

    /// How many bytes the body has that [`Response::body`] gives; one more than `most`, if it is longer. It is held nowhere.
    pub(in crate::read) fn body_length(&self, most: usize) -> u64 {
        let body = self.whole();
        let mut length = Length(0);
        let known = match &*self.codings() {
            [] => Ok(false),
            [coding] => match decoded(coding, &body, most, &mut length) {
                Err(Refusal::TooLong { .. }) => Ok(true),
                decoded => decoded,
            },
            _ => return self.body(most).map_or(0, |body| body.len() as u64),
        };
        if known == Ok(true) { length.0 } else { body.len() as u64 }
    }

    /// Whether the body is as the server sent it, but for the sizes of its chunks.
    pub(in crate::read) fn is_plain(&self) -> bool {
        self.codings().is_empty()
    }

    /// The body without the sizes of its chunks, if it has them.
    fn whole(&self) -> Cow<'a, [u8]> {
        match self.lists("Transfer-Encoding").any(|name| name == "chunked") {
            true => unchunked(self.body),
            false => Cow::Borrowed(self.body),
        }
    }

    /// The encodings of the body, the first one that was put on first. Servers name character sets among them, and that there is none. A
    /// page without any may be encoded as it was sent. Servers that name one there, too, have encoded it once, and others name anything.
    fn codings(&self) -> Vec<String> {
        let is_none = |coding: &String| matches!(&**coding, "identity" | "none" | "binary" | "8bit" | "7bit");
        let is_charset = |coding: &String| encoding_rs::Encoding::for_label(coding.as_bytes()).is_some();
        let codings = self.lists("Content-Encoding");
        let codings: Vec<String> = codings.filter(|coding| !is_none(coding) && !is_charset(coding)).collect();
        if codings.is_empty() {
            return self.lists("Transfer-Encoding").filter(|coding| SENT.contains(&&**coding)).collect();
        }
        codings
    }

    /// The names that the headers of a name list, in lower case. A header that says the same once more has been repeated on the way.
    fn lists(&self, name: &str) -> impl Iterator<Item = String> {
        let mut headers: Vec<&str> = self.headers.all(name).collect();
        headers.dedup();
        let names = headers.into_iter().flat_map(|names| names.split(','));
        names.map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty())
    }
}

/// Whether a status line is that of an answer before the final one, as `100 Continue` (RFC 9110, section 15.2).
fn is_interim(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let status =
        line.split(|byte| *byte == b' ').find(|word| !word.is_empty() && !word.starts_with(b"HTTP/"));
    status.is_some_and(|status| matches!(status.trim_ascii_end(), [b'1', b'0'..=b'9', b'0'..=b'9']))
}

/// What a transfer may be encoded in that can be taken off (RFC 9112, section 7), and what servers also name there.
const SENT: [&str; 5] = ["gzip", "x-gzip", "deflate", "br", "zstd"];

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

/// Most bytes of a body in several encodings, which is rare where it is no attack: that any worker has, however little
/// memory there is.
const MOST_LAYERED: usize = 2 << 20;

/// Where what is decoded goes.
trait Decoded {
    /// Takes all that there is.
    fn fill(&mut self, from: &mut dyn Read) -> io::Result<()>;

    /// How many bytes it has taken.
    fn length(&self) -> u64;
}

impl Decoded for Vec<u8> {
    fn fill(&mut self, from: &mut dyn Read) -> io::Result<()> {
        from.read_to_end(self).map(drop)
    }

    fn length(&self) -> u64 {
        self.len() as u64
    }
}

/// Bytes that were counted and are gone.
struct Length(u64);

impl Decoded for Length {
    fn fill(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut bytes = [0; COUNTED];
        loop {
            match from.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(read) => self.0 += read as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn length(&self) -> u64 {
        self.0
    }
}

/// Bytes that are decoded at once to be counted.
const COUNTED: usize = sized(16 << 10, 64);

/// Decodes a content coding; whether the bytes begin as the coding does.
fn decoded(coding: &str, bytes: &[u8], most: usize, out: &mut dyn Decoded) -> Result<bool, Refusal> {
    let result = match coding {
        "gzip" | "x-gzip" if bytes.starts_with(&[0x1f, 0x8b]) => {
            limited(flate2::bufread::MultiGzDecoder::new(bytes), most, out)
        }
        // Zlib by the standard, and bare by some servers.
        "deflate" => {
            let zlib = limited(flate2::bufread::ZlibDecoder::new(bytes), most, out);
            if zlib.is_ok() || out.length() > 0 {
                zlib
            } else {
                limited(flate2::bufread::DeflateDecoder::new(bytes), most, out)
            }
        }
        "zstd" if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => match zstd_decoder(bytes) {
            Ok(decoder) => limited(decoder, most, out),
            Err(error) => Err(error),
        },
        "br" => limited(brotli_decompressor::Decompressor::new(bytes, BROTLI), most, out),
        "gzip" | "x-gzip" | "zstd" => return Ok(false),
        other => return Err(Refusal::no_text_in(&format!("a body in the encoding {other}"))),
    };
    match result {
        _ if out.length() > most as u64 => Err(Refusal::TooLong { limit: most }),
        Err(_) if out.length() == 0 => Ok(false),
        _ => Ok(true),
    }
}

/// A decoder of Zstandard with the largest window that HTTP allows (RFC 9659).
fn zstd_decoder(bytes: &[u8]) -> io::Result<zstd::Decoder<'static, &[u8]>> {
    let mut decoder = zstd::Decoder::with_buffer(bytes)?;
    decoder.window_log_max(23)?;
    Ok(decoder)
}

/// Bytes that the decoder of Brotli reads at once.
const BROTLI: usize = sized(16 << 10, 64);

/// Decodes as much as is allowed, and a byte more.
fn limited(decoder: impl Read, most: usize, out: &mut dyn Decoded) -> io::Result<()> {
    out.fill(&mut decoder.take(most as u64 + 1))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn body(headers: &str, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let bytes = [b"HTTP/1.1 200 OK\r\n", headers.as_bytes(), b"\r\n", body].concat();
        let response = Response::of(&bytes).expect("a response");
        let body = response.body(1000).map(Cow::into_owned);
        let long = matches!(body, Err(Refusal::TooLong { .. })).then_some(1001);
        let length = body.as_ref().map(|body| body.len() as u64).ok().or(long);
        assert!(length.is_none_or(|length| length == response.body_length(1000)), "{body:?}");
        body
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    #[test]
    fn answers_before_the_final_one_are_passed_over() {
        let last = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nHTTP/1.1 is a protocol";
        for before in [
            "",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100\r\n\r\n",
        ] {
            let bytes = format!("{before}{last}");
            let response = Response::of(bytes.as_bytes()).expect("a response");
            assert_eq!(response.media(), Some("text/plain"));
            assert_eq!(response.body(1000), Ok(Cow::Borrowed(&b"HTTP/1.1 is a protocol"[..])));
        }
        let alone = Response::of(b"HTTP/1.1 100 Continue\r\n\r\n").expect("a response");
        assert_eq!(alone.body(1000), Ok(Cow::Borrowed(&b""[..])));
    }

    #[test]
    fn chunks_are_joined() {
        let chunked = "Transfer-Encoding: chunked\r\n";
        let packed = gzip(b"abcde");
        let sent = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
        assert_eq!(body("Transfer-Encoding: gzip, chunked\r\n", &sent), Ok(b"abcde".to_vec()));
        for (codings, sent) in [
            ("gzip\r\nContent-Encoding: gzip", packed.clone()),
            ("gzip\r\nContent-Encoding: x-gzip", gzip(&packed)),
        ] {
            assert_eq!(
                body(&format!("Content-Encoding: {codings}\r\n"), &sent),
                Ok(b"abcde".to_vec()),
                "{codings}"
            );
        }
        for headers in
            ["Content-Encoding: gzip\r\nTransfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, foo\r\n"]
        {
            assert_eq!(body(headers, &packed), Ok(b"abcde".to_vec()), "{headers}");
        }
        assert_eq!(body("Transfer-Encoding: foo, compress\r\n", b"<p>"), Ok(b"<p>".to_vec()));
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
        for coding in ["none", "UTF-8", "iso-8859-1, identity", "8bit"] {
            assert_eq!(body(&format!("Content-Encoding: {coding}\r\n"), &text), Ok(text.clone()));
        }
        let cut = &gzip(&text)[..30];
        assert!(
            body("Content-Encoding: gzip\r\n", cut).is_ok_and(|got| text.starts_with(&got) || got == cut)
        );
    }

    #[test]
    fn what_unfolds_without_end_is_too_long() {
        let bomb = gzip(&vec![b'x'; 100_000]);
        assert_eq!(body("Content-Encoding: gzip\r\n", &bomb), Err(Refusal::TooLong { limit: 1000 }));
        let several = body("Content-Encoding: gzip, gzip\r\n", &gzip(&bomb));
        assert!(matches!(several, Err(Refusal::Malformed(_))), "{several:?}");
        assert!(matches!(body("Content-Encoding: compress\r\n", b"x"), Err(Refusal::NoTextIn(_))));
    }
}
