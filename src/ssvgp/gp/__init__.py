"""What a Gaussian process is: kernels, factorisations, likelihood, neighbours, prediction."""
