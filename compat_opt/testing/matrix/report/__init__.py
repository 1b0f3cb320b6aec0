"""What a run says: on the terminal, as HTML, as JSON, as JUnit XML."""
