"""200 evaluations as they came out when they were written down: no number may change unsaid."""
