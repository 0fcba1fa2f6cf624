"""What is no good in a file: records, compressed files and tables, by name."""

import gzip
import zlib

from campaign import MIB

GOOD = b'{"id": "g", "text": "a good record with some words"}\n'
MANY = b"".join(b'{"id": "g%d", "text": "a good record with number %d"}\n' % (at, at) for at in range(40))


def zstd_frame(content, window_byte=None):
    """A Zstandard frame of raw blocks; with a window byte it asks for that window."""
    head = b"\x28\xb5\x2f\xfd" + (bytes([0x00, window_byte]) if window_byte is not None else b"\x00\x58")
    blocks = [content[at : at + 100_000] for at in range(0, len(content), 100_000)] or [b""]
    for at, block in enumerate(blocks):
        head += ((len(block) << 3) | (at == len(blocks) - 1)).to_bytes(3, "little") + block
    return head


def zstd_bomb(blocks):
    """Repeated-byte blocks: 128 KiB each out of four bytes."""
    body = b"".join(((128 * 1024 << 3) | 2 | (at == blocks - 1)).to_bytes(3, "little") + b" " for at in range(blocks))
    return b"\x28\xb5\x2f\xfd\x00\x58" + body


def gzip_bomb(mib):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([packer.compress(b" " * MIB) for _ in range(mib)] + [packer.flush()])


def records(drawn):
    """Lines that are no records. Made when they are needed: some are long."""
    deep = 100_000
    return {
        "deep arrays": lambda: b'{"id": "a", "text": "x", "more": ' + b"[" * deep + b"]" * deep + b"}\n",
        "deep objects": lambda: b'{"id":"a","text":"x","o":' + b'{"o":' * deep + b"1" + b"}" * deep + b"}\n",
        "open arrays": lambda: b"[" * 1_000_000 + b"\n",
        "no JSON": lambda: b"this is no JSON\n",
        "a number": lambda: b"1e999\n",
        "a huge number": lambda: b'{"id": "a", "text": "x", "n": ' + b"9" * 100_000 + b"}\n",
        "a string": lambda: b'"text"\n',
        "an array": lambda: b'[{"id": "a", "text": "x"}]\n',
        "null": lambda: b"null\n",
        "half a record": lambda: b'{"id": "a", "text": "some wor',
        "two records a line": lambda: b'{"id": "a", "text": "x"} {"id": "b", "text": "x"}\n',
        "no text": lambda: b'{"id": "a"}\n',
        "no id": lambda: b'{"text": "a text without an id"}\n',
        "text is a number": lambda: b'{"id": "a", "text": 7}\n',
        "text is null": lambda: b'{"id": "a", "text": null}\n',
        "text is a list": lambda: b'{"id": "a", "text": ["x"]}\n',
        "id is a list": lambda: b'{"id": ["a"], "text": "some words of a text"}\n',
        "id is an object": lambda: b'{"id": {"a": 1}, "text": "some words of a text"}\n',
        "id is true": lambda: b'{"id": true, "text": "some words of a text"}\n',
        "an empty id": lambda: b'{"id": "", "text": "some words of a text"}\n',
        "an empty text": lambda: b'{"id": "a", "text": ""}\n',
        "a long id": lambda: b'{"id": "' + b"i" * 3_000_000 + b'", "text": "x"}\n',
        "a long key": lambda: b'{"' + b"k" * 3_000_000 + b'": 1, "id": "a", "text": "x"}\n',
        "many keys": lambda: b'{"id": "a", "text": "x"' + b"".join(b',"k%d":1' % at for at in range(200_000)) + b"}\n",
        "keys twice": lambda: b'{"id": "a", "id": "b", "text": "one text", "text": "another text"}\n',
        "a long line": lambda: b'{"id": "a", "text": "' + b"word " * 6_000_000 + b'"}\n',
        "a long line of nothing": lambda: b" " * 40_000_000 + b"\n",
        "a long word": lambda: b'{"id": "a", "text": "' + b"w" * 6_000_000 + b'"}\n',
        "half a surrogate": lambda: b'{"id": "a", "text": "\\ud800 words"}\n',
        "two wrong surrogates": lambda: b'{"id": "a", "text": "\\udc00\\ud800 words"}\n',
        "half an escape": lambda: b'{"id": "a", "text": "\\u12"}\n',
        "a wrong escape": lambda: b'{"id": "a", "text": "\\q"}\n',
        "a control character": lambda: b'{"id": "a", "text": "a\x01b"}\n',
        "a NUL": lambda: b'{"id": "a", "text": "a\x00b"}\n',
        "NULs": lambda: b"\x00" * 100_000,
        "invalid UTF-8": lambda: b'{"id": "a", "text": "a\xff\xfeb"}\n',
        "an overlong slash": lambda: b'{"id": "a", "text": "\xc0\xaf"}\n',
        "half a character": lambda: b'{"id": "a", "text": "\xe2\x82"}\n',
        "UTF-16": lambda: '{"id": "a", "text": "words"}\n'.encode("utf-16"),
        "a late byte order mark": lambda: GOOD + b"\xef\xbb\xbf" + GOOD,
        "old line ends": lambda: b'{"id": "a", "text": "x"}\r{"id": "b", "text": "y"}\r',
        "mixed line ends": lambda: b'{"id": "a", "text": "x y"}\r\n\r\n\n{"id": "b", "text": "y z"}\n',
        "names of the dangerous": lambda: b'{"id": "../../etc/passwd\\u001b[31m\\u202e", "text": "words of a text"}\n',
        "a million blank lines": lambda: b"\n" * 1_000_000,
        "combining marks": lambda: '{"id": "a", "text": "e'.encode() + "\u0301".encode() * 2_000_000 + b'"}\n',
        "drawn bytes": lambda: drawn.randbytes(drawn.randrange(1, 100_000)),
        "drawn letters": lambda: bytes(drawn.choice(b'{}[]",:\\ax1 \n') for _ in range(20_000)),
        "a record with drawn bytes": lambda: bytes(
            drawn.randrange(256) if drawn.random() < 0.1 else byte for byte in MANY
        ),
    }


