//! Archives as the standards spell them out: a header with its sum, the content, zeros up to the end of a block.

/// In which form names stand that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Before there were any others.
    Old,
    /// A name in two parts.
    Ustar,
    /// A member that is nothing but the name of the next one.
    Gnu,
    /// A member of keys and values.
    Pax,
}

/// The forms there are.
pub(crate) const DIALECTS: [Dialect; 4] = [Dialect::Old, Dialect::Ustar, Dialect::Gnu, Dialect::Pax];

/// The header of a member: two parts of its name, its kind, bytes of its content, what it links to.
pub(crate) fn header(
    dialect: Dialect,
    (prefix, name): (&str, &str),
    kind: u8,
    size: u64,
    link: &str,
) -> Vec<u8> {
    let mut block = vec![0; 512];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000644\x000000000\x000000000\0");
    put(124, format!("{size:011o}\x0014000000000\0").as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link.as_bytes());
    match dialect {
        Dialect::Old => {}
        Dialect::Gnu => put(257, b"ustar  \0"),
        Dialect::Ustar | Dialect::Pax => put(257, b"ustar\x0000"),
    }
    put(345, prefix.as_bytes());
    signed(block)
}

/// A header with its sum.
pub(crate) fn signed(mut block: Vec<u8>) -> Vec<u8> {
    block[148..156].fill(b' ');
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Content with zeros behind it.
pub(crate) fn filled(content: &[u8]) -> Vec<u8> {
    let mut filled = content.to_vec();
    filled.resize(content.len().next_multiple_of(512), 0);
    filled
}

/// A line of a key and a value, with its own length.
pub(crate) fn pax(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let length = (rest + 1..).find(|length| length.to_string().len() + rest == *length).unwrap();
    format!("{length} {key}={value}\n")
}

/// What stands before a member whose name is too long, and the name that its header has.
fn named(dialect: Dialect, name: &str) -> (Vec<u8>, (&str, &str)) {
    if name.len() <= 100 {
        return (Vec::new(), ("", name));
    }
    let before = |kind, content: &[u8]| {
        let header = header(dialect, ("", "././@before"), kind, content.len() as u64, "");
        [header, filled(content)].concat()
    };
    match dialect {
        Dialect::Old => panic!("{name} is too long for this form"),
        Dialect::Ustar => (Vec::new(), name.rsplit_once('/').unwrap()),
        Dialect::Gnu => (before(b'L', format!("{name}\0").as_bytes()), ("", &name[..100])),
        Dialect::Pax => (before(b'x', pax("path", name).as_bytes()), ("", &name[..100])),
    }
}

/// A member with all that stands for it.
pub(crate) fn member(dialect: Dialect, name: &str, content: &[u8]) -> Vec<u8> {
    let (before, parts) = named(dialect, name);
    let kind = if dialect == Dialect::Old { 0 } else { b'0' };
    [before, header(dialect, parts, kind, content.len() as u64, ""), filled(content)].concat()
}

/// A member without content: a folder, or a link.
pub(crate) fn name(dialect: Dialect, name: &str, kind: u8, link: &str) -> Vec<u8> {
    header(dialect, ("", name), kind, 0, link)
}

/// Members and the end behind them.
pub(crate) fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [&members.concat()[..], &[0; 1024]].concat()
}
