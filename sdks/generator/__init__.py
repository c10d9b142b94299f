"""Generators of the SDKs: description.py reads, one module per language writes."""
