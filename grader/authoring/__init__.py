"""What whoever writes the workbook runs: skeletons, documents, the kill rate, measurements of the grader itself."""
