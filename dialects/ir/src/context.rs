//! The environment of a module: the registered dialects, and the interned types and attributes.

use crate::decl::{Body, BodyDef, BodyError, Dialect, OpDecl, check};
use crate::infer::Inferred;
use crate::location::Locations;
use crate::memo::Memo;
use crate::open;
use rustc_hash::FxBuildHasher as Fast;
use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// An interned type: equal ids are equal types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

/// An interned attribute: equal ids are equal attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttrId(u32);

/// The data of a type.
#[derive(Clone)]
pub struct TypeData {
    /// Its text, e.g. `!tm.dm<bf16, [1], [1 # 2], [I], [J]>`.
    pub text: Rc<str>,
    /// Its definition and value; `None` for a type of an unregistered dialect, or of MLIR itself.
    pub body: Option<(&'static BodyDef, Rc<dyn Body>)>,
}

/// The data of an attribute.
#[derive(Clone)]
pub enum Attr {
    /// A signed 64-bit integer.
    Int(i64),
    /// A string or a word.
    Str(Rc<str>),
    /// `@name`.
    Symbol(Rc<str>),
    /// A list of integers.
    Ints(Rc<[i64]>),
    /// A list of strings.
    Strs(Rc<[Rc<str>]>),
    /// Present, with no value.
    Unit,
    /// `auto`: a pass chooses it.
    Auto,
    /// A list of integers, of which a pass chooses those that are `None`.
    OpenInts(Rc<[Option<i64>]>),
    /// A dialect attribute.
    Body(&'static BodyDef, Rc<dyn Body>),
    /// An attribute of an unregistered dialect or of MLIR itself, as written.
    Opaque(Rc<str>),
}

impl Attr {
    /// The attribute in MLIR's generic syntax; also its identity.
    #[must_use]
    pub fn generic(&self) -> String {
        match self {
            Self::Int(value) => format!("{value} : i64"),
            Self::Str(text) => quote(text),
            Self::Symbol(name) => symbol(name, is_mlir_symbol),
            Self::Ints(values) if values.is_empty() => "array<i64>".into(),
            Self::Ints(values) => {
                let items: Vec<_> = values.iter().map(i64::to_string).collect();
                format!("array<i64: {}>", items.join(", "))
            }
            Self::Strs(values) => {
                let items: Vec<_> = values.iter().map(|text| quote(text)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Unit => "unit".into(),
            Self::Auto => open::ATTRIBUTE.into(),
            Self::OpenInts(values) => {
                let items = values.iter().map(|value| match value {
                    Some(value) => format!("{value} : i64"),
                    None => open::ATTRIBUTE.to_owned(),
                });
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Self::Body(def, body) => format!("#{}<{body}>", def.name),
            Self::Opaque(text) => text.to_string(),
        }
    }
}

/// A use of a symbol, quoted where `bare` does not take its name.
pub(crate) fn symbol(name: &str, bare: impl Fn(&str) -> bool) -> String {
    if bare(name) { format!("@{name}") } else { format!("@{}", quote(name)) }
}

/// Returns true if MLIR takes the name of a symbol without quotes.
fn is_mlir_symbol(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte))
}

/// The key of an entry of a dictionary, quoted where MLIR does not take it bare.
pub(crate) fn key(name: &str) -> Cow<'_, str> {
    if is_mlir_symbol(name) { Cow::Borrowed(name) } else { Cow::Owned(quote(name)) }
}

/// Returns true if the pretty form takes the name of a symbol without quotes.
pub(crate) fn is_pretty_symbol(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-$".contains(&byte))
}

/// Reads a use of a symbol in either form: `@name` or `@"name"`. `None` if it is neither.
pub(crate) fn symbol_name(text: &str) -> Option<String> {
    let name = text.strip_prefix('@')?;
    match name.strip_prefix('"') {
        Some(quoted) => unquote(quoted.strip_suffix('"')?).ok().filter(|name| !name.is_empty()),
        None => Some(name.to_owned()),
    }
}

/// A string literal in MLIR's syntax.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if visa_words::hides(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    out.push_str(&format!("\\{byte:02X}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Reads a string literal's inside.
///
/// # Errors
/// An escape that the syntax lacks, or escapes whose bytes are not UTF-8, in words.
pub fn unquote(inside: &str) -> Result<String, String> {
    let mut out = Vec::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            out.push(escaped(&mut chars)?);
        } else {
            out.extend(c.encode_utf8(&mut [0; 4]).bytes());
        }
    }
    String::from_utf8(out).map_err(|error| {
        let byte = error.as_bytes()[error.utf8_error().valid_up_to()];
        format!(
            "the string is not UTF-8: the escape `\\{byte:02X}` is a byte that belongs to no character there"
        )
    })
}

