"""Learners and losses."""
