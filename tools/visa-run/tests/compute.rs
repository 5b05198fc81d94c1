//! Random compute pipelines through lowering, interpreter and logical evaluator: contractions in every format with rows, trees,
//! time broadcast and both accumulators, then chains of vector operations, or such chains on plain tensors; then a cast, and a
//! commit in another order. What the verifier accepts must check.

mod random;

use random::{Digit, Feature, Random, mapping};
use std::fmt::Write as _;
use visa_numerics::{
    ARG_MODE_NAMES, Alu, AluOp, CAST_ENGINE, DType, VectorStage, alu_ops, cast_targets, default_mode,
};

/// What a kernel can have, and the words in its text that show it.
const FEATURES: &[Feature] = &[
    ("contracted", &["stream.contract"]),
    ("accumulated sequentially", &["accumulate sequential"]),
    ("broadcast in time", &["element [T,", ", T]"]),
    ("narrow", &["stream.vector_fp "]),
    ("stashed", &["stream.vector_stash"]),
    ("with the register file", &["stream.to_vrf"]),
    ("in an argument mode", &["mode Mode"]),
    ("cast", &["stream.cast"]),
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
    /// ALUs of the pass that are in use.
    used: Vec<Alu>,
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

fn pick<T: Copy>(random: &mut Random, items: &[T]) -> T {
    items[random.below(items.len())]
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

/// One operation of `stage`, any of its rows for the stream's format; sometimes in an argument mode, with whatever operands.
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
    let name = match stage {
        VectorStage::Logic => "logic",
        VectorStage::Fxp => "fxp",
        VectorStage::Float => "fp",
        VectorStage::FpDiv => "fp_div",
        _ => "clip",
    };
    let arity = row.apply.arity();
    let length = "Mode".len() + arity;
    let modes: Vec<&str> = ARG_MODE_NAMES.into_iter().filter(|mode| mode.len() == length).collect();
    let mode = if random.below(4) == 0 { pick(random, &modes) } else { default_mode(arity).name };
    let mut clauses =
        if mode == default_mode(arity).name { Vec::new() } else { vec![format!("mode {mode}")] };
    let mut value = String::new();
    for (digit, clause) in [('1', "constant"), ('2', "constant1")] {
        if !mode.contains(digit) {
            continue;
        }
        if value.is_empty() && !values.is_empty() && random.below(2) == 0 {
            value = format!(", {}", values[random.below(values.len())]);
        } else {
            clauses.push(format!("{clause} {}", number(random, pipe.dtype)));
        }
    }
    pipe.push(&format!("stream.vector_{name} {} @{value} {}", row.name, clauses.join(", ")));
}

/// A chain of vector operations. `file` is a register file that fits the stream in Way8, in the format beside it.
fn vector(random: &mut Random, pipe: &mut Pipe, file: Option<(&str, DType)>) {
    pipe.push("stream.vector_init @");
    pipe.push("stream.vector_branch unconditional @");
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
        let (time, packet) = (mapping(&pipe.time), pipe.packet.clone());
        let trim = pipe.live <= 4 && random.below(4) > 0;
        match trim {
            true => pipe.push(&format!("stream.vector_trim @ packet [{packet} = 4]")),
            false => pipe
                .push(&format!("stream.vector_split @ time [{time}, {packet} / 4], packet [{packet} % 4]")),
        }
        maybe_stash(random, pipe, &mut stash, true);
        for stage in [VectorStage::Float, VectorStage::FpDiv] {
            for _ in 0..random.below(4) {
                let values = values(pipe, &stash, true);
                alu(random, pipe, stage, &values);
            }
        }
        match trim {
            true => {
                pipe.packet = format!("[{packet} = 4 # 8]");
                pipe.push(&format!("stream.vector_pad @ packet {}", pipe.packet));
            }
            false => pipe.push(&format!("stream.vector_concat @ time {time}, packet {packet}")),
        }
    }
    if pipe.dtype == DType::F32 && random.below(3) == 0 {
        pipe.push(&format!("stream.vector_fp_to_fxp @ int_width {}", random.below(32)));
        pipe.dtype = DType::I32;
    }
    for _ in 0..random.below(3) {
        let values = values(pipe, &stash, false);
        alu(random, pipe, VectorStage::Clip, &values);
    }
    pipe.push("stream.vector_final @");
}

