#!/usr/bin/env python3
"""Writes a small kernel for each measured row: rows.py [--check].

Each line of dma.csv, passes.csv, loads.csv and stores.csv is a command that was measured on silicon. Its kernel has one command like it, with
the shapes that the row says; what the row leaves open is as in the kernels that were measured. `rows.json` lists them:
the file, the command's queue, the vendor's cycles, the measured ticks, and what was beside it. A row that another table has too has
no kernel here.
"""
import csv
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def axes(sizes):
    return "tm.axes [" + ", ".join(f"{name} = {size}" for name, size in sizes.items()) + "]"


def kernel(title, sizes, args, body, results):
    given = ", ".join(f"%{name}: {ty}" for name, ty in args)
    lines = [f"// {title}", "visa 1", axes(sizes), "", f"tm.func @row({given}) at auto, chips 1 {{"]
    lines += ["  " + line for line in body]
    return "\n".join(lines + [f"  tm.return {', '.join(results)}", "}", ""])


def load(sizes, hbm, cluster, slices, element, dtype="f8e4m3"):
    """A load of an argument, which goes back: the queue's first command is the row's."""
    args = [("x", f"!tm.hbm<{dtype}, [1], {hbm}>")]
    body = [f"%y = tm.to_dm %x at auto, cluster {cluster}, slice {slices}, element {element}"]
    return sizes, args, body + [f"%z = tm.to_hbm %y at auto, element {hbm}"], ["%z"]


def first(sizes, hbm, source, cluster, slices, element, back, dtype="f8e4m3"):
    """The same where a view is loaded."""
    args = [("x", f"!tm.hbm<{dtype}, [1], {hbm}>")]
    body = [source, f"%y = tm.to_dm %v at auto, cluster {cluster}, slice {slices}, element {element}"]
    return sizes, args, body + [f"%z = tm.to_hbm %y at auto, element {back}"], ["%z"]


def store(sizes, cluster, slices, element, dtype="f8e4m3"):
    """What goes back: the queue's last command is the row's."""
    return load(sizes, "[" + ", ".join(sizes) + "]", cluster, slices, element, dtype)


def weights(rows):
    """Neighbour slices hold neighbour rows of 3840 bytes."""
    return load({"C": 2, "U": 32, "R": rows, "V": 8, "B": 3840}, "[C, U, R, V, B]", "[C]", "[U, V]", "[R, B]")


def pitched():
    """Five of 15 rows a slice; each cluster has half of a row."""
    sizes = {"U": 128, "R": 15, "V": 2, "C": 2, "B": 3840}
    tile = "%v = tm.tile %x along [R], size 5, index 0, element [U, R = 5 # 15, V, C, B]"
    return first(sizes, "[U, R, V, C, B]", tile, "[C]", "[U, V]", "[R = 5, B]", "[U, R = 5, V, C, B]")


def gather():
    args = [("table", "!tm.hbm<bf16, [1], [V, D]>"), ("i", "!tm.hbm<i32, [1], [N]>")]
    body = ["%y = tm.gather_to_dm %table, %i along [V], at auto, cluster [1 # 2], slice [N # 256], element [D]",
            "%z = tm.to_hbm %y at auto, element [N, D]"]
    return {"V": 4096, "N": 1, "D": 128}, args, body, ["%z"]


def scatter():
    args = [("rows", "!tm.hbm<bf16, [1], [N, D]>"), ("i", "!tm.hbm<i32, [1], [N]>"), ("table", "!tm.hbm<bf16, [1], [V, D]>")]
    body = ["%r = tm.to_dm %rows at auto, cluster [1 # 2], slice [N # 256], element [D]",
            "%z = tm.scatter %r, %i, %table along [V]"]
    return {"V": 4096, "N": 8, "D": 256}, args, body, ["%z"]


def within():
    args = [("x", "!tm.hbm<f8e4m3, [1], [N, B]>")]
    body = ["%a = tm.to_dm %x at auto, cluster [1 # 2], slice [1 # 256], element [N, B]",
            "%y = tm.to_dm %a at auto, cluster [1 # 2], slice [1 # 32, N], element [B]",
            "%z = tm.to_hbm %y at auto, element [N, B]"]
    return {"N": 8, "B": 960}, args, body, ["%z"]


