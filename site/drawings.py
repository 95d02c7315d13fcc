"""The site's drawings, as SVG that follows light and dark."""

STYLE = """<style>
text{font:14px sans-serif;fill:#444}.small{font-size:12px}
.cell{fill:none;stroke:#667;stroke-width:1.6}
.private{fill:#c0392b22;stroke:#c0392b;stroke-width:1.6}
.noised{fill:#1f77b422;stroke:#1f77b4;stroke-width:1.6}
.arrow{stroke:#778;stroke-width:1.6;fill:none;marker-end:url(#tip)}
.wall{stroke:#333;stroke-width:5;stroke-dasharray:9 5}
.right{fill:#1f77b4}.wrong{fill:none;stroke:#999;stroke-width:1.5}
@media (prefers-color-scheme: dark){text{fill:#ccc}.wall{stroke:#ddd}.right{fill:#6db3e8}}
</style><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"
markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#778"/></marker></defs>"""


def svg(width, height, label, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{label}">{STYLE}{"".join(parts)}</svg>\n')


def text(x, y, words, small=False):
    kind = ' class="small"' if small else ""
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
    for left, right, title in ((20, 50, "nothing released"), (310, 73, "ε = 1, at most")):
        parts.append(text(left + 110, 24, title))
        for i in range(100):
            kind = "right" if i < right else "wrong"
            parts.append(f'<circle cx="{left + 11 + 22 * (i % 10)}" cy="{48 + 22 * (i // 10)}" '
                         f'r="8" class="{kind}"/>')
        parts.append(text(left + 110, 282, f"{right} right, {100 - right} wrong"))
    return svg(560, 300, "One hundred guesses: fifty right without a release, at most "
               "seventy-three at epsilon 1", parts)


def wall():
    """From private trips over the wall."""
    parts = [
        box(10, 70, 120, 70, "private", "trips", "private"),
        box(175, 70, 130, 70, "private", "count", "clipped, exact"),
        box(350, 70, 120, 70, "cell", "+ noise", "once, paid for"),
        box(515, 20, 110, 60, "noised", "tables", "noised"),
        box(515, 120, 110, 60, "noised", "model", "released"),
        box(660, 70, 90, 70, "noised", "trips", "synthetic"),
        arrow("M130 105H172"), arrow("M305 105H347"), arrow("M470 95L512 62"),
        arrow("M570 80V117"), arrow("M625 145L657 118"),
        '<path class="wall" d="M490 5V205"/>',
        text(250, 195, "sees private data", small=True), text(620, 203, "cannot", small=True),
    ]
    return svg(760, 210, "Private trips are counted, noise is added once, everything else works "
               "on noised tables", parts)


def tables():
    """A table of counts before and after noise: what stands out, and what does not."""
    exact = (3, 14, 52, 96, 61, 8, 1, 0, 33, 70, 24, 2)
    noise = (5, -6, 4, -3, 7, -5, 4, 6, -4, 5, 3, -7)
    parts = []
    for left, kind, added, title in ((20, "private", [0] * len(exact), "counted: private"),
                                     (330, "noised", noise, "noised: released")):
        parts += [f'<rect x="{left + 22 * i}" y="{140 - max(0, n + e)}" width="16" '
                  f'height="{max(0, n + e)}" class="{kind}"/>'
                  for i, (n, e) in enumerate(zip(exact, added))]
        parts += [f'<path class="cell" d="M{left - 4} 140H{left + 264}"/>',
                  text(left + 130, 24, title)]
    parts += [arrow("M290 95H318"), text(305, 85, "+", small=True),
              '<path d="M326 128H594" stroke="#c0392b" stroke-dasharray="4 4"/>',
              text(460, 165, "below the dashed line: may be noise alone", small=True),
              text(150, 165, "visits by cell", small=True)]
    return svg(610, 180, "Counts of visits by cell, exact and with noise: busy cells stand out, "
               "quiet ones do not", parts)


def bridge():
    """Ways between two cells, one of them drawn."""
    ways = [
        (((0, 4), (2, 5), (4, 5), (7, 4), (10, 3), (12, 2), (13, 1)), .35),
        (((0, 4), (0, 2), (1, 1), (4, 0), (8, 0), (11, 0), (13, 1)), .3),
        (((0, 4), (2, 3), (3, 1), (6, 1), (9, 1), (11, 2), (13, 1)), .35),
        (((0, 4), (1, 4), (3, 3), (5, 3), (8, 2), (11, 1), (13, 1)), .95),
    ]
    parts = [f'<rect x="{20 + 40 * i}" y="{20 + 40 * j}" width="40" height="40" class="cell" '
             'opacity=".35"/>' for i in range(14) for j in range(6)]
    for cells, opacity in ways:
        line = " L".join(f"{40 + 40 * x} {40 + 40 * y}" for x, y in cells)
        parts.append(f'<path d="M{line}" fill="none" stroke="#1f77b4" opacity="{opacity}" '
                     f'stroke-width="{2 + 2 * opacity}" stroke-linejoin="round"/>')
    parts += ['<circle cx="40" cy="200" r="9" fill="#c0392b"/>',
              '<circle cx="560" cy="80" r="9" fill="#27ae60"/>',
              text(92, 224, "source, 8:00"), text(510, 112, "destination"),
              text(300, 280, "six minutes: every way that arrives in time has its weight", True)]
    return svg(600, 290, "Ways from a source to a destination in a given time, one of them drawn",
               parts)


DRAWINGS = {"guesses.svg": guesses, "wall.svg": wall, "tables.svg": tables, "bridge.svg": bridge}
