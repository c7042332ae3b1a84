"""Cells on the workers of a Dask cluster; begin with `engine.ClusterEngine`."""
