//! Random compute pipelines through lowering, interpreter and logical evaluator: contractions in every format with
//! rows, trees, time broadcast and both accumulators, then chains of vector operations, or such chains on plain
//! tensors; then a cast, and a commit in another order. What the verifier accepts must check.

use crate::kernels::{Feature, Kernels, SLICES};
use std::fmt::Write as _;
use visa_ir::Word as _;
use visa_numerics::{
    Alu, AluOp, ArgMode, CAST_ENGINE, DType, VectorStage, alu_ops, cast_targets, default_mode,
};
use visa_support::Random;
use visa_support::kernel::{Digit, Kernel, bare, mapping};

/// What a kernel can have, and the words in its text that show it.
const FEATURES: &[Feature] = &[
    ("contracted", &["stream.contract"]),
    ("contracted in dual", &["begin dual"]),
    ("accumulated sequentially", &["accumulate sequential"]),
    ("broadcast in time", &["element [T,", ", T]"]),
    ("narrow", &["stream.vector_fp "]),
    ("stashed", &["stream.vector_stash"]),
    ("with the register file", &["stream.to_vrf"]),
    ("in an argument mode", &["mode Mode"]),
    ("cast", &["stream.cast"]),
    ("conditional", &["when ["]),
    ("reduced between slices", &["inter_slice_reduce"]),
    ("reduced within slices", &["intra_slice_reduce"]),
    ("in two groups", &["stream.vector_unzip"]),
];

/// A stream under construction: the kernel's lines so far and what the stream is.
struct Pipe {
    lines: String,
    value: String,
    dtype: DType,
    time: Vec<Digit>,
    /// The packet's mapping, and how many of its positions hold elements.
    packet: String,
    live: u64,
    /// The axis in the packet, until it is reduced.
    last: Option<String>,
    /// What the slices hold.
    slice: Vec<Digit>,
    /// ALUs of the pass that are in use.
    used: Vec<Alu>,
    /// Guards that its execution ids can meet.
    guards: &'static [&'static str],
}

impl Pipe {
    /// Adds `%vN = OP ...` where the text has `@` for the stream.
    fn push(&mut self, text: &str) {
        let number = self.lines.matches(" = ").count();
        let value = format!("%v{number}");
        let _ = writeln!(self.lines, "  {value} = {}", text.replace('@', &self.value));
        self.value = value;
    }
}

fn digit(text: &str, size: u64) -> Digit {
    (text.to_owned(), size)
}

/// Before anything is reduced.
fn all_slices(slices: u64) -> Vec<Digit> {
    vec![digit("S", slices / 4), digit("R", 4)]
}

/// A constant that keeps numbers in range mostly.
fn number(random: &mut Random, dtype: DType) -> String {
    match (dtype.is_float(), random.below(4)) {
        (true, 0) => "-0.5".to_owned(),
        (true, 1) => "0".to_owned(),
        (true, _) => format!("{}.25", random.below(7)),
        (false, 0) => format!("-{}", random.below(1000)),
        (false, 1) => "2147483647".to_owned(),
        (false, _) => random.below(20).to_string(),
    }
}

/// One operation of `stage`, any of its rows for the stream's format; sometimes in an argument mode, with whatever
/// operands.
fn alu(random: &mut Random, pipe: &mut Pipe, stage: VectorStage, values: &[String]) {
    let mut rows: Vec<&AluOp> =
        alu_ops().filter(|row| row.stage == stage && row.from == pipe.dtype).collect();
    // Mostly an ALU that is free.
    if random.below(16) > 0 {
        rows.retain(|row| !pipe.used.contains(&row.alu));
    }
    if rows.is_empty() {
        return;
    }
    let row = rows[random.below(rows.len())];
    pipe.used.push(row.alu);
    let name = stage.name();
    let arity = row.apply.arity();
    let modes: Vec<ArgMode> =
        ArgMode::ALL.iter().copied().filter(|mode| mode.args().len() == arity).collect();
    let mode = if random.below(4) == 0 { modes[random.below(modes.len())] } else { default_mode(arity) };
    let mut clauses = if mode == default_mode(arity) { Vec::new() } else { vec![format!("mode {mode}")] };
    let mut value = String::new();
    for (clause, read) in ["constant", "constant1"].into_iter().zip(mode.operands()) {
        if !read {
            continue;
        }
        if value.is_empty() && !values.is_empty() && random.below(2) == 0 {
            value = format!(", {}", values[random.below(values.len())]);
        } else {
            clauses.push(format!("{clause} {}", number(random, pipe.dtype)));
        }
    }
    if random.below(3) == 0 {
        guarded(random, pipe, &mut clauses, &value);
    }
    pipe.push(&format!("stream.vector_{name} {} @{value} {}", row.name, clauses.join(", ")));
}

