// A closed loop of two machines: plant and controller, joined by the names of their signals.
"use strict";

// A series [row][column]: constant columns are one number.
function series(packed) {
  const columns = packed.map((column) => {
    if (typeof column === "number") return () => column;
    const bytes = Uint8Array.from(atob(column), (letter) => letter.charCodeAt(0));
    const values = new Float64Array(bytes.buffer);
    return (k) => values[Math.min(k, values.length - 1)];
  });
  return (k, column) => columns[column](k);
}

// scene: name, samples, delay, state, parameters, references, disturbances, noise, outputs (series once read)
function unpacked(scene) {
  const read = { ...scene };
  for (const name of ["references", "disturbances", "noise", "outputs"]) read[name] = series(scene[name]);
  return read;
}

// change: authority, gains (factors by name), parameters (factors by name), reference (factor), shift (by output),
// disturbance (factor); left out, nothing is changed
function closedLoop(Plant, Controller, about, scene, change = {}) {
  const plant = new Plant();
  const controller = new Controller();
  const n = scene.samples;
  const taken = { time: new Float64Array(n), left: null }; // left: when it left the region where the model holds [s]
  const table = (names) => Object.fromEntries(names.map((name) => [name, new Float64Array(n)]));
  taken.references = table(about.outputs);
  taken.outputs = table(about.measurements);
  taken.commands = table(about.outputs);
  taken.gains = table(about.gains);
  about.states.forEach((slot, j) => plant.set(slot, scene.state[j]));
  about.parameters.forEach((slot, j) => plant.set(slot, scene.parameters[j] * (change.parameters?.[slot] ?? 1)));
  about.gains.forEach((name) => controller.set(`scale_${name}`, change.gains?.[name] ?? 1));
  const inputs = { authority: change.authority ?? 1 };
  const disturb = (k) => about.disturbances.forEach((slot, j) => {
    const rest = about.rest[j];
    plant.set(slot, change.disturbance === undefined ? scene.disturbances(k, j)
      : rest + change.disturbance * (scene.disturbances(k, j) - rest));
  });
  // Dead time of the inputs: whole steps, and a share of one that mixes the two neighbours.
  const [whole, share] = scene.delay;
  const sent = about.inputs.map(() => new Float64Array(n)); // in each sample
  const ago = (j, step) => (step < 0 ? about.inputRest[j] : sent[j][Math.floor(step / about.steps)]);
  const deliver = (step) => about.inputs.forEach((slot, j) => {
    const newer = ago(j, step - whole);
    plant.set(slot, share > 0 ? newer + share * (ago(j, step - whole - 1) - newer) : newer);
  });
  for (let k = 0; k < n; k++) {
    disturb(k * about.steps);
    plant.look();
    about.outputs.forEach((name, j) => {
      const r = change.reference === undefined ? scene.references(k, j) : change.reference * scene.references(k, j);
      inputs[`r_${name}`] = r + (change.shift?.[name] ?? 0);
      taken.references[name][k] = inputs[`r_${name}`];
    });
    about.seen.forEach((name, j) => { inputs[name] = plant.get(name) + scene.noise(k, j); });
    about.measurements.forEach((name) => { taken.outputs[name][k] = plant.get(name); });
    controller.step(inputs);
    about.outputs.forEach((name) => {
      const command = controller.get(`command_${name}`);
      plant.set(`command_${name}`, command);
      taken.commands[name][k] = command;
    });
    about.gains.forEach((name) => { taken.gains[name][k] = controller.get(`gain_${name}`); });
    plant.allocate();
    taken.time[k] = k * about.sampleTime;
    about.inputs.forEach((slot, j) => { sent[j][k] = plant.get(slot); });
    for (let j = 0; j < about.steps; j++) {
      const step = k * about.steps + j;
      if (j > 0) disturb(step);
      deliver(step);
      plant.move();
    }
    if (taken.left === null && !(plant.get("inside") > 0)) taken.left = k * about.sampleTime;
  }
  return taken;
}

// Largest difference to what the compiled simulation gave, as a share of each signal's range over all situations.
function agreement(about, scene, run) {
  const found = {};
  about.compared.forEach((name, j) => {
    let largest = 0;
    for (let k = 0; k < scene.samples; k++) {
      const difference = Math.abs(run.outputs[name][k] - scene.outputs(k, j));
      largest = difference <= largest ? largest : difference; // a NaN stays
    }
    found[name] = largest / about.spans[j];
  });
  return found;
}
if (typeof module === "object" && module.exports) module.exports = { unpacked, closedLoop, agreement };
