//! `hw.contract`: the Reducer's products and trees (book 19).

use crate::addresses::ByAddress;
use crate::attrs::DTYPE;
use crate::build::Build;
use crate::clauses::{at_least, machine, takes_max};
use crate::limits::MAX_STREAM_BYTES;
use crate::number::Number;
use crate::ops::align::{ALIGN, Align};
use crate::trf::Region;
use std::ops::Range;
use std::sync::OnceLock;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::words::ContractionKind;
use visa_engine::{
    Bank, Engine, Flow, Map, Mismatch, Operand, RunCx, SliceMemory, Stage, StageCost, Stream, TreeUse, Unit,
    Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::{DType, Packets, ROWS, SumOrder, TABLES, Table, Trees, tree_sums};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&CONTRACT];

/// `hw.contract`.
#[visa_ir::view(Contract)]
pub static CONTRACT: OpDecl = OpDecl {
    name: "hw.contract",
    summary: "multiplies packets with register-file data and adds neighbours",
    doc: "In every row the packet is multiplied element by element with the elements that the row read, and a tree \
          adds each group of 2^depth consecutive products (book 19). Elements after the packet's data give products \
          of +0.0 (or 0), for any content of the register file there. A packet of sums comes out: for each row its \
          groups in order, f32 for floats and i32 for integers. Where the machine adds in sequential order the \
          products themselves go on, and the accumulator adds them one by one. So they do with `op max`, by which \
          the accumulator takes the greatest (book 19: max mode).",
    constraints: &[
        (
            "C1",
            "the stream's elements are of this format, and the Reducer multiplies it (book 19: i4, i5, i8, i9, \
             f8e4m3, f8e5m2, bf16)",
        ),
        (
            "C2",
            "the tree is at most as deep as the format's: 7 levels for i4 and i5, 6 for i8, i9 and f8, 5 for bf16 \
             (book 19)",
        ),
        (
            "C3",
            "a row gives at most 32 sums, the accumulator's columns; without a tree, depth 0, its first 32 \
             products (book 19)",
        ),
        ("C4", "the aligner's data and reads are whole elements"),
        ("C5", "`op max` is for a single row, and its groups hold data or none (book 19: zeros would count)"),
    ],
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "Format of the operands."),
        ClauseDecl::default(
            "op",
            ClauseKind::word::<ContractionKind>(),
            "add",
            "Reduction of products in the tree and the accumulator.",
        ),
        ClauseDecl::required("depth", ClauseKind::Int, "Levels of the tree that add."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.contract bf16, depth 5",
    interfaces: &[Interface(&rngd::CONTRACT), Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?))))],
    ..OpDecl::BASE
};

struct ContractUnit {
    dtype: DType,
    accumulator: DType,
    depth: u64,
    /// Elements of a packet.
    elements: u64,
    /// Elements of a packet that become sums, the first.
    kept: usize,
    /// Rows of the aligner before it.
    rows: u64,
    /// Bytes of a packet that hold data, according to the aligner.
    data: u64,
    /// The region of the register file that it reads.
    region: Region,
    order: SumOrder,
    /// Made on first use: every slice reads the same addresses.
    by_address: OnceLock<ByAddress>,
}

/// A contraction without the aligner before it.
struct Tree {
    dtype: DType,
    accumulator: DType,
    depth: u64,
    elements: u64,
    kept: usize,
    max: bool,
}

fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let op = Contract::of(op)?;
    let tree = tree(op)?;
    aligner(op).map_or(Ok(()), |aligner| check_aligner(op, &tree, &aligner))
}

fn read(op: OpRef<'_>) -> Result<ContractUnit, Diagnostic> {
    let op = Contract::of(op)?;
    let tree = tree(op)?;
    let aligner =
        aligner(op).ok_or_else(|| op.error("C4", format!("there is no `{}` before it", ALIGN.name)))?;
    check_aligner(op, &tree, &aligner)?;
    let machine = machine(*op);
    let Tree { dtype, accumulator, depth, elements, kept, max } = tree;
    Ok(ContractUnit {
        dtype,
        accumulator,
        depth,
        elements,
        kept,
        rows: aligner.rows,
        data: aligner.data,
        region: aligner.region,
        // A maximum is the same in any order: its products go on to the accumulator, as those of a sequential sum.
        order: if max { SumOrder::Sequential } else { machine.sum_order },
        by_address: OnceLock::new(),
    })
}

