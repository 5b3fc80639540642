"""Writes a text file as a C++ source that defines a function returning its text.

Usage: embed.py TEXT SOURCE HEADER FUNCTION
"""
import sys

TEXT, SOURCE, HEADER, FUNCTION = sys.argv[1:]
# Compilers limit the length of one literal, but join those that follow each other.
LONGEST = 8000

with open(TEXT, encoding="utf-8") as file:
    text = file.read()
pieces = [text[i : i + LONGEST] for i in range(0, len(text), LONGEST)]
with open(SOURCE, "w", encoding="utf-8") as file:
    file.write(f'#include "{HEADER}"\n\nnamespace penstock {{\n\n')
    file.write(f"std::string_view {FUNCTION}() noexcept {{\n  return")
    for piece in pieces:
        file.write(f'\n      R"embedded({piece})embedded"')
    file.write(";\n}\n\n}  // namespace penstock\n")
