"""What a proxy is configured with, slot by slot, and how two answers differ.

A slot is a place of a proxy's configuration that policies decide; a fact is what stands there,
and who gave it (`fact`). `outboundfacts` with `routing`, `inboundfacts` and `proxyfacts` walk the
slots, `policies/` has one module per policy type that says what a conf or an old policy comes to,
and `bothengines/` what stands where source/destination policies are. `compare` holds two facts
together.
"""
