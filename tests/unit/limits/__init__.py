"""The limits: the Bayes error, and what is too good to be true."""
