"""The public functions and the request that they share.

`request` is light and stands before all other rooms: it holds every option once. `partition` and
`compare` are what users call.
"""
