#!/usr/bin/env python3
"""Builds the static site: site/pages and docs as HTML, the library from its headers, a search.

usage: build.py OUT

Every page works from a file, without a server and without any request to elsewhere. Ends with an
error that names each broken link. Needs Debian's python3-markdown and python3-pygments.
"""
import html
import json
import pathlib
import re
import shutil
import sys

import markdown

from drawings import DRAWINGS

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "site"

# The menu: (heading, [(page, title)]). docs/ pages take their titles from their first line.
MENU = [
    ("Start", [("index", "dploc"), ("first-release", "Your first release"),
               ("epsilon", "What ε = 1 means"), ("coming-from", "Coming from"),
               ("recipes", "Recipes")]),
    ("Understand", [("method", "How it works"), ("results", "Results")]),
    ("Use", ["docs/USING", "docs/PYTHON", "docs/FORMATS", "docs/REPORT", "docs/ROADS", "docs/SCALE",
             "docs/SIMULATE", ("api", "The library")]),
    ("Trust", ["docs/PRIVACY", "docs/ACCOUNTING", "docs/LEDGER", "docs/ATTACKS"]),
    ("Measure", ["docs/EVALUATION", "docs/BASELINES", "docs/EXPERIMENTS", "docs/PERFORMANCE",
                 "docs/RELIABILITY"]),
    ("Build on", ["docs/ARCHITECTURE", "docs/METHOD", "docs/SAMPLING", "docs/TRAINING",
                  "docs/GLOSSARY", "docs/NOTEBOOK", ("CONTRIBUTING", "Contributing"),
                  ("CHANGELOG", "Changelog")]),
]
# Files of the tree that have a page under another name.
HEADERS = ["dploc.h", "dploc_privacy.h", "dploc_data.h", "dploc_arrow.h", "dploc_rounds.h"]
OTHER = {"docs/RESULTS.md": "results", **{f"include/{header}": "api" for header in HEADERS}}


def title_of(path):
    return path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")


def menu_pages():
    """The menu with all titles: (heading, [(name, title)])."""
    return [(heading, [entry if isinstance(entry, tuple) else
                       (entry, title_of(ROOT / f"{entry}.md")) for entry in entries])
            for heading, entries in MENU]


def missing_pages(menu):
    """Pages in docs, and headers, that the menu forgot."""
    names = {name for _, pages in menu for name, _ in pages}
    files = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "include").glob("*.h"))]
    paths = [path.relative_to(ROOT).as_posix() for path in files]
    return [f"{path} is not in the menu" for path in paths
            if path not in OTHER and path.removesuffix(".md") not in names]


def section_of(path, heading):
    """What stands under a heading of a Markdown file, with links as from site/pages."""
    text = path.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {heading}\n")
    if not found:
        sys.exit(f"site: {path.name} has no heading '{heading}'")
    return re.sub(r"\]\((?![a-z]+:)", "](../../", rest.split("\n## ", 1)[0].strip())


def source_of(name):
    """The Markdown of a page."""
    own = SITE / "pages" / f"{name}.md"
    if own.exists():
        text = own.read_text(encoding="utf-8")
        return text.replace("{{rivals}}", section_of(ROOT / "README.md", "Where it stands"))
    if name == "api":
        return api_page()
    if name == "results":
        return results_page()
    return (ROOT / f"{name}.md").read_text(encoding="utf-8")


def results_page():
    """The pictures, and the tables that docs/RESULTS.md keeps."""
    text = (ROOT / "docs/RESULTS.md").read_text(encoding="utf-8")
    pictures = "".join(f"![{alt}](images/{name})\n\n*{alt}.*\n\n" for name, alt in (
        ("streets.png", "Trips on the streets of a made-up city, and beside them synthetic ones"),
        ("report-maps.png", "Visits at eight in the morning: real trips of a made-up city beside "
                            "synthetic ones"),
        ("report-motion.png", "Speeds, kilometres, turns and stops, real and synthetic")))
    first, rest = text.split("\n", 1)
    return f"{first}\n\n{pictures}{rest}"


def api_page():
    """The public headers: each comment as prose, each declaration as code."""
    parts = ["# The library\n\nWhat the headers say, in their order. Programs link with "
             "`pkg-config --libs dploc`.\n"]
    for header in HEADERS:
        text = (ROOT / "include" / header).read_text(encoding="utf-8")
        parts.append(f"\n## {header}\n")
        parts += [declaration_block(block) for block in header_blocks(text)]
    return "\n".join(parts)


def header_blocks(text):
    """(comment, code) pairs: what stands between two comments that begin a line."""
    text = re.sub(r"^#(ifndef|define DPLOC|endif|ifdef __cpl|include).*\n", "", text, flags=re.M)
    text = re.sub(r'^(extern "C" \{|\})\n', "", text, flags=re.M)
    pieces = re.split(r"^(/\*.*?\*/)\s*$", text, flags=re.M | re.S)
    return [(pieces[i], pieces[i + 1].strip("\n")) for i in range(1, len(pieces) - 1, 2)]


def declaration_block(block):
    comment, code = block
    lines = [re.sub(r"^\s*(/\*+|\*/|\*) ?", "", line).replace("*/", "").rstrip()
             for line in comment.split("\n")]
    lines = [line for line in lines if not re.fullmatch(r"-{20,}", line)]
    prose = "\n".join(lines).strip("\n")
    heading = ""
    if "-----" in comment:  # a section's banner: its first line is the name
        name, _, prose = prose.partition("\n")
        heading = f"\n### {name.strip()}\n"
    body = "\n".join(line if line.startswith("    ") else line.replace("<", "&lt;")
                     for line in prose.split("\n"))
    code = f"\n```c\n{code}\n```\n" if code else ""
    return f"{heading}\n{body}\n{code}"


