"""The method of Dance and Paige: a-CAVI over a grid of spike precisions, weighed by leave-one-out density."""
