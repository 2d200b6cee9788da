"""What a release's control plane refuses or warns about. Imports the model only.

refusals_of(resource, *, release, environment) -> tuple[Problem, ...]      # admit.check
warnings_of(resource, *, release) -> tuple[Problem, ...]
unknown_fields_of(resource, release) -> tuple[FieldPath, ...]
other_letters_of(resource, release) -> tuple[tuple[FieldPath, str], ...]
"""
