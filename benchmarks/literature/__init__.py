"""Published theorems as printed, the verdict of every tool on them, and a false mutant of each."""
