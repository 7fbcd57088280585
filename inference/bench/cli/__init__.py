"""The kinds of `manage.py bench`: each module has `HELP`, `add_arguments` and `run`."""
