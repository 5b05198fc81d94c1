//! Sets of bytes, and the names that bracket expressions may use.

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    /// Every byte except the newline: `.`.
    pub(super) fn not_newline() -> Self {
        let mut set = Self([u64::MAX; 4]);
        set.remove(b'\n');
        set
    }

    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] &= !(1 << (byte % 64));
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & (1 << (byte % 64)) != 0
    }

    /// The bytes that are not in the set, without the newline.
    pub(super) fn complement_in_line(self) -> Self {
        let mut set = Self(self.0.map(|word| !word));
        set.remove(b'\n');
        set
    }

    /// The set with both cases of each of its letters.
    pub(super) fn with_both_cases(mut self) -> Self {
        for letter in (b'a'..=b'z').chain(b'A'..=b'Z') {
            if self.contains(letter) {
                self.insert(letter ^ 0x20);
            }
        }
        self
    }

    /// The only byte of the set, if it has exactly one.
    pub(super) fn single(&self) -> Option<u8> {
        let mut members = (0..=u8::MAX).filter(|byte| self.contains(*byte));
        let first = members.next()?;
        members.next().is_none().then_some(first)
    }
}

/// The members of a character class, such as `alpha` in `[[:alpha:]]`.
pub(super) fn class(name: &[u8]) -> Option<fn(u8) -> bool> {
    let members: fn(u8) -> bool = match name {
        b"alnum" => |byte| byte.is_ascii_alphanumeric(),
        b"alpha" => |byte| byte.is_ascii_alphabetic(),
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        // The zero byte ends a text for LLVM, and is in no class.
        b"cntrl" => |byte| byte.is_ascii_control() && byte != 0,
        b"digit" => |byte| byte.is_ascii_digit(),
        b"graph" => |byte| byte.is_ascii_graphic(),
        b"lower" => |byte| byte.is_ascii_lowercase(),
        b"print" => |byte| byte.is_ascii_graphic() || byte == b' ',
        b"punct" => |byte| byte.is_ascii_punctuation(),
        b"space" => |byte| matches!(byte, b'\t'..=b'\r' | b' '),
        b"upper" => |byte| byte.is_ascii_uppercase(),
        b"xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return None,
    };
    Some(members)
}

/// POSIX's names of characters, as in `[[.hyphen.]]`.
const NAMES: [(&[u8], u8); 95] = [
    (b"NUL", 0x00),
    (b"SOH", 0x01),
    (b"STX", 0x02),
    (b"ETX", 0x03),
    (b"EOT", 0x04),
    (b"ENQ", 0x05),
    (b"ACK", 0x06),
    (b"BEL", 0x07),
    (b"alert", 0x07),
    (b"BS", 0x08),
    (b"backspace", 0x08),
    (b"HT", b'\t'),
    (b"tab", b'\t'),
    (b"LF", b'\n'),
    (b"newline", b'\n'),
    (b"VT", 0x0b),
    (b"vertical-tab", 0x0b),
    (b"FF", 0x0c),
    (b"form-feed", 0x0c),
    (b"CR", b'\r'),
    (b"carriage-return", b'\r'),
    (b"SO", 0x0e),
    (b"SI", 0x0f),
    (b"DLE", 0x10),
    (b"DC1", 0x11),
    (b"DC2", 0x12),
    (b"DC3", 0x13),
    (b"DC4", 0x14),
    (b"NAK", 0x15),
    (b"SYN", 0x16),
    (b"ETB", 0x17),
    (b"CAN", 0x18),
    (b"EM", 0x19),
    (b"SUB", 0x1a),
    (b"ESC", 0x1b),
    (b"IS4", 0x1c),
    (b"FS", 0x1c),
    (b"IS3", 0x1d),
    (b"GS", 0x1d),
    (b"IS2", 0x1e),
    (b"RS", 0x1e),
    (b"IS1", 0x1f),
    (b"US", 0x1f),
    (b"space", b' '),
    (b"exclamation-mark", b'!'),
    (b"quotation-mark", b'"'),
    (b"number-sign", b'#'),
    (b"dollar-sign", b'$'),
    (b"percent-sign", b'%'),
    (b"ampersand", b'&'),
    (b"apostrophe", b'\''),
    (b"left-parenthesis", b'('),
    (b"right-parenthesis", b')'),
    (b"asterisk", b'*'),
    (b"plus-sign", b'+'),
    (b"comma", b','),
    (b"hyphen", b'-'),
    (b"hyphen-minus", b'-'),
    (b"period", b'.'),
    (b"full-stop", b'.'),
    (b"slash", b'/'),
    (b"solidus", b'/'),
    (b"zero", b'0'),
    (b"one", b'1'),
    (b"two", b'2'),
    (b"three", b'3'),
    (b"four", b'4'),
    (b"five", b'5'),
    (b"six", b'6'),
    (b"seven", b'7'),
    (b"eight", b'8'),
    (b"nine", b'9'),
    (b"colon", b':'),
    (b"semicolon", b';'),
    (b"less-than-sign", b'<'),
    (b"equals-sign", b'='),
    (b"greater-than-sign", b'>'),
    (b"question-mark", b'?'),
    (b"commercial-at", b'@'),
    (b"left-square-bracket", b'['),
    (b"backslash", b'\\'),
    (b"reverse-solidus", b'\\'),
    (b"right-square-bracket", b']'),
    (b"circumflex", b'^'),
    (b"circumflex-accent", b'^'),
    (b"underscore", b'_'),
    (b"low-line", b'_'),
    (b"grave-accent", b'`'),
    (b"left-brace", b'{'),
    (b"left-curly-bracket", b'{'),
    (b"vertical-line", b'|'),
    (b"right-brace", b'}'),
    (b"right-curly-bracket", b'}'),
    (b"tilde", b'~'),
    (b"DEL", 0x7f),
];

/// The character with that name; a single character names itself.
pub(super) fn named(name: &[u8]) -> Option<u8> {
    let known = NAMES.iter().find(|(known, _)| *known == name).map(|(_, byte)| *byte);
    known.or_else(|| <[u8; 1]>::try_from(name).ok().map(|[byte]| byte))
}
