"""The KV connector: vLLM's half of InferScale. Imports memory and vLLM, nothing else of ours."""
