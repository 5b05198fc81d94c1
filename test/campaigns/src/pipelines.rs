//! Random pipelines through lowering, interpreter and logical evaluator: data memory in one order, fetched in
//! another, in two of three cases switched between slices by any topology, committed in a third order, stored to
//! HBM in a fourth. What the verifier accepts must check. One in four comes with a second tensor, in turn;
//! converted integers with zero points; some time steps go through an offset table.

use crate::kernels::{Feature, Kernels, SLICES};
use std::fmt::Write as _;
use visa_machine::Machine;
use visa_numerics::{CAST_ENGINE, DType, cast_targets, zero_point_cast};
use visa_support::Random;
use visa_support::kernel::{Digit, Kernel, bare, mapping};

/// The axes A = 8, B = 4, C = 6, each whole or split.
pub(crate) fn digits(random: &mut Random) -> Vec<Digit> {
    let mut all = Vec::new();
    for (axis, size, factors) in [("A", 8, &[2, 4][..]), ("B", 4, &[2]), ("C", 6, &[2, 3])] {
        match random.below(factors.len() + 1).checked_sub(1) {
            None => all.push((axis.to_owned(), size)),
            Some(pick) => {
                let factor = factors[pick];
                all.push((format!("{axis} / {factor}"), size / factor));
                all.push((format!("{axis} % {factor}"), factor));
            }
        }
    }
    all
}

/// The slices are S; U to Z stand for copies.
fn axes(slices: u64) -> String {
    format!(
        "S = {slices}, A = 8, B = 4, C = 6, T = 3, R = 3, I = 2, U = 2, V = 4, W = 8, X = 16, Y = 32, Z = 64"
    )
}

/// A switch of slices `[S]`, as its line in the kernel and what is after it.
struct Switch {
    slices: u64,
    line: String,
    /// Time after it.
    time: String,
    /// What each slice gets over time.
    held: Vec<Digit>,
    /// What moved from time into the slices.
    taken: Option<Digit>,
}

impl Switch {
    fn none(slices: u64, steps: &[Digit]) -> Self {
        let (line, time) = (String::new(), mapping(steps));
        Self { slices, line, time, held: steps.to_vec(), taken: None }
    }

    /// Any topology; the recipes are here a second time, from book 13.
    fn any(random: &mut Random, slices: u64, steps: &[Digit]) -> Self {
        let mut switch = Self::none(slices, steps);
        let one = 1 << random.below(4);
        let zero = 1 << random.below((slices / one).ilog2().min(2) as usize + 1);
        let (outer, inner) = (part(zero, one), part(1, zero));
        let rest = format!("S / {}", one * zero);
        let (copies1, copies0) = (copies(one), copies(zero));
        let parts = format!("slice1 {one}, slice0 {zero}");
        let time = mapping(steps);
        let all: u64 = steps.iter().map(|(_, size)| size).product();
        let (name, slice) = match random.below(7) {
            0 => ("forwarding %1".to_owned(), "[S]".to_owned()),
            1 => {
                let times: Vec<u64> = (1..=all).filter(|time0| all.is_multiple_of(*time0)).collect();
                let time0 = times[random.below(times.len())];
                switch.time = format!("[{time} / {time0}, {}, {time} % {time0}, {}]", outer.0, inner.0);
                switch.held.extend([outer, inner]);
                let slice = format!("[{rest}, {}, {}]", copies1.0, copies0.0);
                (format!("broadcast01 %1 {parts}, time0 {time0}"), slice)
            }
            2 => {
                let slice = format!("[{rest}, {}, {}]", copies1.0, inner.0);
                switch.gets(vec![outer]);
                (format!("broadcast1 %1 {parts}"), slice)
            }
            3 => (format!("transpose %1 {parts}"), format!("[{rest}, {}, {}]", inner.0, outer.0)),
            4 => {
                let slice = format!("[{rest}, {}, {}]", copies0.0, outer.0);
                switch.gets(vec![inner]);
                (format!("transposed_broadcast1 %1 {parts}"), slice)
            }
            5 if !steps.is_empty() => switch.exchange(random.below(steps.len()), zero),
            _ => switch.custom(random),
        };
        let written = if name.starts_with("custom") || random.below(2) == 0 {
            format!(" slice {slice}, time {}", switch.time)
        } else {
            String::new()
        };
        let comma = if written.is_empty() || name.ends_with("%1") { "" } else { "," };
        switch.line = format!("  %s = stream.switch {name}{comma}{written}\n");
        switch
    }

