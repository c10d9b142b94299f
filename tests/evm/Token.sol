// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/// A token as USDT on Ethereum is: `transfer` answers nothing, and some addresses are shut out.
contract Token {
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;
    mapping(address => bool) public isShutOut;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function shutOut(address account, bool out) external {
        isShutOut[account] = out;
    }

    function transfer(address to, uint256 value) external {
        require(!isShutOut[to], "shut out");
        require(balanceOf[msg.sender] >= value, "too little");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}
