"""What kernels compute, as the tests of the repository state it: arguments in, results out, in exact arithmetic.

A function takes the arguments by name, each an `Array`, and gives the elements of the result in the order of its type,
or those of several results by their names.
"""

import math
import struct
from dataclasses import dataclass, field


@dataclass
class Array:
    """Elements in row-major order."""

    shape: list
    flat: list

    def rows(self):
        """The elements along the last extent, for each of the others."""
        size = self.shape[-1]
        return [self.flat[at : at + size] for at in range(0, len(self.flat), size)]

    def columns(self):
        """The elements along the first extent, for each of the others."""
        size = len(self.flat) // self.shape[0]
        return [self.flat[at::size] for at in range(size)]


@dataclass
class Stated:
    """What a kernel computes. Integers from `least` to `most` are tried; of floating-point numbers these too, in eighths."""

    result: object
    least: int = -64
    most: int = 64
    # How far a result may be from what is stated: that part of it, or so much.
    part: float = 0
    apart: float = 0
    # Arguments that are not random: elements by the shape and the shapes of all arguments.
    given: dict = field(default_factory=dict)


def single(number):
    """The nearest `f32`; beyond the last of them an infinity."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def wrapped(number):
    """The low 32 bits as an integer with a sign."""
    return (number + 2**31) % 2**32 - 2**31


def saturated(number):
    return max(-(2**31), min(2**31 - 1, number))


def each(function):
    """Element by element of all arguments."""
    return lambda **args: [function(*own) for own in zip(*(array.flat for array in args.values()))]


def folded(function, parts):
    """Along one extent, from left to right."""

    def result(input):
        found = []
        for own in parts(input):
            total = own[0]
            for one in own[1:]:
                total = function(total, one)
            found.append(total)
        return found

    return result


def products(left, right):
    """The sum of products along the last extents: rows of the left by rows of the right."""
    return [sum(one * other for one, other in zip(row, own)) for row in left.rows() for own in right.rows()]


def turned(input):
    """Two extents in each other's place."""
    return [element for column in input.columns() for element in column]


def pipeline(x):
    """Plus 100, times 2.5, to the nearest integer, halves away from 0, between 0 and 1000."""
    scaled = single(single(wrapped(x + 100)) * 2.5)
    return max(0, min(1000, int(math.copysign(math.floor(abs(scaled) + 0.5), scaled))))


def repeated(function):
    """The second argument and those after it are repeated for each row of the first."""

    def result(**args):
        first, *others = args.values()
        return [
            function(element, *(other.flat[at % len(other.flat)] for other in others))
            for at, element in enumerate(first.flat)
        ]

    return result


