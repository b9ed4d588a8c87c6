"""The paper's tables and figure, run again: the paper's results and ours side by side.

Names of tables and folders with data enter; results, texts and files leave. Nothing outside this
room imports it but `conjoin reproduce`, which loads it on demand.
"""
