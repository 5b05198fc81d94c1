//! Pipelines whose configurations are all open, drawn from a seed.

use visa_support::Random;
use visa_support::kernel::{Kernel, list};

/// The kind of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Data memory to data memory, in another order.
    Movement,
    /// The same with an axis that the source lacks.
    Broadcast,
    /// With a conversion at the fetch.
    FetchCast,
    /// With the Cast Engine.
    Cast,
    /// A product of the stream and the register file, summed.
    Contraction,
    /// Into the tensor register file.
    ToTrf,
    /// Into the vector register file.
    ToVrf,
}

/// Every kind.
pub(crate) const KINDS: [Kind; 7] = [
    Kind::Movement,
    Kind::Broadcast,
    Kind::FetchCast,
    Kind::Cast,
    Kind::Contraction,
    Kind::ToTrf,
    Kind::ToVrf,
];

/// The kernel of case `case` of a seed, as text. It may be illegal with any choice.
pub(crate) fn kernel(seed: u64, case: u64) -> (Kind, String) {
    let mut random = Random::of_case(seed, case);
    let kind = KINDS[(case % KINDS.len() as u64) as usize];
    let text = match kind {
        Kind::Contraction => contraction(&mut random, true),
        Kind::ToTrf | Kind::ToVrf => filed(&mut random, kind),
        Kind::Movement | Kind::Broadcast | Kind::FetchCast | Kind::Cast => movement(&mut random, kind),
    };
    (kind, text)
}

/// The contraction of a case as the book writes it, with nothing open.
pub(crate) fn written(seed: u64, case: u64) -> String {
    contraction(&mut Random::of_case(seed, case), false)
}

fn shuffled<T: Clone>(random: &mut Random, items: &[T]) -> Vec<T> {
    let mut items = items.to_vec();
    random.shuffle(&mut items);
    items
}

fn axes(sizes: &[(String, u64)]) -> String {
    sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect::<Vec<_>>().join(", ")
}

/// Up to three axes of ragged and of even sizes.
fn sizes(random: &mut Random) -> Vec<(String, u64)> {
    let count = random.of(&[1, 2, 2, 2, 2, 3]);
    let names = ["A", "B", "C"].into_iter().take(count);
    // With three of them only small ones: there are too many configurations to try them all.
    let large = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20];
    let sizes = if count == 3 { &large[..5] } else { &large[..] };
    names.map(|name| (name.to_owned(), random.of(sizes))).collect()
}

fn movement(random: &mut Random, kind: Kind) -> String {
    let sizes = sizes(random);
    let names: Vec<String> = sizes.iter().map(|(name, _)| name.clone()).collect();
    let source = shuffled(random, &names);
    let mut wanted = names.clone();
    let mut all = sizes.clone();
    if kind == Kind::Broadcast {
        wanted.push("R".to_owned());
        all.push(("R".to_owned(), random.of(&[2, 3, 4, 8])));
    }
    let wanted = shuffled(random, &wanted);
    let (from, fetch, cast) = match kind {
        Kind::FetchCast => {
            let (from, to) = random.of(&[
                ("i8", "i32"),
                ("i4", "i32"),
                ("bf16", "f32"),
                ("f32", "bf16"),
                ("f8e4m3", "f32"),
                ("i16", "i32"),
            ]);
            (from, format!("dtype {to}, "), None)
        }
        Kind::Cast => {
            let (from, to) = random.of(&[
                ("i32", "i8"),
                ("i32", "i16"),
                ("f32", "bf16"),
                ("f32", "f16"),
                ("i32", "i4"),
                ("f32", "f8e4m3"),
            ]);
            (from, String::new(), Some(to))
        }
        Kind::Movement | Kind::Broadcast | Kind::Contraction | Kind::ToTrf | Kind::ToVrf => {
            (random.of(&["i8", "bf16", "f32", "i8", "bf16"]), String::new(), None)
        }
    };
    let cast = cast.map(|to| format!("%3 = stream.cast {to} %2 packet auto"));
    let last = if cast.is_some() { "%3" } else { "%2" };
    let unit = if cast.is_none() && random.below(3) == 0 { "sub" } else { "main" };
    let element = if random.below(4) == 0 { format!("[{}]", list(&wanted)) } else { "auto".to_owned() };
    let source = list(&source);
    Kernel::new(&format!("S = 8, {}", axes(&all)))
        .argument("x", from, &format!("S, {source}"), 0)
        .to_dm("d", "x", 0, "S", &source)
        .line(&format!("%0 = stream.begin {unit} %d"))
        .line(&format!("%1 = stream.fetch %0 {fetch}time auto, packet auto"))
        .line("%2 = stream.collect %1 time auto, packet auto")
        .line(&cast.unwrap_or_default())
        .line(&format!("%y = stream.commit {last} at 65536, element {element}"))
        .returns("y", 1 << 20, &format!("S, {}", list(&wanted)))
}

