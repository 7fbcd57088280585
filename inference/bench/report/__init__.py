"""Tables and plots from result files."""