/// Makes the operation conditional: the constant it has, or its value, or that it applies, under guards.
fn guarded(random: &mut Random, pipe: &Pipe, clauses: &mut Vec<String>, value: &str) {
    let count = random.below(3) + 1;
    let guards: Vec<&str> = (0..count).map(|_| random.of(pipe.guards)).collect();
    let constant = clauses.iter().position(|clause| clause.starts_with("constant "));
    let slots: Vec<String> = match constant {
        Some(at) => {
            clauses.remove(at);
            let slot = |guard: &&str| format!("{guard}: {}", number(random, pipe.dtype));
            guards.iter().map(slot).collect()
        }
        None if value.is_empty() => guards.iter().map(|guard| (*guard).to_owned()).collect(),
        None => vec![format!("{}: value", guards[0])],
    };
    clauses.push(format!("when [{}]", slots.join(", ")));
}

/// Enters the stages by any branch mode but that of a register file.
fn branch(random: &mut Random, pipe: &mut Pipe) {
    match random.below(4) {
        0 => {
            let zero = number(random, pipe.dtype);
            pipe.push(&format!("stream.vector_branch comparison @ compare [less {zero}, greater 3]"));
            pipe.guards = &["xxx1", "xx1x", "xx00", "xx10"];
        }
        1 => {
            let axes: Vec<&Digit> = pipe.time.iter().filter(|(_, size)| *size > 1).collect();
            let axis = if axes.is_empty() { "S".to_owned() } else { random.of(&axes).0.clone() };
            pipe.push(&format!("stream.vector_branch axis_toggle @ axis [{axis}]"));
            pipe.guards = &["1xxx", "0xxx"];
        }
        _ => {
            pipe.push("stream.vector_branch unconditional @");
            pipe.guards = &["0000", "x0xx"];
        }
    }
}

/// Reduces between slices: to one of them, to a new axis in all, or with a factor of time in their place.
fn between_slices(random: &mut Random, pipe: &mut Pipe) {
    let ops: &[&str] = match pipe.dtype.is_float() {
        true => &["Add", "Max", "Min", "Mul"],
        false => &["Add", "AddSat", "Max", "Min"],
    };
    let fours: Vec<usize> = (0..pipe.time.len()).filter(|&at| pipe.time[at].1 == 4).collect();
    let place = match random.below(3) {
        0 => digit("1 # 4", 1),
        1 => digit("X", 4),
        _ if fours.is_empty() => digit("1 # 4", 1),
        _ => {
            let at = random.of(&fours);
            pipe.time.remove(at)
        }
    };
    pipe.slice = vec![pipe.slice[0].clone(), place];
    let (op, slice, time) = (random.of(ops), mapping(&pipe.slice), mapping(&pipe.time));
    pipe.push(&format!("stream.vector_inter_slice_reduce {op} @ slice {slice}, time {time}"));
}

/// Narrows, works on 4 lanes, perhaps reduces an axis within the slices, and widens. `work` adds an operation of a
/// stage.
fn narrow(random: &mut Random, pipe: &mut Pipe, mut work: impl FnMut(&mut Random, &mut Pipe, VectorStage)) {
    let packet = pipe.packet.clone();
    let trim = pipe.live <= 4 && random.below(4) > 0;
    match trim {
        true => pipe.push(&format!("stream.vector_trim @ packet [{packet} = 4]")),
        false => {
            let time = mapping(&pipe.time);
            pipe.push(&format!("stream.vector_split @ time [{time}, {packet} / 4], packet [{packet} % 4]"));
        }
    }
    (0..random.below(4)).for_each(|_| work(random, pipe, VectorStage::Float));
    let tree = random.below(4) == 0 && within_slices(random, pipe, &packet, trim);
    if random.below(2) == 0 {
        work(random, pipe, VectorStage::FpDiv);
    }
    if tree {
        pipe.packet = "[1 # 8]".to_owned();
        pipe.live = 1;
        pipe.last = None;
        pipe.push("stream.vector_pad @ packet [1 # 8]");
    } else if trim {
        pipe.packet = format!("[{packet} = 4 # 8]");
        pipe.push(&format!("stream.vector_pad @ packet {}", pipe.packet));
    } else {
        pipe.push(&format!("stream.vector_concat @ time {}, packet {packet}", mapping(&pipe.time)));
    }
}

