//! What mails quote of others: lines behind `>`, who wrote them, and the mail that stands whole under a reply.

use memchr::memrchr;

/// How the line above a quotation says that somebody wrote it.
const WROTE: [&str; 20] = [
    "wrote",
    "writes",
    "\u{43f}\u{438}\u{448}\u{435}",
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
/// How that begins, if it takes several lines and says no time of day.
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
/// How headers above that mail are called: who sent it, when, when in other programs, and the subject.
const HEADERS: [[&str; 4]; 8] = [
    ["from", "sent", "date", "subject"],
    ["von", "gesendet", "datum", "betreff"],
    ["de", "envoy\u{e9}", "date", "objet"],
    ["de", "enviado", "fecha", "asunto"],
    ["de", "enviada", "data", "assunto"],
    ["da", "inviato", "data", "oggetto"],
    ["van", "verzonden", "datum", "onderwerp"],
    [
        "\u{43e}\u{442}",
        "\u{43e}\u{442}\u{43f}\u{440}\u{430}\u{432}\u{43b}\u{435}\u{43d}\u{43e}",
        "\u{434}\u{430}\u{442}\u{430}",
        "\u{442}\u{435}\u{43c}\u{430}",
    ],
];
/// Lines with anything on them from the first of these headers to the last.
const HEADER_LINES: usize = 6;

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

/// Headers of another mail that have begun.
#[derive(Clone, Copy)]
struct Headers {
    /// Where they begin in what is taken.
    start: usize,
    /// What the first is called.
    from: &'static str,
    /// Lines since.
    lines: usize,
    /// Whether one of them has said when.
    dated: bool,
}

/// The lines of a mail that are its own.
#[derive(Default)]
struct OwnLines {
    text: String,
    headers: Option<Headers>,
    /// Whether a quotation is the last that stood there.
    quotes: bool,
}

impl OwnLines {
    /// Adds a line that no sign tells to be quoted. Returns false, and takes back what stands over it, if another mail begins.
    fn take(&mut self, line: &str) -> bool {
        if is_original(line) {
            return false;
        }
        let is_blank = line.trim().is_empty();
        let name = header_name(line);
        if let Some(mut headers) = self.headers.filter(|_| !is_blank) {
            let kinds = HEADERS.iter().filter(|kind| kind[0] == headers.from);
            let is = |at: usize| {
                kinds.clone().any(|kind| name.as_deref().is_some_and(|name| is_called(name, kind[at])))
            };
            if is(1) || (headers.dated && is(3)) {
                self.text.truncate(headers.start);
                return false;
            }
            headers.dated |= is(2);
            headers.lines += 1;
            self.headers = (headers.lines < HEADER_LINES).then_some(headers);
        }
        let first = HEADERS.iter().find(|kind| name.as_deref() == Some(kind[0]));
        if let Some([from, ..]) = first.filter(|_| self.headers.is_none()) {
            self.headers = Some(Headers { start: self.text.len(), from, lines: 1, dated: false });
        }
        self.quotes &= is_blank;
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
    // Some programs have no verb, but an address and a date.
    has_verb
        || WROTE_UNSPACED.iter().any(|wrote| lower.contains(wrote))
        || (said.contains('@') && has_year(said))
}

/// Whether what says who wrote begins with this line: it has a year, and a time of day or an opening.
fn opens(line: &str) -> bool {
    let first = line.trim_start().split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    has_year(line) && (has_time(line) || OPENINGS.contains(&&*first.to_lowercase()))
}

fn has_year(line: &str) -> bool {
    let is_year = |digits: &str| digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    line.split(|letter: char| !letter.is_ascii_digit()).any(is_year)
}

fn has_time(line: &str) -> bool {
    let is_time = |four: &[u8]| {
        four[0].is_ascii_digit()
            && matches!(four[1], b':' | b'.')
            && four[2].is_ascii_digit()
            && four[3].is_ascii_digit()
    };
    line.as_bytes().windows(4).any(is_time)
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

/// Whether a header is one that is called so: `Enviado` is `Enviado el`, too.
fn is_called(name: &str, header: &str) -> bool {
    name.strip_prefix(header).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
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
            "wt., 5 sty 2021 o 15:00 Ann Other <ann@example.org>\nnapisa\u{142}(a):",
            "\u{432}\u{442}, 5 \u{44f}\u{43d}\u{432}. 2021 \u{433}. \u{432} 15:00, Ann <ann@example.org>:",
            "2021\u{5e74}1\u{6708}5\u{65e5}(\u{706b}) 15:00 Ann <ann@example.org>:",
            "Ann Other <ann@example.org> \u{43f}\u{438}\u{448}\u{435}:",
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
            "From: here\nto there\nand back\nand on\nand on\nand on\nSent: never\n",
            "From: here\nDate: today\nThe rest is mine\n",
            "-- \nmy name\n--\n",
            "--original thought--\nx\n",
        ] {
            assert_eq!(without_quotes(text), text);
        }
        assert_eq!(own("we need these:\n> one\n"), ["we need these:"]);
        assert_eq!(own("on my way\nI wrote:\n> one\n"), ["on my way"]);
        assert_eq!(own("1. yes\n2. no\nI wrote:\n> one\n"), ["1. yes", "2. no"]);
        assert_eq!(own("2021 was good\nand we go on\nI wrote:\n> one\n"), ["2021 was good", "and we go on"]);
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
            "De: Ann\nEnviado el: martes\nPara: b\n",
            "De: Ann\nEnviada em: ter\u{e7}a\nPara: b\n",
            "From: Ann\nDate: Tuesday\nTo: b\nSubject: c\n",
            "From:\n\nAnn\n\nSent:\n\nTuesday\n",
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