/// C1 to C3.
fn tree(op: Contract<'_>) -> Result<Tree, Diagnostic> {
    let machine = machine(*op);
    let dtype = *op.dtype()?;
    let Some(contraction) = dtype.info().contraction else {
        let names: Vec<_> =
            DType::all().filter(|dtype| dtype.accumulator().is_some()).map(DType::name).collect();
        let message = format!("the Reducer does not multiply {dtype}, expected {}", names.join(", "));
        return Err(op.clause_error("C1", "dtype", message));
    };
    let depth = at_least(*op, "C2", ("depth", op.depth()?), 0)?;
    let most = u64::from(contraction.tree_depth);
    if depth > most {
        let message = format!("`depth` is {depth}, expected at most {most} for {dtype}");
        return Err(op.clause_error("C2", "depth", message));
    }
    let elements = dtype.elements(machine.limits.mac_width_bytes);
    let (sums, columns) = (elements >> depth, machine.limits.accumulator_columns);
    // Without a tree the elements after the columns are cut off.
    let kept = if depth == 0 { elements.min(columns) } else { elements };
    if kept >> depth > columns {
        let message =
            format!("a row gives {} at depth {depth}, expected at most {columns}", counted(sums, "sum"));
        return Err(op.clause_error("C3", "depth", message));
    }
    let (accumulator, max) = (contraction.accumulator, takes_max(op.op()?));
    Ok(Tree { dtype, accumulator, depth, elements, kept: kept as usize, max })
}

/// The clauses of the aligner before a contraction.
struct Aligner {
    rows: u64,
    /// Bytes of a packet that hold data.
    data: u64,
    /// Bytes of a read.
    read: u64,
    /// The region of the register file that it reads.
    region: Region,
}

/// The aligner before a contraction. `None` where there is none, which `hw.exec` reports, or one that is wrong in
/// itself, which it reports.
fn aligner(op: Contract<'_>) -> Option<Aligner> {
    let align = crate::order::before(*op).and_then(Align::cast)?;
    let number = |number: Result<i64, Diagnostic>| u64::try_from(number.ok()?).ok();
    let rows = number(align.rows())?;
    Some(Aligner {
        rows,
        data: number(align.data())?,
        read: align.loops().ok()?.packet,
        region: Region::of(align.region().ok()?, rows, &machine(*op)),
    })
}

/// C4 and C5.
fn check_aligner(op: Contract<'_>, tree: &Tree, aligner: &Aligner) -> Result<(), Diagnostic> {
    let dtype = tree.dtype;
    for (what, bytes) in [("data", aligner.data), ("read", aligner.read)] {
        if !bytes.is_multiple_of(dtype.align()) {
            let message = format!(
                "the aligner's {what} is {}, expected whole {dtype} elements",
                counted(bytes, "byte")
            );
            return Err(op.clause_error("C4", "dtype", message));
        }
    }
    let (live, group) = (dtype.elements(aligner.data), 1 << tree.depth);
    if tree.max { check_max(*op, aligner, live, group) } else { Ok(()) }
}

/// C5.
fn check_max(op: OpRef<'_>, aligner: &Aligner, live: u64, group: u64) -> Result<(), Diagnostic> {
    if aligner.rows > 1 {
        let message = format!("`op max` with {}, expected 1", counted(aligner.rows, "row"));
        return Err(op.clause_error("C5", "op", message));
    }
    if !live.is_multiple_of(group) {
        let message = format!("`op max` in groups of {group} of {live} elements with data");
        return Err(op.clause_error("C5", "op", message));
    }
    Ok(())
}