/// Cast, commit in another order of time, and back to HBM. `slice` holds the slices.
fn finish(random: &mut Random, mut pipe: Pipe, head: String, last: &str) -> String {
    let targets: Vec<DType> = cast_targets(CAST_ENGINE, pipe.dtype).filter(|to| to.is_stored()).collect();
    if !targets.is_empty() && random.below(3) == 0 {
        pipe.dtype = pick(random, &targets);
        let packet = format!("[{} # {}]", pipe.packet, pipe.dtype.elements(32));
        pipe.push(&format!("stream.cast {} @ packet {packet}", pipe.dtype));
    }
    let mut order = pipe.time.clone();
    random.shuffle(&mut order);
    let mut array = order.clone();
    array.push((last.to_owned(), pipe.live));
    let inside = mapping(&array);
    let inside = inside.trim_matches(['[', ']']);
    // Mostly with the padding of a packet, so that whole packets are written.
    let padded = if pipe.live < 8 && random.below(8) > 0 { format!("{last} # 8") } else { last.to_owned() };
    order.push((padded, 8));
    let order = mapping(&order);
    format!(
        "{head}{lines}  %y = stream.commit {value} at 65536, element {order}
  %out = tm.to_hbm %y at 0x40000000, element [S, {inside}]
  tm.return %out
}}
",
        lines = pipe.lines,
        value = pipe.value,
    )
}

