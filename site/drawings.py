"""The site's drawings, as SVG that follows light and dark."""

WIDTH = 400  # a phone's, so that words can be read there

STYLE = """<style>
text{font:14px sans-serif;fill:#444}.small{font-size:12px}
.cell{fill:none;stroke:#667;stroke-width:1.6}
.private{fill:#c0392b22;stroke:#c0392b;stroke-width:1.6}
.noised{fill:#1f77b422;stroke:#1f77b4;stroke-width:1.6}
.arrow{stroke:#778;stroke-width:1.6;fill:none;marker-end:url(#tip)}
.wall{stroke:#333;stroke-width:5;stroke-dasharray:9 5}
.halo{paint-order:stroke;stroke:#fff;stroke-width:5px}
.right{fill:#1f77b4}.wrong{fill:none;stroke:#999;stroke-width:1.5}
@media (prefers-color-scheme: dark){
text{fill:#ccc}.halo{stroke:#14171d}.wall{stroke:#ddd}.right{fill:#6db3e8}}
</style><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"
markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#778"/></marker></defs>"""


def svg(width, height, label, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{label}">{STYLE}{"".join(parts)}</svg>\n')


def text(x, y, words, small=False, halo=False):
    """Centred at x. With a halo it can be read on lines."""
    kind = ' class="small"' if small else ' class="halo"' if halo else ""
    return f'<text x="{x}" y="{y}" text-anchor="middle"{kind}>{words}</text>'


def box(x, y, width, height, kind, name, note):
    middle = x + width / 2
    return (f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="{kind}"/>'
            + text(middle, y + height / 2 - 3, name)
            + text(middle, y + height / 2 + 15, note, small=True))


def arrow(path):
    return f'<path class="arrow" d="{path}"/>'


def guesses():
    """One hundred guesses, without a release and with one at epsilon 1."""
    parts = []
    for left, right, title in ((5, 50, "nothing released"), (215, 73, "ε = 1, at most")):
        parts.append(text(left + 90, 20, title))
        for i in range(100):
            kind = "right" if i < right else "wrong"
            parts.append(f'<circle cx="{left + 9 + 18 * (i % 10)}" cy="{44 + 18 * (i // 10)}" '
                         f'r="7" class="{kind}"/>')
        parts.append(text(left + 90, 240, f"{right} right, {100 - right} wrong"))
    return svg(WIDTH, 252, "One hundred guesses: fifty right without a release, at most "
               "seventy-three at epsilon 1", parts)


def wall():
    """From private trips over the wall."""
    parts = [
        box(8, 30, 100, 62, "private", "trips", "private"),
        box(150, 30, 100, 62, "private", "count", "clipped, exact"),
        box(292, 30, 100, 62, "cell", "+ noise", "once, paid for"),
        box(292, 160, 100, 62, "noised", "tables", "noised"),
        box(150, 160, 100, 62, "noised", "model", "released"),
        box(8, 160, 100, 62, "noised", "trips", "synthetic"),
        arrow("M108 61H147"), arrow("M250 61H289"), arrow("M342 92V157"),
        arrow("M292 191H253"), arrow("M150 191H111"),
        '<path class="wall" d="M2 126H325M359 126H398"/>',
        text(105, 17, "above the wall: sees private trips", small=True),
        text(105, 244, "below it: no code can see them", small=True),
    ]
    return svg(WIDTH, 252, "Private trips are counted, noise is added once, everything else works "
               "on noised tables", parts)


def tables():
    """A table of counts before and after noise: what stands out, and what does not."""
    exact = (3, 14, 52, 96, 61, 8, 1, 0, 33, 70, 24, 2)
    noise = (5, -6, 4, -3, 7, -5, 4, 6, -4, 5, 3, -7)
    parts = []
    for left, kind, added, title in ((6, "private", [0] * len(exact), "counted: private"),
                                     (226, "noised", noise, "noised: released")):
        parts += [f'<rect x="{left + 14 * i}" y="{140 - max(0, n + e)}" width="10" '
                  f'height="{max(0, n + e)}" class="{kind}"/>'
                  for i, (n, e) in enumerate(zip(exact, added))]
        parts += [f'<path class="cell" d="M{left - 4} 140H{left + 168}"/>',
                  text(left + 82, 24, title)]
    parts += [arrow("M184 95H214"), text(199, 87, "+ noise", small=True),
              '<path d="M222 128H394" stroke="#c0392b" stroke-dasharray="4 4"/>',
              text(308, 162, "below the dashed line:", small=True),
              text(308, 178, "may be noise alone", small=True),
              text(88, 162, "visits by cell", small=True)]
    return svg(WIDTH, 186, "Counts of visits by cell, exact and with noise: busy cells stand out, "
               "quiet ones do not", parts)


def bridge():
    """Ways between two cells, one of them drawn."""
    ways = [
        (((0, 4), (2, 5), (4, 5), (7, 4), (10, 3), (12, 2), (13, 1)), .35),
        (((0, 4), (0, 2), (1, 1), (4, 0), (8, 0), (11, 0), (13, 1)), .3),
        (((0, 4), (2, 3), (3, 1), (6, 1), (9, 1), (11, 2), (13, 1)), .35),
        (((0, 4), (1, 4), (3, 3), (5, 3), (8, 2), (11, 1), (13, 1)), .95),
    ]
    side, edge = 28, 4
    parts = [f'<rect x="{edge + side * i}" y="{edge + side * j}" width="{side}" height="{side}" '
             'class="cell" opacity=".25"/>' for i in range(14) for j in range(6)]
    for cells, opacity in ways:
        line = " L".join(f"{edge + side * (x + .5)} {edge + side * (y + .5)}" for x, y in cells)
        parts.append(f'<path d="M{line}" fill="none" stroke="#1f77b4" opacity="{opacity}" '
                     f'stroke-width="{2 + 2 * opacity}" stroke-linejoin="round"/>')
    parts += ['<circle cx="18" cy="130" r="8" fill="#c0392b"/>',
              '<circle cx="382" cy="46" r="8" fill="#27ae60"/>',
              text(52, 166, "source, 8:00", halo=True),
              text(352, 30, "destination", halo=True),
              text(200, 192, "six minutes: every way that arrives in time has its weight", True)]
    return svg(WIDTH, 200, "Ways from a source to a destination in a given time, one of them drawn",
               parts)


DRAWINGS = {"guesses.svg": guesses, "wall.svg": wall, "tables.svg": tables, "bridge.svg": bridge}
