"""Views only translate: body to service call, result to JSON."""
