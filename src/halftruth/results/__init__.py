"""What an evaluation returns: estimates with their intervals, and differences between models."""