DMA = [
    ("first", weights(8)),
    ("first", weights(4)),
    ("first", weights(4)),
    ("first", load({"C": 2, "S": 256, "B": 57600}, "[C, S, B]", "[C]", "[S]", "[B]")),
    ("first", load({"C": 2, "S": 256, "B": 57600}, "[C, S, B]", "[C]", "[S]", "[B]")),
    ("first", pitched()),
    ("first", pitched()),
    ("first", pitched()),
    ("first", load({"C": 2, "S": 256, "B": 7200}, "[C, S, B]", "[C]", "[S]", "[B]")),
    ("first", load({"U": 128, "R": 15, "V": 2, "C": 2, "B": 480}, "[U, R, V, C, B]", "[C]", "[U, V]", "[R, B]")),
    ("first", load({"H": 3840, "C": 2, "N": 8}, "[H]", "[C]", "[N, 1 # 4, H / 480]", "[H % 480]", "bf16")),
    ("first", load({"H": 3840, "C": 2, "N": 8}, "[H]", "[C]", "[N, H / 120]", "[H % 120]", "bf16")),
    ("first", load({"H": 3840}, "[H]", "[1 # 2]", "[1 # 32, H / 480]", "[H % 480]", "bf16")),
    ("first", load({"H": 3840}, "[H]", "[1 # 2]", "[1 # 32, H / 480]", "[H % 480]", "bf16")),
    ("first", load({"N": 16, "D": 256}, "[N, D]", "[N / 8]", "[N % 8, 1 # 32]", "[D]", "bf16")),
    ("first", load({"N": 16, "D": 256}, "[D]", "[N / 8]", "[N % 8, 1 # 32]", "[D]", "bf16")),
    ("first", load({"N": 8, "D": 256}, "[D]", "[N / 4]", "[N % 4, 1 # 64]", "[D]", "bf16")),
    ("first", load({"N": 8, "D": 256}, "[N, D]", "[N / 4]", "[N % 4, 1 # 64]", "[D]", "bf16")),
    ("first", load({"N": 16, "D": 256}, "[D]", "[N / 8]", "[N % 8, 1 # 32]", "[D]", "bf16")),
    ("first", first({"N": 8}, "[1]", "%v = tm.pad %x element [1 # 2]", "[1 # 2]", "[1 # 32, N]", "[1 # 8]", "[1 # 2]", "f32")),
    ("first", first({"N": 64, "C": 2}, "[1]", "%v = tm.pad %x element [1 # 2]", "[C]", "[N, 1 # 4]", "[1 # 8]", "[1 # 2]", "f32")),
    ("first", gather()),
    ("first", gather()),
    ("last", scatter()),
    ("first", load({"C": 2, "S": 256, "B": 8}, "[S, B]", "[C]", "[S]", "[B]")),
    ("first", first({"N": 8, "R": 32, "B": 64}, "[N, R, B]", "%v = tm.tile %x along [B], size 30, index 0, element [N, R, B = 30 # 64]", "[1 # 2]", "[1 # 32, N]", "[R, B = 30]", "[N, R, B = 30]", "f32")),
    ("second", within()),
    ("last", store({"B": 7680}, "[1 # 2]", "[1 # 256]", "[B]")),
    ("last", store({"B": 512}, "[1 # 2]", "[1 # 256]", "[B]")),
    ("last", store({"N": 16, "B": 512}, "[N / 8]", "[N % 8, 1 # 32]", "[B]")),
    ("last", store({"C": 2, "N": 128, "B": 256}, "[C]", "[N, 1 # 2]", "[B]")),
    ("last", store({"N": 8, "B": 960}, "[1 # 2]", "[1 # 32, N]", "[B]")),
]


def striped(runs, size):
    """Runs of a slice; eight neighbour slices hold neighbour rows."""
    return load({"C": 2, "U": 32, "R": runs, "V": 8, "B": size}, "[C, U, R, V, B]", "[C]", "[U, V]", "[R, B]")