impl Unit for ContractUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.dtype != self.dtype {
            let message = format!("the stream's elements are {}, expected {}", input.dtype, self.dtype);
            return Err(Mismatch::new("C1", "dtype", message));
        }
        let out = self.out(input.flow());
        let held = input.packets.checked_mul(out.packet * self.terms());
        if held.is_none_or(|held| held > MAX_STREAM_BYTES) {
            let message =
                format!("{} give more than {MAX_STREAM_BYTES} bytes", counted(input.packets, "packet"));
            return Err(Mismatch::new("C3", "depth", message));
        }
        Ok(Wire { dtype: self.accumulator, packet: out.packet, ..input })
    }

    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let macs = input.packets * self.rows * self.dtype.elements(self.data);
        let latency = self.tree_latency(machine) + 1;
        let out = self.out(input);
        StageCost { engine: Engine::CONTRACTION, cycles: input.packets, latency, macs, out }
    }

    fn tree_use(&self, machine: &Machine, input: Flow) -> Option<TreeUse> {
        let all_rows = machine.memory.trf_rows;
        Some(TreeUse {
            rows: self.rows,
            all_rows,
            depth: self.depth,
            latency: self.tree_latency(machine),
            most_macs: input.packets * all_rows * self.elements,
        })
    }
}

impl Map for ContractUnit {
    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, input: Stream) -> Stream {
        let Some(operand) = &input.operand else { return Stream::empty(self.accumulator) };
        let trf = memory.trf_of(self.dtype);
        let (bytes, shadow) = match self.accumulator.is_float() {
            true => (self.values::<f32>(trf, &input, operand), self.marks::<f32>(cx, trf, &input, operand)),
            false => (self.values::<i32>(trf, &input, operand), self.marks::<i32>(cx, trf, &input, operand)),
        };
        let operand = Operand { terms: self.terms() as usize, ..operand.clone() };
        let packet = operand.rows * self.groups() * operand.terms * 4;
        Stream { dtype: self.accumulator, packet, bytes, shadow, operand: Some(operand), lanes: None }
    }
}

impl ContractUnit {
    fn tree_latency(&self, machine: &Machine) -> u64 {
        self.depth * machine.timing.tree_level_cycles
    }

    fn out(&self, input: Flow) -> Flow {
        Flow { packets: input.packets, packet: self.rows * self.groups() as u64 * 4 }
    }

    /// Sums of a row, a packet.
    fn groups(&self) -> usize {
        self.kept >> self.depth
    }

    /// Values that come out for each sum: 1, or in sequential order its products.
    fn terms(&self) -> u64 {
        match self.order {
            SumOrder::Tree => 1,
            SumOrder::Sequential => 1 << self.depth,
        }
    }

    /// Elements of a packet that are data.
    fn live(&self, operand: &Operand) -> usize {
        self.dtype.elements(operand.data as u64) as usize
    }

    /// Where row `row` reads at `address`, in bytes of the register file as this format sees it.
    fn range(&self, operand: &Operand, row: usize, address: u32) -> Range<usize> {
        let scale = self.dtype.wire_scale();
        let address = u64::from(address).saturating_sub(self.region.start);
        let at = self.region.at(row as u64, address) as usize * scale;
        at..at + operand.read * scale
    }

    /// A mark an element, of marks a byte.
    fn by_element(&self, marks: &[Shadow]) -> Vec<Shadow> {
        match self.dtype.bits() as usize * self.dtype.wire_scale() {
            4 => marks.iter().flat_map(|&mark| [mark; 2]).collect(),
            bits => marks.chunks(bits / 8).map(Shadow::all).collect(),
        }
    }

    /// The output values. Without a tree the products are the sums.
    fn values<T: Number>(&self, trf: &Bank, input: &Stream, operand: &Operand) -> Vec<u8> {
        match self.order {
            SumOrder::Tree if self.depth > 0 => self.sums::<T>(trf, input, operand),
            SumOrder::Tree | SumOrder::Sequential => self.products::<T>(trf, input, operand),
        }
    }

    /// The sums of all packets, as bytes.
    fn sums<T: Number>(&self, trf: &Bank, input: &Stream, operand: &Operand) -> Vec<u8> {
        let data = operand.data * self.dtype.wire_scale();
        let packets = Packets::new(self.dtype, &input.bytes, input.packet, data);
        let trees = Trees { depth: self.depth as u32, rows: operand.rows, repeat: operand.repeat };
        let table = Table::<T>::new(self.dtype, self.elements as usize, self.live(operand));
        let mut tables = vec![table; TABLES];
        let mut out = vec![0; operand.addresses.len() * operand.rows * self.groups() * 4];
        let by_address = self.by_address.get_or_init(|| ByAddress::new(&operand.addresses));
        let mut addresses = by_address.iter().peekable();
        while addresses.peek().is_some() {
            let some: Vec<_> = addresses.by_ref().take(TABLES).collect();
            for (&(address, _), table) in some.iter().zip(&mut tables) {
                self.fill(trf, operand, address, table);
            }
            let meetings: Vec<_> = some.iter().map(|&(_, accesses)| accesses).zip(&tables).collect();
            tree_sums(packets, &meetings, trees, out.as_chunks_mut().0);
        }
        out
    }

