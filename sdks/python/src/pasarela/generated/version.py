"""The version, which is the server's. Written by sdks/generate."""

VERSION = "0.2.0"