/// Reduces an axis within the slices: one of time, or that of the packet, which is the result.
fn within_slices(random: &mut Random, pipe: &mut Pipe, packet: &str, trim: bool) -> bool {
    let op =
        random.of(if pipe.dtype.is_float() { &["Add", "Max", "Min"] } else { &["AddSat", "Max", "Min"] });
    let tree = pipe.last.is_some() && (pipe.time.is_empty() || random.below(2) == 0);
    if tree {
        let (axis, time) = (pipe.last.clone().unwrap_or_default(), mapping(&pipe.time));
        pipe.push(&format!(
            "stream.vector_intra_slice_reduce {op} @ axis [{axis}], time {time}, packet [1 # 4]"
        ));
    } else if !pipe.time.is_empty() {
        let axis = pipe.time.remove(random.below(pipe.time.len())).0;
        let axis = axis.split(' ').next().unwrap_or_default().to_owned();
        let time = mapping(&pipe.time);
        let (time, packet) = match trim {
            true => (time, format!("[{packet} = 4]")),
            false => (format!("[{time}, {packet} / 4]"), format!("[{packet} % 4]")),
        };
        pipe.push(&format!(
            "stream.vector_intra_slice_reduce {op} @ axis [{axis}], time {time}, packet {packet}"
        ));
    }
    tree
}

/// A chain of vector operations. `file` is a register file that fits the stream in Way8, in the format beside it.
fn vector(random: &mut Random, pipe: &mut Pipe, file: Option<(&str, DType)>) {
    pipe.push("stream.vector_init @");
    let reduced = random.below(6);
    if reduced == 0 {
        between_slices(random, pipe);
    }
    let file = file.filter(|_| reduced > 0);
    branch(random, pipe);
    let mut stash: Option<(String, DType, bool)> = None;
    let maybe_stash =
        |random: &mut Random, pipe: &mut Pipe, stash: &mut Option<(String, DType, bool)>, narrow: bool| {
            if stash.is_none() && random.below(4) == 0 {
                pipe.push("stream.vector_stash @");
                *stash = Some((pipe.value.clone(), pipe.dtype, narrow));
            }
        };
    let values = |pipe: &Pipe, stash: &Option<(String, DType, bool)>, narrow: bool| -> Vec<String> {
        let file = file.filter(|(_, dtype)| *dtype == pipe.dtype).map(|(name, _)| name.to_owned());
        let stash = stash.clone().filter(|(_, dtype, way)| *dtype == pipe.dtype && *way == narrow);
        file.into_iter().chain(stash.map(|(name, ..)| name)).collect()
    };
    maybe_stash(random, pipe, &mut stash, false);
    for stage in [VectorStage::Logic, VectorStage::Fxp] {
        for _ in 0..random.below(3) {
            let values = values(pipe, &stash, false);
            alu(random, pipe, stage, &values);
        }
        maybe_stash(random, pipe, &mut stash, false);
    }
    if pipe.dtype == DType::I32 && random.below(2) == 0 {
        pipe.push(&format!("stream.vector_fxp_to_fp @ int_width {}", random.below(32)));
        pipe.dtype = DType::F32;
    }
    if random.below(3) > 0 {
        narrow(random, pipe, |random, pipe, stage| {
            let values = values(pipe, &stash, true);
            alu(random, pipe, stage, &values);
        });
    }
    if pipe.dtype == DType::F32 && random.below(3) == 0 {
        pipe.push(&format!("stream.vector_fp_to_fxp @ int_width {}", random.below(32)));
        pipe.dtype = DType::I32;
    }
    for _ in 0..random.below(3) {
        let values = values(pipe, &stash, false);
        alu(random, pipe, VectorStage::Clip, &values);
    }
    if reduced == 1 {
        between_slices(random, pipe);
    }
    pipe.push("stream.vector_final @");
}

