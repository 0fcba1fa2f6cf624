//! What mails quote of others: lines behind `>`, who wrote them, and the mail that stands whole under a reply.

use memchr::memrchr;

/// How the line above a quotation says that somebody wrote it.
const WROTE: [&str; 19] = [
    "wrote",
    "writes",
    "schrieb",
    "\u{e9}crit",
    "escribi\u{f3}",
    "scritto",
    "schreef",
    "escreveu",
    "skrev",
    "napisa\u{142}",
    "napisa\u{142}a",
    "\u{43d}\u{430}\u{43f}\u{438}\u{441}\u{430}\u{43b}",
    "\u{43d}\u{430}\u{43f}\u{438}\u{441}\u{430}\u{43b}\u{430}",
    "\u{43f}\u{438}\u{448}\u{435}\u{442}",
    "\u{43d}\u{430}\u{43f}\u{438}\u{441}\u{430}\u{432}",
    "kirjoitti",
    "yazd\u{131}",
    "\u{ed}rta",
    "napsal",
];
/// The same in scripts without spaces.
const WROTE_UNSPACED: [&str; 3] =
    ["\u{5199}\u{9053}", "\u{5beb}\u{9053}", "\u{66f8}\u{304d}\u{307e}\u{3057}\u{305f}"];
/// How that begins, if it takes several lines.
const OPENINGS: [&str; 10] = ["on", "am", "le", "el", "il", "op", "em", "den", "w", "dnia"];
/// Lines that such a line is divided into, at most.
const MOST_LINES: usize = 3;
/// Longest line that says who wrote, in bytes.
const LONGEST: usize = 1000;
/// What stands between dashes above the mail that is replied to.
const ORIGINALS: [&str; 9] = [
    "original message",
    "original appointment",
    "urspr\u{fc}ngliche nachricht",
    "message d'origine",
    "mensaje original",
    "messaggio originale",
    "mensagem original",
    "oorspronkelijk bericht",
    "\u{438}\u{441}\u{445}\u{43e}\u{434}\u{43d}\u{43e}\u{435} \u{441}\u{43e}\u{43e}\u{431}\u{449}\u{435}\u{43d}\u{438}\u{435}",
];
/// How the headers of that mail begin, and which one of them only such a mail has: it stands within [`HEADER_LINES`].
const HEADERS: [(&str, &str); 7] = [
    ("from", "sent"),
    ("von", "gesendet"),
    ("de", "envoy\u{e9}"),
    ("de", "enviado"),
    ("da", "inviato"),
    ("van", "verzonden"),
    ("\u{43e}\u{442}", "\u{43e}\u{442}\u{43f}\u{440}\u{430}\u{432}\u{43b}\u{435}\u{43d}\u{43e}"),
];
const HEADER_LINES: usize = 4;

/// What a text says itself: without lines that begin with `>`, the line above them that says who wrote them, and all below
/// the headers of a mail that is replied to. A line that begins with `>From ` is one that an mbox has marked, and stays.
pub(super) fn without_quotes(text: &str) -> String {
    let mut own = OwnLines::default();
    for line in text.lines() {
        if is_quoted(line) {
            own.quotation();
        } else if !own.take(line) {
            break;
        }
    }
    own.text
}

fn is_quoted(line: &str) -> bool {
    line.starts_with('>') && !line.starts_with(">From ")
}