    /// Parts of the slices that move into time, innermost.
    fn gets(&mut self, moved: Vec<Digit>) {
        self.held.extend(moved);
        self.time = mapping(&self.held);
    }

    /// Inter-transpose: step number `at` changes places with a part of the slices of its size.
    fn exchange(&mut self, at: usize, zero: u64) -> (String, String) {
        let taken = self.held.remove(at);
        let time0: u64 = self.held[at..].iter().map(|(_, size)| size).product();
        let (one, inner) = (taken.1, part(1, zero));
        self.gets(vec![part(zero, one)]);
        let slice = format!("[S / {}, {}, {}]", one * zero, taken.0, inner.0);
        self.taken = Some(taken);
        (format!("inter_transpose %1 slice1 {one}, slice0 {zero}, time0 {time0}"), slice)
    }

    /// Parts of the slices stay, in any order, or move into time; sometimes in another order, which is refused.
    fn custom(&mut self, random: &mut Random) -> (String, String) {
        let (mut slices, mut moved) = (Vec::new(), Vec::new());
        let mut stride = self.slices;
        while stride > 1 {
            let size = (1 << (random.below(3) + 2)).min(stride);
            stride /= size;
            let total: u64 = moved.iter().map(|(_, size): &Digit| size).product();
            if random.below(3) == 0 && total * size <= 16 {
                slices.push(copies(size));
                moved.push(part(stride, size));
            } else {
                slices.push(part(stride, size));
            }
        }
        random.shuffle(&mut slices);
        if random.below(8) == 0 {
            random.shuffle(&mut moved);
        }
        self.gets(moved);
        ("custom %1".to_owned(), mapping(&slices))
    }
}

/// Whether blocks of `low` positions end between the digits or at whole parts of one. Elsewhere a mapping has no
/// words for the flits of a packet (docs/errata.md, book 03).
fn splits(digits: &[Digit], low: u64) -> bool {
    let mut rest = low;
    for (_, size) in digits.iter().rev() {
        if size.is_multiple_of(rest) {
            return true;
        }
        if !rest.is_multiple_of(*size) {
            return false;
        }
        rest /= size;
    }
    rest == 1
}

/// `S / stride % size`.
fn part(stride: u64, size: u64) -> Digit {
    (format!("S / {stride} % {size}"), size)
}

/// An axis of that size that the tensor does not depend on.
fn copies(size: u64) -> Digit {
    let name = ["1", "U", "V", "W", "X", "Y", "Z"].get(size.ilog2() as usize).unwrap_or(&"1");
    ((*name).to_owned(), size)
}

/// Puts a table in any order on a step of the tensor's own: read in that order, and written back.
fn permute(random: &mut Random, steps: &mut [Digit]) {
    let own = |(text, size): &&mut Digit| *size > 1 && text.starts_with(['A', 'B', 'C']);
    let mut own: Vec<&mut Digit> = steps.iter_mut().filter(own).collect();
    if own.is_empty() {
        return;
    }
    let at = random.below(own.len());
    let (text, size) = &mut own[at];
    let mut table: Vec<String> = (0..*size).map(|entry| entry.to_string()).collect();
    random.shuffle(&mut table);
    let _ = write!(text, " @ ({})", table.join(", "));
}

/// The formats along a pipeline of the main context.
pub(crate) struct Formats {
    /// In data memory.
    pub(crate) stored: DType,
    /// After the fetch, which may convert.
    pub(crate) fetched: DType,
    /// After the Cast Engine, if it takes part.
    pub(crate) cast: Option<DType>,
}

