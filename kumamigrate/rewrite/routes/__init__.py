"""Routes and policies on routes: what they read in the old place and in the new."""
