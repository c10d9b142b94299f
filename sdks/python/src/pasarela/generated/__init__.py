"""What sdks/generate writes from the server's description."""