def scattered(data, index, output):
    """Rows go where the index says, in bytes; other rows stay."""
    rows, size = output.rows(), 2 * data.shape[-1]
    for row, at in zip(data.rows(), index.flat):
        rows[at // size] = row
    return [element for row in rows for element in row]


def filled(value):
    return Stated(lambda input: [value] * len(input.flat), least=-7, most=7)


ALL = {"least": -(2**31), "most": 2**31 - 1}
plus_1 = Stated(each(lambda x: wrapped(x + 1)), **ALL)
same = Stated(lambda **args: next(iter(args.values())).flat)
transposed = Stated(turned)
doubled_or_more = Stated(each(lambda x: max(wrapped(2 * x), x)), **ALL)
fma = lambda x, by, plus: single(x * by + plus)
rows_add = folded(lambda x, y: saturated(x + y), Array.rows)
columns_add = folded(lambda x, y: saturated(x + y), Array.columns)

STATED = {
    "constant_add_kernel": plus_1,
    "elementwise_mul_kernel": Stated(each(lambda x, y: wrapped(x * y)), **ALL),
    "dot_product_kernel": Stated(lambda lhs, rhs: products(lhs, rhs), part=0.02, apart=0.5),
    "gemv_kernel": Stated(lambda matrix, vector: products(matrix, vector), part=0.02, apart=0.5),
    "gemm_kernel": Stated(lambda a, b: products(a, b), part=0.02, apart=0.5),
    "binary_add_2048": Stated(each(lambda x, y: x + y), least=-128, most=127),
    "i8_contract": Stated(lambda input, input_trf: products(input, input_trf), least=-8, most=7),
    "swap_halves": Stated(lambda x: [element for row in x.rows() for element in row[len(row) // 2 :] + row[: len(row) // 2]]),
    "view_simpl": Stated(lambda input_hbm: [element for row in input_hbm.rows() for element in row[6:] + row[:6]], **ALL),
    "fetch_commit_simple": transposed,
    "tile_simple": transposed,
    "unevaluated_const": transposed,
    "typelevel_const": transposed,
    "transpose_simple": Stated(lambda input: [element for row in zip(*input.rows()) for element in row]),
    "tuple_passthrough": same,
    "struct_passthrough": same,
    "runtime_if_scalar_index": same,
    "runtime_if_two_outputs": Stated(
        lambda input: {"out0": [wrapped(x + 1) for x in input.flat], "out1": [wrapped(x + 2) for x in input.flat]}, **ALL
    ),
    **{f"{pes}_add": plus_1 for pes in ["one_pe", "two_pe", "four_pe", "eight_pe", "two_chip", "four_chip"]},
    "memset_i32_zero": filled(0),
    "memset_i8_neg_one": filled(-1),
    "memset_i16_300": filled(300),
    "memset_f32_one_half": filled(1.5),
    "memset_bf16_one": filled(1.0),
    "memset_f8e4m3_one": filled(1.0),
    "memset_i4_neg_one": filled(-1),
    "memset_alias_bf16": filled(3.0),
    "scatter_minimal": Stated(
        scattered, given={"index": lambda shape, others: [2 * others["data"][-1] * at for at in range(math.prod(shape))]}
    ),
    "ve_elementwise_fxp_const": Stated(each(lambda x: wrapped(x + 100)), **ALL),
    "ve_elementwise_full_pipeline": Stated(each(pipeline), least=-300, most=600),
    "ve_elementwise_neg_offset_f32": Stated(each(lambda x: single(x - 100))),
    "ve_elementwise_stash_f32": Stated(each(lambda x: max(2 * x, x))),
    "ve_elementwise_stash_i32": doubled_or_more,
    "ve_stash_fxp_fxp": doubled_or_more,
    "ve_stash_after_widen_f32": Stated(each(lambda x: 2 * max(2 * x, 0))),
    "ve_elementwise_logic": Stated(each(lambda x: (x & 0xFF) | 0x100), **ALL),
    "ve_elementwise_ternary": Stated(each(lambda x: fma(x, 2, 3))),
    "ve_elementwise_ternary_stash": Stated(each(lambda x: fma(x, x, 1))),
    "ve_elementwise_vrf": Stated(repeated(lambda x, y: wrapped(x + y)), **ALL),
    "ve_elementwise_multi_vrf": Stated(repeated(lambda x, y, z: wrapped((x + y) * z + y)), **ALL),
    "ve_intra_slice_reduce_add_fxp_sat": Stated(rows_add),
    "ve_intra_slice_reduce_max_i32": Stated(folded(max, Array.rows), **ALL),
    "ve_intra_slice_reduce_min_i32": Stated(folded(min, Array.rows), **ALL),
    "ve_intra_slice_reduce_add_f32": Stated(folded(lambda x, y: x + y, Array.rows)),
    "ve_intra_slice_reduce_max_f32": Stated(folded(max, Array.rows)),
    "ve_intra_slice_reduce_min_f32": Stated(folded(min, Array.rows)),
    "ve_intra_slice_reduce_split_time_packet": Stated(columns_add),
    "ve_inter_slice_reduce_add_sat_i32": Stated(columns_add),
    "ve_inter_slice_reduce_max_i32": Stated(folded(max, Array.columns), **ALL),
    "ve_inter_slice_reduce_add_f32": Stated(folded(lambda x, y: x + y, Array.columns)),
    "ve_vru_then_vau_i32": Stated(lambda input: [wrapped(x + 100) for x in columns_add(input)]),
    "ve_group_pair_add": Stated(each(lambda x, y: wrapped(x + y)), **ALL),
    "ve_group_pair_preprocess_both": Stated(each(lambda x, y: wrapped(2 * x + 3 * y)), **ALL),
    "ve_group_pair_preprocess_g0": Stated(each(lambda x, y: wrapped(10 * x + y)), **ALL),
    "ve_group_pair_preprocess_g1": Stated(each(lambda x, y: wrapped(x + 10 * y)), **ALL),
    "ve_group_pair_chain": Stated(each(lambda x, y: wrapped((x + 10) * 2 + (y + 20) * 3)), **ALL),
    "ve_group_pair_fxp": Stated(each(lambda x, y: wrapped(x * y)), **ALL),
    "ve_group_pair_logic": Stated(each(lambda x, y: x ^ y), **ALL),
    "ve_group_pair_fp": Stated(each(lambda x, y: single(single(x) * single(y))), **ALL),
    # The machine's functions are near the language's, not equal.
    "ve_group_pair_unary": Stated(
        each(lambda x, y: single(single(math.sqrt(x)) + single(math.sqrt(y)))), least=0, most=2**31 - 1, part=2**-22
    ),
    "ve_group_pair_unary_selective": Stated(each(lambda x, y: single(math.exp(x) + y)), least=-8, most=8, part=2**-20, apart=2**-20),
    "ve_group_pair_ternary_selective": Stated(
        each(lambda x, y: single(fma(x, 2, 1) / y)),
        given={"rhs": lambda shape, others: [float(1 + at % 13) for at in range(math.prod(shape))]},
    ),
    "ve_group_pair_ternary": Stated(each(lambda x, y: single(fma(x, 2, 1) * fma(y, 3, 2)))),
}
