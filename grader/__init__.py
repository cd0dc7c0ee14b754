"""Warpbook's grader: builds, runs and records a learner's chapters."""

__version__ = "0.1.0"
