"""Code that every part of the grader uses: the workbook, its results and records, processes, pages and errors."""
