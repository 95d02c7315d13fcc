"""Experiments with dploc: settings, a restartable runner, tables. Standard library only (docs/EXPERIMENTS.md)."""
