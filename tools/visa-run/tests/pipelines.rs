//! Random pipelines through lowering, interpreter and logical evaluator: data memory in one order, fetched in another, in two
//! of three cases switched between slices by any topology, committed in a third order, stored to HBM in a fourth. What the
//! verifier accepts must check. Some time steps go through an offset table.

use std::fmt::Write as _;
use visa_opt::Io;

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// A digit as text and its size.
type Digit = (String, u64);

/// The axes A = 8, B = 4, C = 6, each whole or split.
fn digits(random: &mut Random) -> Vec<Digit> {
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

fn mapping(digits: &[Digit]) -> String {
    match digits {
        [] => "[1]".to_owned(),
        _ => format!("[{}]", digits.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ")),
    }
}

/// The slices are S; U to Z stand for copies.
const AXES: &str = "visa 1
tm.axes [S = 256, A = 8, B = 4, C = 6, T = 3, R = 3, U = 2, V = 4, W = 8, X = 16, Y = 32, Z = 64]
";

/// A switch of slices `[S]`, as its line in the kernel and what is behind it.
struct Switch {
    line: String,
    /// Time behind it.
    time: String,
    /// What each slice gets over time.
    held: Vec<Digit>,
    /// What moved from time into the slices.
    taken: Option<Digit>,
}

impl Switch {
    fn none(steps: &[Digit]) -> Self {
        let (line, time) = (String::new(), mapping(steps));
        Self { line, time, held: steps.to_vec(), taken: None }
    }

    /// Any topology; the recipes stand here a second time, from book 13.
    fn any(random: &mut Random, steps: &[Digit]) -> Self {
        let mut switch = Self::none(steps);
        let (one, zero) = (1 << random.below(4), 1 << random.below(3));
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
        let mut stride = 256;
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

/// A kernel that moves `x` through one pipeline.
fn kernel(random: &mut Random) -> String {
    let (dtype, width) = [("i8", 1), ("bf16", 2), ("i32", 4), ("f32", 4)][random.below(4)];
    let mut order = digits(random);
    // Mostly the same split on both sides, so that radices agree; sometimes another, which may have to be cut.
    let mut memory = if random.below(4) == 0 { digits(random) } else { order.clone() };
    random.shuffle(&mut order);
    random.shuffle(&mut memory);
    let flit = 32 / width;
    let elements = |inner: usize| order[order.len() - inner..].iter().map(|(_, size)| size).product::<u64>();
    // A packet of whole 8 bytes that fills whole flits or fits into one.
    let fits = |&inner: &usize| {
        let count: u64 = elements(inner);
        (count * width).is_multiple_of(8) && (count <= flit || count.is_multiple_of(flit))
    };
    let inner: Vec<usize> = (1..=order.len()).filter(fits).collect();
    let inner = if inner.is_empty() { 1 } else { inner[random.below(inner.len())] };
    let elements = elements(inner);
    let (time, packet) = order.split_at(order.len() - inner);
    let (whole, broadcast) = (elements.next_multiple_of(flit), random.below(3) == 0);
    let mut steps = time.to_vec();
    if broadcast {
        steps.insert(random.below(steps.len() + 1), ("T".to_owned(), 3));
    }
    let padded = format!("{} # {whole}", mapping(packet));
    let switch = if random.below(3) == 0 { Switch::none(&steps) } else { Switch::any(random, &steps) };
    let mut target = switch.held.clone();
    if random.below(2) == 0 {
        random.shuffle(&mut target);
    }
    target.extend_from_slice(packet);
    // One copy is read back; test/kernels/switch_copies.visa reads them all.
    let mut result: Vec<Digit> = target.iter().filter(|(text, _)| !text.starts_with('S')).cloned().collect();
    result.extend(switch.taken.clone());
    random.shuffle(&mut result);
    // Half of the kernels without a switch commit into a part of a tensor: what R = 1 holds of three.
    let view = (switch.line.is_empty() && random.below(2) == 0)
        .then(|| random.below(target.len() - packet.len() + 1));
    let with = |list: &[(String, u64)], at: usize, term: &str| {
        let mut list = list.to_vec();
        list.insert(at, (term.to_owned(), 3));
        mapping(&list)
    };
    let bare = |text: String| text.trim_matches(['[', ']']).to_owned();
    let (mut argument, mut base, mut commit) =
        (String::new(), String::new(), format!("stream.commit %2 at 8192, element {}", mapping(&target)));
    let mut places = String::from("[0]");
    if let Some(at) = view {
        let whole = with(&target, at, "R");
        let part = with(&target, at, if at == 0 { "R @ 1 = 1" } else { "R @ 1 = 1 # 3" });
        argument = format!(", %z: !tm.hbm<{dtype}, [1], [S, {}]>", bare(whole.clone()));
        base = format!("  %w = tm.to_dm %z at 8192, cluster [1 # 2], slice [S], element {whole}\n");
        commit = format!("stream.commit_view %2, %w element {part}");
        places = String::from("[0, 1073741824]");
        steps.insert(0, ("R @ 1 = 1".to_owned(), 1));
        result.insert(0, ("R".to_owned(), 3));
    }
    if switch.line.is_empty() && random.below(2) == 0 {
        permute(random, &mut steps);
    }
    let unit = if random.below(3) == 0 { "sub" } else { "main" };
    let (steps_text, packet_text) = (mapping(&steps), mapping(packet));
    let mut text = String::from(AXES);
    let _ = write!(
        text,
        "tm.func @f(%x: !tm.hbm<{dtype}, [1], [S, {array}]>{argument}) at {places} {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element {memory}
{base}  %0 = stream.begin {unit} %d
  %1 = stream.fetch %0 time {steps_text}, packet {packet_text}
{line}  %2 = stream.collect %{last} time [{time}, {padded} / {flit}], packet [{padded} % {flit}]
  %y = {commit}
  %out = tm.to_hbm %y at 16777216, element [S, {result}]
  tm.return %out
}}
",
        line = switch.line,
        last = if switch.line.is_empty() { "1" } else { "s" },
        time = if switch.line.is_empty() { &steps_text } else { &switch.time },
        array = mapping(&memory).trim_matches(['[', ']']),
        memory = mapping(&memory),
        result = mapping(&result).trim_matches(['[', ']']),
    );
    text
}

#[test]
#[expect(clippy::print_stdout, reason = "how many kernels were legal, for whoever runs more of them")]
fn what_the_verifier_accepts_lowers_to_the_same_values() {
    // `VISA_PIPELINES=100000 cargo test -p visa-run --release --test pipelines` runs more.
    let count = std::env::var("VISA_PIPELINES").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let seed = 2026;
    let mut random = Random(seed);
    let (mut accepted, mut refused, mut views, mut tables) = (0, 0, 0, 0);
    for case in 0..count {
        let text = kernel(&mut random);
        let mut io = Io::buffered(text.clone(), ".");
        let code = visa_run::run(&["-".into(), "--check".into(), "--threads".into(), "1".into()], &mut io);
        let said = String::from_utf8_lossy(&io.stderr).into_owned();
        match code {
            0 => {
                accepted += 1;
                views += usize::from(text.contains("commit_view"));
                tables += usize::from(text.contains("@ ("));
            }
            _ => {
                // A refusal names a rule of the kernel, never a mistake of a pass or a mismatch.
                let wrong = ["error[check]", "mistake in the pass", "error[pass]", "error[run]"];
                let found = wrong.iter().find(|word| said.contains(*word));
                assert!(found.is_none(), "seed {seed}, case {case}: {said}\n{text}");
                refused += 1;
            }
        }
    }
    println!(
        "seed {seed}: {accepted} accepted and checked ({views} commit into a part, {tables} have a table), {refused} refused"
    );
    assert!(accepted >= count / 10, "seed {seed}: only {accepted} of {count} kernels are legal");
    assert!(views >= count / 100, "seed {seed}: only {views} of {count} kernels commit into a part");
    assert!(tables >= count / 100, "seed {seed}: only {tables} of {count} kernels have a table");
}
