"""Grading a class: untrusted submissions, judged in parallel, into a gradebook."""
