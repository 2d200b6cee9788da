"""What a proxy is configured with, as far as policies decide it: values, and who gave them.

`picture` asks the targetRef engine alone; `oldin`, `oldout` and `oldroute` ask both engines where
old policies stand; `difference` and `compare` say how two answers differ.
"""
