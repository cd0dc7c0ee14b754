"""Warpbook as the autograder of a platform: the archives to upload, and grading one submission there."""
