//! Types and mappings of the input, with all names in them.

use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Generic, Stop, Want, names};
use crate::instance::parameters;
use crate::map::{AxisId, Map, Pad};
use crate::numbers::typed;
use crate::place::deref;
use crate::program::{AdtId, Item, ModuleId, Space};
use crate::value::{HOST_NUMBERS, Memory, TensorType, Type, Value};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use visa_numerics::DType;

/// The fields of a structure with their types, and the names in these.
pub(crate) type WrittenFields = BTreeMap<String, (Frame, syn::Type)>;

impl Evaluator<'_> {
    pub(crate) fn ty(&mut self, frame: &mut Frame, ty: &syn::Type) -> Eval<Type> {
        match ty {
            syn::Type::Infer(_) => Ok(Type::Open),
            syn::Type::Paren(inner) => self.ty(frame, &inner.elem),
            syn::Type::Group(inner) => self.ty(frame, &inner.elem),
            syn::Type::Reference(inner) => self.ty(frame, &inner.elem),
            syn::Type::Tuple(tuple) => {
                let types = tuple.elems.iter().map(|own| self.ty(frame, own));
                Ok(Type::Tuple(types.collect::<Eval<_>>()?))
            }
            syn::Type::Array(array) => {
                // A length that a parameter leaves open is unknown.
                let length = self.number(frame, &array.len).ok().and_then(|len| usize::try_from(len).ok());
                Ok(Type::Array(Box::new(self.ty(frame, &array.elem)?), length))
            }
            syn::Type::Slice(slice) => Ok(Type::Array(Box::new(self.ty(frame, &slice.elem)?), None)),
            syn::Type::Macro(own) if own.mac.path.is_ident("m") => {
                Ok(Type::Map(self.map(frame, &own.mac.tokens)?))
            }
            syn::Type::Path(path) => self.type_path(frame, path),
            // Functions are called regardless of their types.
            syn::Type::BareFn(_) | syn::Type::ImplTrait(_) => Ok(Type::Open),
            syn::Type::Never(_) => Ok(Type::Other("!".to_owned())),
            other => Err(frame.error(other.span(), "a type of this kind is not read in a kernel")),
        }
    }

    fn type_path(&mut self, frame: &mut Frame, path: &syn::TypePath) -> Eval<Type> {
        let parts = names(&path.path);
        let last = path.path.segments.last().map(|segment| &segment.arguments);
        let none = syn::PathArguments::None;
        let arguments = last.unwrap_or(&none);
        if let [name] = &*parts {
            match frame.generics.get(name) {
                Some(Generic::Type(ty)) => return Ok(ty.clone()),
                Some(Generic::Const(_)) | None => {}
            }
            if let ("Self", Some(of)) = (name.as_str(), frame.of) {
                return Ok(Type::Adt(of));
            }
        }
        match self.program.find(frame.module, frame.of, &parts, Space::Types) {
            Some(Item::Type(module, alias)) => return self.alias(frame, &alias, arguments, module),
            Some(Item::Adt(id) | Item::Variant(id, _)) => return Ok(Type::Adt(id)),
            Some(Item::Axis(id)) => return Ok(Type::Map(Map::List(vec![Map::Axis(id)]))),
            Some(Item::Module(_) | Item::Fn(_) | Item::Const(_) | Item::Trait(..) | Item::Macro(_))
            | None => {}
        }
        let name = parts.last().cloned().unwrap_or_default();
        let memory = match name.as_str() {
            "HbmTensor" | "HbmTensorView" | "HbmTensorViewMut" => Memory::Hbm,
            "DmTensor" | "DmTensorView" | "DmTensorViewMut" => Memory::Dm,
            "SpmTensor" | "SpmTensorView" | "SpmTensorViewMut" => Memory::Spm,
            "TrfTensor" => Memory::Trf,
            "VrfTensor" => Memory::Vrf,
            "HostTensor" => Memory::Host,
            "Context" | "Device" => return Ok(Type::Context),
            // A number that a kernel reads from HBM is a scalar, as one that it is given.
            "HbmScalar" => return self.scalar_type(frame, path.span(), arguments),
            // What a host program awaits does not fail: its type is that in the `Result`.
            "Result" if self.state.host.is_some() => match first_type(arguments) {
                Some(ty) => return self.ty(frame, ty),
                None => return Ok(Type::Other(name)),
            },
            "Option" | "Result" => {
                // A content that is no type of a kernel is open.
                let content = first_type(arguments).map(|ty| self.ty(frame, ty).unwrap_or(Type::Open));
                return Ok(content.map_or(Type::Other(name), |content| Type::Within(Box::new(content))));
            }
            name if DType::parse(name).is_some() || HOST_NUMBERS.contains(&name) => {
                return Ok(Type::Number(name.into()));
            }
            _ => {
                self.defined_outside(frame, path.span(), &parts)?;
                return Ok(Type::Other(name));
            }
        };
        self.tensor_type(frame, memory, arguments).map(Type::Tensor)
    }

    /// The fields of a structure that a path names, by their names, each with the frame of its type; `None` for
    /// another type.
    pub(crate) fn written_fields(
        &mut self,
        frame: &mut Frame,
        path: &syn::TypePath,
    ) -> Eval<Option<(AdtId, WrittenFields)>> {
        let found = self.program.find(frame.module, frame.of, &names(&path.path), Space::Types);
        let Some(Item::Adt(of)) = found else { return Ok(None) };
        let own = &self.program.adts[of.0];
        let ([variant], false) = (&*own.variants, own.is_enum) else { return Ok(None) };
        let mut inside = self.frame(own.module);
        let last = path.path.segments.last().map(|segment| &segment.arguments);
        if let Some(syn::PathArguments::AngleBracketed(list)) = last {
            let parameters = parameters(&own.generics);
            let given = list.args.iter().filter(|own| !matches!(own, syn::GenericArgument::Lifetime(_)));
            for (parameter, argument) in parameters.zip(given) {
                if let Some((name, generic)) = self.given_generic(frame, parameter, argument)? {
                    inside.generics.insert(name, generic);
                }
            }
        }
        let fields = variant.fields.iter().map(|(name, ty)| (name.clone(), (inside.clone(), ty.clone())));
        Ok(Some((of, fields.collect())))
    }

    /// The axis that `Ident::A` names.
    pub(crate) fn identified_axis(&self, frame: &Frame, path: &syn::ExprPath) -> Option<AxisId> {
        let parts = names(&path.path);
        let [.., of, axis] = &*parts else { return None };
        if of != "Ident" {
            return None;
        }
        match self.program.find(frame.module, frame.of, std::slice::from_ref(axis), Space::Types)? {
            Item::Axis(id) => Some(id),
            Item::Module(_)
            | Item::Fn(_)
            | Item::Const(_)
            | Item::Type(..)
            | Item::Adt(_)
            | Item::Variant(..)
            | Item::Trait(..)
            | Item::Macro(_) => None,
        }
    }

    /// The number of an `HbmScalar`.
    fn scalar_type(
        &mut self,
        frame: &mut Frame,
        span: proc_macro2::Span,
        arguments: &syn::PathArguments,
    ) -> Eval<Type> {
        let number = first_type(arguments).map_or(Ok(Type::Open), |ty| self.ty(frame, ty))?;
        match number {
            Type::Number(_) => Ok(number),
            _ => Err(frame.error(span, "`HbmScalar` of a type that is no number")),
        }
    }

    /// The types of the fields of a structure of the input, by their names; `None` of an enumeration.
    pub(crate) fn fields_of(&mut self, of: AdtId) -> Eval<Option<BTreeMap<String, Type>>> {
        let own = &self.program.adts[of.0];
        let ([variant], false) = (&*own.variants, own.is_enum) else { return Ok(None) };
        let mut frame = self.frame(own.module);
        let mut fields = BTreeMap::new();
        for (name, ty) in &variant.fields {
            let place = frame.clone();
            let ty = self.enter(&place, own.span, |eval| eval.ty(&mut frame, ty))?;
            fields.insert(name.clone(), ty);
        }
        Ok(Some(fields))
    }

    fn tensor_type(
        &mut self,
        frame: &mut Frame,
        memory: Memory,
        arguments: &syn::PathArguments,
    ) -> Eval<TensorType> {
        let mut types = Vec::new();
        if let syn::PathArguments::AngleBracketed(list) = arguments {
            for argument in &list.args {
                if let syn::GenericArgument::Type(ty) = argument {
                    types.push(self.ty(frame, ty)?);
                }
            }
        }
        let mut types = types.into_iter();
        let dtype = match types.next() {
            Some(Type::Number(name)) => DType::parse(&name),
            Some(_) | None => None,
        };
        let map = |ty: Option<Type>| match ty {
            Some(Type::Map(map)) => Some(map),
            Some(_) | None => None,
        };
        let maps = memory.dims().iter().map(|_| map(types.next())).collect();
        let ty = TensorType { memory, dtype, maps };
        Ok(self.on_device(frame, arguments.span(), ty))
    }

    fn alias(
        &mut self,
        frame: &mut Frame,
        alias: &syn::ItemType,
        arguments: &syn::PathArguments,
        module: ModuleId,
    ) -> Eval<Type> {
        let mut given = Vec::new();
        if let syn::PathArguments::AngleBracketed(list) = arguments {
            for argument in &list.args {
                match argument {
                    syn::GenericArgument::Type(ty) => given.push(Generic::Type(self.ty(frame, ty)?)),
                    syn::GenericArgument::Const(expr) => {
                        let value = deref(self.expr(frame, expr, &Want::default())?);
                        given.push(Generic::Const(value));
                    }
                    _ => {}
                }
            }
        }
        // Items of a block are of no generic function, but its mappings may be named.
        let mut own = self.frame(module);
        own.generics =
            if self.program.modules[module.0].is_block { frame.generics.clone() } else { own.generics };
        let parameters = alias.generics.params.iter().filter_map(|parameter| match parameter {
            syn::GenericParam::Type(parameter) => Some((parameter.ident.to_string(), None)),
            syn::GenericParam::Const(parameter) => Some((parameter.ident.to_string(), Some(parameter))),
            syn::GenericParam::Lifetime(_) => None,
        });
        for ((name, constant), value) in parameters.zip(given) {
            let value = match (constant, value) {
                (Some(parameter), Generic::Const(value)) => {
                    let ty = self.ty(frame, &parameter.ty)?;
                    Generic::Const(typed(value, &ty))
                }
                (_, value) => value,
            };
            own.generics.insert(name, value);
        }
        let frame = frame.clone();
        self.enter(&frame, alias.span(), |eval| eval.ty(&mut own, &alias.ty))
    }

    /// The mapping that a type is.
    pub(crate) fn map_of(&mut self, frame: &mut Frame, ty: &syn::Type) -> Eval<Option<Map>> {
        match self.ty(frame, ty)? {
            Type::Map(map) => Ok(Some(map)),
            Type::Open => Ok(None),
            _ => Err(frame.error(ty.span(), "expected a mapping, as in `m![A / 8]`")),
        }
    }

    /// The mapping of `m![..]`.
    pub(crate) fn map(&mut self, frame: &mut Frame, tokens: &TokenStream) -> Eval<Map> {
        let tokens: Vec<TokenTree> = ungrouped(tokens.clone());
        let mut parser = Parser { eval: self, frame, tokens: &tokens, at: 0 };
        let map = parser.list()?;
        match parser.tokens.get(parser.at) {
            None => Ok(map),
            Some(token) => {
                let message = format!("`{token}` in a mapping, expected `/`, `%`, `=`, `#` or `,`");
                Err(frame.error(token.span(), message))
            }
        }
    }
}

