"""Measurements: in the engine alone, and over HTTP as an application sees them."""
