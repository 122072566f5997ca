"""The papers done again: each part by itself."""
