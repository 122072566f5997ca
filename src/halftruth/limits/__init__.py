"""How good could anyone be: the error that no classifier gets below, from soft labels and other evidence."""