/// The first type among the arguments of a path.
fn first_type(arguments: &syn::PathArguments) -> Option<&syn::Type> {
    match arguments {
        syn::PathArguments::AngleBracketed(list) => match list.args.first() {
            Some(syn::GenericArgument::Type(ty)) => Some(ty),
            Some(_) | None => None,
        },
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => None,
    }
}

/// Tokens without the invisible groups that macros put around their arguments.
fn ungrouped(tokens: TokenStream) -> Vec<TokenTree> {
    let own = |token: TokenTree| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => ungrouped(group.stream()),
        other => vec![other],
    };
    tokens.into_iter().flat_map(own).collect()
}

struct Parser<'e, 'a, 't> {
    eval: &'e mut Evaluator<'a>,
    frame: &'e mut Frame,
    tokens: &'t [TokenTree],
    at: usize,
}

impl Parser<'_, '_, '_> {
    fn sign(&self) -> Option<char> {
        match self.tokens.get(self.at) {
            Some(TokenTree::Punct(sign)) => Some(sign.as_char()),
            Some(_) | None => None,
        }
    }

    fn list(&mut self) -> Eval<Map> {
        let mut factors = Vec::new();
        while self.at < self.tokens.len() {
            factors.push(self.term()?);
            if self.sign() != Some(',') {
                break;
            }
            self.at += 1;
        }
        Ok(Map::List(factors))
    }

    fn term(&mut self) -> Eval<Map> {
        let mut map = self.atom()?;
        while let Some(sign @ ('/' | '%' | '=' | '#')) = self.sign() {
            self.at += 1;
            let pad = if sign == '#' { self.pad()? } else { Pad::Top };
            let number = self.number()?;
            let of = Rc::new(map);
            map = match sign {
                '/' => Map::Stride(of, number),
                '%' => Map::Modulo(of, number),
                '=' => Map::Resize(of, number),
                _ => Map::Padding(of, number, pad),
            };
        }
        Ok(map)
    }

    /// The padding after `#`: `{!}`, `{0}`, `{*}`, or nothing, where an escaped number may follow.
    fn pad(&mut self) -> Eval<Pad> {
        let Some(TokenTree::Group(group)) = self.tokens.get(self.at) else { return Ok(Pad::Top) };
        let pad = match group.stream().to_string().as_str() {
            "!" => Pad::Bottom,
            "0" if self.tokens.get(self.at + 1).is_some_and(is_number) => Pad::Zero,
            "*" => Pad::Top,
            _ => return Ok(Pad::Top),
        };
        self.at += 1;
        Ok(pad)
    }

    fn number(&mut self) -> Eval<u64> {
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return Err(Stop::Error(Error::anywhere("a mapping ends where a number is expected")));
        };
        self.at += 1;
        let number = match &token {
            TokenTree::Literal(literal) => {
                let lit = syn::Lit::new(literal.clone());
                self.eval.literal(self.frame, &lit, false)?
            }
            TokenTree::Group(group) if self.is_mapping(&group.stream()) => {
                let map = self.eval.map(self.frame, &group.stream())?;
                return self.positions(&map, token.span());
            }
            TokenTree::Ident(ident) if self.is_mapping(&token.clone().into()) => {
                let map = self.named(ident)?;
                return self.positions(&map, token.span());
            }
            TokenTree::Group(group) => {
                let expr = syn::parse2::<syn::Expr>(group.stream())
                    .map_err(|why| self.frame.error(token.span(), why.to_string()))?;
                self.eval.expr(self.frame, &expr, &Want::default())?
            }
            TokenTree::Ident(ident) => {
                let expr = syn::parse_str::<syn::Expr>(&ident.to_string())
                    .map_err(|why| self.frame.error(token.span(), why.to_string()))?;
                self.eval.expr(self.frame, &expr, &Want::default())?
            }
            TokenTree::Punct(_) => Value::Nothing,
        };
        match deref(number).integer().and_then(|number| u64::try_from(number).ok()) {
            Some(number) => Ok(number),
            None => Err(self.no_number(&token)),
        }
    }

    fn no_number(&self, token: &TokenTree) -> Stop {
        let TokenTree::Ident(ident) = token else {
            return self.frame.error(token.span(), "expected a number that is not negative");
        };
        match self.eval.program.unresolved_use(self.frame.module, &ident.to_string()) {
            Some(error) => Stop::Error(error),
            None => {
                self.frame.error(token.span(), format!("`{ident}` is neither an axis nor a number from 0 on"))
            }
        }
    }

    /// Returns true if tokens begin with an axis or another mapping: a factor is then its number of positions.
    fn is_mapping(&mut self, tokens: &TokenStream) -> bool {
        let Some(TokenTree::Ident(ident)) = ungrouped(tokens.clone()).into_iter().next() else {
            return false;
        };
        let name = ident.to_string();
        let path = std::slice::from_ref(&name);
        let program = self.eval.program;
        let is_type = match self.frame.generics.get(&name) {
            Some(generic) => matches!(generic, Generic::Type(_)),
            None => matches!(
                program.find(self.frame.module, None, path, Space::Types),
                Some(Item::Axis(_) | Item::Type(..))
            ),
        };
        is_type
            && program.find(self.frame.module, None, path, Space::Values).is_none()
            && !follows_path(tokens)
    }

    fn positions(&self, map: &Map, span: Span) -> Eval<u64> {
        map.size(self.eval).ok_or_else(|| self.frame.error(span, "a factor of more than 2^64 positions"))
    }

    fn atom(&mut self) -> Eval<Map> {
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return Err(Stop::Error(Error::anywhere("an empty mapping; one position is `m![1]`")));
        };
        match &token {
            TokenTree::Literal(_) => self.number().map(Map::Copies),
            TokenTree::Ident(ident) => {
                self.at += 1;
                self.named(ident)
            }
            TokenTree::Group(group) => {
                self.at += 1;
                match group.delimiter() {
                    Delimiter::Bracket | Delimiter::Parenthesis | Delimiter::None => {
                        self.eval.map(self.frame, &group.stream())
                    }
                    Delimiter::Brace => {
                        let ty = syn::parse2::<syn::Type>(group.stream())
                            .map_err(|why| self.frame.error(token.span(), why.to_string()))?;
                        let map = self.eval.map_of(self.frame, &ty)?;
                        map.ok_or_else(|| self.frame.error(token.span(), "a mapping that is not known"))
                    }
                }
            }
            TokenTree::Punct(sign) => Err(self
                .frame
                .error(token.span(), format!("`{sign}` in a mapping, expected an axis or a number"))),
        }
    }

    fn named(&mut self, ident: &syn::Ident) -> Eval<Map> {
        let name = ident.to_string();
        if let Some(Item::Axis(id)) =
            self.eval.program.find(self.frame.module, None, std::slice::from_ref(&name), Space::Types)
        {
            return Ok(Map::Axis(id));
        }
        let ty = syn::Type::Path(syn::TypePath { qself: None, path: ident.clone().into() });
        match self.eval.ty(self.frame, &ty)? {
            Type::Map(map) => Ok(map),
            _ => match self.eval.program.unresolved_use(self.frame.module, &name) {
                Some(error) => Err(Stop::Error(error)),
                None => Err(self.frame.error(ident.span(), format!("`{name}` is no axis"))),
            },
        }
    }
}

/// Returns true if tokens go on with `::` after their first: they are an expression, as `A::SIZE`.
fn follows_path(tokens: &TokenStream) -> bool {
    matches!(ungrouped(tokens.clone()).get(1), Some(TokenTree::Punct(sign)) if sign.as_char() == ':')
}

fn is_number(token: &TokenTree) -> bool {
    match token {
        TokenTree::Literal(_) => true,
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Ident(_) | TokenTree::Punct(_) => false,
    }
}
