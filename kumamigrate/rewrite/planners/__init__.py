"""Planners that several rules share; a rule file names one with `planner:`."""
