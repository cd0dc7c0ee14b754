"""Grading a class: submissions nobody here wrote, judged side by side, into a gradebook."""
