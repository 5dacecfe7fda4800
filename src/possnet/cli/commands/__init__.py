"""One module for each command: read, call one function, print."""
