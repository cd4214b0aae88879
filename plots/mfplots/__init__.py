"""Figures and tables from mfbench result files, and from nothing else."""
