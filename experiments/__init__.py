"""The commands: read a configuration, call the packages below, write results. No formulas here."""
