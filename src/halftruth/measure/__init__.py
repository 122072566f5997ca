"""The pair (μ, μ₁): the mass of the population and of its positives along the score."""
