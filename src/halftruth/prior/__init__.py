"""The class prior: what is believed of it, the bound on it, estimates of it, and the test of SCAR.

`_belief` a prior as the user gave it · `_shares` π and α · `_upper_bound` the largest α not refuted ·
`_estimate_prior` and `_from_features` the calls, on what `_inputs` reads, by the `_methods` in `estimators` ·
`_scar_test` with the tests of laws in `_law_tests`.
"""
