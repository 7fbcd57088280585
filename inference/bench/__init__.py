"""Measurements over HTTP, as an application sees them."""
