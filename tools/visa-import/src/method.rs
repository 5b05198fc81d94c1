//! Methods of the input, and the operations that each stands for.

use crate::error::SourcePosition;
use crate::eval::{Eval, Evaluator, Frame, Want, names};
use crate::map::{Map, Pad};
use crate::marks::plain;
use crate::methods::HostCall;
use crate::numbers::whole_number;
use crate::place::followed;
use crate::program::Space;
use crate::value::{Type, Value};
use proc_macro2::Span;
use syn::spanned::Spanned;
use visa_algebra::Expr;
use visa_engine::words::RegionName;
use visa_ir::build::NewOp;
use visa_ir::module::ValueId;
use visa_numerics::DType;

/// A call of a method, whose receiver and arguments are known.
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) args: Vec<Value>,
    /// The types between `::<` and `>`, `_` left open.
    pub(crate) types: Vec<Type>,
    /// Numbers among these.
    pub(crate) numbers: Vec<i128>,
    pub(crate) want: Want,
}

impl Call {
    /// A call without arguments.
    pub(crate) fn alone(name: &str, span: Span, want: Want) -> Self {
        Self { name: name.to_owned(), span, args: Vec::new(), types: Vec::new(), numbers: Vec::new(), want }
    }

    /// A mapping among the types, by its number; `None` if it is open.
    pub(crate) fn map(&self, at: usize) -> Option<Map> {
        match self.types.get(at) {
            Some(Type::Map(map)) => Some(map.clone()),
            Some(_) | None => None,
        }
    }

    /// A format among the types.
    pub(crate) fn format(&self, at: usize) -> Option<DType> {
        match self.types.get(at) {
            Some(Type::Number(name)) => DType::parse(name),
            Some(_) | None => None,
        }
    }