/// The lines of a mail that are its own.
#[derive(Default)]
struct OwnLines {
    text: String,
    /// Where the headers of another mail may begin, how they begin, and the lines since.
    headers: Option<(usize, &'static str, usize)>,
    /// Whether a quotation is the last that stood there.
    quotes: bool,
}

impl OwnLines {
    /// Adds a line that no sign tells to be quoted. Returns false, and takes back what stands over it, if another mail begins.
    fn take(&mut self, line: &str) -> bool {
        if is_original(line) {
            return false;
        }
        let name = header_name(line);
        if let Some((start, first, lines)) = self.headers {
            if HEADERS.iter().any(|(from, sent)| *from == first && name.as_deref() == Some(*sent)) {
                self.text.truncate(start);
                return false;
            }
            self.headers = (lines < HEADER_LINES).then_some((start, first, lines + 1));
        }
        let first = HEADERS.iter().find(|(from, _)| name.as_deref() == Some(*from));
        if let Some((from, _)) = first {
            self.headers = Some((self.text.len(), from, 1));
        }
        self.quotes &= line.trim().is_empty();
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    /// Takes back the lines above a quotation that say who wrote it.
    fn quotation(&mut self) {
        self.headers = None;
        if std::mem::replace(&mut self.quotes, true) {
            return;
        }
        self.text.truncate(self.text.trim_end().len());
        let mut start = None;
        let mut end = self.text.len();
        for nth in 0..MOST_LINES {
            let Some(line_start) = line_start(&self.text[..end]) else { break };
            let line = &self.text[line_start..end];
            if nth == 0 {
                if !says_who_wrote(line) {
                    break;
                }
                start = Some(line_start);
            }
            if opens(line) {
                start = Some(line_start);
                break;
            }
            if line_start == 0 || line.trim().is_empty() {
                break;
            }
            end = line_start - 1;
        }
        if let Some(start) = start {
            self.text.truncate(start);
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

/// Where the last line of a text begins; `None` if it is too long to say who wrote.
fn line_start(text: &str) -> Option<usize> {
    let from = text.len().saturating_sub(LONGEST);
    match memrchr(b'\n', &text.as_bytes()[from..]) {
        Some(at) => Some(from + at + 1),
        None => (from == 0).then_some(0),
    }
}

fn says_who_wrote(line: &str) -> bool {
    let line = line.trim();
    let Some(said) = line.strip_suffix([':', '\u{ff1a}']) else { return false };
    let lower = said.to_lowercase();
    let has_verb = lower.split(|letter: char| !letter.is_alphabetic()).any(|word| WROTE.contains(&word));
    has_verb || WROTE_UNSPACED.iter().any(|wrote| lower.contains(wrote))
}

/// Whether what says who wrote begins with this line: with a date.
fn opens(line: &str) -> bool {
    let line = line.trim_start();
    let first =
        line.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    let is_date = first.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    is_date || (OPENINGS.contains(&&*first) && line.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Whether a line is `-----Original Message-----`, in any language that is known.
fn is_original(line: &str) -> bool {
    let line = line.trim();
    let inside = line.trim_matches('-');
    line.starts_with("--")
        && line.ends_with("--")
        && ORIGINALS.contains(&&*inside.trim().to_lowercase().replace('\u{2019}', "'"))
}

/// The name of a header that a line may be, in lower case, without the stars that make it bold.
fn header_name(line: &str) -> Option<String> {
    let (name, _) = line.trim_start_matches([' ', '\t', '*']).split_once(':')?;
    // The longest name there is has ten letters.
    (name.len() <= 24).then(|| name.trim_end_matches([' ', '\u{a0}', '*']).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Vec<String> {
        without_quotes(text).lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn quoted_lines_go_and_who_wrote_them() {
        for who in [
            "On Tue, 5 Jan 2021, Ann Other wrote:",
            "On Tue, Jan 5, 2021 at 3:00 PM Ann Other <\nann@example.org> wrote:",
            "On Tue, Jan 5, 2021 at 3:00 PM Ann\nOther with a name of many words <\nann@example.org> wrote:",
            "Am 05.01.21 um 10:11 schrieb Ann Other:",
            "Le 5 janv. 2021, Ann Other a \u{e9}crit :",
            "2021-01-05 10:11 GMT+01:00 Ann Other a \u{e9}crit:",
            "5 \u{44f}\u{43d}\u{432}\u{430}\u{440}\u{44f} 2021 \u{433}. Ann Other \u{43d}\u{430}\u{43f}\u{438}\u{441}\u{430}\u{43b}(\u{430}):",
            "Ann Other writes:",
            "Ann Other \u{4e8e}2021\u{5e74}1\u{6708}5\u{65e5}\u{5199}\u{9053}\u{ff1a}",
        ] {
            let text = format!("yes\n\n{who}\n\n> one\n>> two\n>three\n\nno\n> four\nlast\n");
            assert_eq!(own(&text), ["yes", "no", "last"], "{who}");
        }
    }

    #[test]
    fn what_looks_like_a_quotation_and_is_none_stays() {
        for text in [
            "as she wrote:\n\nnothing\n",
            "three things:\n1 > 0\n -> x\n",
            ">From here on it is mine\nyes\n",
            "From: here\nto there\nand back\nand on\nand on\nSent: never\n",
            "-- \nmy name\n--\n",
            "--original thought--\nx\n",
        ] {
            assert_eq!(without_quotes(text), text);
        }
        assert_eq!(own("we need these:\n> one\n"), ["we need these:"]);
        assert_eq!(own("on my way\nI wrote:\n> one\n"), ["on my way"]);
        assert_eq!(own("she wrote:\nI wrote:\n> one\n> two\n\n> three\n"), ["she wrote:"]);
    }

    #[test]
    fn a_mail_under_a_reply_goes_with_its_headers() {
        for headers in [
            "-----Original Message-----\nFrom: a\n",
            "  ---- Urspr\u{fc}ngliche Nachricht ----\n",
            "-----Message d\u{2019}origine-----\n",
            "From: Ann\nSent: Tuesday\nTo: b\nSubject: c\n",
            "*Von:* Ann\n*Gesendet:* Dienstag\n",
            "De\u{a0}: Ann\nEnvoy\u{e9}\u{a0}: mardi\n",
            "De: Ann\nEnviado el: x\nEnviado: martes\n",
        ] {
            assert_eq!(own(&format!("yes\n\n{headers}\nno\nno\n")), ["yes"], "{headers}");
        }
    }

    #[test]
    fn many_quotations_cost_what_their_bytes_cost() {
        let long = "x".repeat(1 << 20);
        let text = format!("{long}\n{}{}", "\n".repeat(1 << 20), "> a\n\n".repeat(1 << 18));
        assert_eq!(without_quotes(&text).trim_end(), long);
    }
}