fn filed(random: &mut Random, kind: Kind) -> String {
    let mut sizes = sizes(random);
    let rows = random.of(&[1, 2, 4, 8]);
    sizes.truncate(2);
    let names: Vec<String> = sizes.iter().map(|(name, _)| name.clone()).collect();
    let source = list(&shuffled(random, &names));
    let (to, source, all) = match kind {
        Kind::ToTrf => {
            let row = random.of(&["auto", "[N]"]);
            sizes.push(("N".to_owned(), rows));
            let source = if random.below(2) == 0 { format!("N, {source}") } else { format!("{source}, N") };
            (format!("to_trf %2 at full, row {row}, element auto"), source, sizes)
        }
        Kind::Movement | Kind::Broadcast | Kind::FetchCast | Kind::Cast | Kind::Contraction | Kind::ToVrf => {
            ("to_vrf %2 at 0, element auto".to_owned(), source, sizes)
        }
    };
    let dtype = if kind == Kind::ToVrf {
        random.of(&["i32", "f32"])
    } else {
        random.of(&["i4", "i8", "f8e5m2", "bf16"])
    };
    Kernel::new(&format!("S = 8, {}", axes(&all)))
        .argument("x", dtype, &format!("S, {source}"), 0)
        .to_dm("d", "x", 0, "S", &source)
        .line("%0 = stream.begin main %d")
        .line("%1 = stream.fetch %0 time auto, packet auto")
        .line("%2 = stream.collect %1 time auto, packet auto")
        .line(&format!("%w = stream.{to}"))
        .returns("d", 1 << 20, &format!("S, {source}"))
}

/// A format in data memory, the fetch's format, and its elements in a flit.
const FORMATS: [(&str, &str, u64); 7] = [
    ("i4", "", 64),
    ("i4", "dtype i5, ", 64),
    ("i8", "", 32),
    ("i8", "dtype i9, ", 32),
    ("f8e4m3", "", 32),
    ("f8e5m2", "", 32),
    ("bf16", "", 16),
];

/// A product over K of a stream with M and of weights with N in rows, and sometimes C in time.
fn contraction(random: &mut Random, open: bool) -> String {
    let (memory, fetch, flit) = random.of(&FORMATS);
    let rows = random.of(&[1, 2, 4, 8]);
    let k = random.of(&[flit, 2 * flit, 3 * flit, 4 * flit, flit / 2, flit + flit / 2, flit * 2 + 8]);
    let whole = k.next_multiple_of(flit);
    let columns = random.of(&[1, 1, 2, 3]);
    let m = random.of(&[1, 2, 3, 4, 8]);
    let mask = if whole == k { "[K]".to_owned() } else { format!("[K # {whole} {{0}}]") };
    let mut stream = vec!["M".to_owned(), "K".to_owned()];
    if random.below(4) == 0 {
        stream.swap(0, 1);
    }
    let mut wanted = vec!["M".to_owned(), "N".to_owned(), "C".to_owned()];
    wanted = shuffled(random, &wanted);
    let (stream, wanted) = (list(&stream), list(&wanted));
    let element = if random.below(4) == 0 { format!("[{wanted}]") } else { "auto".to_owned() };
    let cut = |time: &str, packet: &str| match open {
        true => "time auto, packet auto".to_owned(),
        false => format!("time [{time}], packet [{packet}]"),
    };
    let (outer, inner, packet) =
        (format!("{mask} / {flit}"), format!("{mask} % {flit}"), mask.trim_matches(['[', ']']));
    let lanes = if rows == 8 { "N" } else { "N # 8" };
    let (x1, x2) = (cut("M", packet), cut(&format!("M, {outer}"), &inner));
    let x3 = cut(&format!("M, {outer}, C"), &format!("{inner} # {}", 2 * flit));
    let (x4, mode) = if open { ("packet auto", "auto") } else { ("packet [1]", "interleaved") };
    let x5 = format!("{mode} %x4 {}", cut("M, C", lanes));
    let element = if open { element } else { format!("[M, C, {lanes}]") };
    let unit = if open && random.below(4) == 0 { "dual" } else { "main" };
    Kernel::new(&format!("S = 8, M = {m}, K = {k}, C = {columns}, N = {rows}"))
        .argument("x", memory, &format!("S, {stream}"), 0)
        .argument("w", memory, "S, N, C, K", 1 << 28)
        .to_dm("xd", "x", 0, "S", &stream)
        .to_dm("wd", "w", 65536, "S", "N, C, K")
        .lines(&format!(
            "%w0 = stream.begin main %wd
             %w1 = stream.fetch %w0 {fetch}time [N, C], packet {mask}
             %w2 = stream.collect %w1 time [N, C, {mask} / {flit}], packet [{mask} % {flit}]
             %w3 = stream.to_trf %w2 at full, row [N], element [C, {mask}]
             %x0 = stream.begin {unit} %xd
             %x1 = stream.fetch %x0 {fetch}{x1}
             %x2 = stream.collect %x1 {x2}
             %x3 = stream.align %x2, %w3 {x3}
             %x4 = stream.contract %x3 {x4}
             %x5 = stream.accumulate {x5}
             %y = stream.commit %x5 at 131072, element {element}"
        ))
        .returns("y", 1 << 29, &format!("S, {wanted}"))
}
