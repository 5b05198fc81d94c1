//! Random pipelines through lowering, interpreter and logical evaluator: data memory in one order, fetched in another,
//! committed in a third, stored to HBM in a fourth. What the verifier accepts must check.

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
    let mut target = steps.clone();
    if random.below(2) == 0 {
        random.shuffle(&mut target);
    }
    target.extend_from_slice(packet);
    let mut result = target.clone();
    random.shuffle(&mut result);
    // A third of the kernels commit into a part of a tensor: what U = 1 holds of three.
    let view = (random.below(3) == 0).then(|| random.below(target.len() - packet.len() + 1));
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
        let whole = with(&target, at, "U");
        let part = with(&target, at, if at == 0 { "U @ 1 = 1" } else { "U @ 1 = 1 # 3" });
        argument = format!(", %z: !tm.hbm<{dtype}, [1], [S, {}]>", bare(whole.clone()));
        base = format!("  %w = tm.to_dm %z at 8192, cluster [1 # 2], slice [S], element {whole}\n");
        commit = format!("stream.commit_view %2, %w element {part}");
        places = String::from("[0, 1073741824]");
        steps.insert(0, ("U @ 1 = 1".to_owned(), 1));
        result.insert(0, ("U".to_owned(), 3));
    }
    let unit = if random.below(3) == 0 { "sub" } else { "main" };
    let (steps_text, packet_text) = (mapping(&steps), mapping(packet));
    let mut text = String::from("visa 1\ntm.axes [S = 256, A = 8, B = 4, C = 6, T = 3, U = 3]\n");
    let _ = write!(
        text,
        "tm.func @f(%x: !tm.hbm<{dtype}, [1], [S, {array}]>{argument}) at {places} {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element {memory}
{base}  %0 = stream.begin {unit} %d
  %1 = stream.fetch %0 time {steps_text}, packet {packet_text}
  %2 = stream.collect %1 time [{steps_text}, {padded} / {flit}], packet [{padded} % {flit}]
  %y = {commit}
  %out = tm.to_hbm %y at 16777216, element [S, {result}]
  tm.return %out
}}
",
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
    let (mut accepted, mut refused, mut views) = (0, 0, 0);
    for case in 0..count {
        let text = kernel(&mut random);
        let mut io = Io::buffered(text.clone(), ".");
        let code = visa_run::run(&["-".into(), "--check".into(), "--threads".into(), "1".into()], &mut io);
        let said = String::from_utf8_lossy(&io.stderr).into_owned();
        match code {
            0 => {
                accepted += 1;
                views += usize::from(text.contains("commit_view"));
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
    println!("seed {seed}: {accepted} accepted and checked ({views} commit into a part), {refused} refused");
    assert!(accepted >= count / 10, "seed {seed}: only {accepted} of {count} kernels are legal");
    assert!(views >= count / 100, "seed {seed}: only {views} of {count} kernels commit into a part");
}
