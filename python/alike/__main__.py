"""`python -m alike`: the command line."""

import os
import sys

from ._program import program

if __name__ == "__main__":
    os.execv(program(), ["alike", *sys.argv[1:]])
