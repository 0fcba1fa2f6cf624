//! Markup on its way to the tokenizer. That nests a call for each attribute in double quotes until their tag ends, and a tag of a few
//! thousand of them would take all of the stack. An error of the reader ends all these calls, and the tokenizer goes on where it was.

use std::fmt;

use html5gum::{Emitter, Readable, Reader, StringReader, Tokenizer};

/// What the tokenizer asks for behind the quote that begins a value. By then it has noted where it is.
const IN_VALUE: &[u8] = b"\"&\0\r";
/// Values between two pauses.
const VALUES: usize = 64;

/// The tokens that `emitter` makes of some markup.
pub(super) fn tokens<E: Emitter>(markup: &str, emitter: E) -> impl Iterator<Item = E::Token> {
    let reader = MarkupReader { markup: markup.to_reader(), values: 0 };
    Tokenizer::new_with_emitter(reader, emitter).filter_map(Result::ok)
}

/// A string, with pauses.
struct MarkupReader<'a> {
    markup: StringReader<'a>,
    values: usize,
}

/// Nothing was read, so that the same can be asked for again.
#[derive(Debug)]
struct Pause;

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pause")
    }
}

impl std::error::Error for Pause {}

impl Reader for MarkupReader<'_> {
    type Error = Pause;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Pause> {
        self.markup.read_byte().map_err(|never| match never {})
    }

    #[inline(always)]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Pause> {
        self.markup.try_read_string(text, case_sensitive).map_err(|never| match never {})
    }

    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Pause> {
        if needle == IN_VALUE {
            self.values += 1;
            if self.values.is_multiple_of(VALUES) {
                return Err(Pause);
            }
        }
        self.markup.read_until(needle, buffer).map_err(|never| match never {})
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
    use html5gum::{Span, Token};
    use proptest::prelude::*;

    use super::*;

    /// Small, so that little markup shows what takes more and more of it.
    const STACK: usize = 256 << 10;

    #[test]
    fn no_markup_takes_the_stack() {
        let some = [
            "a=\"b\" ",
            "a=\"b\"",
            "a=\"\" ",
            "a = \"b\"\n",
            "a='b' ",
            "a=b ",
            "a=\"&amp;\" ",
            "a=\"b\"/",
            "a=\"b\" / ",
            "\"=\"b\" ",
            "a=\"\0\" ",
            "a=\"b\r\n\" ",
            "a=\"",
            "/ ",
            "= ",
            "a ",
            "'",
            "\"",
            "<",
            "</",
            "<!",
            "<!-",
            "<!--",
            "-",
            "]]>",
            "<![CDATA[",
            "&",
            "&#",
            "&amp",
            "&#x41;",
            "<script>",
            "<script><!--",
            "<a>",
            "<a b=\"c\">",
            "</a b=\"c\">",
            "<p/",
            "\r",
            "\0",
            "<?",
            "<style>",
            "<title>",
            "<textarea>",
            "<!-->",
            "--!>",
            "<a b=",
            "<a b='",
            "<a b=\"",
            "</script",
            "<svg>",
            "<!doctype a public \"b\" ",
            "<!doctype ",
        ];
        let work = move || {
            for begin in ["<p ", "</p ", "<!doctype a ", ""] {
                for piece in some {
                    let markup = format!("{begin}{}>", piece.repeat(20_000));
                    let emitter =
                        CallbackEmitter::new(|_: CallbackEvent<'_>, _: Span<()>| -> Option<()> { None });
                    assert_eq!(tokens(&markup, emitter).count(), 0);
                }
            }
        };
        thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread").join().expect("all of it");
    }

    fn told(token: &Token) -> String {
        format!("{token:?}")
    }

    proptest! {
        /// Pauses change nothing: against the tokenizer without them.
        #[test]
        fn tokens_are_those_of_the_string(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "<p ", "</p ", ">", "a=\"b\" ", "c=\"&lt;\r\n\" ", "\"", "\r", "\n", "&amp", "d='e' ", "f=g ", "h", "/", "=", " ",
                    "\0", "<!-- \" -->", "text",
                ]),
                0..600,
            ),
        ) {
            let markup = pieces.concat();
            let plain: Vec<String> = Tokenizer::new(&*markup).flatten().map(|token| told(&token)).collect();
            let paused: Vec<String> =
                tokens(&markup, html5gum::DefaultEmitter::<()>::default()).map(|token| told(&token)).collect();
            prop_assert_eq!(paused, plain);
        }
    }
}
