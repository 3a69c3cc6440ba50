"""`python -m clarion`."""

import sys

from .cli.main import main

sys.exit(main())