/// Cast, commit in another order of time, and back to HBM. `slice` holds the slices.
fn finish(random: &mut Random, mut pipe: Pipe, kernel: Kernel) -> String {
    let targets: Vec<DType> = cast_targets(CAST_ENGINE, pipe.dtype).filter(|to| to.is_stored()).collect();
    if !targets.is_empty() && random.below(3) == 0 {
        pipe.dtype = random.of(&targets);
        let packet = format!("[{} # {}]", pipe.packet, pipe.dtype.elements(32));
        pipe.push(&format!("stream.cast {} @ packet {packet}", pipe.dtype));
    }
    let mut order = pipe.time.clone();
    random.shuffle(&mut order);
    // The array has whole axes and no padding.
    let bare_axis = |(text, size): &Digit| (text.split(" # ").next().unwrap_or_default().to_owned(), *size);
    let mut array: Vec<Digit> = order.iter().map(bare_axis).collect();
    array.extend(pipe.last.iter().map(|last| digit(last, pipe.live)));
    let mut held = pipe.slice.clone();
    held.retain(|(text, _)| text != "1 # 4");
    array.splice(0..0, held);
    let inside = bare(&array);
    // Mostly with the padding of a packet, so that whole packets are written.
    let last = pipe.last.clone().unwrap_or_else(|| "1".to_owned());
    let padded = if pipe.live < 8 && random.below(8) > 0 { format!("{last} # 8") } else { last };
    order.push((padded, 8));
    let order = mapping(&order);
    kernel
        .lines(&pipe.lines)
        .line(&format!("%y = stream.commit {} at 65536, element {order}", pipe.value))
        .returns("y", 1 << 30, &inside)
}

/// x[S, M, L, K] * w[S, N, T, K], summed over K, then perhaps a chain.
fn contraction(random: &mut Random, slices: u64) -> String {
    let formats = [DType::I4, DType::I8, DType::F8e4m3, DType::F8e5m2, DType::Bf16];
    let dtype = random.of(&formats);
    let (rows, steps) = (random.of(&[1, 2, 4, 8]), random.of(&[1, 2, 4, 3]));
    let flit = dtype.elements(32);
    // One or two flits a packet; some of them other sums beside the one over K.
    let two = random.below(3) > 0;
    let width = if two { 2 * flit } else { flit };
    let sums = random.of(&[1, 1, 2, 4]);
    let inner = width / sums;
    let axes = format!(
        "S = {}, R = 4, X = 4, M = 4, N = {rows}, L = {sums}, K = {}, T = 3",
        slices / 4,
        inner * steps
    );
    let tiled = (inner * steps * 3).is_multiple_of(flit) && random.below(2) == 0;
    let outer = format!("K / {inner}");
    let mut weights = vec![digit(&outer, steps)];
    if tiled {
        weights.insert(random.below(2), digit("T", 3));
    }
    weights.push(digit(&format!("K % {inner}"), inner));
    let (elements, packet) = (mapping(&weights), format!("[L, K % {inner}]"));
    let held = elements.trim_matches(['[', ']']).to_owned();
    let region = random.of(&["full", "first", "second"]);
    let mut time = vec![digit("M", 4), digit(&outer, steps)];
    random.shuffle(&mut time);
    let time_text = mapping(&time);
    let inside = time_text.trim_matches(['[', ']']).to_owned();
    let computed = if tiled { format!("[{inside}, T]") } else { time_text.clone() };
    let whole = if two { packet.clone() } else { format!("[{packet} # {}]", 2 * flit) };
    let (dtype_text, stream) = (dtype.to_string(), format!("{inside}, L, K % {inner}"));
    let kernel = Kernel::new(&axes)
        .argument("x", &dtype_text, &format!("S, R, {stream}"), 0)
        .argument("w", &dtype_text, &format!("S, R, N, {held}"), 1 << 28)
        .to_dm("d", "x", 0, "S, R", &stream)
        .to_dm("e", "w", 32768, "S, R", &format!("N, {held}"))
        .lines(&format!(
            "%w0 = stream.begin sub %e
             %w1 = stream.fetch %w0 time [N], packet {elements}
             %w2 = stream.collect %w1 time [N, {elements} / {flit}], packet [{elements} % {flit}]
             %r = stream.to_trf %w2 at {region}, row [N], element {elements}"
        ));
    let mut pipe = Pipe {
        lines: String::new(),
        value: "%d".to_owned(),
        dtype: dtype.accumulator().unwrap_or(DType::F32),
        time: vec![digit("M", 4)],
        packet: String::new(),
        live: 0,
        last: None,
        slice: all_slices(slices),
        used: Vec::new(),
        guards: &[],
    };
    // A flit of the dual context is a packet of the computation.
    let dual = random.below(3) == 0;
    let flits = match dual {
        true => format!("time [{inside}], packet {whole}"),
        false => format!("time [{inside}, {packet} / {flit}], packet [{packet} % {flit}]"),
    };
    pipe.push(&format!("stream.begin {} @", if dual { "dual" } else { "main" }));
    pipe.push(&format!("stream.fetch @ time {time_text}, packet {packet}"));
    pipe.push(&format!("stream.collect @ {flits}"));
    pipe.push(&format!("stream.align @, %r time {computed}, packet {whole}"));
    pipe.push("stream.contract @ packet [L]");
    if tiled {
        pipe.time.push(digit("T", 3));
    }
    let kept = mapping(&pipe.time).trim_matches(['[', ']']).to_owned();
    let last = if random.below(2) == 0 {
        pipe.packet = "[N # 8]".to_owned();
        pipe.time.push(digit("L", sums));
        pipe.live = rows;
        pipe.push(&format!("stream.accumulate interleaved @ time [{kept}, L], packet [N # 8]"));
        "N"
    } else {
        pipe.packet = "[L # 8]".to_owned();
        pipe.time.push(digit("N", rows));
        pipe.live = sums;
        pipe.push(&format!("stream.accumulate sequential @ time [{kept}, N], packet [L # 8]"));
        "L"
    };
    pipe.last = Some(last.to_owned());
    if random.below(2) == 0 {
        vector(random, &mut pipe, None);
    }
    finish(random, pipe, kernel)
}

