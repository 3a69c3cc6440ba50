"""Questions about graphs, modules and values that rules ask when they are about to speak."""
