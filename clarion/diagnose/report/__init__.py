"""How findings reach a person: the terminal, JSON, a page of HTML."""
