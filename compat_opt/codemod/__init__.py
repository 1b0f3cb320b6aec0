"""Source migration: the source of old optimizer classes in, the source of rules out; nothing is imported or run."""
