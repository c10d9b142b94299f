// Compiles the token and puts it on the chain with an account that is not the hot wallet's; prints its address.
const fs = require("fs");
const path = require("path");
const solc = require("solc");
const { ContractFactory, JsonRpcProvider, Wallet } = require("ethers");

const [url] = process.argv.slice(2);
const source = fs.readFileSync(path.join(__dirname, "Token.sol"), "utf8");
const input = {
  language: "Solidity",
  sources: { "Token.sol": { content: source } },
  settings: { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
const bad = (output.errors || []).filter((error) => error.severity === "error");
if (bad.length > 0) {
  throw new Error(bad.map((error) => error.formattedMessage).join("\n"));
}
const { abi, evm } = output.contracts["Token.sol"].Token;

(async () => {
  const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1 });
  // The second account of the words that developers use.
  const owner = new Wallet("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d", provider);
  const token = await new ContractFactory(abi, evm.bytecode.object, owner).deploy();
  await provider.send("hardhat_mine", ["0x1"]);
  await token.waitForDeployment();
  const wallet = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
  await token.mint(wallet, 1_000_000_000_000n);
  await provider.send("hardhat_mine", ["0x5"]);
  console.log(await token.getAddress());
  provider.destroy();
})();
