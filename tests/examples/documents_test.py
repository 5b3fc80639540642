"""Usage: documents_test.py README DOCS PROGRAM... What the documents show in C++ comes from
programs that are built and run: a whole one where it has a main function, else consecutive
lines. What the documents link to is there."""
import pathlib
import re
import sys
import textwrap

readme, docs, *programs = map(pathlib.Path, sys.argv[1:])
SOURCES = {path: path.read_text() for path in programs}
LINK = re.compile(r'\]\((?!\w+:|#)([^)#]+)(?:#[^)]*)?\)')
BLOCK = re.compile(r'^```cpp\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def is_part(shown, program):
    wanted, lines = textwrap.dedent(shown).splitlines(), program.splitlines()
    return any(textwrap.dedent('\n'.join(lines[begin:begin + len(wanted)])).splitlines() == wanted
               for begin in range(len(lines) - len(wanted) + 1))


def is_quoted(shown):
    if 'int main(' in shown:
        return shown in SOURCES.values()
    return any(is_part(shown, program) for program in SOURCES.values())


def unquoted(document):
    for block in BLOCK.finditer(document.read_text()):
        if not is_quoted(block.group(1)):
            line = document.read_text().count('\n', 0, block.start()) + 1
            yield f'{document.name}:{line} shows lines that no program of tests/examples has'


def broken_links(document):
    for target in LINK.findall(BLOCK.sub('', document.read_text())):
        if not (document.parent / target).exists():
            yield f'{document.name} links to {target}, which is not there'


if is_quoted('int main() {}\n') or is_quoted('Model model("of no program");\n'):
    sys.exit('a line of no program counts as quoted')
documents = [readme, *sorted(docs.glob('*.md'))]
blocks = [block for document in documents for block in BLOCK.findall(document.read_text())]
if len(blocks) < 5:
    sys.exit('the programs of the documents were not found')
complaints = [text for document in documents
              for text in (*unquoted(document), *broken_links(document))]
if complaints:
    sys.exit('\n'.join(complaints))
