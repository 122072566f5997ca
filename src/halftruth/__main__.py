"""`python -m halftruth` is the command `halftruth`."""

import sys

from halftruth.cli import main

if __name__ == "__main__":
    sys.exit(main())
