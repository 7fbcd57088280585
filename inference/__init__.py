"""The engine: unmodified vLLM with two plug-ins, a KV connector and a gateway."""
