"""The class prior: each estimator against what is known of it."""
