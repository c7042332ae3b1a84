"""Xu et al. (2024): DCFR+ and PDCFR+, of which the abstract and the program are at hand."""
