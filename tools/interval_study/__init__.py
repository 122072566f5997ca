"""The study behind docs/intervals.md: how often intervals hold the truth, and how wide they are."""
