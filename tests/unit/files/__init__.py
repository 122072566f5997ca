"""Scores from files."""
