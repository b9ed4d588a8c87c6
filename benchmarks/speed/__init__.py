"""Speed: conjoin against plain ways of the same work, in one run, as ratios.

All scripts use one thread for linear algebra, unless the environment says otherwise. NumPy reads
these variables when it is first imported, so they are set here, before any script imports it.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
