//! Gathers and scatters: transfers of the rows of a table that an index chooses.

use crate::clauses::Dims;
use crate::emit::{at, new, with};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame};
use crate::map::{Axes, AxisId, Map};
use crate::method::{Call, readable};
use crate::value::merged;
use crate::value::{Memory, Step, TensorType, Value, View};
use std::rc::Rc;
use visa_algebra::{Expr, PadKind};
use visa_ir::build::NewOp;
use visa_mapping::ops::indexed::{
    GatherToDm, GatherToDmBuilder, GatherToHbm, GatherToHbmBuilder, GatherToSpm, GatherToSpmBuilder,
    ScatterOp,
};
use visa_mapping::ops::transfer::ToSpm;
use visa_mapping::ops::view::Relabel;

/// The axes of the input, one of which is called as rows of a table are.
struct Rows<'a> {
    axes: &'a dyn Axes,
    id: AxisId,
}

impl Axes for Rows<'_> {
    fn name(&self, id: AxisId) -> String {
        let name = self.axes.name(id);
        if id == self.id { rows_of(&name) } else { name }
    }

    fn size(&self, id: AxisId) -> u64 {
        self.axes.size(id)
    }
}

/// The name of the axis of a table's rows where the index has the axis itself.
pub(crate) fn rows_of(name: &str) -> String {
    format!("{name}_row")
}

impl<'a> Evaluator<'a> {
    pub(crate) fn gather(&mut self, frame: &mut Frame, table: &View, call: &Call) -> Eval<Value> {
        let [Value::View(index), ..] = &*call.given() else {
            return Err(frame.error(call.span, "a gather takes an index"));
        };
        self.gathered(frame, call, (table, index), None)
    }

