"""The product shown in one command: a conversation of two invented people, asked about in both modes."""
