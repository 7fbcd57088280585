"""Celery tasks: they open the tenant's scope, call a service or the KV library, and report."""