/// The byte that the escape after a backslash stands for.
fn escaped(rest: &mut std::str::Chars<'_>) -> Result<u8, String> {
    let first = rest.next();
    match first {
        Some('n') => return Ok(b'\n'),
        Some('t') => return Ok(b'\t'),
        Some('"') => return Ok(b'"'),
        Some('\\') => return Ok(b'\\'),
        Some(_) | None => {}
    }
    let second = rest.clone().next();
    let digit = |c: Option<char>| c.and_then(|c| c.to_digit(16));
    match digit(first).zip(digit(second)) {
        Some((high, low)) => {
            rest.next();
            Ok((high * 16 + low) as u8)
        }
        None => {
            let text: String = first.into_iter().chain(second.filter(|_| digit(first).is_some())).collect();
            Err(format!(
                "`\\{}` is no escape: expected `\\n`, `\\t`, `\\\"`, `\\\\`, or two hexadecimal digits of a byte",
                text.escape_debug()
            ))
        }
    }
}

struct Interner<T> {
    ids: HashMap<Rc<str>, u32, Fast>,
    items: Vec<T>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { ids: HashMap::default(), items: Vec::new() }
    }
}

impl<T: Clone> Interner<T> {
    fn intern(&mut self, key: &str, item: impl FnOnce(Rc<str>) -> T) -> u32 {
        if let Some(&id) = self.ids.get(key) {
            return id;
        }
        let id = self.items.len() as u32;
        let key: Rc<str> = key.into();
        self.items.push(item(key.clone()));
        self.ids.insert(key, id);
        id
    }
}

/// Registered dialects and interned values. A value, not a global: make as many as you like.
#[derive(Default)]
pub struct Context {
    /// True if operations of unregistered dialects are accepted (in the generic form).
    pub allow_unregistered: bool,
    dialects: BTreeMap<&'static str, &'static Dialect>,
    ops: HashMap<&'static str, &'static OpDecl>,
    types: HashMap<&'static str, &'static BodyDef>,
    attrs: HashMap<&'static str, &'static BodyDef>,
    data: RefCell<Vec<Rc<dyn Any>>>,
    type_interner: RefCell<Interner<TypeData>>,
    attr_interner: RefCell<Interner<Attr>>,
    /// The integers among the attributes: by far the most frequent, and found without writing them out.
    ints: RefCell<HashMap<i64, AttrId, Fast>>,
    pub(crate) inferred: Inferred,
    pub(crate) memo: Memo,
    pub(crate) locations: Locations,
}

