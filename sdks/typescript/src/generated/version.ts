// The version, which is the server's. Written by sdks/generate from the server's description: change that, not this.

export const VERSION = '0.2.0';
