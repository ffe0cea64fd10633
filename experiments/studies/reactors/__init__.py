"""The stirred-tank reactors: fixed gains, gain table and knowledge base on steps and smooth tasks.

Study: `reactors`.
"""
