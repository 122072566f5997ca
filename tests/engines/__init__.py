"""The same table from anywhere: each engine against a table made by plain loops."""
