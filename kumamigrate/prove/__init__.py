"""Two states compared, proxy by proxy: verdicts with witnesses. Imports model, match and legacy."""
