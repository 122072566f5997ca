"""Compiled loops for large inputs: a sort, one walk down sorted strata, a histogram without a sort.

Work is cut by the data, never by the threads, and parts are joined in a fixed order or as integers:
results do not depend on the number of threads. The kernels release the lock of the interpreter and run in
plain threads, because Numba's own may end the process after a fork or when two threads call at once.
"""