/// A chain of operations on a plain tensor, with a register file or none.
fn elementwise(random: &mut Random, slices: u64) -> String {
    let dtype = random.of(&[DType::I32, DType::F32]);
    // The packet is whole, or holds 1 to 7 elements and padding.
    let live = random.of(&[8, 8, 8, 8, 4, 4, 2, 6, 6, 3]);
    let packet = if live == 8 { "[P]".to_owned() } else { "[P # 8]".to_owned() };
    // Padding in time is what memory holds: a reduction has to leave it out.
    let padded = random.below(3) == 0;
    let mut time = vec![if padded { digit("A # 4", 4) } else { digit("A", 3) }, digit("B", 4)];
    random.shuffle(&mut time);
    let with_file = random.below(2) == 0;
    let file_dtype = random.of(&[DType::I32, DType::F32]);
    let mut file: Vec<Digit> = [("A", 3), ("B", 4)].iter().map(|(text, size)| digit(text, *size)).collect();
    file.truncate(random.below(3));
    random.shuffle(&mut file);
    let file_time = mapping(&file);
    let file_inside = file_time.trim_matches(['[', ']']).to_owned();
    let (memory, inside) = (mapping(&time), bare(&time).replace(" # 4", ""));
    let dtype_text = dtype.to_string();
    let mut kernel = Kernel::new(&format!("S = {}, R = 4, X = 4, A = 3, B = 4, P = {live}", slices / 4))
        .argument("x", &dtype_text, &format!("S, R, {inside}, P"), 0);
    if with_file {
        kernel = kernel.argument("w", &file_dtype.to_string(), &format!("S, R, {file_inside}, P"), 1 << 28);
    }
    kernel = kernel.to_dm("d", "x", 0, "S, R", &format!("{memory}, {packet}"));
    if with_file {
        let element = format!("{file_time}, {packet}");
        kernel = kernel.to_dm("e", "w", 4096, "S, R", &element).lines(&format!(
            "%w0 = stream.begin sub %e
             %w1 = stream.fetch %w0 time {file_time}, packet {packet}
             %w2 = stream.collect %w1 time {file_time}, packet {packet}
             %r = stream.to_vrf %w2 at {}, element [{element}]",
            32 * random.below(3)
        ));
    }
    let mut pipe = Pipe {
        lines: String::new(),
        value: "%d".to_owned(),
        dtype,
        time,
        packet: packet.clone(),
        live,
        last: Some("P".to_owned()),
        slice: all_slices(slices),
        used: Vec::new(),
        guards: &[],
    };
    pipe.push("stream.begin main @");
    pipe.push(&format!("stream.fetch @ time {memory}, packet {packet}"));
    pipe.push(&format!("stream.collect @ time {memory}, packet {packet}"));
    vector(random, &mut pipe, with_file.then_some(("%r", file_dtype)));
    finish(random, pipe, kernel)
}

