"use strict";
const fs = require("fs"), path = require("path");
const Machine = require(path.resolve(process.argv[2]));
const bytes = fs.readFileSync(0);
const given = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const rows = given.length / ${n}, taken = new Float64Array(rows * ${m}), machine = new Machine();
for (let k = 0; k < rows; k++) {
  const inputs = {};
  Machine.inputs.forEach((signal, j) => { inputs[signal.name] = given[k * ${n} + j]; });
  const outputs = machine.step(inputs);
  Machine.outputs.forEach((signal, j) => { taken[k * ${m} + j] = outputs[signal.name]; });
}
process.stdout.write(Buffer.from(taken.buffer));
