"""`python -m alike`: the command line."""

import os
import sys

from ._errors import FailedError
from ._program import program

if __name__ == "__main__":
    try:
        os.execv(program(), ["alike", *sys.argv[1:]])
    except FailedError as error:
        sys.exit(f"alike: error: {error}")
