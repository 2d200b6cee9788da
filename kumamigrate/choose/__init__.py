"""What of a run is written, and when: baselines, plans that are reviewed, questions one by one."""
