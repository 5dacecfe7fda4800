"""Arrays in, arrays out, numpy only: no names, no validation, no files."""
