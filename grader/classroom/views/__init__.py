"""What a teacher and the students are shown of a graded class."""
