"""How fast executors, samplers and exact engines are, beside what only does the unavoidable work in the same run."""
