"""What the coordinator does: ask for sums, decide, write the result."""

import conjoin
from conjoin.sites.flower import server_app

app = server_app(conjoin.partition)
