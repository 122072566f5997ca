"""How far a histogram can have moved each metric: a bound that no table of rows behind it can break."""
