"""What all estimators share: linear predictions, the coding of y, callbacks."""
