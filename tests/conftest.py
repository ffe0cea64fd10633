"""Settings of all tests: generated examples are the same in every run, and compiling may take its time."""

from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=True, database=None, max_examples=50)
settings.load_profile("project")
