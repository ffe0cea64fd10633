"""Plain data that the report shows: situations, results, verdict, knowledge base, learning, fronts, motion.

Every number may be NaN, and every part that is typed so may be `NotAvailable`: the page then says so, and why.
"""
