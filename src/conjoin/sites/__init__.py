"""Sites that may not share rows: what leaves a site, and what it must not disclose."""
