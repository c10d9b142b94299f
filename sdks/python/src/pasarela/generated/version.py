"""The version, which is the server's. Written by sdks/generate."""

VERSION = "0.1.0"
