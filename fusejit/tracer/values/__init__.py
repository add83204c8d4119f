"""What a traced program computes with: arrays, numbers, and what they are made of."""
