"""What all estimators share: linear predictions, the coding of y, the choice of a strength, threads."""
