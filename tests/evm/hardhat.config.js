// Blocks are made when a test says so.
module.exports = {
  solidity: "0.8.28",
  networks: { hardhat: { chainId: 31337, mining: { auto: false, interval: 0 } } },
};
