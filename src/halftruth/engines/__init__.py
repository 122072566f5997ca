"""The same table from anywhere: SQL engines through Ibis, and PyTorch's devices."""