/// Two tensors whose packets alternate, treated as groups, and merged.
fn grouped(random: &mut Random, slices: u64) -> String {
    let dtype = random.of(&[DType::I32, DType::F32]);
    let live = random.of(&[8, 8, 4, 6]);
    let packet = if live == 8 { "[P]" } else { "[P # 8]" };
    let mut time = vec![digit("A", 3), digit("B", 4)];
    random.shuffle(&mut time);
    let inside = bare(&time);
    let dtype_text = dtype.to_string();
    let (argument, element) = (format!("S, R, {inside}, P"), format!("{inside}, {packet}"));
    let kernel = Kernel::new(&format!("S = {}, R = 4, X = 4, A = 3, B = 4, I = 2, P = {live}", slices / 4))
        .argument("x", &dtype_text, &argument, 0)
        .argument("w", &dtype_text, &argument, 1 << 28)
        .to_dm("d", "x", 0, "S, R", &element)
        .to_dm("e", "w", 4096, "S, R", &element);
    let mut pipe = Pipe {
        lines: String::new(),
        value: "%d".to_owned(),
        dtype,
        time,
        packet: packet.to_owned(),
        live,
        last: Some("P".to_owned()),
        slice: all_slices(slices),
        used: Vec::new(),
        guards: &["1xxx", "0xxx"],
    };
    pipe.push("stream.begin_interleaved main @, %e axis [I]");
    pipe.push(&format!("stream.fetch @ time [{inside}, I], packet {packet}"));
    pipe.push(&format!("stream.collect @ time [{inside}, I], packet {packet}"));
    pipe.push("stream.vector_init @");
    pipe.push("stream.vector_unzip @ axis [I]");
    let merged = merge_groups(random, &mut pipe, &inside);
    for stage in [VectorStage::Fxp, VectorStage::Clip].into_iter().filter(|stage| *stage > merged) {
        pipe.guards = &["0000"];
        alu(random, &mut pipe, stage, &[]);
    }
    pipe.push("stream.vector_final @");
    finish(random, pipe, kernel)
}

/// Operations on either group, then one that makes one stream of both; its stage.
fn merge_groups(random: &mut Random, pipe: &mut Pipe, inside: &str) -> VectorStage {
    let mode = random.of(&["", " mode Mode10", " mode Mode00", " mode Mode11"]);
    let float = pipe.dtype == DType::F32;
    let packet = pipe.packet.clone();
    alu(random, pipe, VectorStage::Logic, &[]);
    match random.below(3) {
        0 => {
            let op = random.of(&["BitAnd", "BitOr", "BitXor"]);
            pipe.push(&format!("stream.vector_logic_zip {op} @{mode}"));
            VectorStage::Logic
        }
        1 if float => {
            pipe.push(&format!(
                "stream.vector_split @ time [{inside}, I, {packet} / 4], packet [{packet} % 4]"
            ));
            alu(random, pipe, VectorStage::Float, &[]);
            let op = random.of(&["AddF", "SubF", "MulF0", "MulF1", "DivF"]);
            pipe.push(&format!("stream.vector_fp_zip {op} @{mode}"));
            pipe.push(&format!("stream.vector_concat @ time [{inside}], packet {packet}"));
            VectorStage::Widen
        }
        1 => {
            alu(random, pipe, VectorStage::Fxp, &[]);
            let op = random.of(&["AddFxp", "SubFxpSat", "MulInt", "LeftShift"]);
            pipe.push(&format!("stream.vector_fxp_zip {op} @{mode}"));
            VectorStage::Fxp
        }
        _ => {
            alu(random, pipe, VectorStage::Clip, &[]);
            let op = random.of(&["Min", "Max", "AbsMin", "AbsMax"]);
            pipe.push(&format!("stream.vector_clip_zip {op} @{mode}"));
            VectorStage::Clip
        }
    }
}

/// Random kernels that compute.
pub const KERNELS: Kernels =
    Kernels { name: "compute", slices: &SLICES, generate, features: FEATURES, one_in: 100 };

fn generate(random: &mut Random, slices: u64) -> String {
    match random.below(5) {
        0 | 1 => contraction(random, slices),
        2 => grouped(random, slices),
        _ => elementwise(random, slices),
    }
}
