//! Operations on tensors at rest: transfers, new tensors, exchanges, and rows that an index chooses.

use crate::body::Body;
use crate::host_memory::in_host_memory;
use crate::refusals::{Export, refuse, refuse_with_fix};
use crate::values::Ownership;
use crate::version::DmShuffle;
use crate::views::{OneOf, Operand};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use visa_algebra::Expr;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::facts::address::further;
use visa_mapping::ops::chip_shuffle::ChipShuffle;
use visa_mapping::ops::empty::Empty;
use visa_mapping::ops::indexed::{GatherToDm, ScatterOp};
use visa_mapping::ops::to_tile::ToTile;
use visa_mapping::ops::transfer::{ToDm, ToHbm, ToSpm, queue, stream_order};
use visa_mapping::{DM, Dim, HBM, SPM, Tensor, TensorKind};

/// The kind of notes about addresses.
pub(crate) const ADDRESS: &str = "address";
/// The kind of notes about the engines of a transfer, and the order of its parts.
const TRANSFER: &str = "transfer stream";

#[expect(clippy::wrong_self_convention, reason = "methods have the names of the operations")]
impl Body<'_, '_> {
    /// `tm.to_hbm`.
    pub(crate) fn to_hbm(&mut self, op: OpRef<'_>) -> Export<()> {
        let to = ToHbm::of(op)?;
        if in_host_memory(op, to.source()?.id) {
            return self.sent_to_hbm(to);
        }
        let mut lacking = self.address(to.at_unless_auto()?);
        self.check_padded(op, to.padded())?;
        lacking.extend(self.stream_of(op)?);
        self.transfer(op, to.source()?.id, to.result_tensor()?.id, &lacking)
    }

    /// `tm.to_dm`.
    pub(crate) fn to_dm(&mut self, op: OpRef<'_>) -> Export<()> {
        let to = ToDm::of(op)?;
        let mut lacking = self.rotating(op, to.at_unless_auto()?);
        lacking.extend(self.stream_of(op)?);
        self.transfer(op, to.source()?.id, to.result_tensor()?.id, &lacking)
    }

    /// `tm.to_spm`.
    pub(crate) fn to_spm(&mut self, op: OpRef<'_>) -> Export<()> {
        let to = ToSpm::of(op)?;
        let mut lacking = self.rotating(op, to.at_unless_auto()?);
        lacking.extend(self.stream_of(op)?);
        self.transfer(op, to.source()?.id, to.result_tensor()?.id, &lacking)
    }

