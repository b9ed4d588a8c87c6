"""Files and databases: what users name enters, lazy tables leave; results are written back.

`read` opens sources, `find` looks for files, `layout` finds out how to read one file, `combine`
stacks several, `database` opens tables of databases, `sql` quotes names and explains errors, and
`write` writes tables to files.
"""
