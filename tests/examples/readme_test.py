"""The README's first program is tests/examples/first_program.cpp, letter by letter."""
import pathlib
import sys

readme = pathlib.Path(sys.argv[1]).read_text()
program = pathlib.Path(sys.argv[2]).read_text()
quoted = readme.split("```cpp\n", 1)[1].split("```", 1)[0]
if quoted != program:
    sys.exit("README.md quotes another program than tests/examples/first_program.cpp: copy it anew")
