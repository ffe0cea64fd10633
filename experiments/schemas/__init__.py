"""JSON Schemas of the files that runs write and read, made from the records that write and read them.

Editors complete and check such files with them; `published` says which there are, and writes them to a folder.
"""