impl Context {
    /// A context with `dialects` registered.
    ///
    /// # Panics
    /// If a declaration is wrong: a mistake in a dialect, never in an input. [`Context::register`] returns it as an
    /// error.
    #[must_use]
    pub fn new(dialects: &[&'static Dialect]) -> Self {
        let mut context = Self::default();
        for dialect in dialects {
            context.register(dialect).unwrap_or_else(|wrong| panic!("{}", wrong.join("; ")));
        }
        context
    }

    /// Adds a dialect.
    ///
    /// # Errors
    /// The errors in its declarations, or that a dialect of its name is registered. The context stays unchanged then.
    pub fn register(&mut self, dialect: &'static Dialect) -> Result<(), Vec<String>> {
        let mut wrong = check(dialect);
        if self.dialects.contains_key(dialect.name) {
            wrong.push(format!("a dialect `{}` is already registered", dialect.name));
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        self.dialects.insert(dialect.name, dialect);
        self.ops.extend(dialect.ops.iter().copied().flatten().map(|op| (op.name, *op)));
        self.types.extend(dialect.types.iter().map(|def| (def.name, *def)));
        self.attrs.extend(dialect.attrs.iter().map(|def| (def.name, *def)));
        Ok(())
    }

    /// Stores a value under its type for [`Context::data`], e.g. the machine with its limits.
    pub fn set_data<T: Any>(&mut self, value: T) {
        // Inference and other answers may have asked for the earlier value.
        self.inferred = Inferred::default();
        self.memo = Memo::default();
        let data = self.data.get_mut();
        data.retain(|any| any.downcast_ref::<T>().is_none());
        data.push(Rc::new(value));
    }

    /// The value of type `T` that was kept, or its default.
    pub fn data<T: Any + Default>(&self) -> Rc<T> {
        let known = self.data.borrow().iter().find_map(|any| any.clone().downcast().ok());
        known.unwrap_or_else(|| {
            let value = Rc::new(T::default());
            self.data.borrow_mut().push(value.clone());
            value
        })
    }

    /// The registered dialects, by name.
    pub fn dialects(&self) -> impl Iterator<Item = &'static Dialect> + '_ {
        self.dialects.values().copied()
    }

    /// The dialect called `name`.
    #[must_use]
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.dialects.get(name).copied()
    }

    /// The declaration of the operation `name`.
    #[must_use]
    pub fn op(&self, name: &str) -> Option<&'static OpDecl> {
        self.ops.get(name).copied()
    }