/// x[S, M, L, K] * w[S, N, T, K], summed over K, then perhaps a chain.
fn contraction(random: &mut Random, slices: u64) -> String {
    let formats = [DType::I4, DType::I8, DType::F8e4m3, DType::F8e5m2, DType::Bf16];
    let dtype = pick(random, &formats);
    let (rows, steps) = (pick(random, &[1, 2, 4, 8]), pick(random, &[1, 2, 4, 3]));
    let flit = dtype.elements(32);
    // One or two flits a packet; some of them other sums beside the one over K.
    let two = random.below(3) > 0;
    let width = if two { 2 * flit } else { flit };
    let sums = pick(random, &[1, 1, 2, 4]);
    let inner = width / sums;
    let axes = format!(
        "visa 1\ntm.axes [S = {slices}, M = 4, N = {rows}, L = {sums}, K = {}, T = 3]\n",
        inner * steps
    );
    let tiled = (inner * steps * 3).is_multiple_of(flit) && random.below(2) == 0;
    let digit = |text: &str, size: u64| (text.to_owned(), size);
    let outer = format!("K / {inner}");
    let mut weights = vec![digit(&outer, steps)];
    if tiled {
        weights.insert(random.below(2), digit("T", 3));
    }
    weights.push(digit(&format!("K % {inner}"), inner));
    let (elements, packet) = (mapping(&weights), format!("[L, K % {inner}]"));
    let held = elements.trim_matches(['[', ']']).to_owned();
    let region = pick(random, &["full", "first", "second"]);
    let mut time = vec![digit("M", 4), digit(&outer, steps)];
    random.shuffle(&mut time);
    let time_text = mapping(&time);
    let inside = time_text.trim_matches(['[', ']']).to_owned();
    let computed = if tiled { format!("[{inside}, T]") } else { time_text.clone() };
    let whole = if two { packet.clone() } else { format!("[{packet} # {}]", 2 * flit) };
    let head = format!(
        "{axes}tm.func @f(%x: !tm.hbm<{dtype}, [1], [S, {inside}, L, K % {inner}]>, %w: !tm.hbm<{dtype}, [1], [S, N, {held}]>) at [0, 0x10000000] {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element [{inside}, L, K % {inner}]
  %e = tm.to_dm %w at 32768, cluster [1 # 2], slice [S], element [N, {held}]
  %w0 = stream.begin sub %e
  %w1 = stream.fetch %w0 time [N], packet {elements}
  %w2 = stream.collect %w1 time [N, {elements} / {flit}], packet [{elements} % {flit}]
  %r = stream.to_trf %w2 at {region}, row [N], element {elements}
"
    );
    let mut pipe = Pipe {
        lines: String::new(),
        value: "%d".to_owned(),
        dtype: dtype.accumulator().unwrap_or(DType::F32),
        time: vec![digit("M", 4)],
        packet: String::new(),
        live: 0,
        used: Vec::new(),
    };
    pipe.push("stream.begin main @");
    pipe.push(&format!("stream.fetch @ time {time_text}, packet {packet}"));
    pipe.push(&format!("stream.collect @ time [{inside}, {packet} / {flit}], packet [{packet} % {flit}]"));
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
    if random.below(2) == 0 {
        vector(random, &mut pipe, None);
    }
    finish(random, pipe, head, last)
}

/// A chain of operations on a plain tensor, with a register file or none.
fn elementwise(random: &mut Random, slices: u64) -> String {
    let dtype = pick(random, &[DType::I32, DType::F32]);
    // The packet is whole, or holds 1 to 7 elements and padding.
    let live = pick(random, &[8, 8, 8, 8, 4, 4, 2, 6, 6, 3]);
    let packet = if live == 8 { "[P]".to_owned() } else { "[P # 8]".to_owned() };
    let digit = |text: &str, size: u64| (text.to_owned(), size);
    let mut time = vec![digit("A", 3), digit("B", 4)];
    random.shuffle(&mut time);
    let with_file = random.below(2) == 0;
    let file_dtype = pick(random, &[DType::I32, DType::F32]);
    let mut file: Vec<Digit> = [("A", 3), ("B", 4)].iter().map(|(text, size)| digit(text, *size)).collect();
    file.truncate(random.below(3));
    random.shuffle(&mut file);
    let file_time = mapping(&file);
    let file_inside = file_time.trim_matches(['[', ']']).to_owned();
    let (memory, inside) = (mapping(&time), mapping(&time).trim_matches(['[', ']']).to_owned());
    let argument = if with_file {
        format!(", %w: !tm.hbm<{file_dtype}, [1], [S, {file_inside}, P]>) at [0, 0x10000000]")
    } else {
        ") at [0]".to_owned()
    };
    let mut head = format!(
        "visa 1\ntm.axes [S = {slices}, A = 3, B = 4, P = {live}]
tm.func @f(%x: !tm.hbm<{dtype}, [1], [S, {inside}, P]>{argument} {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element [{memory}, {packet}]
"
    );
    if with_file {
        let _ = write!(
            head,
            "  %e = tm.to_dm %w at 4096, cluster [1 # 2], slice [S], element [{file_time}, {packet}]
  %w0 = stream.begin sub %e
  %w1 = stream.fetch %w0 time {file_time}, packet {packet}
  %w2 = stream.collect %w1 time {file_time}, packet {packet}
  %r = stream.to_vrf %w2 at {}, element [{file_time}, {packet}]
",
            32 * random.below(3)
        );
    }
    let (lines, value) = (String::new(), "%d".to_owned());
    let mut pipe = Pipe { lines, value, dtype, time, packet: packet.clone(), live, used: Vec::new() };
    pipe.push("stream.begin main @");
    pipe.push(&format!("stream.fetch @ time {memory}, packet {packet}"));
    pipe.push(&format!("stream.collect @ time {memory}, packet {packet}"));
    vector(random, &mut pipe, with_file.then_some(("%r", file_dtype)));
    finish(random, pipe, head, "P")
}

#[test]
fn what_the_verifier_accepts_computes_the_same_values() {
    let generate = |random: &mut Random, slices| match random.below(2) {
        0 => contraction(random, slices),
        _ => elementwise(random, slices),
    };
    // `VISA_PIPELINES=1000000 VISA_SEED=7 cargo test -p visa-run --release --test compute -- --nocapture` runs more.
    random::campaign("compute", generate, FEATURES);
}
