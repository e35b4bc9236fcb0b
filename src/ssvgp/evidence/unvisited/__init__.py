"""What sets are worth that nobody fitted: those that differ from a fitted one by idle inputs."""
