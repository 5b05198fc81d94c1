#!/usr/bin/env python3
"""Draws how the bits of an HBM address become a place: `docs/pictures/address_bits.py > docs/pictures/address-bits.svg`.

The table is book 11's, "Address Space in a Chip"; `HbmPlace` in runtime/chip/memory/src/hbm.rs is the same as code.
"""

# From the lowest bit: the name of a part, its bits, and its colour.
PARTS = [
    ("byte", range(0, 8), "#d9e2ec"),
    ("stack", range(8, 9), "#f7c948"),
    ("channel", range(9, 13), "#f0b429"),
    ("group", range(13, 14), "#8eddaa"),
    ("byte", range(14, 17), "#d9e2ec"),
    ("bank", range(17, 19), "#57ae7b"),
    ("group", range(19, 20), "#8eddaa"),
    ("slice", range(20, 21), "#9fb3c8"),
    ("row", range(21, 34), "#bcccdc"),
    ("slice", range(34, 35), "#9fb3c8"),
    ("row", range(35, 36), "#bcccdc"),
]
WIDTH, HEIGHT, TOP, LEFT = 26, 34, 30, 10
CHANNEL_BITS = ["#e12d39", "#2186eb", "#8719e0", "#0c6b58"]


def x(bit):
    """The left edge of a bit's box: bit 35 is leftmost."""
    return LEFT + (35 - bit) * WIDTH


def box(bit, colour):
    yield f'<rect x="{x(bit)}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="{colour}" stroke="white"/>'
    yield f'<text x="{x(bit) + WIDTH / 2}" y="{TOP - 8}" font-size="10">{bit}</text>'


def part(name, bits, colour):
    for bit in bits:
        yield from box(bit, colour)
    middle = (x(bits[0]) + x(bits[-1]) + WIDTH) / 2
    size = 9 if len(bits) == 1 else 12
    yield f'<text x="{middle}" y="{TOP + HEIGHT / 2 + 4}" font-size="{size}">{name}</text>'


def channel_bit(number):
    """The line that joins the bits whose XOR is a bit of the channel."""
    colour, y = CHANNEL_BITS[number], TOP + HEIGHT + 16 + 18 * number
    bits = range(9 + number, 29, 4)
    ends = [x(bit) + WIDTH / 2 for bit in bits]
    yield f'<line x1="{min(ends)}" x2="{max(ends)}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
    for end in ends:
        yield f'<circle cx="{end}" cy="{y}" r="4" fill="{colour}"/>'
    yield f'<text x="{max(ends) + 50}" y="{y + 4}" font-size="11" fill="{colour}">channel {number}</text>'


def main():
    height = TOP + HEIGHT + 100
    width = 2 * LEFT + 36 * WIDTH
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"')
    print('     font-family="sans-serif" text-anchor="middle" role="img">')
    print("<title>The bits of an HBM address, and which of them make up a channel</title>")
    for name, bits, colour in PARTS:
        print("\n".join(part(name, bits, colour)))
    for number in range(4):
        print("\n".join(channel_bit(number)))
    print("</svg>")


if __name__ == "__main__":
    main()
