"""What a fitted model says of the data: effects, shares of variation, calibration, columns that go together."""
