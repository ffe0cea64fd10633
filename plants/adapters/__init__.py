"""Plants that other packages describe, one adapter a file; each needs its package only when it is used."""