    /// Every registered operation's name.
    #[must_use]
    pub fn op_names(&self) -> Vec<&'static str> {
        self.dialects().flat_map(|d| d.ops.iter().copied().flatten().map(|op| op.name)).collect()
    }

    /// The type definition `name`.
    #[must_use]
    pub fn type_def(&self, name: &str) -> Option<&'static BodyDef> {
        self.types.get(name).copied()
    }

    /// Every registered type's name.
    #[must_use]
    pub fn type_names(&self) -> Vec<&'static str> {
        self.dialects().flat_map(|d| d.types.iter().map(|def| def.name)).collect()
    }

    /// The attribute definition `name`.
    #[must_use]
    pub fn attr_def(&self, name: &str) -> Option<&'static BodyDef> {
        self.attrs.get(name).copied()
    }

    /// Interns a type of definition `def`.
    pub fn intern_type(&self, def: &'static BodyDef, body: Rc<dyn Body>) -> TypeId {
        let body_text = body.to_string();
        let text = match body_text.is_empty() {
            true => format!("!{}", def.name),
            false => format!("!{}<{body_text}>", def.name),
        };
        let data = |text| TypeData { text, body: Some((def, body)) };
        TypeId(self.type_interner.borrow_mut().intern(&text, data))
    }

    /// Interns a type that no registered dialect defines.
    pub fn opaque_type(&self, text: &str) -> TypeId {
        TypeId(self.type_interner.borrow_mut().intern(text, |text| TypeData { text, body: None }))
    }

    /// Reads the type whose whole text is `text`; each distinct text is parsed once.
    ///
    /// # Errors
    /// The error of the definition's parser.
    pub fn parse_type(&self, def: &'static BodyDef, text: &str, body: &str) -> Result<TypeId, BodyError> {
        if let Some(&id) = self.type_interner.borrow().ids.get(text) {
            return Ok(TypeId(id));
        }
        let id = self.intern_type(def, (def.parse)(body)?);
        self.type_interner.borrow_mut().ids.insert(text.into(), id.0);
        Ok(id)
    }

    /// Reads a dialect attribute from its body; each distinct text is parsed once.
    ///
    /// # Errors
    /// The error of the definition's parser.
    pub fn parse_attr(&self, def: &'static BodyDef, body: &str) -> Result<AttrId, BodyError> {
        let key = format!("#{}<{body}>", def.name);
        if let Some(&id) = self.attr_interner.borrow().ids.get(key.as_str()) {
            return Ok(AttrId(id));
        }
        let id = self.attr(Attr::Body(def, (def.parse)(body)?));
        self.attr_interner.borrow_mut().ids.insert(key.into(), id.0);
        Ok(id)
    }

    /// Interns an attribute.
    pub fn attr(&self, attr: Attr) -> AttrId {
        let int = if let Attr::Int(value) = attr { Some(value) } else { None };
        if let Some(id) = int.and_then(|value| self.ints.borrow().get(&value).copied()) {
            return id;
        }
        let key = attr.generic();
        let id = AttrId(self.attr_interner.borrow_mut().intern(&key, |_| attr));
        self.ints.borrow_mut().extend(int.map(|value| (value, id)));
        id
    }

    /// Interns a dialect attribute.
    pub fn body_attr(&self, def: &'static BodyDef, value: impl Body) -> AttrId {
        self.attr(Attr::Body(def, Rc::new(value)))
    }

    /// The data of a type.
    #[must_use]
    pub fn type_data(&self, id: TypeId) -> TypeData {
        self.type_interner.borrow().items[id.0 as usize].clone()
    }

    /// A type's text.
    #[must_use]
    pub fn type_text(&self, id: TypeId) -> Rc<str> {
        self.type_interner.borrow().items[id.0 as usize].text.clone()
    }

    /// The name of a type's definition; empty for an opaque one.
    #[must_use]
    pub fn type_name(&self, id: TypeId) -> &'static str {
        self.type_interner.borrow().items[id.0 as usize].body.as_ref().map_or("", |(def, _)| def.name)
    }

    /// The definition of a type; `None` if it has no body.
    pub(crate) fn def_of(&self, id: TypeId) -> Option<&'static BodyDef> {
        self.type_interner.borrow().items[id.0 as usize].body.as_ref().map(|(def, _)| *def)
    }

    /// A type's value, if it is a `T`.
    #[must_use]
    pub fn type_value<T: Body>(&self, id: TypeId) -> Option<Rc<T>> {
        let (_, body) = self.type_interner.borrow().items[id.0 as usize].body.clone()?;
        body.into_any().downcast().ok()
    }

    /// Returns true if an attribute is `auto`, or a list with an `auto` in it. It is called for every clause, so it
    /// does not copy.
    pub(crate) fn is_open(&self, id: AttrId) -> bool {
        let attr = &self.attr_interner.borrow().items[id.0 as usize];
        matches!(attr, Attr::Auto | Attr::OpenInts(_))
    }

    /// Returns true if the type's text is `text`. It is called for every operand, so it does not copy.
    pub(crate) fn is_type(&self, id: TypeId, text: &str) -> bool {
        &*self.type_interner.borrow().items[id.0 as usize].text == text
    }

    /// The data of an attribute.
    #[must_use]
    pub fn attr_data(&self, id: AttrId) -> Attr {
        self.attr_interner.borrow().items[id.0 as usize].clone()
    }

    /// An attribute's value, if it is a `T`.
    #[must_use]
    pub fn attr_value<T: Body>(&self, id: AttrId) -> Option<Rc<T>> {
        match self.attr_data(id) {
            Attr::Body(_, body) => body.into_any().downcast().ok(),
            Attr::Int(_) | Attr::Str(_) | Attr::Symbol(_) | Attr::Ints(_) => None,
            Attr::Strs(_) | Attr::Unit | Attr::Auto | Attr::OpenInts(_) | Attr::Opaque(_) => None,
        }
    }
}