    /// The rows of a table that an index chooses along an axis, or along the one that is left out in the result.
    pub(crate) fn gathered(
        &mut self,
        frame: &mut Frame,
        call: &Call,
        (table, index): (&View, &View),
        along: Option<&Map>,
    ) -> Eval<Value> {
        let ty = self.chosen_type(frame, call, table)?;
        let (table_name, along) = self.rows(frame, call, (table, index), (&ty, along))?;
        let index_name = self.index_of_rows(frame, call, index)?;
        let address = self.address(frame, call)?;
        let (ctx, at) = (self.ctx, self.kept(frame, call.span, address));
        let operands = [self.value(&table_name), self.value(&index_name)];
        let Dims { cluster, slice, pe, element, .. } = self.dims(&ty);
        let along = Rc::new(along);
        let new: NewOp<'a> = match ty.memory {
            Memory::Hbm => {
                let new = at!(new!(ctx, GatherToHbm, operands).along(along), at);
                with(new, element, GatherToHbmBuilder::element).into()
            }
            Memory::Dm => {
                let new = at!(new!(ctx, GatherToDm, operands).along(along), at);
                let new = with(new, cluster, GatherToDmBuilder::cluster);
                let new = with(new, slice, GatherToDmBuilder::slice);
                with(new, element, GatherToDmBuilder::element).into()
            }
            Memory::Spm => {
                let new = at!(new!(ctx, GatherToSpm, operands).along(along), at);
                let new = with(new, cluster, GatherToSpmBuilder::cluster);
                let new = with(new, pe, GatherToSpmBuilder::pe);
                with(new, element, GatherToSpmBuilder::element).into()
            }
            Memory::Trf | Memory::Vrf | Memory::Host => {
                let message = format!("a gather does not write {}", ty.memory.name());
                return Err(frame.error(call.span, message));
            }
        };
        let name = self.made(frame, call.span, call.want.name.as_deref(), new);
        let ty = TensorType { dtype: table.ty.dtype, ..ty };
        Ok(Value::View(self.stored(name, ty, call.want.name.clone(), address)))
    }

    /// The type of the rows that a gather chooses.
    fn chosen_type(&self, frame: &Frame, call: &Call, table: &View) -> Eval<TensorType> {
        let named = (call.types.len() == 3).then(|| TensorType {
            memory: Memory::Dm,
            dtype: table.ty.dtype,
            maps: std::iter::once(table.ty.maps[0].clone()).chain((0..3).map(|at| call.map(at))).collect(),
        });
        let ty = match (named, call.want.tensor()) {
            (Some(named), Some(wanted)) => Some(merged(&named, wanted)),
            (named, wanted) => named.or_else(|| wanted.cloned()),
        };
        ty.ok_or_else(|| frame.error(call.span, "the type of what is gathered is not known"))
    }

    /// A table whose rows an index chooses, and the axis of the rows.
    fn rows(
        &mut self,
        frame: &Frame,
        call: &Call,
        (table, index): (&View, &View),
        (ty, along): (&TensorType, Option<&Map>),
    ) -> Eval<(String, Expr)> {
        let found = match along {
            Some(along) if !self.share_axes(along, index) => Ok(self.mapping(along)),
            Some(_) => Err(frame.error(call.span, "the index has the axis that it replaces")),
            None => self.key(frame, call, table, index, ty),
        };
        if let Some(along) = along.filter(|along| along.factors().len() > 1)
            && let Some(rows) = self.merged_rows(frame, call, table, along)?
        {
            return Ok(rows);
        }
        if found.is_err()
            && let Some(rows) = self.unnamed_rows(frame, call, table)?
        {
            return Ok(rows);
        }
        let name = self.read(frame, call.span, table)?;
        match found {
            Ok(along) => Ok((name, along)),
            Err(stop) => {
                let (row, new) = self.under_rows(table, index, &name).ok_or(stop)?;
                Ok((self.made(frame, call.span, None, new), row))
            }
        }
    }

    /// Returns true if a mapping and a tensor have an axis in common.
    fn share_axes(&self, map: &Map, view: &View) -> bool {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        map.axes(&mut own);
        view.ty.maps.iter().flatten().for_each(|map| map.axes(&mut others));
        own.iter().any(|id| others.contains(id))
    }

    /// A table whose rows are chosen along several consecutive axes: they get one axis.
    fn merged_rows(
        &mut self,
        frame: &Frame,
        call: &Call,
        table: &View,
        along: &Map,
    ) -> Eval<Option<(String, Expr)>> {
        let element = self.dim(frame, call.span, &table.ty, "element")?;
        let (factors, rows) = (element.factors(), along.factors());
        let at = factors.windows(rows.len()).position(|window| *window == *rows);
        let (Some(at), Some(count)) = (at, along.size(self)) else { return Ok(None) };
        let mut axes = Vec::new();
        along.axes(&mut axes);
        let axis = axes.iter().map(|id| &*self.axis_names[id.0]).collect::<Vec<_>>().join("_");
        self.state.blocks.insert(axis.clone(), count);
        let (before, after) = (&factors[..at], &factors[at + rows.len()..]);
        let terms = before.iter().map(|own| self.mapping(own));
        let terms = terms.chain([Expr::axis(&axis)]).chain(after.iter().map(|own| self.mapping(own)));
        let element = Expr::pair(terms.collect::<Vec<_>>());
        let source = self.read(frame, call.span, table)?;
        let new = new!(self.ctx, Relabel, [self.value(&source)]).element(Some(element));
        Ok(Some((self.made(frame, call.span, None, new), Expr::axis(&axis))))
    }

    /// A table that is relabelled to rows without a name, as `[128, D = 32]`: they get an axis.
    fn unnamed_rows(&mut self, frame: &Frame, call: &Call, table: &View) -> Eval<Option<(String, Expr)>> {
        let Some((Step::Reshape(changed, _), before)) = table.steps.split_last() else { return Ok(None) };
        let Some(element) = changed.element() else { return Ok(None) };
        let count = element.factors().into_iter().find_map(|factor| match factor {
            Map::Copies(count @ 2..) => Some(*count),
            _ => None,
        });
        let Some(count) = count else { return Ok(None) };
        let axis = format!("Row_{count}");
        self.state.blocks.insert(axis.clone(), count);
        let row = Expr::axis(&axis);
        let own =
            |factor: &Map| if *factor == Map::Copies(count) { row.clone() } else { self.mapping(factor) };
        let element = Expr::pair(element.factors().into_iter().map(own));
        let source = View { steps: before.to_vec(), ..table.clone() };
        let source = self.read(frame, call.span, &source)?;
        let new = new!(self.ctx, Relabel, [self.value(&source)]).element(Some(element));
        Ok(Some((self.made(frame, call.span, None, new), row)))
    }

    /// An index where a gather reads it: an index in data memory goes to scratchpad memory.
    fn index_of_rows(&mut self, frame: &Frame, call: &Call, index: &View) -> Eval<String> {
        let name = self.read(frame, call.span, index)?;
        if index.ty.memory != Memory::Dm {
            return Ok(name);
        }
        let dim = |name: &str| self.dim(frame, call.span, &index.ty, name);
        let element = Map::List(vec![dim("slice")?, dim("element")?]);
        let cluster = self.mapping(&readable(&dim("cluster")?));
        let pe = Expr::Literal(1).pad(4, PadKind::Top);
        let new = new!(self.ctx, ToSpm, [self.value(&name)]).at_auto().cluster(cluster).pe(pe);
        Ok(self.made(frame, call.span, None, new.element(self.mapping(&element))))
    }

    /// The axis of a table that an index chooses rows along: one that neither the index nor the chosen tensor has.
    fn key(&self, frame: &Frame, call: &Call, table: &View, index: &View, chosen: &TensorType) -> Eval<Expr> {
        let axes = |maps: &[Option<Map>]| {
            let mut found = Vec::new();
            maps.iter().flatten().for_each(|map| map.axes(&mut found));
            found
        };
        let (own, index, chosen) = (axes(&table.ty.maps), axes(&index.ty.maps), axes(&chosen.maps));
        let key = own.iter().find(|id| !index.contains(id) && !chosen.contains(id));
        match key {
            Some(id) => Ok(self.mapping(&Map::Axis(*id))),
            None => Err(frame.error(call.span, "no axis of the table is left out in what is chosen")),
        }
    }

    /// A table whose rows are chosen along an axis that the index has too, as block tables have: its rows get a
    /// separate axis. The axis, and the table under it.
    fn under_rows(&self, table: &View, index: &View, name: &str) -> Option<(Expr, NewOp<'a>)> {
        let mut known = Vec::new();
        index.ty.maps.iter().flatten().for_each(|map| map.axes(&mut known));
        let element = table.ty.element()?;
        let mut own = Vec::new();
        element.axes(&mut own);
        let id = own.into_iter().find(|id| known.contains(id))?;
        let rows = Rows { axes: self, id };
        let new = new!(self.ctx, Relabel, [self.value(name)]).element(Some(element.expr(&rows)));
        Some((Map::Axis(id).expr(&rows), new.into()))
    }

    pub(crate) fn scatter(&mut self, frame: &mut Frame, rows: &View, call: &Call) -> Eval<Value> {
        let [Value::View(index), Value::View(table)] = &*call.given() else {
            return Err(frame.error(call.span, "a scatter takes an index and a table"));
        };
        self.scattered(frame, call, (rows, index, table), None)
    }

    /// Writes rows into a table along an axis, or along the one that the rows lack.
    pub(crate) fn scattered(
        &mut self,
        frame: &mut Frame,
        call: &Call,
        (rows, index, table): (&View, &View, &View),
        along: Option<&Map>,
    ) -> Eval<Value> {
        let along = match along {
            Some(along) if along.factors().len() > 1 => {
                let message = format!("a scatter along {}, expected one axis of the table", self.text(along));
                let error = Error::new(frame.place(call.span), message);
                return Err(error.fix("declare the table with one axis for its rows").into());
            }
            Some(along) => self.mapping(along),
            None => self.key(frame, call, table, index, &rows.ty)?,
        };
        let names = [rows, index].map(|view| self.read(frame, call.span, view));
        let [rows, index] = names;
        let table = &self.aliased(table);
        let tensor = self.current(frame, call.span, table.place)?;
        let operands = self.values(&[rows?, index?, tensor]);
        let [rows, index, tensor] = operands[..] else { return Ok(Value::Nothing) };
        let new = new!(self.ctx, ScatterOp, [rows, index, tensor]).along(along.into());
        self.changed(frame, call.span, table.place, new);
        Ok(Value::Nothing)
    }
}