impl Formats {
    /// Any format that memories hold, in one of three cases converted at the fetch, in one of three cast where
    /// possible.
    fn any(random: &mut Random) -> Self {
        let all: Vec<DType> = DType::all().filter(|dtype| dtype.is_stored()).collect();
        let stored = all[random.below(all.len())];
        let casts = Machine::rngd().limits.fetch_casts;
        let targets = casts.iter().filter(|(from, to)| *from == stored && to.is_stored()).map(|(_, to)| *to);
        let fetched = Self::maybe(random, targets.collect()).unwrap_or(stored);
        let cast = Self::maybe(random, cast_targets(CAST_ENGINE, fetched).collect());
        Self { stored, fetched, cast }
    }

    fn maybe(random: &mut Random, targets: Vec<DType>) -> Option<DType> {
        let at = random.below(3 * targets.len().max(1));
        targets.get(at).copied()
    }

    /// Of the result.
    pub(crate) fn committed(&self) -> DType {
        self.cast.unwrap_or(self.fetched)
    }

    /// What the fetch says of its format.
    fn fetch(&self) -> String {
        if self.fetched == self.stored { String::new() } else { format!("dtype {}, ", self.fetched) }
    }

    /// The cast of packets of that mapping, as a line.
    fn cast(&self, packet: &str) -> String {
        self.cast.map_or_else(String::new, |to| {
            format!("  %c = stream.cast {to} %2 packet [{packet} # {}]\n", to.elements(32))
        })
    }
}

/// A kernel that moves `x` through one pipeline, and its properties that its result depends on: the element at each
/// index is that of `x` there, converted.
pub(crate) struct Move {
    pub(crate) text: String,
    pub(crate) formats: Formats,
    /// The layout of `x`, and that of `z` if it is an argument.
    pub(crate) layouts: [Option<String>; 2],
    /// The layout of the result.
    pub(crate) result: String,
    /// Zero points of `x` and of `z`.
    pub(crate) zeros: [i64; 2],
    /// Whether the axis I of the result counts `x` and `z`.
    pub(crate) interleaved: bool,
    /// Whether the result is `z`, with `x` at R = 1.
    pub(crate) into_part: bool,
}

