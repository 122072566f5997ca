"""Seven files as users bring them: each ends with the right number, a range that holds it, or a refusal."""
