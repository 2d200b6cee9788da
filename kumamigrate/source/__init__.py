"""YAML and JSON text: read with exact positions, edited by byte spans. Knows no Kuma."""
