"""What the program is built of: licences of all dependencies (NOTICE), a bill of materials, a lock file with hashes.

Made from installed metadata and from what pip reports: ``make supply`` and ``make wheel``.
"""
