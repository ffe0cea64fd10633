"""The knowledge base: rule bases of all channels with their history, as a document, in words, as tables, as a vector.

Also what it may give: the hull of its gains, the range where it has proved itself, what happens at one point.
"""
