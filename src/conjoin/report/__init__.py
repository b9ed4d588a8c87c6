"""Results for people and programs: a plain dict first, then what is made of it."""
