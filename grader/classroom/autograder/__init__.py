"""Warpbook as the autograder of a platform: what is uploaded there, and how one submission is graded there."""
