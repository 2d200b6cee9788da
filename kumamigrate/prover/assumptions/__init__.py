"""What a proof rests on: stated once, printed with the verdict."""
