"""Tests run through the front door where there is one: fixtures first, then laws, then goldens.

Values that are to stay as they are refuse changes here: the product leaves that to the type
checker (kumamigrate/dataclass.py), which has to be said before its first module is loaded.
"""

import os

os.environ["KUMAMIGRATE_HOLD_FROZEN"] = "1"
