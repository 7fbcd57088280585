"""KV memory library: what a fact's attention keys and values are, where they rest, how they are turned and found."""
