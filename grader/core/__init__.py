"""What every part of the grader uses: the workbook, its results and records, other programs, pages and errors."""