/// A move of `x` through one pipeline of `slices` slices.
fn kernel(random: &mut Random, slices: u64) -> Move {
    let formats = Formats::any(random);
    let (dtype, bits) = (formats.stored, u64::from(formats.fetched.bits()));
    // Two tensors in turn; where the conversion allows, each with a zero point.
    let interleaved = random.below(4) == 0;
    let zeros = zero_point_cast(formats.stored, formats.fetched).filter(|_| random.below(8) > 0);
    let zeros = zeros.map(|_| [random.below(200), random.below(200)]);
    let mut order = digits(random);
    // Mostly the same split on both sides, so that radices agree; sometimes another, which may have to be cut.
    let mut memory = if random.below(4) == 0 { digits(random) } else { order.clone() };
    random.shuffle(&mut order);
    random.shuffle(&mut memory);
    // The Cast Engine belongs to contexts that compute, and two tensors to main.
    let unit = match random.below(8) {
        0 if formats.cast.is_none() && !interleaved => "sub",
        1 | 2 if !interleaved => "dual",
        _ => "main",
    };
    let flit = 256 / bits;
    let elements = |inner: usize| order[order.len() - inner..].iter().map(|(_, size)| size).product::<u64>();
    // A packet of whole 8 bytes that fills whole flits or fits into one.
    let fits = |&inner: &usize| {
        let count: u64 = elements(inner);
        (count * bits).is_multiple_of(64) && (count <= flit || splits(&order[order.len() - inner..], flit))
    };
    let inner: Vec<usize> = (1..=order.len()).filter(fits).collect();
    let inner = if inner.is_empty() { order.len() } else { inner[random.below(inner.len())] };
    let elements = elements(inner);
    let (time, packet) = order.split_at(order.len() - inner);
    // Flits of the dual context have twice the bytes, and leave in halves.
    let collected = if unit == "dual" { 2 * flit } else { flit };
    let (whole, broadcast) = (elements.next_multiple_of(collected), random.below(3) == 0);
    let mut steps = time.to_vec();
    if broadcast {
        steps.insert(random.below(steps.len() + 1), ("T".to_owned(), 3));
    }
    if interleaved {
        steps.push(("I".to_owned(), 2));
    }
    let padded = format!("{} # {whole}", mapping(packet));
    let switch =
        if random.below(3) == 0 { Switch::none(slices, &steps) } else { Switch::any(random, slices, &steps) };
    let mut target = switch.held.clone();
    if random.below(2) == 0 {
        random.shuffle(&mut target);
    }
    target.extend_from_slice(packet);
    // One copy is read back; test/kernels/switch_copies.visa reads them all.
    let mut result: Vec<Digit> = target.iter().filter(|(text, _)| !text.starts_with('S')).cloned().collect();
    result.extend(switch.taken.clone());
    random.shuffle(&mut result);
    // Mostly pairs of 4-bit elements stay together, as a transfer must have it.
    let innermost = result.iter().position(|digit| target.last() == Some(digit));
    if let Some(at) = innermost.filter(|_| formats.committed() == DType::I4 && random.below(4) > 0) {
        let digit = result.remove(at);
        result.push(digit);
    }
    // Half of the kernels without a switch commit into a part of a tensor: what R = 1 holds of three.
    let view = (switch.line.is_empty() && !interleaved && random.below(2) == 0)
        .then(|| random.below(target.len() - packet.len() + 1));
    let with = |list: &[(String, u64)], at: usize, term: &str| {
        let mut list = list.to_vec();
        list.insert(at, (term.to_owned(), 3));
        bare(&list)
    };
    let end = if formats.cast.is_some() { "c" } else { "2" };
    let mut kernel = Kernel::new(&axes(slices));
    kernel = kernel.argument("x", &dtype.to_string(), &format!("S, {}", bare(&memory)), 0);
    kernel = kernel.to_dm("d", "x", 0, "S", &bare(&memory));
    let mut commit = format!("stream.commit %{end} at 8192, element {}", mapping(&target));
    let mut of_z = interleaved.then(|| format!("S, {}", bare(&memory)));
    if let Some(at) = view {
        let whole = with(&target, at, "R");
        of_z = Some(format!("S, {whole}"));
        let part = with(&target, at, if at == 0 { "R @ 1 = 1" } else { "R @ 1 = 1 # 3" });
        kernel = kernel.argument("z", &formats.committed().to_string(), &format!("S, {whole}"), 1 << 30);
        kernel = kernel.to_dm("w", "z", 8192, "S", &whole);
        commit = format!("stream.commit_view %{end}, %w element [{part}]");
        steps.insert(0, ("R @ 1 = 1".to_owned(), 1));
        result.insert(0, ("R".to_owned(), 3));
    }
    if switch.line.is_empty() && random.below(2) == 0 {
        permute(random, &mut steps);
    }
    let mut begin = format!("stream.begin {unit} %d");
    if interleaved {
        let memory = bare(&memory);
        kernel = kernel.argument("z", &dtype.to_string(), &format!("S, {memory}"), 1 << 30);
        kernel = kernel.to_dm("e", "z", 4096, "S", &memory);
        begin = "stream.begin_interleaved main %d, %e axis [I]".to_owned();
    }
    let zero_points = match zeros {
        Some([first, second]) if interleaved => format!("zero_points [{first}, -{second}], "),
        Some([only, _]) => format!("zero_points [{only}], "),
        None => String::new(),
    };
    let (steps_text, packet_text) = (mapping(&steps), mapping(packet));
    let (last, time) = if switch.line.is_empty() { ("1", &steps_text) } else { ("s", &switch.time) };
    let result = format!("S, {}", bare(&result));
    let text = kernel
        .line(&format!("%0 = {begin}"))
        .line(&format!(
            "%1 = stream.fetch %0 {}{zero_points}time {steps_text}, packet {packet_text}",
            formats.fetch()
        ))
        .line(&switch.line)
        .line(&format!(
            "%2 = stream.collect %{last} time [{time}, {padded} / {flit}], packet [{padded} % {flit}]"
        ))
        .line(&formats.cast(&format!("[{padded} % {flit}]")))
        .line(&format!("%y = {commit}"))
        .returns("y", 1 << 24, &result);
    let points = zeros.map_or([0, 0], |zeros| zeros.map(|zero| zero as i64));
    Move {
        text,
        layouts: [Some(format!("S, {}", bare(&memory))), of_z],
        result,
        zeros: [points[0], -points[1]],
        interleaved,
        into_part: view.is_some(),
        formats,
    }
}