    /// Puts the values that all rows read at `address` into a table.
    fn fill<T: Number>(&self, trf: &Bank, operand: &Operand, address: u32, table: &mut Table<T>) {
        let mut reads: [&[u8]; ROWS] = [&[]; ROWS];
        let mut rows = (0..operand.rows).zip(&mut reads);
        let whole = |row| trf.bytes().get(self.range(operand, row, address));
        if rows.all(|(row, read)| whole(row).map(|bytes| *read = bytes).is_some()) {
            return table.set_all(&reads[..operand.rows]);
        }
        let mut bytes = Vec::new();
        for row in 0..operand.rows {
            let range = self.range(operand, row, address);
            if let Some(read) = trf.bytes().get(range.clone()) {
                table.set(row, read);
            } else {
                bytes.clear();
                trf.read(range, &mut bytes);
                table.set(row, &bytes);
            }
        }
    }

    /// The products of all packets, as bytes.
    fn products<T: Number>(&self, trf: &Bank, input: &Stream, operand: &Operand) -> Vec<u8> {
        let elements = self.elements as usize;
        let live = self.live(operand);
        let mut data = decoded::<T>(self.dtype, &input.bytes);
        if live < elements {
            // Not only zero weights: an infinity in the data would make them NaN.
            data.chunks_mut(elements).for_each(|packet| packet[live..].fill(T::ZERO));
        }
        let mut buffers = (Vec::new(), Vec::new());
        let weights = Weights::new(operand, elements, T::ZERO, |address, lanes| {
            self.read_lanes(trf, operand, address, &mut buffers, lanes);
        });
        let kept = data.chunks_exact(elements).map(|packet| &packet[..self.kept]);
        let packets = kept.flat_map(|packet| std::iter::repeat_n(packet, operand.repeat));
        let pairs = packets.zip(operand.addresses.iter().map(|&address| weights.at(address)));
        products(pairs, operand)
    }

    /// The values that all rows read at `address`, a lane a row, spread over the packet; after its data `lanes` stay
    /// zero.
    fn read_lanes<T: Number>(
        &self,
        trf: &Bank,
        operand: &Operand,
        address: u32,
        (bytes, read): &mut (Vec<u8>, Vec<T>),
        lanes: &mut [[T; ROWS]],
    ) {
        let live = self.live(operand);
        for row in 0..operand.rows {
            bytes.clear();
            trf.read(self.range(operand, row, address), bytes);
            decode_into(self.dtype, bytes, read);
            for (lane, &value) in lanes[..live].iter_mut().zip(read.iter().cycle()) {
                lane[row] = value;
            }
        }
    }

    /// One mark for each value that comes out, on its 4 bytes: of the packet's and the row's elements that it is of.
    fn marks<T: Number>(
        &self,
        cx: RunCx<'_>,
        trf: &Bank,
        input: &Stream,
        operand: &Operand,
    ) -> Option<Vec<Shadow>> {
        let mut marker = cx.marker()?;
        let span = 1 << (self.depth as usize - self.terms().ilog2() as usize);
        let (elements, live) = (self.elements as usize, self.live(operand));
        let no_marks = Vec::new();
        let data = input.shadow.as_ref().unwrap_or(&no_marks);
        let weights = Weights::new(operand, elements, Shadow::DEFINED, |address, lanes| {
            self.read_marks(trf, operand, address, lanes);
        });
        let mut buffers = (Vec::new(), Vec::new());
        let mut values = vec![[T::ZERO; ROWS]; elements];
        let mut out = Vec::new();
        for (access, &address) in operand.addresses.iter().enumerate() {
            let packet = access / operand.repeat;
            let mut marks = self.by_element(data.chunks(input.packet).nth(packet).unwrap_or(&[]));
            marks.resize(elements, Shadow::DEFINED);
            marks[live..].fill(Shadow::DEFINED);
            let weights = weights.at(address);
            if marks.iter().chain(weights.as_flattened()).all(|mark| mark.is_defined()) {
                out.resize(out.len() + operand.rows * (self.kept / span) * 4, Shadow::DEFINED);
                continue;
            }
            let numbers: Vec<T> = decoded(self.dtype, &input.bytes[packet * input.packet..][..input.packet]);
            self.read_lanes(trf, operand, address, &mut buffers, &mut values);
            for row in 0..operand.rows {
                let products = (0..self.kept)
                    .map(|at| product_mark((numbers[at], marks[at]), (values[at][row], weights[at][row])));
                let products: Vec<_> = products.collect();
                out.extend(products.chunks(span).flat_map(|group| [marker.through(Shadow::all(group)); 4]));
            }
        }
        Some(out)
    }

