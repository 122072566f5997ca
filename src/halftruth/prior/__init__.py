"""The class prior: what the data say of it, and what they cannot."""