def single(size, slices=256):
    """One run a slice; where not all slices of a cluster have one, all networks do."""
    spread = "[S]" if slices == 256 else f"[S, 1 # {256 // slices}]"
    return load({"C": 2, "S": slices, "B": size}, "[C, S, B]", "[C]", spread, "[B]")


LOADS = [
    ("first", striped(120, 256)), ("first", striped(60, 512)), ("first", striped(30, 1024)), ("first", single(61440, 128)),
    ("first", striped(240, 128)), ("first", single(30720)), ("first", single(122880, 64)), ("first", single(15360)),
    (None, None), ("first", striped(30, 1920)), (None, None), (None, None), (None, None),
    ("first", striped(12, 960)), ("first", striped(16, 960)),
    ("first", load({"C": 2, "S": 256, "B": 7680}, "[B]", "[C]", "[S]", "[B]")),
]

STORES = [
    ("last", store({"C": 2, "N": 128, "B": 120}, "[C]", "[N, 1 # 2]", "[B]")), (None, None),
    ("last", store({"C": 2, "N": 256, "B": 16}, "[C]", "[N]", "[B]")),
    ("last", store({"N": 16, "B": 480}, "[1 # 2]", "[1 # 16, N]", "[B]")), (None, None),
    # One element of 2 bytes: a load for it would write less than 8 bytes.
    (None, None),
    ("last", store({"N": 256, "B": 1000}, "[1 # 2]", "[N]", "[B]", "bf16")),
    ("last", store({"N": 256, "B": 8}, "[1 # 2]", "[N]", "[B]", "bf16")),
    ("last", store({"I": 512, "J": 512}, "[1 # 2]", "[I / 32, J / 32]", "[I % 32, J % 32]", "bf16")),
    ("last", store({"S": 256, "H": 1024}, "[1 # 2]", "[S]", "[H]", "bf16")),
]


def passes(sizes, dtype, element, body, result, args=(), before=()):
    """A pass over a tensor in the slices of both clusters."""
    own = {"C": 2, "S": 256, **sizes}
    given = [("x", f"!tm.hbm<{dtype}, [1], [C, S, {element}]>"), *args]
    lines = [f"%a = tm.to_dm %x at auto, cluster [C], slice [S], element [{element}]", *before, *body]
    if result is None:
        return own, given, lines + [f"%z = tm.to_hbm %a at auto, element [C, S, {element}]"], ["%z"]
    return own, given, lines + [f"%z = tm.to_hbm %y at auto, element [{result}]"], ["%z"]


def registers(dtype, size, cast=False, file="trf"):
    """A load of a register file in the sub context."""
    wide = {"bf16": 16, "f8e4m3": 32, "f32": 8}[dtype]
    if file == "trf":
        body = ["%b = stream.begin sub %a", f"%f = stream.fetch %b time [A / {wide}], packet [A % {wide}]",
                f"%c = stream.collect %f time [A / {wide}], packet [A % {wide}]",
                "%r = stream.to_trf %c at full, row [1], element [A]"]
    else:
        to = " dtype f32," if cast else ""
        body = ["%b = stream.begin sub %a", f"%f = stream.fetch %b{to} time [A / 8], packet [A % 8]",
                "%c = stream.collect %f time [A / 8], packet [A % 8]", "%r = stream.to_vrf %c at auto, element [A]"]
    return "sub", passes({"A": size}, dtype, "A", body, None)


