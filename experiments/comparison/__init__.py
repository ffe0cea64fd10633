"""A plant's controllers against its field's laws: judged by an aim and in situations declared before they were run."""
