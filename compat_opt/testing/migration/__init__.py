"""Old class and migrated rule side by side, in an environment where the old class runs."""
