"""From a user's table to standardised data, and back: inputs, target, and the curves a target may pass."""
