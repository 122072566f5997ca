"""Estimators of the prior, one idea a module; `prior._methods` has them by name.

`_alphamax` AlphaMax · `_auto` our own posterior over ROC shapes · `_dedpul` DEDPUL · `_elkan_noto` Elkan and
Noto's two · `_kernel_mean` KM1, KM2 and the penalised L₁ divergence · `_mixture` known negatives, and EM ·
`_roc_slope` Blanchard's and Sanderson's slopes, and best bin estimation (BBE) · `_tice` TIcE.
"""
