"""What :func:`flcs.lint` looks for, one family of findings a file."""
