"""Commands for authors of the workbook: skeletons, documents, the kill rate, measurements of the grader itself."""
