// The tokens of all tools' descriptions together, from stdin: by the encodings that tiktoken has for today's models.
const { get_encoding } = require("tiktoken");
const TOKENS_MAX = 24000;
const text = require("fs").readFileSync(0, "utf8");
for (const name of ["cl100k_base", "o200k_base"]) {
  const tokens = get_encoding(name).encode(text).length;
  console.log(`${name}: ${tokens} tokens, ${Buffer.byteLength(text)} bytes`);
  if (tokens > TOKENS_MAX) {
    console.error(`more than ${TOKENS_MAX} tokens`);
    process.exitCode = 1;
  }
}
