"""What studies share: declarations known by their hash, designs run in series, their contenders, and tables of both.

A study reads its declaration, runs designs by `sscq design`, runs their controllers again in situations that nobody
was taught, and writes one page.
"""
