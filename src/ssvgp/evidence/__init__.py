"""What a set of inputs is worth: evidence by Laplace and by draws, unvisited sets, leave-one-out, races."""