def vector(size, ops, dtype="bf16", out="bf16", registers=0, fetched=16):
    """A pass through the vector engine on four lanes: operations, and register files of as many elements."""
    before, args = [], []
    for number in range(registers):
        args.append((f"w{number}", f"!tm.hbm<f32, [1], [A]>"))
        before += [f"%d{number} = tm.to_dm %w{number} at auto, cluster [C], slice [S], element [A]",
                   f"%e{number} = stream.begin sub %d{number}",
                   f"%g{number} = stream.fetch %e{number} time [A / 8], packet [A % 8]",
                   f"%h{number} = stream.collect %g{number} time [A / 8], packet [A % 8]",
                   f"%r{number} = stream.to_vrf %h{number} at auto, element [A]"]
    to = "" if dtype == "f32" else " dtype f32,"
    fetched = 8 if dtype == "f32" else fetched
    body = ["%b = stream.begin main %a", f"%f = stream.fetch %b{to} time [A / {fetched}], packet [A % {fetched}]",
            "%c = stream.collect %f time [A / 8], packet [A % 8]", "%v0 = stream.vector_init %c",
            "%v1 = stream.vector_branch unconditional %v0", "%v2 = stream.vector_split %v1 time [A / 4], packet [A % 4]"]
    last = "%v2"
    for number, op in enumerate(ops):
        body.append(f"%u{number} = " + op.replace("%_", last))
        last = f"%u{number}"
    body += [f"%w = stream.vector_concat {last} time [A / 8], packet [A % 8]", "%k = stream.vector_final %w"]
    last = "%k"
    if out != "f32":
        body.append(f"%m = stream.cast {out} %k packet [A % 8 # {32 if out == 'f8e4m3' else 16}]")
        last = "%m"
    body.append(f"%y = stream.commit {last} at auto, element [A]")
    return "main", passes({"A": size}, dtype, "A", body, "C, S, A", args=args, before=before)


def wide(size):
    """A vector pass with a constant on eight lanes."""
    body = ["%b = stream.begin main %a", "%f = stream.fetch %b time [A / 8], packet [A % 8]",
            "%c = stream.collect %f time [A / 8], packet [A % 8]", "%v0 = stream.vector_init %c",
            "%v1 = stream.vector_branch unconditional %v0", "%u = stream.vector_clip Add %v1 constant 1.0",
            "%k = stream.vector_final %u", "%y = stream.commit %k at auto, element [A]"]
    return "main", passes({"A": size}, "f32", "A", body, "C, S, A")


def squares(size):
    """The sum of squares of a slice: a stashed stream, and a reduction."""
    body = ["%b = stream.begin main %a", "%f = stream.fetch %b dtype f32, time [A / 16], packet [A % 16]",
            "%c = stream.collect %f time [A / 8], packet [A % 8]", "%v0 = stream.vector_init %c",
            "%v1 = stream.vector_branch unconditional %v0", "%v2 = stream.vector_split %v1 time [A / 4], packet [A % 4]",
            "%v3 = stream.vector_stash %v2", "%v4 = stream.vector_fp MulF0 %v3, %v3",
            "%v5 = stream.vector_intra_slice_reduce Add %v4 axis [A], time [1], packet [1 # 4]",
            "%v6 = stream.vector_fp_div DivF %v5 constant 240.0", "%v7 = stream.vector_pad %v6 packet [1 # 8]",
            "%k = stream.vector_final %v7", "%y = stream.commit %k at auto, element [1 # 2]"]
    return "main", passes({"A": size}, "bf16", "A", body, "C, S")


def small():
    """One flit a slice: two values, as memory is read 8 bytes at a time."""
    return ["%b = stream.begin main %a", "%f = stream.fetch %b time [1], packet [W # 8]",
            "%c = stream.collect %f time [1], packet [W # 8]", "%v0 = stream.vector_init %c"]


def root():
    """The root of one value a slice."""
    body = small() + ["%v1 = stream.vector_branch unconditional %v0", "%v2 = stream.vector_trim %v1 packet [W # 4]",
                        "%v3 = stream.vector_fp Sqrt %v2", "%v4 = stream.vector_pad %v3 packet [W # 8]",
                        "%k = stream.vector_final %v4", "%y = stream.commit %k at auto, element [W]"]
    return "main", one(body)


