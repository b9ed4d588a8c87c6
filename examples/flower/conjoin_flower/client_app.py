"""What a site does: send sums, and answer rounds, under the plan it agreed to."""

from conjoin.sites.flower import client_app

app = client_app()
