//! Code pages by the numbers that RTF gives them.

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GBK, IBM866, MACINTOSH, SHIFT_JIS, UTF_8, WINDOWS_874, WINDOWS_1250,
    WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257,
    WINDOWS_1258, X_MAC_CYRILLIC,
};

/// What bytes of text are decoded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodePage {
    Known(&'static Encoding),
    /// One that nobody decodes here: only its ASCII is text.
    Unknown,
}

impl CodePage {
    /// That of Windows in western Europe, which counts where a file says nothing.
    pub(super) const WESTERN: CodePage = CodePage::Known(WINDOWS_1252);
    /// That of the Macintosh.
    pub(super) const MAC: CodePage = CodePage::Known(MACINTOSH);

    /// By its number in Windows.
    pub(super) fn of(number: i32) -> CodePage {
        CodePage::Known(match number {
            866 => IBM866,
            874 => WINDOWS_874,
            932 => SHIFT_JIS,
            936 => GBK,
            949 => EUC_KR,
            950 => BIG5,
            1250 => WINDOWS_1250,
            1251 => WINDOWS_1251,
            1252 => WINDOWS_1252,
            1253 => WINDOWS_1253,
            1254 => WINDOWS_1254,
            1255 => WINDOWS_1255,
            1256 => WINDOWS_1256,
            1257 => WINDOWS_1257,
            1258 => WINDOWS_1258,
            10_000 => MACINTOSH,
            10_007 => X_MAC_CYRILLIC,
            65_001 => UTF_8,
            _ => return CodePage::Unknown,
        })
    }

    /// That of the character set of a font; `None` if the font has that of the file.
    pub(super) fn of_font(charset: i32) -> Option<CodePage> {
        let number = match charset {
            0 | 2 => 1252,
            77 => 10_000,
            128 => 932,
            129 => 949,
            134 => 936,
            136 => 950,
            161 => 1253,
            162 => 1254,
            163 => 1258,
            177 => 1255,
            178 => 1256,
            186 => 1257,
            204 => 1251,
            222 => 874,
            238 => 1250,
            _ => return None,
        };
        Some(CodePage::of(number))
    }

    /// Appends the text that bytes are; what is no character becomes a replacement character.
    pub(super) fn decode(self, bytes: &[u8], text: &mut String) {
        match self {
            CodePage::Known(encoding) => text.push_str(&encoding.decode_without_bom_handling(bytes).0),
            CodePage::Unknown => text.extend(
                bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '\u{fffd}' }),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_text_of_their_page() {
        let decoded = |page: CodePage, bytes: &[u8]| {
            let mut text = String::new();
            page.decode(bytes, &mut text);
            text
        };
        assert_eq!(decoded(CodePage::WESTERN, b"caf\xe9"), "caf\u{e9}");
        assert_eq!(decoded(CodePage::of(1251), b"\xe0"), "\u{430}");
        assert_eq!(decoded(CodePage::of_font(128).expect("a page"), b"\x82\xa0"), "\u{3042}");
        assert_eq!(decoded(CodePage::of(437), b"a\x82"), "a\u{fffd}");
        assert_eq!((CodePage::of_font(1), CodePage::of_font(204)), (None, Some(CodePage::of(1251))));
    }
}
