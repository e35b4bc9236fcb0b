"""What a candidate set of inputs is worth."""
