"""Writes the library's interface as Python: structs, constants and calls of the public headers.

The headers are the manual of the library, and the only place that says how its structs are laid
out. What is made here is loaded by the package, so that a new option is known to Python as soon as
it is in a header.            usage: abi.py HEADER... OUT.py
"""

import re
import sys
from pathlib import Path

SCALARS = {
    "bool": "c_bool", "char": "c_char", "int": "c_int", "double": "c_double", "float": "c_float",
    "size_t": "c_size_t", "int64_t": "c_int64", "uint64_t": "c_uint64", "int32_t": "c_int32",
    "uint32_t": "c_uint32", "int16_t": "c_int16", "uint8_t": "c_uint8",
}

HEAD = '''"""The library's interface. Made by python/abi.py from the public headers; not to be edited."""

from ctypes import (POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int16,
                    c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)
'''


class Interface:
    """What the headers declare, in their order."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
        self.text = re.sub(r'extern "C" \{', "", text)
        self.constants, self.structs, self.functions = {}, {}, {}
        self.read_enums()
        self.read_structs()
        self.read_functions()

    def read_enums(self):
        for body in re.findall(r"\benum\b\s*\w*\s*\{(.*?)\}", self.text, flags=re.S):
            value = -1
            for entry in filter(None, (part.strip() for part in body.split(","))):
                name, _, given = (part.strip() for part in entry.partition("="))
                value = eval(given, {}, self.constants) if given else value + 1
                self.constants[name] = value

    def read_structs(self):
        for name, body in re.findall(r"\bstruct (\w+) \{(.*?)\n\};", self.text, flags=re.S):
            self.structs[name] = [field for line in body.split(";") for field in self.fields(line)]

    def fields(self, line):
        """The (name, type) pairs of a declaration, which may declare several."""
        line = " ".join(line.split())
        if not line:
            return []
        if called := re.match(r".*\(\*(\w+)\)\(.*\)$", line):
            return [(called[1], "c_void_p")]
        base, names = re.match(r"((?:const )?(?:struct |enum )?\w+(?: const)?) ?(.*)$", line).groups()
        return [self.field(base, name.strip()) for name in names.split(",")]

    def field(self, base, declarator):
        stars, name, sizes = re.match(r"((?:\* ?(?:const )?)*)(\w+) ?((?:\[[^]]*\] ?)*)$",
                                      declarator).groups()
        kind = self.type_of(base, stars.count("*"), "field")
        for size in reversed(re.findall(r"\[([^]]*)\]", sizes)):
            kind = f"{kind} * {eval(size, {}, self.constants)}"
        return name, kind

    def type_of(self, base, stars, where):
        """Pointers to structs are addresses: who gets one casts it."""
        base = base.replace("const", "").strip()
        if stars == 0:
            if base.startswith("struct "):
                return base[len("struct "):]
            return "c_int" if base.startswith("enum ") else "None" if base == "void" else \
                SCALARS[base]
        if base == "char":
            return {1: "c_char_p", 2: "POINTER(c_char_p)"}[stars]
        if base in SCALARS and stars == 1 and where == "field":
            return f"POINTER({SCALARS[base]})"
        return "c_void_p"

    def read_functions(self):
        for line in re.findall(r"\bDPL_API\b([^;{]*);", self.text):
            result, name, arguments = re.match(r"(.*?)\b(dpl_\w+)\((.*)\)$",
                                               " ".join(line.split())).groups()
            stars = result.count("*")
            kind = self.type_of(result.replace("*", "").strip(), stars, "result")
            self.functions[name] = (kind, [self.argument(one) for one in arguments.split(", ")
                                           if one != "void"])

    def argument(self, text):
        stars = text.count("*") + text.count("[")
        base = re.match(r"(?:const )?((?:struct |enum )?\w+)", text)[1]
        if base == "char" and stars == 1 and text.startswith("const"):
            return "c_char_p"
        return "c_void_p" if stars else self.type_of(base, 0, "argument")

    def python(self):
        lines = [HEAD]
        for name, fields in self.structs.items():
            lines.append(f"\n\nclass {name}(Structure):\n    _fields_ = [")
            lines += [f'        ("{field}", {kind}),' for field, kind in fields]
            lines.append("    ]")
        lines += ["\n"] + [f"{name} = {value}" for name, value in self.constants.items()]
        lines.append("\n# name: (result, arguments)\nFUNCTIONS = {")
        for name, (result, arguments) in self.functions.items():
            lines.append(f'    "{name}": ({result}, [{", ".join(arguments)}]),')
        return "\n".join(lines) + "\n}\n"


def main():
    headers, out = [Path(name) for name in sys.argv[1:-1]], Path(sys.argv[-1])
    out.write_text(Interface("\n".join(header.read_text() for header in headers)).python())


if __name__ == "__main__":
    main()
