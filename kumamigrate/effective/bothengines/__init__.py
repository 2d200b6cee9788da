"""What proxies are configured with where source/destination policies stand beside newer ones.

Who answers is decided in `whoanswers`; the other modules say what then stands there.
"""
