"""What takes hours, for whoever has a night: commands killed at random moments and gone on with."""
