"""Runs a program of tests once under each instruction set that this machine has.

Usage: under_each_isa.py AVAILABLE_ISAS PROGRAM [ARGUMENT...]
"""

import os
import subprocess
import sys

isas = subprocess.run(sys.argv[1], check=True, capture_output=True, text=True).stdout.split()
failed = [isa for isa in isas
          if subprocess.run(sys.argv[2:], env={**os.environ, 'PENSTOCK_ISA': isa}).returncode != 0]
print(f'ran under {", ".join(isas)}; failed under {", ".join(failed) or "none"}')
sys.exit(1 if failed or not isas else 0)
