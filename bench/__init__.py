"""Measuring on a GPU: references beside their peers, and records that the time model is checked against."""