    /// The arguments that are no contexts.
    pub(crate) fn given(&self) -> Vec<&Value> {
        self.args.iter().filter(|value| !matches!(value, Value::Unit(_) | Value::Context)).collect()
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn method(
        &mut self,
        frame: &mut Frame,
        call: &syn::ExprMethodCall,
        want: &Want,
    ) -> Eval<Value> {
        if let Some(result) = self.awaited_result(frame, &call.receiver, &call.method.to_string(), want) {
            return result;
        }
        let place = followed(self.place(frame, &call.receiver)?);
        let of = place.read().unwrap_or(Value::Nothing);
        let name = plain(&call.method.to_string()).to_owned();
        if let Some(id) = self.own_method(&of, &name) {
            return self.call_method(frame, id, &place, call, want);
        }
        self.check_method(frame, &of, &name, call.method.span())?;
        if let Some(result) = self.launched_result(&of, &name) {
            return Ok(result);
        }
        if let Some(kernel) = self.loaded_kernel(&of, &name, call.args.len()) {
            return Ok(kernel);
        }
        let mut own = Call::alone(&placed_name(name), call.method.span(), want.clone());
        if let Some(list) = &call.turbofish {
            for argument in &list.args {
                self.argument(frame, argument, &mut own)?;
            }
        }
        self.check_constants(frame, &of, call)?;
        for arg in &call.args {
            // The text of a panic is printed nowhere.
            let is_text = matches!(arg, syn::Expr::Lit(lit) if matches!(lit.lit, syn::Lit::Str(_)));
            let value = match is_text && matches!(own.name.as_str(), "expect" | "expect_err") {
                true => Value::Nothing,
                false => self.expr(frame, arg, &Want::default())?,
            };
            own.args.push(value);
        }
        let begins = matches!(own.name.as_str(), "tile" | "chip_tile" | "cluster_tile" | "slice_tile");
        let on_tensor = matches!(&of, Value::View(_) if !begins) || matches!(&of, Value::Stream(_));
        if on_tensor && own.args.iter().any(Value::moves) {
            return Err(self.needs_number(frame, call.span()));
        }
        match of {
            Value::View(view) => self.tensor_method(frame, view, &own),
            Value::Stream(stream) => self.stream_method(frame, *stream, &own),
            Value::Unit(_) => self.begin(frame, &of, &own),
            Value::Deferred(deferred) => self.deferred_method(frame, *deferred, &own),
            // A number that is read from HBM is a scalar already.
            number @ (Value::Index(_) | Value::Condition(_)) if own.name == "to_spm" => Ok(number),
            Value::Variant(variant) if matches!(own.name.as_str(), "imm" | "rf") => {
                let mut variant = *variant;
                variant.args.extend(own.args);
                variant.path.push(own.name);
                Ok(Value::Variant(Box::new(variant)))
            }
            Value::Variant(variant)
                if matches!(own.name.as_str(), "clone" | "into")
                    && !matches!(variant.name(), "Some" | "None" | "Ok" | "Err") =>
            {
                Ok(Value::Variant(variant))
            }
            other => {
                let host =
                    HostCall { name: &own.name, span: call.span(), place, args: own.args, types: &own.types };
                self.host_method(frame, other, host)
            }
        }
    }

    pub(crate) fn argument(
        &mut self,
        frame: &mut Frame,
        argument: &syn::GenericArgument,
        own: &mut Call,
    ) -> Eval<()> {
        match argument {
            // A constant's name looks like a type's.
            syn::GenericArgument::Type(syn::Type::Path(path)) if self.is_const(frame, path) => {
                let expr = syn::Expr::Path(syn::ExprPath {
                    attrs: Vec::new(),
                    qself: None,
                    path: path.path.clone(),
                });
                let number = self.number(frame, &expr)?;
                own.numbers.push(number);
            }
            syn::GenericArgument::Type(ty) => {
                let ty = self.ty(frame, ty)?;
                own.types.push(ty);
            }
            syn::GenericArgument::Const(expr) => {
                // `{ Ident::A }` names an axis.
                if let Some(id) = braced_path(expr).and_then(|path| self.identified_axis(frame, path)) {
                    own.types.push(Type::Map(Map::Axis(id)));
                    return Ok(());
                }
                if let Some(number) = self.expr(frame, expr, &Want::default())?.integer() {
                    own.numbers.push(number);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn is_const(&self, frame: &Frame, path: &syn::TypePath) -> bool {
        let parts = names(&path.path);
        let own = match &*parts {
            [name] => matches!(frame.generics.get(name), Some(crate::eval::Generic::Const(_))),
            _ => false,
        };
        own || matches!(
            self.program.find(frame.module, frame.of, &parts, Space::Values),
            Some(crate::program::Item::Const(_))
        )
    }

    /// The author's address of a tensor; open by default.
    pub(crate) fn at(&self, frame: &Frame, call: &Call) -> Eval<Address> {
        let placed = call.given().into_iter().filter(|value| !matches!(value, Value::View(_)));
        let mut words = placed.map(|value| match value {
            Value::Int(_) => whole_number(value).map(Address::Number),
            Value::Variant(half) => match half.name() {
                "Full" => Some(Address::Region(RegionName::Full)),
                "FirstHalf" => Some(Address::Region(RegionName::First)),
                "SecondHalf" => Some(Address::Region(RegionName::Second)),
                _ => None,
            },
            _ => None,
        });
        match (words.next(), words.next()) {
            (None, _) => Ok(Address::Open),
            (Some(Some(address)), None) => Ok(address),
            (Some(_), _) => Err(no_address(frame, call)),
        }
    }

    /// The address that the author gives a tensor; `None` where it is open.
    pub(crate) fn address(&self, frame: &Frame, call: &Call) -> Eval<Option<i64>> {
        match self.at(frame, call)? {
            Address::Open => Ok(None),
            Address::Number(address) => Ok(Some(address)),
            Address::Region(_) => Err(no_address(frame, call)),
        }
    }

    /// The region of the register file that the author gives a tensor, as a clause; `None` if it is open or dropped.
    pub(crate) fn region(&mut self, frame: &Frame, call: &Call) -> Eval<Option<RegionName>> {
        match self.at(frame, call)? {
            Address::Open => Ok(None),
            Address::Region(region) => Ok(self.kept(frame, call.span, Some(region))),
            Address::Number(_) => {
                Err(frame.error(call.span, format!("`{}` takes a region of the register file", call.name)))
            }
        }
    }

    /// A mapping as text, for messages.
    pub(crate) fn text(&self, map: &Map) -> String {
        map.text(self)
    }

    /// A mapping as clauses have it.
    pub(crate) fn mapping(&self, map: &Map) -> Expr {
        map.expr(self)
    }

    /// The value of this name.
    pub(crate) fn value(&self, name: &str) -> ValueId {
        self.state.out.value(name)
    }

    /// The values of these names.
    pub(crate) fn values(&self, names: &[String]) -> Vec<ValueId> {
        names.iter().map(|name| self.value(name)).collect()
    }

    /// The mapping that a call must give.
    pub(crate) fn wanted_map(&self, frame: &Frame, call: &Call, map: Option<Map>, what: &str) -> Eval<Map> {
        map.ok_or_else(|| {
            let message = format!("`{}` does not say {what}, and nothing around it does", call.name);
            crate::eval::Stop::Error(
                crate::error::Error::new(frame.place(call.span), message)
                    .fix(format!("write it: `.{}::<m![..]>()`, or the type of what it makes", call.name)),
            )
        })
    }

    pub(crate) fn unknown(
        &self,
        frame: &Frame,
        call: &Call,
        of: impl std::fmt::Display,
    ) -> crate::eval::Stop {
        frame.error(call.span, format!("`{}` of {of} is not read", call.name))
    }

    /// An operation that makes a number of others.
    pub(crate) fn index_made(&mut self, frame: &Frame, span: Span, new: impl Into<NewOp<'a>>) -> String {
        let name = self.state.out.name(None);
        self.state.out.number(self.ctx, new.into(), &name, &frame.place(span));
        name
    }

    /// An operation that makes one value, which gets a name.
    pub(crate) fn made(
        &mut self,
        frame: &Frame,
        span: Span,
        wanted: Option<&str>,
        new: impl Into<NewOp<'a>>,
    ) -> String {
        self.made_at(&frame.place(span), wanted, new)
    }

    /// The same at a place.
    pub(crate) fn made_at(
        &mut self,
        place: &SourcePosition,
        wanted: Option<&str>,
        new: impl Into<NewOp<'a>>,
    ) -> String {
        let name = self.state.out.name(wanted);
        self.state.out.write(self.ctx, new.into(), std::slice::from_ref(&name), place);
        name
    }
}

/// The path in `{ path }`.
fn braced_path(expr: &syn::Expr) -> Option<&syn::ExprPath> {
    match expr {
        syn::Expr::Path(path) => Some(path),
        syn::Expr::Block(block) => match &*block.block.stmts {
            [syn::Stmt::Expr(own, None)] => braced_path(own),
            _ => None,
        },
        _ => None,
    }
}

/// Where the author puts a tensor.
#[derive(Clone, Copy)]
pub(crate) enum Address {
    /// Anywhere.
    Open,
    /// At this address.
    Number(i64),
    /// In this region of the tensor register file.
    Region(RegionName),
}

fn no_address(frame: &Frame, call: &Call) -> crate::eval::Stop {
    frame.error(call.span, format!("`{}` takes an address, a number", call.name))
}

/// The name of a method without the part for its address (0.5), which its arguments show.
fn placed_name(name: String) -> String {
    const PLACED: &[&str] =
        &["to_dm", "to_hbm", "to_dm_pcopy", "dma_gather_scaled", "to_trf", "to_vrf", "commit"];
    let own = name.strip_suffix("_at").filter(|own| PLACED.contains(own)).map(str::to_owned);
    own.unwrap_or(name)
}

/// The mapping of an input: padding that must not be written becomes padding that holds anything.
pub(crate) fn readable(map: &Map) -> Map {
    map.with_pads(|pad| match pad {
        Pad::Top | Pad::Bottom => Pad::Top,
        Pad::Zero => Pad::Zero,
    })
}
