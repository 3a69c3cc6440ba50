"""Questions about the text of the user's program."""
