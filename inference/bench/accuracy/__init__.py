"""What injection costs in answers: each mode's against those of the full prompt, on LoCoMo."""