    /// The marks of the elements that each row reads at `address`, one for each element of the packet.
    fn read_marks(&self, trf: &Bank, operand: &Operand, address: u32, lanes: &mut [[Shadow; ROWS]]) {
        let mut marks = Vec::new();
        for row in 0..operand.rows {
            marks.clear();
            trf.read_shadow(self.range(operand, row, address), Shadow::NEVER_WRITTEN, &mut marks);
            let read = self.by_element(&marks);
            for (lane, &mark) in lanes[..self.live(operand)].iter_mut().zip(read.iter().cycle()) {
                lane[row] = mark;
            }
        }
    }
}

/// The mark of a product. It does not depend on the other factor of a zero that is defined, except for an infinity or
/// NaN.
fn product_mark<T: Number>((left, left_mark): (T, Shadow), (right, right_mark): (T, Shadow)) -> Shadow {
    let left_zero = left_mark.is_defined() && left.absorbs(right);
    let right_zero = right_mark.is_defined() && right.absorbs(left);
    if left_zero || right_zero { Shadow::DEFINED } else { left_mark.or(right_mark) }
}

/// The elements of `bytes`.
fn decoded<T: Number>(dtype: DType, bytes: &[u8]) -> Vec<T> {
    let mut out = Vec::new();
    decode_into(dtype, bytes, &mut out);
    out
}

/// Replaces `out` by the elements of `bytes`. The format was checked to have this accumulator when the operation
/// was read.
fn decode_into<T: Number>(dtype: DType, bytes: &[u8], out: &mut Vec<T>) {
    if T::decode(dtype, bytes, out).is_err() {
        out.clear();
    }
}

/// Every product, for each row in the packet's order.
fn products<'a, T: Number + 'a>(
    pairs: impl Iterator<Item = (&'a [T], &'a [[T; ROWS]])>,
    operand: &Operand,
) -> Vec<u8> {
    let mut out = Vec::new();
    for (packet, weights) in pairs {
        for row in 0..operand.rows {
            let products = packet.iter().zip(weights).map(|(value, lanes)| value.product(lanes[row]));
            out.extend(products.flat_map(Number::bytes));
        }
    }
    out
}

/// A table for each distinct address of an operand, made once: rows are lanes, so that a dot product reads a slice.
struct Weights<T> {
    tables: Vec<[T; ROWS]>,
    /// Table number of each address that is read.
    number: Vec<u32>,
    length: usize,
}

impl<T: Copy> Weights<T> {
    /// Tables of `length` lanes that start as `zero`; `fill` makes the one of an address.
    fn new(operand: &Operand, length: usize, zero: T, mut fill: impl FnMut(u32, &mut [[T; ROWS]])) -> Self {
        const NONE: u32 = u32::MAX;
        let highest = operand.addresses.iter().max().map_or(0, |&address| address as usize + 1);
        let mut number = vec![NONE; highest];
        let mut distinct = Vec::new();
        for &address in operand.addresses.iter() {
            if number[address as usize] == NONE {
                number[address as usize] = distinct.len() as u32;
                distinct.push(address);
            }
        }
        let mut tables = vec![[zero; ROWS]; distinct.len() * length];
        for (table, address) in tables.chunks_exact_mut(length).zip(distinct) {
            fill(address, table);
        }
        Self { tables, number, length }
    }

    #[inline]
    fn at(&self, address: u32) -> &[[T; ROWS]] {
        &self.tables[self.number[address as usize] as usize * self.length..][..self.length]
    }
}
