"""The pictures of the report, one file each."""
