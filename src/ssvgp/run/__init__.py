"""How a fit runs: threads, and reports of its progress."""
