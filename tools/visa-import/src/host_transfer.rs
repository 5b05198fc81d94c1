//! Transfers of a host program by PCIe: between tensors of the host and HBM, and numbers that kernels read.

use crate::emit::{new, with};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop, Want};
use crate::marks::plain;
use crate::method::Call;
use crate::place::deref;
use crate::value::merged;
use crate::value::{Memory, TensorType, Type, Value, View};
use crate::written_transfer::WrittenTransfer;
use proc_macro2::Span;
use syn::spanned::Spanned;
use visa_ir::build::NewOp;
use visa_mapping::ops::transfer::{ToHost, ToHostBuilder};
use visa_mapping::{HOST, Tensor, make};

impl<'a> Evaluator<'a> {
    /// A transfer of a host program.
    pub(crate) fn host_transfer(
        &mut self,
        frame: &mut Frame,
        written: &WrittenTransfer<'_>,
        want: &Want,
    ) -> Eval<Value> {
        let WrittenTransfer { method, into } = *written;
        let mut call = Call::alone(plain(&method.method.to_string()), method.method.span(), want.clone());
        let Value::View(view) = deref(self.expr(frame, &method.receiver, &Want::default())?) else {
            return Err(frame.error(call.span, format!("`{}` of what is no tensor", call.name)));
        };
        if let Some(list) = &method.turbofish {
            for argument in &list.args {
                self.argument(frame, argument, &mut call)?;
            }
        }
        self.check_engine(frame, &call, &method.args)?;
        let target = match into {
            Some(into) => Some(deref(self.expr(frame, into, &Want::default())?)),
            None => None,
        };
        let into_type = match &target {
            Some(Value::View(into)) => Some(into.ty.clone()),
            Some(_) | None => None,
        };
        let value = match (call.name.as_str(), view.ty.memory) {
            ("to_hbm", Memory::Host) => self.sent(frame, &view, &call, into_type)?,
            ("to_host", Memory::Hbm) => self.returned(frame, &view, &call, into_type)?,
            (name, _) => {
                let message = format!(
                    "`{name}` is not read in a host program, which moves tensors between the host and HBM: this \
                     tensor is in {}",
                    view.ty.memory.name()
                );
                return Err(frame.error(call.span, message));
            }
        };
        match target {
            None => Ok(value),
            Some(into) => {
                self.take_results(frame, call.span, &value, &into)?;
                Ok(Value::Nothing)
            }
        }
    }

    /// A transfer takes the PCIe engine of the device.
    fn check_engine(
        &mut self,
        frame: &mut Frame,
        call: &Call,
        args: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>,
    ) -> Eval<()> {
        let mut engines = Vec::new();
        for arg in args {
            engines.push(deref(self.expr(frame, arg, &Want::default())?));
        }
        match &*engines {
            [Value::Unit(_)] => Ok(()),
            _ => {
                Err(frame
                    .error(call.span, format!("`{}` takes a DMA context, as `&mut device.pdma`", call.name)))
            }
        }
    }

    /// A tensor of the host moves to HBM.
    fn sent(&mut self, frame: &mut Frame, view: &View, call: &Call, into: Option<TensorType>) -> Eval<Value> {
        let ty =
            TensorType { memory: Memory::Hbm, dtype: view.ty.dtype, maps: vec![call.map(0), call.map(1)] };
        let ty = self.transferred(frame, call, view, (ty, into))?;
        let source = self.read(frame, call.span, view)?;
        let new = self.moved(frame, call.span, &source, (Memory::Hbm, None), self.dims(&ty))?;
        self.arrived(frame, call, ty, new)
    }

    /// A tensor in HBM moves to the host.
    fn returned(
        &mut self,
        frame: &mut Frame,
        view: &View,
        call: &Call,
        into: Option<TensorType>,
    ) -> Eval<Value> {
        let ty = TensorType { memory: Memory::Host, dtype: view.ty.dtype, maps: vec![call.map(0)] };
        let ty = self.transferred(frame, call, view, (ty, into))?;
        let source = self.read(frame, call.span, view)?;
        let new = new!(self.ctx, ToHost, [self.value(&source)]);
        let new = with(new, self.dims(&ty).element, ToHostBuilder::element);
        self.arrived(frame, call, ty, new)
    }

    /// The type of the result of a transfer: the mappings of the call, then the wanted ones, then those of `output`.
    fn transferred(
        &mut self,
        frame: &Frame,
        call: &Call,
        view: &View,
        (written, into): (TensorType, Option<TensorType>),
    ) -> Eval<TensorType> {
        let wanted = call.want.tensor().cloned().into_iter().chain(into);
        let ty = wanted.fold(written, |ty, wanted| merged(&ty, &wanted));
        for (dim, map) in ty.memory.dims().iter().zip(&ty.maps) {
            self.wanted_map(frame, call, map.clone(), &format!("what `{dim}` holds"))?;
        }
        self.dropped_axis(frame, call, &view.ty, &ty);
        Ok(ty)
    }

    fn arrived(
        &mut self,
        frame: &Frame,
        call: &Call,
        ty: TensorType,
        new: impl Into<NewOp<'a>>,
    ) -> Eval<Value> {
        let name = self.made(frame, call.span, call.want.name.as_deref(), new);
        Ok(Value::View(self.cell(Some(name), ty, call.want.name.clone())))
    }

    /// An argument of a host program that is in host memory.
    pub(crate) fn host_argument(
        &mut self,
        frame: &Frame,
        (name, tensor, changed): (&str, &TensorType, bool),
        span: Span,
    ) -> Eval<Value> {
        let (Some(dtype), [Some(element)]) = (tensor.dtype, &*tensor.maps) else {
            return Err(frame.error(span, format!("the format and mapping of `{name}` are not known")));
        };
        if changed {
            let error =
                Error::new(frame.place(span), format!("`{name}` is a tensor of the host that is changed"));
            return Err(Stop::Error(error.fix("return the tensor that `to_host` gives")));
        }
        let maps = vec![self.mapping(element)];
        let text = self.state.out.name(Some(name));
        self.state.out.argument(&text, make(self.ctx, Tensor { kind: &HOST, unit: None, dtype, maps }));
        Ok(Value::View(self.cell(Some(text), tensor.clone(), Some(name.to_owned()))))
    }

    /// `HostTensor::zero()`: a tensor that a transfer or a launch has as its `output`. `None` of another type.
    pub(crate) fn host_zeros(
        &mut self,
        frame: &mut Frame,
        path: &syn::ExprPath,
        want: &Want,
    ) -> Eval<Option<Value>> {
        let Some(Type::Tensor(named)) = self.owner_of(frame, path)? else { return Ok(None) };
        if named.memory != Memory::Host || self.state.host.is_none() {
            return Ok(None);
        }
        let ty = want.tensor().map_or_else(|| named.clone(), |wanted| merged(&named, wanted));
        Ok(Some(Value::View(self.cell(None, ty, want.name.clone()))))
    }

    /// A number that is copied to HBM: kernels take it as a scalar.
    pub(crate) fn number_in_hbm(&mut self, frame: &mut Frame, number: &syn::Expr) -> Eval<Value> {
        match deref(self.expr(frame, number, &Want::default())?) {
            value @ (Value::Int(_) | Value::Index(_)) => Ok(value),
            other => {
                let message = format!("`HbmScalar::from_host` of {}, expected an integer", other.kind());
                Err(frame.error(number.span(), message))
            }
        }
    }
}