/// A kernel whose fetch pads the axis C with zeros, on either side, and cuts it anywhere (book 08, masking); the
/// commit stores it with its padding, and the elements are read back.
fn padded_kernel(random: &mut Random, slices: u64) -> Move {
    let dtype = [DType::I4, DType::I8, DType::F8e5m2, DType::Bf16, DType::I32, DType::F32][random.below(6)];
    let left = random.of(&[0, 0, 1, 2]);
    let size: usize = random.of(&[8, 12, 16, 24, 32]);
    let cuts: Vec<usize> = (1..=size).filter(|cut| size.is_multiple_of(*cut)).collect();
    let cut = cuts[random.below(cuts.len())];
    let term = |text: &str| (text.to_owned(), 1);
    let mut memory = vec![term("A"), term("B"), term("C")];
    random.shuffle(&mut memory);
    let mut steps = vec![term("A"), term("B"), (format!("{{P}} / {cut}"), 1)];
    random.shuffle(&mut steps);
    // Sometimes an axis more in the packet.
    let mut packet = vec![(format!("{{P}} % {cut}"), cut as u64)];
    if random.below(3) == 0 {
        steps.retain(|(text, _)| text != "B");
        packet.insert(random.below(2), ("B".to_owned(), 4));
    }
    let mut target = vec![term("A"), term("B"), term("{P}")];
    random.shuffle(&mut target[..2]);
    let flit = dtype.elements(32);
    let elements: u64 = packet.iter().map(|(_, size)| size).product();
    let (packet, whole) = (mapping(&packet), elements.next_multiple_of(flit));
    let (array, time, near) = (bare(&memory), bare(&steps), 6 + left);
    let result = "S, A, B, C".to_owned();
    let text = Kernel::new(&axes(slices))
        .declare(&format!("tm.alias @P, map [C # {near} {{left 0}} # {size} {{0}}]"))
        .argument("x", &dtype.to_string(), &format!("S, {array}"), 0)
        .to_dm("d", "x", 1024, "S", &array)
        .line("%0 = stream.begin main %d")
        .line(&format!("%1 = stream.fetch %0 time [{time}], packet {packet}"))
        .line(&format!(
            "%2 = stream.collect %1 time [{time}, {packet} # {whole} / {flit}], packet [{packet} # {whole} % \
             {flit}]"
        ))
        .line(&format!("%y = stream.commit %2 at 32768, element {}", mapping(&target)))
        .returns("y", 1 << 24, &result);
    Move {
        text,
        formats: Formats { stored: dtype, fetched: dtype, cast: None },
        layouts: [Some(format!("S, {array}")), None],
        result,
        zeros: [0, 0],
        interleaved: false,
        into_part: false,
    }
}

/// What a kernel can have, and the words in its text that show it. One in a hundred at least must have it and be
/// accepted.
const FEATURES: &[Feature] = &[
    ("switched", &["stream.switch"]),
    ("in dual", &["begin dual"]),
    ("committed into a part", &["commit_view"]),
    ("converted", &["%0 dtype", "stream.cast"]),
    ("two tensors in turn", &["begin_interleaved"]),
    ("shifted by zero points", &["zero_points"]),
    ("masked", &["{left 0}"]),
    ("read by a table", &["@ ("]),
];

/// Random pipelines.
pub const KERNELS: Kernels =
    Kernels { name: "pipelines", slices: &SLICES, generate, features: FEATURES, one_in: 100 };

fn generate(random: &mut Random, slices: u64) -> String {
    draw(random, slices).text
}

/// A random pipeline.
pub(crate) fn draw(random: &mut Random, slices: u64) -> Move {
    match random.below(8) {
        0 => padded_kernel(random, slices),
        _ => kernel(random, slices),
    }
}
