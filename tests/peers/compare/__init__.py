"""What `tests/peers/differential` is made of: servers, documents, requests (fixed lists by subject, the tracks' tasks, random and malformed
ones), the comparison of two answers and the differences that docs/compatibility.md explains."""