def render(text):
    """Markdown to (HTML, table of contents)."""
    md = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "codehilite", "sane_lists"],
                           extension_configs={"codehilite": {"guess_lang": False,
                                                             "css_class": "code"},
                                              "toc": {"slugify": slugify}})
    return whole_options(md.convert(text)), md.toc_tokens


def whole_options(body):
    """Options in a sentence, which no line breaks at their hyphens."""
    return re.sub(r"<code>[^<]*</code>", lambda code: re.sub(
        r"(?<![\w-])--?[a-z][\w-]*", r'<span class="option">\g<0></span>', code[0]), body)


def slugify(value, separator):
    value = re.sub(r"[^\w\s-]", "", value.lower())
    return re.sub(r"\s", separator, value.strip())


def place_of(name):
    """The file of a page, relative to the site."""
    return f"{name}.html"


def fix_links(body, name, menu_names):
    """Links between Markdown files become links between pages; links to code become plain names."""
    folder = pathlib.PurePosixPath(name).parent

    def target(match):
        attribute, link = match.group(1), match.group(2)
        if re.match(r"[a-z]+:|#", link):
            return match.group(0)
        path, _, anchor = link.partition("#")
        whole = pathlib.PurePosixPath(*_resolve(folder / path))
        page = OTHER.get(str(whole), str(whole).removesuffix(".md"))
        if page in menu_names:
            path = _relative(f"{page}.html", folder)
        elif str(whole).startswith("docs/images/"):
            path = _relative(str(whole)[5:], folder)
        elif (ROOT / str(whole)).exists() and not (SITE / "pages" / str(whole)).exists():
            return f'data-{attribute}="{html.escape(str(whole))}"'
        return f'{attribute}="{path}{"#" + anchor if anchor else ""}"'

    return re.sub(r'\b(href|src)="([^"]+)"', target, body)


def _resolve(path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return parts or ["."]


def _relative(target, folder):
    return "../" * len([part for part in folder.parts if part != "."]) + target


def menu_html(menu, current):
    folder = pathlib.PurePosixPath(current).parent
    rows = []
    for heading, pages in menu:
        rows.append(f"<h2>{heading}</h2><ul>")
        for name, title in pages:
            here = ' aria-current="page"' if name == current else ""
            link = _relative(place_of(name), folder)
            rows.append(f'<li><a href="{link}"{here}>{html.escape(title)}</a></li>')
        rows.append("</ul>")
    return "\n".join(rows)


def plain(text):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))).strip()


def search_entries(name, title, body):
    """One entry a section: (page, anchor, title, heading, text)."""
    pieces = re.split(r'<h[123] id="([^"]+)">(.*?)</h[123]>', body)
    return [{"page": place_of(name), "anchor": pieces[i], "title": title,
             "heading": plain(pieces[i + 1]), "text": plain(pieces[i + 2])}
            for i in range(1, len(pieces) - 1, 3)]


def write_page(out, template, menu, name, title, body):
    depth = "../" * (len(pathlib.PurePosixPath(name).parts) - 1)
    page = (template.replace("{{title}}", html.escape(title)).replace("{{menu}}",
            menu_html(menu, name)).replace("{{body}}", body).replace("{{root}}", depth))
    path = out / place_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def check_links(out):
    """Every link within the site must lead to a file, and to a place in it; nothing is loaded from
    elsewhere."""
    pages = {path.relative_to(out).as_posix(): path.read_text(encoding="utf-8")
             for path in out.rglob("*.html")}
    wrong = []
    for name, text in pages.items():
        for attribute, link in re.findall(r'(?<!-)\b(href|src)="([^"]+)"', text):
            if re.match(r"https?:|mailto:", link):
                if attribute == "src" or "<link" in text.split(link)[0][-200:]:
                    wrong.append(f"{name}: loads {link} from elsewhere")
                continue
            path, _, anchor = link.partition("#")
            target = name if not path else "/".join(
                _resolve(pathlib.PurePosixPath(name).parent / path))
            if not (out / target).is_file():
                wrong.append(f"{name}: {link} leads nowhere")
            elif anchor and target in pages and f'id="{anchor}"' not in pages[target]:
                wrong.append(f"{name}: no place #{anchor} in {target}")
    return wrong


def check_readme():
    """README.md is no page; its links lead to files of the tree."""
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    return [f"README.md: {link} leads nowhere" for link in links
            if not re.match(r"[a-z]+:", link) and not (ROOT / link).exists()]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: build.py OUT")
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    template = (SITE / "template.html").read_text(encoding="utf-8")
    menu = menu_pages()
    names = {name for _, pages in menu for name, _ in pages}
    entries = []
    for _, pages in menu:
        for name, title in pages:
            body, _ = render(source_of(name))
            body = fix_links(body, "index" if name in ("results", "api") else name, names)
            entries += search_entries(name, title, body)
            write_page(out, template, menu, name, title, body)
    for asset in ("style.css", "search.js"):
        shutil.copy(SITE / asset, out / asset)
    for name, draw in DRAWINGS.items():
        (out / name).write_text(draw(), encoding="utf-8")
    shutil.copytree(ROOT / "docs/images", out / "images")
    index = json.dumps(entries, ensure_ascii=False)
    (out / "index.js").write_text(f"window.searchEntries = {index};\n", encoding="utf-8")
    wrong = missing_pages(menu) + check_readme() + check_links(out)
    if wrong:
        sys.exit("site: " + "\nsite: ".join(wrong))
    print(f"{out}/index.html: {sum(len(pages) for _, pages in menu)} pages, "
          f"{len(entries)} sections, no broken link")


if __name__ == "__main__":
    main()