def one(body, result="C, U, V, W", ring=256):
    lines = ["%a = tm.to_dm %x at auto, cluster [C], slice [U, V], element [W # 8]", *body]
    given = [("x", "!tm.hbm<f32, [1], [C, U, V, W]>")]
    return {"C": 2, "U": 256 // ring, "V": ring, "W": 2}, given, lines + [f"%z = tm.to_hbm %y at auto, element [{result}]"], ["%z"]


def across(ring, sqrt):
    """The sum of one value over the slices of a ring."""
    slices = f"[U, 1 # {ring}]"
    body = small() + [f"%v1 = stream.vector_inter_slice_reduce Add %v0 slice {slices}, time [1]"]
    last = "%v1"
    if sqrt:
        body += ["%v2 = stream.vector_branch unconditional %v1", "%v3 = stream.vector_trim %v2 packet [W # 4]",
                 "%v4 = stream.vector_fp Sqrt %v3", "%v5 = stream.vector_pad %v4 packet [W # 8]"]
        last = "%v5"
    body += [f"%k = stream.vector_final {last}", "%y = stream.commit %k at auto, element [W]"]
    return "main", one(body, "C, U, W", ring)


def switch(ring, time, packet, dtype, flit, inner=1):
    """Slices of a ring get what all of them hold, one after the other."""
    sizes = {"C": 2, "U": 256 // ring // inner, "V": ring, "W": inner, "T": time, "A": packet}
    pad = f"[A # {flit}]" if packet < flit else f"[A % {flit}]"
    flits = "" if packet <= flit else f", A / {flit}"
    body = ["%a = tm.to_dm %x at auto, cluster [C], slice [U, V, W], element [T, A]", "%b = stream.begin main %a",
            "%f = stream.fetch %b time [T], packet [A]",
            f"%s = stream.switch broadcast1 %f slice1 {ring}, slice0 {inner}, slice [U, {ring}, W], time [T, V]",
            f"%c = stream.collect %s time [T, V{flits}], packet {pad}",
            "%y = stream.commit %c at auto, element [T, V, A]", "%z = tm.to_hbm %y at auto, element [C, U, W, T, V, A]"]
    return "main", (sizes, [("x", f"!tm.hbm<{dtype}, [1], [C, U, V, W, T, A]>")], body, ["%z"])


def gathered(ring, packet):
    """The same, and each value times a register."""
    sizes = {"C": 2, "U": 256 // ring, "V": ring, "A": packet}
    narrow, wide = ("vector_trim", "vector_pad") if packet == 4 else ("vector_split", "vector_concat")
    half, whole = ("packet [A]", "packet [A # 8]") if packet == 4 else ("time [V, A / 4], packet [A % 4]", "time [V], packet [A]")
    flit = "A # 8" if packet == 4 else "A"
    body = ["%a = tm.to_dm %x at auto, cluster [C], slice [U, V], element [A]",
            f"%d = tm.to_dm %w at auto, cluster [C], slice [U, {ring}], element [V, A]", "%e = stream.begin sub %d",
            f"%g = stream.fetch %e time [[V, A] / 8], packet [[V, A] % 8]",
            f"%h = stream.collect %g time [[V, A] / 8], packet [[V, A] % 8]", "%r = stream.to_vrf %h at auto, element [V, A]",
            "%b = stream.begin main %a", "%f = stream.fetch %b dtype f32, time [1], packet [A]",
            f"%s = stream.switch broadcast1 %f slice1 {ring}, slice0 1, slice [U, {ring}], time [V]",
            f"%c = stream.collect %s time [V], packet [{flit}]", "%v0 = stream.vector_init %c",
            "%v1 = stream.vector_branch unconditional %v0", f"%v2 = stream.{narrow} %v1 {half}",
            "%v3 = stream.vector_fp MulF0 %v2, %r", f"%v4 = stream.{wide} %v3 {whole}", "%k = stream.vector_final %v4",
            f"%m = stream.cast bf16 %k packet [{flit} # 16]", "%y = stream.commit %m at auto, element [V, A]",
            "%z = tm.to_hbm %y at auto, element [C, U, V, A]"]
    args = [("x", "!tm.hbm<bf16, [1], [C, U, V, A]>"), ("w", "!tm.hbm<f32, [1], [V, A]>")]
    return "main", (sizes, args, body, ["%z"])


def transposed(flits, slice1, slice0):
    """An InterTranspose of a flit a packet."""
    slices = f"[S / {slice1 * slice0}, A, S % {slice0}]"
    time = f"S / {slice0} % {slice1}"
    body = ["%a = tm.to_dm %x at auto, cluster [C], slice [S], element [A, W # 8]", "%b = stream.begin main %a",
            "%f = stream.fetch %b time [A], packet [W # 8]",
            f"%s = stream.switch inter_transpose %f slice1 {slice1}, slice0 {slice0}, time0 1, slice {slices}, time [{time}]",
            f"%c = stream.collect %s time [{time}], packet [W # 8]",
            f"%y = stream.commit %c at auto, element [{time}, W]",
            f"%z = tm.to_hbm %y at auto, element [C, S / {slice1 * slice0}, A, S % {slice0}, {time}, W]"]
    given = [("x", "!tm.hbm<f32, [1], [C, S, A, W]>")]
    return "main", ({"C": 2, "S": 256, "A": flits, "W": 2}, given, body, ["%z"])


def contraction(dtype, rows, columns, mode="interleaved", own=False):
    """Rows of a slice by a vector in the register file, or each by elements of its own."""
    flit = {"f8e4m3": 32, "bf16": 16}[dtype]
    held, time = ("R, H", f"R, H / {flit}") if own else ("H", f"H / {flit}")
    before = [f"%d = tm.to_dm %w at auto, cluster [C], slice [S], element [{held}]", "%e = stream.begin sub %d",
              f"%g = stream.fetch %e time [{time}], packet [H % {flit}]",
              f"%h = stream.collect %g time [{time}], packet [H % {flit}]",
              f"%r = stream.to_trf %h at full, row [1], element [{held}]"]
    body = ["%b = stream.begin main %a", f"%f = stream.fetch %b time [R, H / {flit}], packet [H % {flit}]",
            f"%c = stream.collect %f time [R, H / {flit}], packet [H % {flit}]",
            f"%l = stream.align %c, %r time [R, H / {flit}], packet [H % {flit} # {2 * flit}]", "%n = stream.contract %l packet [1]",
            f"%u = stream.accumulate {mode} %n time [R], packet [1 # 8]", "%y = stream.commit %u at auto, element [R, 1 # 2]"]
    args = [("w", f"!tm.hbm<{dtype}, [1], [{held}]>")]
    return "main", passes({"R": rows, "H": columns}, dtype, "R, H", body, "C, S, R", args=args, before=before)


def decoded(rows, columns):
    """Rows of 4-bit numbers, decoded by a table, by two vectors; sums of 16."""
    sizes = {"R": rows, "U": columns // 64, "Q": 4, "E": 16, "T": 2}
    before = ["%d = tm.to_dm %w at auto, cluster [C], slice [S], element [T, U, Q, E]", "%e = stream.begin sub %d",
              "%g = stream.fetch %e time [T, U, Q / 2], packet [Q % 2, E]",
              "%h = stream.collect %g time [T, U, Q / 2], packet [Q % 2, E]",
              "%r = stream.to_trf %h at full, row [1], element [T, U, Q, E]"]
    body = ["%b = stream.begin main %a", "%f = stream.fetch %b table @decode, dtype f8e4m3, time [R, U], packet [Q, E]",
            "%c = stream.collect %f time [R, U, Q / 2], packet [Q % 2, E]",
            "%l = stream.align %c, %r time [R, U, T], packet [Q, E]", "%n = stream.contract %l packet [Q]",
            "%u = stream.accumulate sequential %n time [R, U], packet [Q # 8]",
            "%m = stream.cast bf16 %u packet [Q # 16]", "%y = stream.commit %m at auto, element [R, U, Q]"]
    args = [("w", "!tm.hbm<f8e4m3, [1], [T, U, Q, E]>")]
    return "main", passes(sizes, "f4e2m1", "R, U, Q, E", body, "C, S, R, U, Q", args=args, before=before)


MUL = "stream.vector_fp MulF0 %_ constant 2.0"
BY = "stream.vector_fp MulF0 %_, %r0"
BY1 = "stream.vector_fp MulF1 %_, %r1"


def copies():
    """Converts f8 to bf16 by the cast engine."""
    body = ["%b = stream.begin sub %a", "%f = stream.fetch %b dtype f32, time [A / 8], packet [A % 8]",
            "%c = stream.collect %f time [A / 8], packet [A % 8]", "%m = stream.cast bf16 %c packet [A % 8 # 16]",
            "%y = stream.commit %m at auto, element [A]"]
    return "sub", passes({"A": 7200}, "f8e4m3", "A", body, "C, S, A")


PASSES = [
    registers("bf16", 256), registers("f8e4m3", 3840), registers("f8e4m3", 7680),
    registers("bf16", 7200), registers("f8e4m3", 15360), registers("bf16", 2400), registers("bf16", 2400),
    copies(), copies(),
    registers("f8e4m3", 120, True, "vrf"), registers("bf16", 128, True, "vrf"), registers("bf16", 256, True, "vrf"),
    registers("bf16", 480, True, "vrf"), registers("f32", 128, False, "vrf"), registers("f32", 128, False, "vrf"),
    switch(8, 60, 8, "f32", 8), switch(8, 2, 480, "f8e4m3", 32), switch(32, 15, 4, "bf16", 16),
    switch(64, 10, 24, "f8e4m3", 32, 4), switch(4, 15, 2, "f32", 8), switch(2, 15, 4, "f32", 8),
    gathered(64, 4), gathered(32, 8),
    transposed(8, 8, 1), transposed(4, 4, 2),
    across(256, False), across(8, True),
    root(), wide(120), vector(120, [MUL], fetched=8), vector(256, [MUL]), vector(480, [MUL], out="f8e4m3"),
    vector(120, [BY], registers=1, fetched=8), vector(128, [BY], "f32", "f32", 1), vector(240, [BY], registers=1),
    vector(256, [BY], registers=1), vector(480, [BY], registers=1),
    vector(240, [BY, BY1], registers=2), vector(256, [BY, BY1], registers=2), vector(480, [BY, BY1], registers=2),
    squares(240), squares(256), squares(480),
    vector(480, ["stream.vector_fp MulF0 %_, %r1", "stream.vector_fp_div DivF %_, %r0"], registers=2),
    contraction("f8e4m3", 8, 3840), contraction("f8e4m3", 4, 3840), contraction("f8e4m3", 4, 3840),
    contraction("bf16", 30, 240, "sequential", True), contraction("bf16", 5, 480, "sequential", True),
    decoded(5, 7680), decoded(30, 3840),
    (None, None),
]


def measure(name, row):
    if "size" in row:
        return f", {row['size']} {row['size_unit']}"
    return "" if name.startswith("dma") else f", runs of {row['run_bytes']} bytes"


def time(row, column):
    value = row.get(column)
    return float(value) if value else None


def all_rows():
    for name, made in (("dma", DMA), ("passes", PASSES), ("loads", LOADS), ("stores", STORES)):
        with open(HERE / f"{name}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(made), (name, len(rows), len(made))
        for number, (row, own) in enumerate(zip(rows, made), 1):
            yield f"{name}-{number:02}", row, own


def main():
    wrong, lines = [], []
    for name, row, (which, made) in all_rows():
        kind = row.get("unit") or "dma"
        what = row["what"] + measure(name, row)
        lines.append({
            "file": f"{name}.visa" if made else None,
            "kind": kind,
            "which": which if which in ("first", "second") else "last",
            "kernels": (row.get("kernel") or row.get("kernels") or "").split(),
            "what": what,
            "static_cycles": time(row, "static_cycles"),
            "ticks": time(row, "ticks"),
            "bytes": int(row.get("bytes_moved") or 0),
            "beside": row.get("beside") or "",
        })
        if not made:
            continue
        sizes, args, body, results = made
        text = kernel(f"{kind}: {what}.", sizes, args, body, results)
        if "table @decode" in text:
            values = "0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6"
            text = text.replace("visa 1\n", f"visa 1\ntm.table @decode, from f4e2m1, to f8e4m3, values [{values}]\n", 1)
        wrong += put(HERE / "data" / f"{name}.visa", text)
    wrong += put(HERE / "rows.json", json.dumps(lines, indent=1) + "\n")
    if wrong:
        sys.exit(f"not as rows.py writes them: {', '.join(wrong)}")


def put(path, text):
    if "--check" in sys.argv[1:]:
        return [] if path.exists() and path.read_text() == text else [path.name]
    path.write_text(text)
    return []


if __name__ == "__main__":
    main()
