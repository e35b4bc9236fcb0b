"""What is assumed before any data: priors of sets and of their parameters."""
