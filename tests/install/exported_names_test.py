"""Usage: exported_names_test.py NM PROBE [LIBRARY]. Checks that PROBE, which is linked with the
library's map, exports every name except those that have to stay hidden, and that LIBRARY exports no
name of its inner floors."""
import re
import subprocess
import sys

EXPECTED = """
penstock::a penstock::ac penstock::act penstock::acto penstock::actor penstock::g penstock::gr
penstock::gra penstock::grap penstock::graph_size penstock::actors_size penstock::accuracy()
penstock::action() penstock::actor_count() penstock::actors_of(int) penstock::fit()
penstock::gradient() penstock::graph_of(int) penstock::graphics() penstock::graphs::shown()
penstock::actorsystem::shown() penstock::Graph::~Graph()
""".split()
OF_A_CLASS = ['vtable for penstock::Graph', 'typeinfo for penstock::Graph',
              'typeinfo name for penstock::Graph']


INNER = re.compile(r'(\w+ (name )?for )?penstock::(graph|actors)::')


def exported(nm, library):
    lines = subprocess.run([nm, '-D', '-C', '--defined-only', library], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    return {re.sub(r'^[0-9a-f]* *\w ', '', line) for line in lines}


def complain(what, names):
    if names:
        sys.exit('\n'.join([what, *sorted(names)]))


nm, probe, *library = sys.argv[1:]
expected = {*EXPECTED, *OF_A_CLASS}
complain('The map hides public names:', expected - exported(nm, probe))
complain('The map exports what is not public:', exported(nm, probe) - expected)
for path in library:
    names = exported(nm, path)
    if len(names) < 100:
        sys.exit(f'{path} exports too little: {len(names)} names')
    complain(f'{path} exports what is inside it:',
             {name for name in names if INNER.match(name) or 'penstock::' not in name})
