"""Controllers leave for where controllers run: one sampled machine, small printers over it, and a proof of each file."""
