//! Tensors at an author's address, and those that are named by an address alone (`from_addr`).

use crate::addresses::{Addresses, AuthorAddress};
use crate::error::Error;
use crate::eval::{Cell, Eval, Evaluator, Frame, Want};
use crate::numbers::whole_number;
use crate::value::{Memory, PlaceId, Step, TensorType, Value, View};
use proc_macro2::Span;
use std::fmt;
use std::ops::Range;

/// Bytes of a memory.
struct Bytes<'a>(&'a Range<i64>);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {} to {}", self.0.start, self.0.end)
    }
}

impl Evaluator<'_> {
    /// The clause for an author's address; `None` if it is open or dropped.
    pub(crate) fn kept<T>(&mut self, frame: &Frame, span: Span, address: Option<T>) -> Option<T> {
        match (self.program.addresses, &address) {
            (Addresses::Keep, _) | (Addresses::Drop, None) => address,
            (Addresses::Drop, Some(_)) => {
                self.state.dropped.insert(frame.place(span));
                None
            }
        }
    }

    /// The clause for the address of a tensor.
    pub(crate) fn kept_of(&self, place: PlaceId) -> Option<i64> {
        let at = self.state.cells[place.0].address.at;
        at.filter(|_| self.program.addresses == Addresses::Keep)
    }

    /// A new tensor that is stored at an author's address.
    pub(crate) fn stored(
        &mut self,
        name: String,
        ty: TensorType,
        wanted: Option<String>,
        at: Option<i64>,
    ) -> View {
        let view = self.cell(Some(name), ty, wanted);
        let written = self.state.out.acts();
        let cell = &mut self.state.cells[view.place.0];
        cell.address.at = at;
        cell.written = written;
        view
    }

    /// `DmTensor::from_addr(address)`: a tensor in memory that was reserved by hand.
    pub(crate) fn by_address(
        &mut self,
        frame: &mut Frame,
        path: &syn::ExprPath,
        (args, span): (&[syn::Expr], Span),
        want: &Want,
    ) -> Eval<Option<Value>> {
        let Some(value) = self.new_tensor(frame, path, want)? else { return Ok(None) };
        let Value::View(view) = &value else { return Ok(None) };
        let [address] = args else {
            return Err(frame.error(span, "`from_addr` takes an address"));
        };
        let given = self.expr(frame, address, &Want::default())?;
        let at = match &given {
            Value::Variant(_) if matches!(view.ty.memory, Memory::Trf) => None,
            number => match whole_number(number) {
                Some(at) => Some(at),
                None => return Err(frame.error(span, "`from_addr` takes an address, a number")),
            },
        };
        self.state.cells[view.place.0].address = AuthorAddress { at, alone: true };
        self.kept(frame, span, at);
        Ok(Some(value))
    }

    /// The view under which a tensor is read or changed: one that is named by an address alone, and read before it
    /// is written, is the tensor that was stored there last.
    pub(crate) fn settled(&mut self, frame: &Frame, span: Span, view: &View) -> Eval<View> {
        let cell = &self.state.cells[view.place.0];
        if let Some(known) = &cell.alias {
            return Ok(through(known, view));
        }
        let (AuthorAddress { at: Some(at), alone: true }, None) = (cell.address, &cell.name) else {
            return Ok(view.clone());
        };
        let alias = self.stored_at(frame, span, view.place, at)?;
        match alias {
            Some(alias) => {
                let settled = through(&alias, view);
                self.state.cells[view.place.0].alias = Some(alias);
                Ok(settled)
            }
            None => {
                let message = format!(
                    "`{}` is read at address {at}, where this kernel has stored nothing: its elements are undefined",
                    self.author_name(view.place)
                );
                let fix = "make it an argument, or write it first";
                self.state.remarks.push(Error::new(frame.place(span), message).fix(fix));
                Ok(view.clone())
            }
        }
    }

    /// A view that is written, as a view of the tensor that it is by its address.
    pub(crate) fn aliased(&self, view: &View) -> View {
        match &self.state.cells[view.place.0].alias {
            Some(alias) => through(alias, view),
            None => view.clone(),
        }
    }

    /// Notes that a tensor which is written in parts is a new one, if another one was stored at its bytes.
    pub(crate) fn reused(&mut self, frame: &Frame, span: Span, place: PlaceId) {
        let AuthorAddress { at: Some(at), alone: true } = self.state.cells[place.0].address else { return };
        let Some((other, _)) = self.latest_at(place, at) else { return };
        let message = format!(
            "`{}` is written in parts at the bytes of `{}`: it is a new tensor, and its other elements are undefined",
            self.author_name(place),
            self.author_name(other)
        );
        self.state.remarks.push(Error::new(frame.place(span), message));
    }

    /// The tensor that was stored last at bytes of another one, and its bytes.
    fn latest_at(&self, place: PlaceId, at: i64) -> Option<(PlaceId, Range<i64>)> {
        let wanted = &self.state.cells[place.0].ty;
        let bytes = self.bytes(wanted, at)?;
        let shared = |cell: &Cell| {
            let own = self.bytes(&cell.ty, cell.address.at?)?;
            (own.start < bytes.end && bytes.start < own.end).then_some(own)
        };
        let stored = self.state.cells.iter().enumerate().filter_map(|(own, cell)| {
            let stored = own != place.0 && cell.name.is_some() && cell.ty.memory == wanted.memory;
            Some((cell.written, PlaceId(own), shared(cell).filter(|_| stored)?))
        });
        stored.max_by_key(|(written, ..)| *written).map(|(_, own, bytes)| (own, bytes))
    }

    /// The tensor that was stored last at the bytes of another one, under its type.
    fn stored_at(&self, frame: &Frame, span: Span, place: PlaceId, at: i64) -> Eval<Option<View>> {
        let wanted = &self.state.cells[place.0].ty;
        let (Some(bytes), Some((other, held))) = (self.bytes(wanted, at), self.latest_at(place, at)) else {
            return Ok(None);
        };
        let cell = &self.state.cells[other.0];
        let view = View { place: other, steps: Vec::new(), ty: cell.ty.clone() };
        if held.start == at && cell.ty == *wanted {
            return Ok(Some(view));
        }
        let sizes = |ty: &TensorType| -> Vec<Option<u64>> {
            ty.maps.iter().map(|map| map.as_ref().and_then(|map| map.size(self))).collect()
        };
        if held.start == at && cell.ty.dtype == wanted.dtype && sizes(&cell.ty) == sizes(wanted) {
            let changed = TensorType { maps: changed_maps(&cell.ty, wanted), ..wanted.clone() };
            let step = Step::Reshape(changed, frame.place(span));
            return Ok(Some(View { steps: vec![step], ty: wanted.clone(), ..view }));
        }
        let message = format!(
            "`{}` is read at {} before it is written, and `{}` was stored at {}: expected the same bytes, format \
                 and sizes",
            self.author_name(place),
            Bytes(&bytes),
            self.author_name(other),
            Bytes(&held)
        );
        let fix = format!("read `{}`, or write the tensor first", self.author_name(other));
        Err(Error::new(frame.place(span), message).fix(fix).into())
    }

    /// The bytes of each slice, or of HBM, that a tensor at an address has.
    fn bytes(&self, ty: &TensorType, at: i64) -> Option<Range<i64>> {
        let bits = ty.element()?.size(self)?.checked_mul(u64::from(ty.dtype?.bits()))?;
        let end = at.checked_add(i64::try_from(bits.div_ceil(8)).ok()?)?;
        Some(at..end)
    }

    /// The author's name of a tensor, for messages.
    pub(crate) fn author_name(&self, place: PlaceId) -> String {
        self.state.cells[place.0].wanted.clone().unwrap_or_else(|| "a tensor".to_owned())
    }
}

/// A view of a tensor as a view of its alias.
fn through(alias: &View, view: &View) -> View {
    let steps = alias.steps.iter().chain(&view.steps).cloned().collect();
    View { place: alias.place, steps, ty: view.ty.clone() }
}

/// The mappings of a type that differ from those of another one.
fn changed_maps(before: &TensorType, after: &TensorType) -> Vec<Option<crate::map::Map>> {
    let pairs = after.maps.iter().zip(&before.maps);
    pairs.map(|(map, before)| map.clone().filter(|map| Some(map) != before.as_ref())).collect()
}