    /// `tm.to_tile`.
    pub(crate) fn to_tile(&mut self, op: OpRef<'_>) -> Export<()> {
        let to = ToTile::of(op)?;
        self.check_padded(op, to.padded())?;
        let lacking = self.stream_of(op)?;
        let (source, tensor) = (to.source()?.id, to.tensor()?.id);
        let operand = self.read_view(op, source)?;
        if operand.root == self.roots.root(tensor) {
            let message =
                "it reads the tensor that it writes, and a variable of the language is borrowed once";
            return Err(refuse_with_fix(op, message, "read from a copy of the tensor"));
        }
        let target = self.written_tile(op, *to)?;
        let method = self.view_method(op, source, tensor)?;
        let (from, engine) = (operand.tokens, self.engine(op, source, tensor)?);
        self.with_comments(op, &lacking, quote!(#from.#method(#engine, #target);));
        Ok(())
    }

    /// `tm.empty`.
    pub(crate) fn empty(&mut self, op: OpRef<'_>) -> Export<()> {
        let empty = Empty::of(op)?;
        let lacking = self.address(empty.at_unless_auto()?);
        let result = empty.result_tensor()?.id;
        if self.roots.place(result).is_some() {
            // It is the variable that the body fills.
            return Ok(());
        }
        let tensor = self.tensor(op, result)?;
        if tensor.kind.is_one_of(&[&SPM]) {
            return Err(refuse(op, "the language has no tensors without elements in scratchpad memory"));
        }
        let (ty, new) = (self.tensor_type(op, &tensor)?, self.constructor(op, &tensor)?);
        let name = self.declare(op, result, Ownership::Owned);
        self.with_comments(op, &lacking, quote!(let mut #name: #ty = #new::new();));
        Ok(())
    }

    /// `tm.chip_shuffle`.
    pub(crate) fn chip_shuffle(&mut self, op: OpRef<'_>) -> Export<()> {
        let shuffle = ChipShuffle::of(op)?;
        let lacking = self.address(shuffle.at_unless_auto()?);
        let (source, result) = (shuffle.source()?.id, shuffle.result_tensor()?.id);
        let is_hbm = self.tensor(op, source)?.kind.is_one_of(&[&HBM]);
        let by = shuffle.by()?;
        let by = by.iter().map(|&chip| Literal::i64_unsuffixed(chip));
        let view = self.read_view(op, source)?.tokens;
        let from = if self.file.spelling.since_07 { self.operand(op, source)?.tokens } else { view };
        let device = self.device();
        if is_hbm {
            let call = quote!(#from.hbm_chip_shuffle(&mut #device.pdma, &[#(#by),*]));
            return self.created(op, result, &lacking, Created::Value(call));
        }
        let call = match self.file.spelling.dm_shuffle {
            DmShuffle::Method => quote!(#from.dm_chip_shuffle(&mut #device.tdma, &[#(#by),*])),
            DmShuffle::Plan => quote!(#from.chip_shuffle([#(#by),*]).to_dm(&mut #device.tdma)),
            DmShuffle::Absent => {
                let message = "this version shuffles chips in HBM alone";
                return Err(refuse_with_fix(op, message, "shuffle in HBM, or export `--for 0.10`"));
            }
        };
        self.created(op, result, &lacking, Created::Value(call))
    }

    /// `tm.gather_to_dm`.
    pub(crate) fn gather_to_dm(&mut self, op: OpRef<'_>) -> Export<()> {
        let gather = GatherToDm::of(op)?;
        let lacking = self.rotating(op, gather.at_unless_auto()?);
        let (table, index) = (gather.table()?.id, gather.index()?.id);
        let result = gather.result_tensor()?.id;
        let in_hbm = self.tensor(op, index)?.kind.is_one_of(&[&HBM]);
        let (from, rows) = (self.whole(op, table)?, self.whole(op, index)?);
        let device = self.device();
        let call = if self.file.spelling.plans_indexed {
            let (along, payload) = self.rows_of(op, table, &*gather.along()?)?;
            let by = self.index_method(op, index)?;
            quote!(#from.gather::<#along, #payload>().#by(&#rows).to_dm(&mut #device.tdma))
        } else if in_hbm {
            quote!(#from.dma_gather_scaled(&#rows))
        } else {
            let message = "this version takes an index in HBM, or in data memory";
            return Err(refuse_with_fix(op, message, "export `--for 0.10`"));
        };
        self.created(op, result, &lacking, Created::Value(call))
    }

    /// `tm.scatter`.
    pub(crate) fn scatter(&mut self, op: OpRef<'_>) -> Export<()> {
        let scatter = ScatterOp::of(op)?;
        let (rows, index, table) = (scatter.rows()?.id, scatter.index()?.id, scatter.table()?.id);
        let in_hbm = self.tensor(op, index)?.kind.is_one_of(&[&HBM]);
        let (from, places) = (self.read_view(op, rows)?.tokens, self.whole(op, index)?);
        let (to, device) = (self.changed(op, table)?, self.device());
        if !self.file.spelling.plans_indexed {
            let message = "the scatters of this version are not written";
            return Err(refuse_with_fix(op, message, "export `--for 0.10`"));
        }
        let statement = {
            let (along, payload) = self.rows_of(op, table, &*scatter.along()?)?;
            let by = self.index_method(op, index)?;
            let places = if in_hbm { quote!(#places.view()) } else { quote!(&#places) };
            quote! {
                #to.view_mut().scatter::<#along, #payload>().#by(#places).from_dm_view(&mut #device.tdma, #from);
            }
        };
        self.with_comments(op, &[], statement);
        Ok(())
    }

    /// The axis of the rows of a table, and the mapping of a row.
    fn rows_of(&mut self, op: OpRef<'_>, table: ValueId, along: &Expr) -> Export<(Ident, Ident)> {
        let element = self.tensor(op, table)?.dim(Dim::Element);
        let rows = along.terms();
        let row = element.terms().into_iter().filter(|term| !rows.contains(term)).cloned();
        let row = Expr::pair(row.collect::<Vec<_>>());
        Ok((self.map(op, along)?, self.map(op, &row)?))
    }

    /// The method that gives a gather or a scatter its index. One in scratchpad memory specifies its axes.
    fn index_method(&mut self, op: OpRef<'_>, index: ValueId) -> Export<TokenStream> {
        let index = self.tensor(op, index)?;
        if index.kind.is_one_of(&[&HBM]) {
            return Ok(quote!(by_byte_offsets));
        }
        let (cluster, element) = (index.dim(Dim::Cluster), index.dim(Dim::Element));
        let named =
            cluster.terms().into_iter().filter(|term| matches!(term, Expr::Axis(_) | Expr::Stride { .. }));
        let domain = Expr::pair(named.chain(element.terms()).cloned().collect::<Vec<_>>());
        let domain = self.map(op, &domain)?;
        Ok(quote!(by_positions::<#domain>))
    }

    /// A transfer of a tensor to a new one.
    fn transfer(
        &mut self,
        op: OpRef<'_>,
        source: ValueId,
        result: ValueId,
        lacking: &[String],
    ) -> Export<()> {
        let (from, to) = (self.tensor(op, source)?, self.tensor(op, result)?);
        let Operand { tokens, is_whole, root } = self.read_part(op, source, &to.maps)?;
        let engine = self.engine(op, source, result)?;
        let same_chips = from.dim(Dim::Chip) == to.dim(Dim::Chip);
        let in_dm = from.kind.is_one_of(&[&DM]) && to.kind.is_one_of(&[&DM]);
        let moves = !same_chips || from.dim(Dim::Cluster) != to.dim(Dim::Cluster);
        if in_dm && moves && !self.file.spelling.since_07 {
            let message = "this version moves no data memory between chips and clusters";
            return Err(refuse_with_fix(op, message, "export `--for 0.8` or `--for 0.10`"));
        }
        let direct = match (Memory::of(&from), is_whole, Memory::of(&to)) {
            (Some(Memory::Hbm), _, Some(Memory::Dm)) => same_chips.then_some("to_dm"),
            (Some(Memory::Hbm), true, Some(Memory::Hbm)) => same_chips.then_some("to_hbm"),
            (Some(Memory::Hbm), false, Some(Memory::Hbm)) => None,
            (Some(Memory::Dm), true, Some(Memory::Hbm)) => same_chips.then_some("to_hbm"),
            (Some(Memory::Dm), false, Some(Memory::Hbm)) => None,
            (Some(Memory::Dm), true, Some(Memory::Dm)) => Some("to_dm"),
            (Some(Memory::Dm), false, Some(Memory::Dm)) => None,
            (Some(Memory::Dm), _, Some(Memory::Spm)) => Some("to_spm"),
            (Some(Memory::Spm), true, Some(Memory::Dm)) => Some("to_dm"),
            (_, _, _) => {
                let (from, to) = (from.kind.def.name, to.kind.def.name);
                let message = format!("the language has no transfer from `!{from}`{} to `!{to}`", {
                    if is_whole { "" } else { ", a view," }
                });
                return Err(refuse_with_fix(op, message, "move it through data memory"));
            }
        };
        match direct.filter(|_| self.roots.place(result).is_none_or(|place| place == root)) {
            Some(method) => {
                let method = format_ident!("{method}");
                self.created(op, result, lacking, Created::Value(quote!(#tokens.#method(#engine))))
            }
            None => {
                let view = self.read_part(op, source, &to.maps)?.into_view().tokens;
                let method = self.view_method(op, source, result)?;
                self.created(
                    op,
                    result,
                    lacking,
                    Created::Written(&|target| quote!(#view.#method(#engine, #target);)),
                )
            }
        }
    }

    /// Writes an operation that creates a tensor: as a variable, or in the variable whose storage it has.
    pub(crate) fn created(
        &mut self,
        op: OpRef<'_>,
        result: ValueId,
        lacking: &[String],
        how: Created<'_>,
    ) -> Export<()> {
        if let Some(place) = self.roots.place(result) {
            let name = self.changed(op, place)?;
            let statement = match how {
                Created::Value(value) => quote!(#name = #value;),
                Created::Written(write) => write(quote!(#name.view_mut())),
            };
            self.with_comments(op, lacking, statement);
            return Ok(());
        }
        let tensor = self.tensor(op, result)?;
        let ty = self.tensor_type(op, &tensor)?;
        let comments = self.comments_of(op);
        self.comment(&comments);
        self.comment(lacking);
        let name = self.declare(op, result, Ownership::Owned);
        match how {
            Created::Value(value) if self.roots.is_written(result) => {
                self.statement(quote!(let mut #name: #ty = #value;));
            }
            Created::Value(value) => self.statement(quote!(let #name: #ty = #value;)),
            Created::Written(write) => {
                let new = self.constructor(op, &tensor)?;
                self.statement(quote!(let mut #name: #ty = #new::new();));
                self.statement(write(quote!(#name.view_mut())));
            }
        }
        Ok(())
    }

    /// Writes a statement after the comments of its operation.
    pub(crate) fn with_comments(&mut self, op: OpRef<'_>, lacking: &[String], statement: TokenStream) {
        let comments = self.comments_of(op);
        self.comment(&comments);
        self.comment(lacking);
        self.statement(statement);
    }

    /// The comment for an address, which the language lacks.
    pub(crate) fn address(&mut self, at: Option<i64>) -> Vec<String> {
        at.map(|at| self.lacks(ADDRESS, format!("at {at}"))).into_iter().collect()
    }

    /// The comment for the addresses of a rotating buffer, which the language lacks.
    pub(crate) fn rotating(&mut self, op: OpRef<'_>, at: Option<i64>) -> Vec<String> {
        let mut comments = self.address(at);
        let later: Vec<String> = further(op).into_iter().flatten().map(|at| at.to_string()).collect();
        if !later.is_empty() {
            comments.push(self.lacks(ADDRESS, format!("in later iterations at {}", later.join(", "))));
        }
        comments
    }

    /// The comment for the stream of a transfer, which the language lacks.
    pub(crate) fn stream_of(&mut self, op: OpRef<'_>) -> Export<Vec<String>> {
        let (queue, order) = (queue(op)?, stream_order(op)?);
        let named = [(queue.is_some(), "queue"), (order.is_some(), "engines, time and packet")];
        let set: Vec<&str> = named.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
        if set.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![self.lacks(TRANSFER, format!("the compiler chooses {} of the transfer", set.join(", ")))])
    }

    pub(crate) fn check_padded(&self, op: OpRef<'_>, padded: bool) -> Export<()> {
        match padded {
            true => Err(refuse(op, "the language has no transfers that move padding (`padded`)")),
            false => Ok(()),
        }
    }

    /// A tensor that must be a variable.
    pub(crate) fn whole(&self, op: OpRef<'_>, value: ValueId) -> Export<TokenStream> {
        let operand = self.operand(op, value)?;
        match operand.is_whole {
            true => Ok(operand.tokens),
            false => Err(refuse(op, "it takes a view, and the language takes a whole tensor here")),
        }
    }

    /// The method that moves a view to a view in the memory of another tensor.
    fn view_method(&self, op: OpRef<'_>, source: ValueId, target: ValueId) -> Export<proc_macro2::Ident> {
        let (from, to) = (self.tensor(op, source)?, self.tensor(op, target)?);
        match (Memory::of(&from), Memory::of(&to)) {
            (Some(Memory::Hbm | Memory::Dm), Some(Memory::Hbm)) => Ok(format_ident!("to_hbm_view")),
            (Some(Memory::Hbm | Memory::Dm), Some(Memory::Dm)) => Ok(format_ident!("to_dm_view")),
            (_, _) => {
                let (from, to) = (from.kind.def.name, to.kind.def.name);
                Err(refuse(op, format!("the language moves no view of `!{from}` to a view of `!{to}`")))
            }
        }
    }

    /// The DMA engine of a transfer: PCIe between the HBM of several chips.
    fn engine(&self, op: OpRef<'_>, source: ValueId, target: ValueId) -> Export<TokenStream> {
        let (from, to, device) = (self.tensor(op, source)?, self.tensor(op, target)?, self.device());
        let is_hbm = |tensor: &Tensor| tensor.kind.is_one_of(&[&HBM]);
        let crosses = from.dim(Dim::Chip) != to.dim(Dim::Chip);
        Ok(if crosses && is_hbm(&from) && is_hbm(&to) {
            quote!(&mut #device.pdma)
        } else {
            quote!(&mut #device.tdma)
        })
    }
}

/// The creation of a tensor by an operation.
pub(crate) enum Created<'w> {
    /// As the value of an expression.
    Value(TokenStream),
    /// By a statement that writes a view.
    Written(&'w dyn Fn(TokenStream) -> TokenStream),
}

/// A memory that transfers reach.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Hbm,
    Dm,
    Spm,
}

impl Memory {
    fn of(tensor: &Tensor) -> Option<Self> {
        let kinds: [(&'static TensorKind, Self); 3] = [(&HBM, Self::Hbm), (&DM, Self::Dm), (&SPM, Self::Spm)];
        kinds.into_iter().find(|(kind, _)| tensor.is(kind)).map(|(_, memory)| memory)
    }
}
