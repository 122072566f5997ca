"""Each estimator of the prior against what is known of it."""
