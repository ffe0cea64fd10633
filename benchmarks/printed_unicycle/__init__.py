"""The printed unicycle: the page that says what holds of it, and what its missing term does."""