def containers(drawn):
    """Compressed files that are not what they should be."""
    packed, frame = gzip.compress(MANY), zstd_frame(MANY)
    at, bit = drawn.randrange(10, len(packed)), 1 << drawn.randrange(8)
    return {
        "half a gzip.gz": lambda: packed[: len(packed) // 2],
        "a head of gzip.gz": lambda: packed[:5],
        "a gzip with a bit flipped.gz": lambda: packed[:at] + bytes([packed[at] ^ bit]) + packed[at + 1 :],
        "gzip and rubbish.gz": lambda: packed + b"rubbish",
        "gzip and half another.gz": lambda: packed + packed[:-9],
        "gzip in gzip.gz": lambda: gzip.compress(packed),
        "a thousand gzips.gz": lambda: gzip.compress(GOOD) * 1000,
        "a gzip bomb.gz": lambda: gzip_bomb(600),
        "a bomb behind a gzip.gz": lambda: packed + gzip_bomb(300),
        "gzip of nothing.gz": lambda: gzip.compress(b""),
        "plain text.gz": lambda: MANY,
        "half a zstd.zst": lambda: frame[: len(frame) // 2],
        "a head of zstd.zst": lambda: frame[:3],
        "a zstd of a window of 2 TiB.zst": lambda: zstd_frame(MANY, 0xF8),
        "a zstd of a window of 2 GiB.zst": lambda: zstd_frame(MANY, 21 << 3),
        "a zstd of a window of 1 GiB.zst": lambda: zstd_frame(MANY, 20 << 3),
        "a wide window behind a zstd.zst": lambda: frame + zstd_frame(MANY, 20 << 3),
        "a zstd bomb.zst": lambda: zstd_bomb(5000),
        "zstd and rubbish.zst": lambda: frame + b"rubbish",
        "a zstd with a reserved block.zst": lambda: b"\x28\xb5\x2f\xfd\x00\x58\x07\x00\x00",
        "zstd in zstd.zst": lambda: zstd_frame(frame),
        "a skippable frame.zst": lambda: b"\x50\x2a\x4d\x18\xff\xff\xff\xff" + frame,
        "a zstd named gzip.gz": lambda: frame,
        "a bzip2.bz2": lambda: b"BZh91AY&SY" + drawn.randbytes(200),
        "an xz.xz": lambda: b"\xfd7zXZ\x00" + drawn.randbytes(200),
        "a zip.zip": lambda: b"PK\x03\x04" + drawn.randbytes(200),
        "a Parquet file.parquet": lambda: b"PAR1" + drawn.randbytes(200) + b"PAR1",
        "an Avro file.avro": lambda: b"Obj\x01" + drawn.randbytes(200),
        "an image.jsonl": lambda: b"\x89PNG\r\n\x1a\n" + drawn.randbytes(5000),
        "an ELF.jsonl": lambda: b"\x7fELF" + drawn.randbytes(5000),
    }


def tables(drawn):
    """Bad CSV."""
    row = b'1,"some words"\n'
    return {
        "an open quote": lambda: b'id,text\n1,"never closed\n' + row * 20,
        "an open quote for long": lambda: b'id,text\n1,"never closed\n' + row * 3_000_000,
        "too many fields": lambda: b"id,text\n1,2,3,4\n" + row * 20,
        "too few fields": lambda: b"id,text\n1\n" + row * 20,
        "no header": lambda: b"",
        "a header alone": lambda: b"id,text\n",
        "no column of texts": lambda: b"id,body\n" + row,
        "columns of one name": lambda: b"text,id,text\na,1,words of b\n",
        "quotes within": lambda: b'id,text\n1,a "quoted" word\n2,"a"b"\n' + row * 30,
        "many columns": lambda: b",".join(b"c%d" % at for at in range(100_000)) + b"\n" + b"," * 99_999 + b"\n",
        "a long header": lambda: b"h" * 40_000_000 + b"\n" + row,
        "a NUL in a row": lambda: b"id,text\n1,a\x00b\n",
        "invalid UTF-8": lambda: b"id,text\n1,a\xffb\n" + row * 20,
        "a byte order mark": lambda: b"\xef\xbb\xbfid,text\n" + row,
        "UTF-16": lambda: "id,text\n1,words\n".encode("utf-16"),
        "old line ends": lambda: b"id,text\r1,words\r2,other words\r",
        "drawn": lambda: b"id,text\n" + bytes(drawn.choice(b',"\n\rab ') for _ in range(20_000)),
    }
